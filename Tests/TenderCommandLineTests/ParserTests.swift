import TenderCommandLine
import TenderCommands
import TenderModel
import TenderTestSupport
import Testing

@Suite struct ParserTests {
  static func invocation(_ arguments: [String]) throws -> Invocation? {
    guard case .run(let invocation) = try Parser(catalogue).parse(arguments) else { return nil }
    return invocation
  }

  @Test(arguments: [
    ["--json", "transact", "--amount", "5"], ["transact", "--amount=5", "--json"],
    ["transact", "--json", "--amount", "5"],
  ])
  func `takes options anywhere and in both forms`(_ arguments: [String]) throws {
    let invocation = try #require(try Self.invocation(arguments))
    #expect(invocation.command.name == "transact")
    #expect(invocation.text(Keys.amount) == "5")
    #expect(invocation.has(Keys.json))
  }

  @Test func `understands the old name of journal resolve, and offers the new one alone`() throws {
    let line = ["journal", "settle", "A", "--as", "failed", "--reason", "x"]
    let invocation = try #require(try Self.invocation(line))
    #expect(invocation.command.name == "journal resolve")
    let help = try HelpText(catalogue).text(for: ["journal", "resolve"])
    #expect(!help.contains("restored") && !help.contains("--all"))
    #expect(!catalogue.commands.contains { $0.name == "journal settle" })
  }

  @Test(arguments: [
    "refund A --new-attempt", "cancel A --new-attempt", "confirm A --new-attempt",
    "tokenize --idempotency-key K --test-card visa", "journal accept A",
  ])
  func `has no option or operand that means nothing for a command`(_ line: String) throws {
    let fault = #expect(throws: Fault.self) {
      try Parser(catalogue).parse(line.split(separator: " ").map(String.init))
    }
    #expect(fault?.exitStatus == 2)
  }

  @Test func `takes an idempotency key only where the provider takes one`() throws {
    let line = ["transact", "--amount", "1", "--idempotency-key", "K"]
    let invocation = try #require(try Self.invocation(line))
    #expect(invocation.command.users(of: "idempotency-key") == ["truelayer"])
    #expect(throws: Fault.self) { try invocation.checkOptions(for: ProviderName("paytheory")) }
    try invocation.checkOptions(for: ProviderName("truelayer"))
  }

  @Test func `ends options at a double dash, and counts ids as operands`() throws {
    let shown = try #require(try Self.invocation(["confirm", "--", "--odd"]))
    #expect(shown.operands == ["--odd"])
    let looked = try #require(
      try Self.invocation(["payment-status", "A", "--id", "4111111111111111", "-", "-q"])
    )
    #expect(looked.operands == ["A", "-", "4111111111111111"])
    #expect(looked.exemptIDs == ["4111111111111111"])
  }

  @Test func `takes an optional value only with an equals sign`() throws {
    let plain = try #require(try Self.invocation(["confirm", "--wait", "A"]))
    #expect(plain.has(Keys.wait))
    #expect(try plain.value(Keys.wait) == 300_000)
    #expect(plain.operands == ["A"])
    #expect(try Self.invocation(["confirm", "--wait=1m", "A"])?.value(Keys.wait) == 60_000)
  }

  struct Bad: CustomTestStringConvertible {
    let line: String
    let message: String
    let hint: String?

    var testDescription: String { line }
  }

  @Test(arguments: [
    Bad(line: "transcat", message: "unknown command 'transcat'", hint: "did you mean transact?"),
    Bad(
      line: "transact --amuont 5",
      message: "unknown option '--amuont'",
      hint: "did you mean --amount? see: tender help transact"
    ),
    Bad(
      line: "transact --am 5",
      message: "unknown option '--am'",
      hint: "did you mean --amount? see: tender help transact"
    ),
    Bad(
      line: "journal list --zzzzzz",
      message: "unknown option '--zzzzzz'",
      hint: "see: tender help journal list"
    ),
    Bad(
      line: "--zzzzzz transact",
      message: "unknown option '--zzzzzz'",
      hint: "see: tender help"
    ),
    Bad(
      line: "transact --amount",
      message: "--amount needs a value",
      hint: "usage: --amount AMOUNT"
    ),
    Bad(
      line: "transact --amount=",
      message: "--amount needs a value",
      hint: "usage: --amount AMOUNT"
    ),
    Bad(
      line: "transact --amount 5 --amount 6",
      message: "--amount was given twice",
      hint: "give it once"
    ),
    Bad(
      line: "find --limit 1 --limit 2",
      message: "--limit was given twice",
      hint: "give it once"
    ),
    Bad(line: "transact --json=1", message: "--json takes no value", hint: "write --json alone"),
    Bad(
      line: "transact --test-card viza",
      message: "--test-card cannot be 'viza'",
      hint: "did you mean visa? it is one of visa, mastercard, amex, discover"
    ),
    Bad(
      line: "confirm A --rest",
      message: "--rest cannot be used with confirm",
      hint: "see: tender help confirm"
    ),
    Bad(
      line: "confirm A B",
      message: "confirm does not take 'B'",
      hint: "usage: tender confirm [OPTIONS] REF"
    ),
    Bad(
      line: "journal lst",
      message: "journal has no 'lst'",
      hint:
        "did you mean journal list? it has list, show, resume, export, import, migrate, grants, prune, verify, backup, resolve, accept"
    ),
    Bad(
      line: "completion zhs",
      message: "SHELL cannot be 'zhs'",
      hint: "did you mean zsh? it is one of bash, zsh, fish"
    ),
    Bad(line: "-z", message: "unknown option '-z'", hint: nil),
  ])
  func `names what was typed and suggests`(_ bad: Bad) throws {
    let words = bad.line.split(separator: " ").map(String.init)
    let fault = #expect(throws: Fault.self) { try Parser(catalogue).parse(words) }
    #expect(fault?.exitStatus == 2)
    #expect(fault?.message == bad.message)
    if let hint = bad.hint { #expect(fault?.hint == hint) }
  }

  @Test func `asks for help in every way`() throws {
    // Without arguments, it shows a first try. With --help, it lists everything.
    for (line, page) in [
      ([], []), (["--help"], ["tender"]), (["help"], ["tender"]), (["-h"], ["tender"]),
    ] {
      guard case .help(let words, _) = try Parser(catalogue).parse(line), words == page else {
        Issue.record("\(line)")
        continue
      }
    }
    guard
      case .help(["journal", "list"], _) = try Parser(catalogue).parse([
        "journal", "list", "--help",
      ])
    else {
      Issue.record("no help")
      return
    }
    guard case .version = try Parser(catalogue).parse(["--version"]) else {
      Issue.record("no version")
      return
    }
  }

  @Test(arguments: [
    ("30s", 30_000), ("500ms", 500), ("5m", 300_000), ("1h", 3_600_000), ("1d", 86_400_000),
    ("7", 7000),
  ])
  func `reads lengths of time`(_ text: String, _ milliseconds: Int) throws {
    #expect(try TimeText.milliseconds(text, option: "--timeout") == milliseconds)
  }

  @Test(arguments: ["", "s", "0s", "-1s", "1.5s", "25h", "2d", "999999999999h"])
  func `refuses any other length of time`(_ text: String) {
    #expect(throws: Fault.self) { try TimeText.milliseconds(text, option: "--timeout") }
  }
}

@Suite struct CatalogueTests {
  @Test func `has no name twice and an explanation for each`() {
    let names = Dictionary(grouping: catalogue.options.map(\.name)) { $0 }
    // Three names have different meanings for the commands that sum, search, and run a program.
    #expect(names.filter { $0.value.count > 1 }.keys.sorted() == ["by", "expect", "limit"])
    let shorts = catalogue.options.compactMap(\.short)
    #expect(Set(shorts).count == shorts.count)
    let commands = catalogue.commands.map(\.name)
    #expect(Set(commands).count == commands.count)
    for option in catalogue.options {
      #expect(!option.summary.isEmpty && option.summary.allSatisfy(\.isASCII))
    }
    for command in catalogue.commands {
      for name in command.optionNames { #expect(names[name] != nil, "\(command.name) \(name)") }
      #expect(!command.examples.isEmpty, "\(command.name)")
    }
  }

  @Test func `shows help of at most 80 columns for everything`() throws {
    let pages =
      catalogue.commands.map(\.words) + catalogue.topics.map { [$0.name] }
      + catalogue.groups.map { [$0] }
      + [[]]
    for words in pages {
      for line in try HelpText(catalogue).text(for: words).split(separator: "\n") {
        #expect(line.count <= 80, "\(words): \(line)")
      }
    }
  }

  /// A whole page must stay readable.
  @Test func `shows help of at most 120 lines for everything`() throws {
    let pages = catalogue.commands.map(\.words) + catalogue.topics.map { [$0.name] }
    for words in pages {
      for provider in catalogue.modules.map(\.name.text) {
        let text = try HelpText(catalogue, for: provider).text(for: words)
        let count = text.split(separator: "\n", omittingEmptySubsequences: false).count - 1
        // A whole program is copied, not read.
        #expect(count <= (words[0].hasSuffix("-client") ? 140 : 120), "\(words) for \(provider)")
      }
    }
  }

  @Test func `shows the options of one provider, and names the pages of the others`() throws {
    let own = try HelpText(catalogue, for: "toro").text(for: ["transact"])
    #expect(own.contains("--device ADDRESS") && !own.contains("--test-card BRAND"))
    #expect(own.contains("\n  tender transact --provider paytheory --help\n"))
    #expect(!own.contains("\n  tender transact --provider toro --help\n"))
    #expect(try HelpText(catalogue).text(for: ["transact"]).contains("--test-card BRAND"))
    // A command of one provider shows its options for any requested provider.
    let only = try HelpText(catalogue, for: "toro").text(for: ["tokenize"])
    #expect(only.contains("--test-card BRAND"))
  }

  @Test func `shows the options of all commands on one page`() throws {
    let shared = catalogue.options.filter { $0.group == .general }.map { "--" + $0.name }
    let page = try HelpText(catalogue).text(for: ["options"])
    for name in shared { #expect(page.contains(name + " ") || page.contains(name + "\n")) }
    for command in catalogue.commands {
      let text = try HelpText(catalogue).text(for: command.words)
      #expect(text.contains("Shared options: tender help options"), "\(command.name)")
      #expect(!text.contains("      --state-dir"), "\(command.name)")
    }
  }

  @Test(arguments: [
    ("card", "instruments"), ("csv", "output"), ("idempotency", "references"),
    ("read-only", "support"), ("upgrade", "installation"), ("uninstall", "installation"),
    ("keys", "credentials"), ("postgres", "shared-journal"), ("flags", "options"),
  ])
  func `finds a topic by the word that is looked for`(_ word: String, _ topic: String) throws {
    #expect(try HelpText(catalogue).text(for: [word]).hasPrefix(topic + ": "))
  }

  @Test(arguments: [
    ("find", "show every match"), ("journal list", "show every payment"),
    ("journal resume", "every payment with an unknown operation"),
    ("transact", "--all-fields"), ("payment-status", "--all-fields"),
  ])
  func `says what --all does for a command`(_ command: String, _ meaning: String) throws {
    let text = try HelpText(catalogue).text(for: command.split(separator: " ").map(String.init))
    #expect(text.contains(meaning))
  }

  @Test func `has examples that parse`() throws {
    for command in catalogue.commands {
      for example in command.examples {
        let line = example.line.split(separator: "|").last ?? ""
        var words = line.split(separator: " ").map(String.init).drop { $0 != "tender" }.dropFirst()
        if let redirection = words.firstIndex(where: { $0 == "<" || $0 == ">" }) {
          words = words[..<redirection]
        }
        _ = try Parser(catalogue).parse(Array(words))
      }
    }
  }
}

@Suite struct ParserGrowthTests {
  @Test(arguments: [["--metadata", "a=b"], ["--metadata=a=b"], ["--quiet"], ["x"], ["--zzzzzz"]])
  func `reads arguments in time that grows with them alone`(_ piece: [String]) {
    Growth.expectLinear(base: 1000) { size in
      _ = try? Parser(catalogue).parse(
        ["payment-status"] + (0..<(size / piece.count)).flatMap { _ in piece }
      )
    }
  }
}

/// Names of other tools.
@Suite struct SynonymTests {
  @Test func `names the command that does it`() throws {
    let names = catalogue.commands.map(\.name)
    var seen = Set<String>()
    for (command, typed) in Synonyms.words {
      let words = command.split(separator: " ").map(String.init)
      let options = words.filter { $0.hasPrefix("--") }.map { String($0.dropFirst(2)) }
      let name = words.filter { $0.lowercased() == $0 && !$0.hasPrefix("--") }
      let found = try #require(catalogue.command(name), "\(command)")
      #expect(names.contains(found.name) && Set(options).isSubset(of: found.optionNames))
      for word in typed {
        #expect(seen.insert(word).inserted, "\(word) stands there twice")
        #expect(!names.contains(word) && !catalogue.groups.contains(word), "\(word)")
        let fault = #expect(throws: Fault.self) { try Parser(catalogue).parse([word, "X"]) }
        #expect(fault?.hint == "use: tender \(command)")
        #expect(fault?.exitStatus == 2)
        // An option behind it does not hide that the command does not exist.
        let options = ["--forward-to", "--json", "--no-such-option=x", "-Z"]
        for option in options {
          let fault = #expect(throws: Fault.self) { try Parser(catalogue).parse([word, option]) }
          #expect(fault?.hint == "use: tender \(command)", "\(word) \(option)")
        }
        // Some of the words are names of a topic too.
        guard !catalogue.topics.contains(where: { ($0.aliases + [$0.name]).contains(word) }) else {
          continue
        }
        let help = #expect(throws: Fault.self) { try HelpText(catalogue).text(for: [word]) }
        #expect(help?.hint == "use: tender \(command)", "\(word)")
      }
    }
    for word in [
      "charge", "pay", "status", "list", "void", "capture", "lookup", "history", "login", "listen",
      "watch", "man", "receipt", "webhook", "dispute",
    ] {
      #expect(seen.contains(word), "\(word)")
    }
  }
}
