import TenderModel
import Testing

/// Files of texts: valid ones, and those that are refused with their line.
@Suite struct PageFileTests {
  @Test func `reads paragraphs, kept lines and placeholders`() throws {
    let file = try PageFile(
      "# topic x\nsummary: a b: c\n\none\ntwo\n\n  kept\n   lines\n\n{part}\n"
    )
    let section = try #require(file.sections.first)
    #expect(section.title == "topic x" && section.field("summary") == "a b: c")
    #expect(
      try section.paragraphs { $0 == "part" ? ["p", "q"] : nil } == [
        "one two", "  kept\n   lines", "p", "q",
      ]
    )
  }

  @Test func `reads the rows of a table`() throws {
    let text = "# error\nsource: S\n\na conflict B: one: two,\n  three\n  | four\n"
    let page = try #require(try Explanation.pages(in: PageFile(text)).first)
    #expect(page.code == "a" && page.kind == .conflict && page.provider == "B")
    #expect(page.meaning == "one: two, three" && page.advice == "four" && page.source == "S")
  }

  struct Broken: CustomTestStringConvertible {
    let testDescription: String
    let text: String
    let line: Int
  }

  @Test(arguments: [
    Broken(testDescription: "text before the first section", text: "\nhello\n# error\n", line: 2),
    Broken(testDescription: "a field without a value", text: "# error\nsource:\n\na: b\n", line: 2),
    Broken(testDescription: "a field twice", text: "# x\na: b\na: c\n\nd\n", line: 3),
    Broken(testDescription: "no body", text: "# error\nsource: S\n", line: 1),
    Broken(testDescription: "no source", text: "# state\n\na: b\n", line: 1),
    Broken(
      testDescription: "an unknown field",
      text: "# state\nsource: S\nx: y\n\na: b\n",
      line: 1
    ),
    Broken(
      testDescription: "a row without a colon",
      text: "# state\nsource: S\n\na: b\nc\n",
      line: 5
    ),
    Broken(testDescription: "a row without a text", text: "# state\nsource: S\n\na: \n", line: 4),
    Broken(testDescription: "words too many", text: "# state\nsource: S\n\na b: c\n", line: 4),
    Broken(
      testDescription: "nothing to go on with",
      text: "# state\nsource: S\n\n  a: b\n",
      line: 4
    ),
    Broken(testDescription: "no such exit", text: "# error\nsource: S\n\na nope: b | c\n", line: 4),
    Broken(testDescription: "no advice", text: "# error\nsource: S\n\na usage: b\n", line: 4),
    Broken(
      testDescription: "no such side",
      text: "# rejection\nsource: S\npath: p\n\na nope no: b\n",
      line: 5
    ),
    Broken(
      testDescription: "no such retry",
      text: "# rejection\nsource: S\npath: p\n\na bank nope: b\n",
      line: 5
    ),
  ])
  func `refuses a broken table`(_ broken: Broken) {
    let flaw = #expect(throws: PageFile.Flaw.self) {
      try Explanation.pages(in: PageFile(broken.text))
    }
    #expect(flaw?.line == broken.line)
  }

  @Test(arguments: [
    Broken(testDescription: "some lines kept", text: "# topic x\n\na\n\nb\n c\n", line: 5),
    Broken(testDescription: "an unknown placeholder", text: "# topic x\nf: g\n\n{nope}\n", line: 4),
  ])
  func `refuses a broken body`(_ broken: Broken) throws {
    let section = try #require(PageFile(broken.text).sections.first)
    let flaw = #expect(throws: PageFile.Flaw.self) { try section.paragraphs() }
    #expect(flaw?.line == broken.line)
  }
}
