import Foundation
import TenderCommandLine
import TenderCommands
import TenderEngine
import TenderModel
import TenderTestSupport
import Testing

/// Every text for users is plain English: short sentences, and subjects with a name.
@Suite struct StyleTests {
  /// A text with its origin.
  struct Text {
    let place: String
    let text: String
  }

  /// Phrases that a reader would have to decode.
  private static let riddles = [
    #"\b(nobody|somebody|whoever|whatever|whichever|whom|who)\b"#,
    #"(^|[.;:!] )(What|what|That which) \w+"#,
    #"\b(what|that) (stands|came of|becomes of|became of)\b"#, #"\bof it\b"#, #"\bstands?\b"#,
    #"\bkept\b"#, #"\b(comes?|came) to\b"#, #"\bis like that\b"#, #"\ba no\b"#, #"\bsaid no\b"#,
    #"\bin the end\b"#, #"\bgo(es)? with\b"#, #"\b(its|their|his) own\b"#,
    #"\bsave where\b"#, #"\bthe like\b"#,
  ]

  /// The problems of a text, one line for each.
  static func findings(in text: String) throws -> [String] {
    try findings(in: text, riddles.map { try Regex($0) })
  }

  private static func findings(
    in text: String,
    _ riddles: [Regex<AnyRegexOutput>]
  ) -> [String] {
    var findings: [String] = []
    for riddle in riddles {
      for match in text.matches(of: riddle) {
        findings.append("\(text[match.range]): \(text.prefix(100))")
      }
    }
    let sentences = text.replacing(/([.!?:])\s+/) { "\($0.output.1)\n" }
    for part in sentences.split(separator: "\n") {
      let words = part.split(separator: " ").filter { $0.contains(where: \.isLetter) }
      if words.count > 20 { findings.append("\(words.count) words: \(part)") }
    }
    return findings
  }

  @Test(arguments: [
    ("Nobody is asked.", 0), ("it is kept for nobody", 2), ("What stands here is told.", 2),
    ("The payment was declined. Run the same command again.", 0),
    (String(repeating: "word ", count: 21), 1), (String(repeating: "word ", count: 20), 0),
    ("a b c d e f g h i j k: a b c d e f g h i j k", 0),
  ])
  func `finds riddles and long sentences`(_ text: String, _ count: Int) throws {
    #expect(try Self.findings(in: text).count == count, "\(text)")
  }

  static let help: [Text] = {
    var texts: [Text] = []
    for topic in catalogue.topics {
      let body = topic.body.filter { !$0.hasPrefix(" ") }
      for text in body + [topic.summary] {
        texts.append(Text(place: "help \(topic.name)", text: text))
      }
    }
    for command in catalogue.commands {
      let summaries = command.shownOptions.map(\.summary) + command.examples.map(\.meaning)
      for text in command.description + summaries + [command.summary] {
        texts.append(Text(place: "help \(command.name)", text: text))
      }
    }
    for meaning in Fault.Kind.allCases.map(\.meaning) + Fault.Retry.allCases.map(\.meaning) {
      texts.append(Text(place: "help exit-status", text: meaning))
    }
    return texts
  }()

  static let explanations: [Text] = {
    var pages = Explanation.general + Explanation.exits + RecordSchema.explanations
    pages += catalogue.modules.flatMap(\.explanations)
    return pages.flatMap { page in
      [page.meaning, page.advice, page.payer ?? ""].map {
        Text(place: "explain \(page.code)", text: $0)
      }
    }
  }()

  /// The prose of a document: no headings, tables, code, roff requests.
  static func prose(of file: String) throws -> [Text] {
    var paragraphs: [String] = [""]
    var isCode = false
    for line in try Project.text(file).split(separator: "\n", omittingEmptySubsequences: false) {
      if line.hasPrefix("```") || line == ".nf" || line == ".fi" {
        isCode = line == ".nf" || line != ".fi" && !isCode
      } else if isCode || line.isEmpty
        || [".", "'", "#", "|", "    "].contains(where: line.hasPrefix)
      {
        paragraphs.append("")
      } else {
        let text = line.trimmingPrefix(while: { "-* 0123456789.".contains($0) })
        if text.count < line.count { paragraphs.append("") }
        paragraphs[paragraphs.count - 1] += " " + text
      }
    }
    return paragraphs.filter { !$0.isEmpty }.map {
      Text(
        place: file,
        text: $0.replacing(/`[^`]*`/, with: "CODE").replacing(/\(test: [^)]*\)/, with: "")
      )
    }
  }

  @Test func `help is plain`() throws { try check(Self.help) }

  @Test func `explanations are plain`() throws { try check(Self.explanations) }

  @Test(arguments: [
    "README.md", "man/tender-security.7", "man/tender-figures.7", ".github/CONTRIBUTING.md",
    ".github/SECURITY.md", "Sources/README.md",
  ])
  func `documents are plain`(_ file: String) throws { try check(Self.prose(of: file)) }

  @Test(arguments: [
    "PayTheory", "TenderCommandLine", "TenderCommands", "TenderEngine", "TenderJournal",
    "TenderModel",
    "TenderSimulator", "TenderSystem", "Toro", "TrueLayer",
  ])
  func `messages and hints are plain`(_ room: String) throws {
    let folder = Project.path("Sources/" + room)
    let files = FileManager.default.enumerator(atPath: folder)?.compactMap { $0 as? String } ?? []
    var texts: [Text] = []
    let literal = /"((?:\\.|[^"\\])*)"/
    for file in files.sorted() where file.hasSuffix(".swift") {
      for line in try Project.text("Sources/\(room)/\(file)").split(separator: "\n")
      where !line.drop(while: { $0 == " " }).hasPrefix("//") {
        for match in line.matches(of: literal) where match.output.1.contains(" ") {
          texts.append(Text(place: file, text: String(match.output.1)))
        }
      }
    }
    #expect(texts.count > 10)
    try check(texts)
  }

  private func check(_ texts: [Text]) throws {
    #expect(!texts.isEmpty)
    let riddles = try Self.riddles.map { try Regex($0) }
    let findings = texts.flatMap { text in
      Self.findings(in: text.text, riddles).map { "\(text.place): \($0)" }
    }
    #expect(findings == [])
  }
}
