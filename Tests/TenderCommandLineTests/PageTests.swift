import Foundation
import TenderCommandLine
import TenderCommands
import TenderEngine
import TenderModel
import TenderTestSupport
import Testing

/// The files of texts that are embedded at build.
@Suite struct PageTests {
  static let rooms = PageFile.texts.map(\.room)

  /// The other kinds of sections, besides topics and the terms of a subject.
  static let others = ["quote", "assumptions", "profiles", "simulation"]

  @Test(arguments: rooms)
  func `is embedded as it is on the disk, and read whole`(_ room: String) throws {
    let text = try Project.text("Sources/\(room)/Pages.txt")
    #expect(PageFile.texts.first { $0.room == room }?.text == text)
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
    let files = PageFile.texts.flatMap { (try? PageFile($0.text).sections) ?? [] }
    #expect(topics.count == files.count { $0.title.hasPrefix("topic ") })
  }

  @Test func `says what each status means`() {
    let pages = Explanation.general.filter { $0.subject == .status }
    #expect(pages.map(\.code) == Status.allCases.map(\.rawValue))
  }
}
