import TenderCommandLine
import TenderModel
import TenderTestSupport
import Testing

/// What a hint proposes for a word that was mistyped.
@Suite struct ProposalTests {
  /// Options with which a command moves more, or moves what it refused.
  private static let moving = [
    "--all", "--rest", "--finish", "--new-attempt", "--despite-payment", "--despite-refund",
    "--despite-dispute", "--yes",
  ]

  /// Returns words near an option: cut, with a letter more, less or another one, and with two letters swapped.
  private static func near(_ option: String) -> [String] {
    let name = Array(option.dropFirst(2))
    var words: Set<String> = []
    for index in name.indices {
      var less = name
      less.remove(at: index)
      words.insert(String(less))
      words.insert(String(name[...index]))
      for letter in "aehlrst" {
        var (more, other) = (name, name)
        more.insert(letter, at: index)
        other[index] = letter
        words.formUnion([String(more), String(other)])
      }
      if index > 0 {
        var swapped = name
        swapped.swapAt(index, index - 1)
        words.insert(String(swapped))
      }
    }
    words.formUnion(["half", "everything", "whole", "total", "full", "remaining", "remainder"])
    return words.sorted().map { "--" + $0 }
  }

  @Test(arguments: [
    "transact", "confirm A", "cancel A", "refund A", "tokenize", "journal resume A",
  ])
  func `a hint proposes no option that raises what a command moves`(_ line: String) {
    let words = line.split(separator: " ").map(String.init)
    var asked = 0
    for typed in Self.moving.flatMap(Self.near) where !Self.moving.contains(typed) {
      do throws(Fault) {
        _ = try Parser(catalogue).parse(words + [typed])
      } catch {
        asked += 1
        let proposed = (error.hint ?? "").split { " ?;:".contains($0) }.map(String.init)
        #expect(Set(proposed).isDisjoint(with: Self.moving), "\(typed): \(error)")
      }
    }
    #expect(asked > 500)
  }

  @Test func `a mistyped option is still proposed`() {
    for (typed, meant) in [("--amout", "--amount"), ("--refrence", "--reference")] {
      let fault = #expect(throws: Fault.self) { try Parser(catalogue).parse(["transact", typed]) }
      #expect(fault?.hint?.hasPrefix("did you mean \(meant)?") == true)
    }
  }

  @Test(arguments: [
    ("transact", "tender journal list --all"), ("tokenize", "tender journal list --all"),
    ("refund A", "--rest"), ("cancel A", "leave --amount out"), ("confirm A", "leave --amount out"),
    ("payment-status A", "tender journal list --all"),
    ("mandate-status A", "tender journal list --all"),
    ("journal show A", "tender journal list --all"),
  ])
  func `--all is refused with both of its meanings`(_ line: String, _ other: String) {
    let words = line.split(separator: " ").map(String.init)
    let fault = #expect(throws: Fault.self) { try Parser(catalogue).parse(words + ["--all"]) }
    #expect(fault?.exitStatus == 2)
    #expect(fault?.hint?.contains("--all-fields") == true && fault?.hint?.contains(other) == true)
  }

  @Test(arguments: ["find --all", "journal list --all", "journal resume --all"])
  func `--all stays where it means every payment`(_ line: String) throws {
    let words = line.split(separator: " ").map(String.init)
    guard case .run = try Parser(catalogue).parse(words) else {
      Issue.record("no command")
      return
    }
  }
}

/// Help for programs.
@Suite struct HelpRecordTests {
  private func records(_ words: String...) throws -> [JSONObject] {
    try HelpText(catalogue).records(for: words).map(\.fields)
  }

  @Test func `is the tree of all commands, with the options and exits of each`() throws {
    let tree = try records("tender")
    #expect(tree.map { $0.text("name") } == catalogue.commands.map(\.name))
    #expect(try records().count == tree.count)
    for (command, record) in zip(catalogue.commands, tree) {
      let options = record["options"]?.array ?? []
      #expect(
        options.map { $0["name"]?.text } == command.shownOptions.map { "--" + $0.name },
        "\(command.name)"
      )
      for option in options {
        let type = option["type"]?.text ?? ""
        #expect(["flag", "string", "integer"].contains(type))
        #expect((type == "flag") == (option["value"] == nil), "\(option)")
        #expect(option["summary"]?.text?.isEmpty == false)
      }
      let exits = (record["exits"]?.array ?? []).compactMap(\.wholeNumber)
      #expect(Set(command.exits.map { Int($0.exitStatus) }).isSubset(of: exits))
      #expect(exits.starts(with: [0, 1, 2]) && exits == exits.sorted())
    }
  }

  @Test func `is one command, a group, or a topic`() throws {
    #expect(try records("refund").map { $0.text("name") } == ["refund"])
    #expect(try records("journal", "show").map { $0.text("name") } == ["journal show"])
    let journal = try records("journal").compactMap { $0.text("name") }
    #expect(journal.contains("journal list") && journal.last == "journal")
    #expect(try records("exit").first?.text("text")?.contains("0  done") == true)
    #expect(throws: Fault.self) { try records("no-such-page") }
    let amount = try records("refund").first?["options"]?.array?.first
    #expect(amount?["name"] == "--amount" && amount?["value"] == "AMOUNT")
    let names = try records("refund").first?["options"]?.array?.first {
      $0["name"] == "--refund-reference"
    }
    #expect(names?["providers"] == ["paytheory", "truelayer"])
  }
}

/// The table of all records.
@Suite struct RecordTableTests {
  /// A torn line of the table would be a member with an odd type.
  @Test(arguments: Record.Kind.allCases)
  func `each member has a type of JSON and a meaning, once`(_ kind: Record.Kind) {
    let fields = RecordSchema.fields(kind)
    #expect(Set(fields.map(\.name)).count == fields.count, "\(fields.map(\.name))")
    for field in fields {
      #expect(["string", "integer", "boolean", "object", "array"].contains(field.type))
      #expect(!field.meaning.hasSuffix("\\") && field.meaning.count > 4, "\(field)")
    }
    let document = RecordSchema.document(kind)
    let required = (document["required"]?.array ?? []).compactMap(\.text)
    #expect(Set(required).count == required.count, "\(required)")
    #expect(document["properties"]?.object?.members.map(\.key) == fields.map(\.name))
  }

  @Test func `only payments have the status of a payment`() {
    for kind in Record.Kind.allCases {
      let status = RecordSchema.document(kind)["properties"]?["status"]
      let isOfPayment = [.payment, .mandate, .token, .journalEntry, .total].contains(kind)
      #expect(status == nil || (status?["enum"] != nil) == isOfPayment, "\(kind)")
    }
  }

  /// The manual has the same members, in the same order, with the same types.
  @Test func `the manual lists the members of each schema`() throws {
    let manual = try Project.text("man/tender-jsonl.5").replacing("\\-", with: "-")
    for kind in Record.Kind.allCases {
      let head = ".SH RECORD \(kind.rawValue.uppercased())\n"
      let start = try #require(manual.firstRange(of: head)).upperBound
      let body = manual[start...].prefix(before: "\n.SH ")
      let entries = body.split(separator: "\n.B ").dropFirst().map(String.init)
      let properties = RecordSchema.document(kind)["properties"]?.object?.members ?? []
      let names = entries.map { $0.prefix(before: "\n") }.map(String.init)
      #expect(names == properties.map(\.key), "\(kind)")
      for (entry, property) in zip(entries, properties) {
        guard let type = property.value["type"]?.text else { continue }
        #expect(entry.contains("(\(type)"), "\(kind.rawValue) \(entry)")
      }
    }
  }
}
