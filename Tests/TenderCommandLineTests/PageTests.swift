import Foundation
import TenderCommandLine
import TenderCommands
import TenderEngine
import TenderModel
import TenderTestSupport
import Testing

/// The files of texts that are embedded at build.
@Suite struct PageTests {
  static let rooms = EmbeddedText.all.map(\.path).filter { $0.hasSuffix("/Pages.txt") }
    .map { String($0.prefix { $0 != "/" }) }

  @Test func `embeds every text file beside the code`() throws {
    let root = Project.path("Sources")
    let files = FileManager.default.enumerator(atPath: root)?.compactMap { $0 as? String } ?? []
    let texts = files.filter { file in
      [".txt", ".graphql", ".sql"].contains(where: file.hasSuffix)
    }
    let scripts = ["_tender", "tender.bash", "tender.fish"].map { "../completions/" + $0 }
    #expect(Set(EmbeddedText.all.map(\.path)) == Set(texts + scripts))
    for (path, text) in EmbeddedText.all {
      #expect(try Project.text("Sources/" + path) == text, "\(path)")
      #expect(EmbeddedText.named(path) == text)
    }
  }

  /// The other kinds of sections, besides topics and the terms of a subject.
  static let others = ["quote", "assumptions", "profiles", "simulation"]

  @Test(arguments: rooms)
  func `is read whole`(_ room: String) throws {
    let text = try Project.text("Sources/\(room)/Pages.txt")
    for line in text.split(separator: "\n") {
      let isPlain = line.count <= 110 && line.last != " " && !line.contains("\t")
      #expect(isPlain, "\(line)")
    }
    let file = try PageFile(text)
    #expect(
      Set(file.sections.filter { $0.title.hasPrefix("topic ") }.map(\.title)).count
        == (try Topic.topics(in: file) { _ in [] }).count
    )
    for section in file.sections where !section.title.hasPrefix("topic ") {
      if Explanation.Subject(rawValue: section.title) != nil { continue }
      if section.title == "capabilities" {
        #expect(try section.rows().count > 5)
        continue
      }
      #expect(Self.others.contains(section.title), "\(room), line \(section.line)")
      _ = try section.paragraphs()
    }
    let pages = try Explanation.pages(in: file)
    let words = pages.map { [$0.subject.rawValue, $0.code, $0.provider ?? "", $0.source] }
    #expect(Set(words).count == words.count)
  }

  @Test func `shows each topic under one name`() {
    let topics = catalogue.topics
    let names = topics.flatMap { [$0.name] + $0.aliases }
    #expect(Set(names).count == names.count)
    // Every placeholder is replaced.
    for topic in topics { #expect(!topic.body.isEmpty) }
    let files = Self.rooms.flatMap { PageFile.embedded($0).sections }
    #expect(topics.count == files.count { $0.title.hasPrefix("topic ") })
  }

  @Test func `says what each status means`() {
    let pages = Explanation.general.filter { $0.subject == .status }
    #expect(pages.map(\.code) == Status.allCases.map(\.rawValue))
  }
}
