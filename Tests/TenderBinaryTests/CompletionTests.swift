import Foundation
import TenderTestSupport
import Testing

/// Completion of typed lines, in the shells themselves.
@Suite struct CompletionTests {
  enum Shell: String, CaseIterable, Sendable {
    case bash, zsh, fish

    var path: String? {
      ["/bin/", "/usr/bin/"].map { $0 + rawValue }.first {
        FileManager.default.isExecutableFile(atPath: $0)
      }
    }
  }

  /// The typed text, the words that must be offered, and those that must not.
  struct Line: Sendable {
    let typed: String
    let offered: [String]
    var missing: [String] = []
  }

  static let lines = [
    Line(
      typed: "tender journal ",
      offered: ["backup", "export", "resolve"],
      missing: ["transact"]
    ),
    Line(typed: "tender simulator ", offered: ["reset", "scenarios", "serve"]),
    Line(typed: "tender config ", offered: ["check", "show"]),
    Line(
      typed: "tender transact --provider ",
      offered: ["paytheory", "toro", "truelayer"],
      missing: ["--amount"]
    ),
    Line(typed: "tender transact --provider=t", offered: ["toro", "truelayer"]),
    Line(typed: "tender payment-status SHOP", offered: ["SHOP-1", "SHOP-2"], missing: ["OTHER-1"]),
    Line(typed: "tender transact --profile ", offered: ["desk", "till"]),
    Line(typed: "tender find --status re", offered: ["refunded", "returned", "revoked"]),
    Line(typed: "tender explain insuff", offered: ["insufficient_funds"]),
    Line(typed: "tender transact --sim-fault part1:re", offered: ["reset-after", "reset-before"]),
    Line(typed: "tender transact --sim-scenario decline:e", offered: ["exceeds_approval_limit"]),
    Line(typed: "tender batch lin", offered: ["lines-1.jsonl", "lines-2.jsonl"]),
    Line(typed: "tender help exit", offered: ["exit-status"]),
    Line(typed: "tender transact --test-card visa --amo", offered: ["--amount", "--amount-minor"]),
  ]

  private func shop() throws -> (Binary, URL) {
    let binary = try Binary()
    for reference in ["SHOP-1", "SHOP-2", "OTHER-1"] {
      let paid = try binary.run(
        "transact",
        "--amount",
        "5",
        "--test-card",
        "visa",
        "--reference",
        reference,
        "--json"
      )
      #expect(paid.status == 0)
    }
    let config = binary.home.appending(path: ".config/tender")
    try FileManager.default.createDirectory(at: config, withIntermediateDirectories: true)
    try #"{"profiles":{"desk":{},"till":{}}}"#
      .write(to: config.appending(path: "config.json"), atomically: true, encoding: .utf8)
    let bin = binary.home.appending(path: "bin")
    try FileManager.default.createDirectory(at: bin, withIntermediateDirectories: true)
    try FileManager.default.createSymbolicLink(
      at: bin.appending(path: "tender"),
      withDestinationURL: binary.executable
    )
    for name in ["lines-1.jsonl", "lines-2.jsonl"] {
      try Data().write(to: binary.home.appending(path: name))
    }
    return (binary, bin)
  }

  /// Returns a shell's screen after a typed line and the tab key.
  private func screen(_ shell: Shell, _ line: Line) throws -> String {
    let path = try #require(shell.path)
    var (binary, bin) = try shop()
    defer { binary.remove() }
    binary.variables = ["PATH": "\(bin.path):/usr/bin:/bin", "PS1": "go> ", "PROMPT": "go> "]
    let ready = "cd \(binary.home.path); echo rea''dy\n"
    switch shell {
    case .bash:
      return try binary.onTerminal(
        ["--norc", "--noprofile", "-i"],
        [
          (
            "go> ",
            "source \(Project.path("completions/tender.bash")); "
              + "bind 'set show-all-if-ambiguous on'; \(ready)"
          ),
          ("ready\r", line.typed + "\t\t"), (line.offered.last ?? "", "\u{15}exit\n"),
        ],
        height: 50,
        by: [path]
      ).screen
    case .zsh:
      let load =
        "autoload -U compinit; compinit -u -D; source \(Project.path("completions/_tender"))"
      return try binary.onTerminal(
        ["-f", "-i"],
        [
          ("go> ", "\(load); \(ready)"), ("ready\r", line.typed + "\t\t"),
          // The last of them is not always drawn last.
          (line.offered.joined(separator: "\0"), "\u{3}\u{15}exit\n"),
        ],
        height: 50,
        by: [path]
      ).screen
    case .fish:
      let load = "source \(Project.path("completions/tender.fish")); cd \(binary.home.path)"
      return try binary.onTerminal(
        ["--no-config", "-c", "\(load); complete -C '\(line.typed)'"],
        [],
        height: 50,
        by: [path]
      ).screen
    }
  }

  @Test(.enabled(if: Shell.bash.path != nil, "bash is not installed"), arguments: lines)
  func `completes in bash`(_ line: Line) throws { try judge(.bash, line) }

  @Test(.enabled(if: Shell.zsh.path != nil, "zsh is not installed"), arguments: lines)
  func `completes in zsh`(_ line: Line) throws { try judge(.zsh, line) }

  @Test(.enabled(if: Shell.fish.path != nil, "fish is not installed"), arguments: lines)
  func `completes in fish`(_ line: Line) throws { try judge(.fish, line) }

  private func judge(_ shell: Shell, _ line: Line) throws {
    let screen = try screen(shell, line)
    for word in line.offered {
      #expect(screen.contains(word), "\(shell.rawValue) \(line.typed): \(screen)")
    }
    for word in line.missing {
      #expect(!screen.contains(word), "\(shell.rawValue) \(line.typed): \(screen)")
    }
  }

  /// The same if a person types and presses the tab key and the return key.
  @Test(
    arguments: [Shell.bash, .zsh],
    [
      "EVIL$(touch pwned)", "EVIL`touch pwned`", "EVIL;touch pwned", "EVIL\ntouch pwned", "EVIL~!x",
      "EVIL\\n", "EVIL:x\\",
    ]
  )
  func `a reference that is completed and entered runs nothing`(
    _ shell: Shell,
    _ reference: String
  ) throws {
    guard let path = shell.path else { return }
    var (binary, bin) = try shop()
    defer { binary.remove() }
    // A reference with a line break is refused, so there is nothing to complete.
    let isMade =
      try binary.run([
        "transact", "--amount", "5", "--test-card", "visa", "--reference", reference,
      ]).status == 0
    binary.variables = ["PATH": "\(bin.path):/usr/bin:/bin", "PS1": "go> ", "PROMPT": "go> "]
    let ready = "cd \(binary.home.path); echo rea''dy\n"
    let (words, load) =
      shell == .bash
      ? (["--norc", "--noprofile", "-i"], "source \(Project.path("completions/tender.bash")); ")
      : (
        ["-f", "-i"],
        "autoload -U compinit; compinit -u -D; source \(Project.path("completions/_tender")); "
      )
    let screen = try binary.onTerminal(
      words,
      [
        ("go> ", load + ready), ("ready\r", "tender journal show EV\t"),
        ("show EV", "\r echo do''ne\n"), ("done\r", "exit\n"),
      ],
      height: 50,
      by: [path]
    ).screen
    #expect(screen.contains("done"), "\(shell): \(screen)")
    #expect(!isMade || !screen.contains("payment_not_found"), "\(shell): \(screen)")
    #expect(!FileManager.default.fileExists(atPath: binary.home.path + "/pwned"), "\(screen)")
  }

  /// A completed reference is quoted, and never executed.
  @Test(
    .enabled(if: Shell.bash.path != nil, "bash is not installed"),
    arguments: [
      "EVIL$(touch pwned)", "EVIL`touch pwned`", "EVIL;touch pwned", "EVIL 'x' \"y\"", "EVIL*",
      "EVIL!x",
      "EVIL&touch pwned", "EVIL|touch pwned", "EVIL>pwned", "EVIL\\",
    ]
  )
  func `a completed reference runs nothing`(_ reference: String) throws {
    let binary = try Binary()
    defer { binary.remove() }
    let paid = try binary.run([
      "transact", "--amount", "5", "--test-card", "visa", "--reference", reference, "--json",
    ])
    #expect(paid.status == 0)
    try Data().write(to: binary.home.appending(path: "EVILfile"))
    let script = """
      cd \(binary.home.path); source \(Project.path("completions/tender.bash"))
      COMP_WORDS=(\(binary.executable.path) journal show EV); COMP_CWORD=3
      COMP_LINE="tender journal show EV"; COMP_POINT=${#COMP_LINE}
      _tender
      eval "set -- ${COMPREPLY[0]}"
      printf '%s' "$1"
      """
    let shell = Process()
    shell.executableURL = URL(filePath: Shell.bash.path ?? "")
    shell.arguments = ["--norc", "--noprofile", "-c", script]
    shell.environment = ["HOME": binary.home.path, "PATH": "/usr/bin:/bin"]
    let pipe = Pipe()
    shell.standardOutput = pipe
    try shell.run()
    let typed = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    shell.waitUntilExit()
    #expect(typed == reference)
    #expect(!FileManager.default.fileExists(atPath: binary.home.path + "/pwned"))
  }

  @Test(arguments: [("bash", "tender.bash"), ("zsh", "_tender"), ("fish", "tender.fish")])
  func `prints the script of a shell`(_ shell: String, _ file: String) throws {
    let binary = try Binary()
    defer { binary.remove() }
    #expect(try binary.run("completion", shell).output == Project.text("completions/" + file))
  }

  /// bash replaces only the text after the last = or :.
  @Test func `answers bash with what is left to type`() throws {
    let binary = try Binary()
    defer { binary.remove() }
    func answer(_ words: String...) throws -> [String] {
      try binary.run(["__complete"] + words).output.split(separator: "\n").map { line in
        String(line.prefix { $0 != "\t" })
      }
    }
    #expect(try answer("bash", "tender transact --provider=t") == ["toro", "truelayer"])
    let faults = try answer("bash", "tender transact --sim-fault part1:re")
    #expect(faults == ["reset-before", "reset-after"])
    #expect(
      try answer("zsh", "transact", "--provider=t") == ["--provider=toro", "--provider=truelayer"]
    )
  }

  /// A reference with a dash is a value behind `--` alone. fish would expand a tilde at the start.
  @Test func `completes a reference that begins with a sign where it is read as one`() throws {
    let binary = try Binary()
    defer { binary.remove() }
    for reference in ["-DASH", "~/TILDE"] {
      let pay = ["transact", "--amount", "5", "--test-card", "visa", "--reference=" + reference]
      #expect(try binary.run(pay).status == 0)
    }
    func answer(_ words: String...) throws -> [String] {
      try binary.run(["__complete"] + words).output.split(separator: "\n").map { line in
        String(line.prefix { $0 != "\t" })
      }
    }
    #expect(try answer("zsh", "journal", "show", "") == ["~/TILDE"])
    #expect(try answer("fish", "journal", "show", "") == [])
    #expect(try answer("bash", "tender journal show -- ") == ["~/TILDE", "-DASH"])
    for shell in ["zsh", "fish"] {
      #expect(try answer(shell, "journal", "show", "--", "-D") == ["-DASH"])
      #expect(try answer(shell, "journal", "show", "-D") == [])
    }
    #expect(try binary.run("journal", "show", "--json", "--", "-DASH").status == 0)
  }

  @Test func `says nothing wrong where nothing can be completed`() throws {
    let binary = try Binary()
    defer { binary.remove() }
    for words in [
      [], ["bash"], ["bash", ""], ["zsh", "nothing", ""], ["zsh", "journal", "nothing", ""],
      ["fish", "transact", "--nothing=", "x"], ["zsh", "--amount", ""], ["bash", "tender --"],
      ["bash", String(repeating: "x ", count: 5000)],
    ] {
      let result = try binary.run(["__complete"] + words)
      #expect(result.status == 0)
      #expect(result.errors.isEmpty)
    }
    // Nothing is created, and no missing journal is opened.
    let state = binary.home.appending(path: ".local").path
    #expect(!FileManager.default.fileExists(atPath: state))
  }
}
