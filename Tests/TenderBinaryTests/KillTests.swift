import Foundation
import TenderModel
import TenderSimulator
import TenderTestSupport
import TenderWire
import Testing

#if canImport(Darwin)
private import Darwin
#else
private import Glibc
#endif

/// The proof: the program is killed at random moments and run again, and charges once.
///
/// The simulator keeps its own books in its own process. Every reference is charged once, or provably
/// not at all.
///
/// `TENDER_KILL_RUNS` asks for more than 300 runs a provider, `TENDER_KILL_SEED` for the moments of an
/// earlier time, which a failure names.
@Suite struct KillTests {
  /// What is killed, and what must have come of it in the books.
  struct Work: Sendable {
    /// A line of a batch that makes what is worked on; nil where nothing has to be there.
    var before: (@Sendable (String) -> String)?
    /// The command, as a line of a batch: the same words.
    var line: @Sendable (String) -> String
    /// Faults that make the other side fail at the same time.
    var faults: [String] = []
    /// What the books have of a reference once its command ended with an exit.
    var check: @Sendable (Books, String, Binary.Result) throws -> Void
  }

  struct Provider: Sendable, CustomTestStringConvertible {
    let name: String
    let works: [Work]

    var testDescription: String { name }
  }

  /// The simulator's own books.
  struct Books: Sendable {
    let path: String

    func charges(_ reference: String) throws -> Int {
      try LedgerAudit.charges(path: path, reference: reference)
    }

    func reversals(_ reference: String) throws -> Int {
      try LedgerAudit.reversals(path: path, reference: reference)
    }

    func sales(
      _ reference: String
    ) throws -> (authorised: Int, standing: Int, captured: Int) {
      try LedgerAudit.sales(path: path, reference: reference)
    }

    func bankPayments(_ reference: String) throws -> (made: Int, authorized: Int) {
      try LedgerAudit.bankPayments(path: path, reference: reference)
    }
  }

  private static func card(_ reference: String, _ more: String = "") -> String {
    """
    {"command":"transact","provider":"paytheory","reference":"\(reference)","amount":"10.50",\
    "test_card":"visa"\(more)}
    """
  }

  private static func later(_ command: String, _ provider: String) -> @Sendable (String) -> String {
    { reference in
      """
      {"command":"\(command)","provider":"\(provider)","reference":"\(reference)"}
      """
    }
  }

  private static let payTheory = Provider(
    name: "paytheory",
    works: [
      Work(
        line: { card($0) },
        faults: ["part2:drop-after", "part2:drop-before", "part1:close-after", "part2:garbage"],
        check: { books, reference, result in
          let charges = try books.charges(reference)
          #expect(charges == 1)
          #expect(result.status == 0, "\(reference)")
        }
      ),
      Work(
        before: { card($0, #","confirmation":true"#) },
        line: later("confirm", "paytheory"),
        faults: ["part2:drop-after", "part2:wrong-key"],
        check: { books, reference, result in
          let charges = try books.charges(reference)
          #expect(charges == 1)
          #expect(result.status == 0, "\(reference)")
        }
      ),
      Work(
        before: { card($0) },
        line: later("cancel", "paytheory"),
        check: { books, reference, result in
          let reversals = try books.reversals(reference)
          #expect(reversals <= 1)
          let charges = try books.charges(reference)
          #expect(charges == 1)
          #expect(result.status == 0, "\(reference)")
        }
      ),
    ]
  )

  private static func sale(_ reference: String, _ more: String = "") -> String {
    """
    {"command":"transact","provider":"toro","reference":"\(reference)","amount":"10.50"\(more)}
    """
  }

  private static let toro = Provider(
    name: "toro",
    works: [
      Work(
        line: { sale($0) },
        faults: [
          "authorisation:close-after", "authorisation:bad-mac", "authorisation:close-before",
          "authorisation:http-500",
        ],
        check: { books, reference, result in
          // One sale that stands, or one that was undone and said so.
          let isUndone = result.status == 12
          #expect(result.status == 0 || isUndone, "\(reference)")
          let sales = try books.sales(reference).standing
          #expect(sales == (isUndone ? 0 : 1))
        }
      ),
      Work(
        before: { sale($0, #","no_capture":true"#) },
        line: later("confirm", "toro"),
        faults: ["completion:close-after*1", "completion:wrong-exchange*1"],
        check: { books, reference, result in
          #expect(result.status == 0, "\(reference)")
          let sales = try books.sales(reference)
          #expect(sales == (1, 1, 1))
        }
      ),
      Work(
        before: { sale($0) },
        line: later("cancel", "toro"),
        faults: ["cancellation:close-after*1", "cancellation:truncated*1"],
        check: { books, reference, result in
          #expect(result.status == 0, "\(reference)")
          let sales = try books.sales(reference)
          #expect(sales == (1, 0, 0))
        }
      ),
    ]
  )

  private static func bank(_ reference: String, _ more: String = "") -> String {
    """
    {"command":"transact","provider":"truelayer","reference":"\(reference)","amount":"10",\
    "bank":"mock-payments-gb-redirect","merchant_account":"8d5e4f3a-2b1c-4d6e-9f80-a1b2c3d4e5f6",\
    "redirect_url":"https://shop.example/return",\
    "user":{"name":"Remi","email":"remi@example.com"}\(more)}
    """
  }

  private static let trueLayer = Provider(
    name: "truelayer",
    works: [
      Work(
        line: { bank($0) },
        faults: ["create:close-after", "create:http-500", "consent:close-after"],
        check: { books, reference, result in
          let bankPayments = try books.bankPayments(reference).made
          #expect(bankPayments == 1)
          #expect(result.status == 0, "\(reference)")
        }
      ),
      Work(
        before: { bank($0) },
        line: later("cancel", "truelayer"),
        faults: ["bank-cancel:close-after"],
        check: { books, reference, result in
          let bankPayments = try books.bankPayments(reference).made
          #expect(bankPayments == 1)
          #expect(result.status == 0, "\(reference)")
          #expect(result.record.text("status") == "cancelled")
        }
      ),
    ]
  )

  static let providers = [payTheory, toro, trueLayer]

  private static func setting(_ name: String, _ otherwise: Int) -> Int {
    ProcessInfo.processInfo.environment[name].flatMap { Int($0) } ?? otherwise
  }

  @Test(arguments: providers)
  func `charges once, whenever it is killed`(_ provider: Provider) throws {
    let runs = Self.setting("TENDER_KILL_RUNS", 300)
    let seed = Self.setting("TENDER_KILL_SEED", Int.random(in: 1..<1_000_000))
    var random = Moments(seed: seed)
    let server = try Binary()
    defer { server.remove() }
    let (process, output, _) = try server.start(["simulator", "serve", "--json"])
    defer {
      process.terminate()
      process.waitUntilExit()
    }
    var binary = try Binary()
    defer { binary.remove() }
    for (name, value) in try Served.addresses(output) { binary.variables[name] = value }
    // This other side does nothing late.
    let config = binary.home.appending(path: ".config/tender")
    try FileManager.default.createDirectory(at: config, withIntermediateDirectories: true)
    try Data(#"{"schema":1,"default_profile":"p","profiles":{"p":{"late_window":"0s"}}}"#.utf8)
      .write(to: config.appending(path: "config.json"))
    let books = Books(
      path: server.home.appending(path: ".local/state/tender/simulator.db").path
    )
    let works = (0..<runs).map {
      (reference: "K\($0)", work: provider.works[$0 % provider.works.count])
    }
    try batch(works.compactMap { $0.work.before?($0.reference) }, binary) { result in
      #expect(result.status == 0, "\(result.errors)")
    }
    let usual = usualTime(provider, binary)
    var killed = 0
    for (reference, work) in works {
      var words = Self.words(work.line(reference))
      if !work.faults.isEmpty, random.next(3) == 0 {
        words += ["--sim-fault", work.faults[random.next(work.faults.count)]]
      }
      // Anywhere from before it has begun to after it has ended.
      if Victim.run(words, binary, killedAfter: random.next(usual)) { killed += 1 }
    }
    #expect(killed > runs / 4, "\(killed) of \(runs) were killed; seed \(seed)")
    // The same command again, for each of them.
    var undone = 0
    try batch(works.map { $0.work.line($0.reference) }, binary) { result in
      let rows = result.records.dropLast()
      #expect(rows.count == runs, "seed \(seed)")
      for ((reference, work), row) in zip(works, rows) {
        #expect(row.text("reference") == reference)
        let exit = row["error"]?["exit"]?.wholeNumber ?? 0
        let line = Binary.Result(
          status: Int32(exit),
          output: JSONWriter.text(.object(row)),
          errors: ""
        )
        try work.check(books, reference, line)
        if exit == 12 { undone += 1 }
      }
    }
    // Nothing is left that the provider could have answered.
    let left = try binary.run("journal", "list", "--status", "unknown", "--all", "--json")
    #expect(left.output == "", "seed \(seed)")
    let third = try binary.run("journal", "resume", "--all", "--json")
    #expect(third.status == 0 && third.output == "", "seed \(seed)")
    print(
      "\(provider.name): \(runs) runs, \(killed) killed alive, \(undone) undone, "
        + "\(runs - undone) done once, 0 unknown (seed \(seed))"
    )
  }

  /// Runs lines as one batch.
  private func batch(
    _ lines: [String],
    _ binary: Binary,
    _ check: (Binary.Result) throws -> Void
  ) throws {
    let file = binary.home.appending(path: "lines.jsonl")
    try Data(lines.joined(separator: "\n").utf8).write(to: file)
    try check(try binary.run("batch", file.path, "--ordered", "--json"))
  }

  /// A line of a batch as the words of a command line.
  private static func words(_ line: String) -> [String] {
    guard let object = JSONReader.read(line)?.object, let command = object.text("command") else {
      return []
    }
    var words = [command, "--json", "--no-input"]
    for member in object.members where member.key != "command" {
      let option = "--" + member.key.replacing("_", with: "-")
      switch member.value {
      case .string(let text) where member.key == "reference" && command != "transact":
        words.append(text)
      case .string(let text): words += [option, text]
      case .object(let pairs):
        for pair in pairs.members { words += [option, "\(pair.key)=\(pair.value.text ?? "")"] }
      default: words.append(option)
      }
    }
    return words
  }

  /// How long one command takes on this machine now, in microseconds.
  private func usualTime(_ provider: Provider, _ binary: Binary) -> Int {
    let clock = ContinuousClock()
    let times = (0..<6).map { number in
      clock.measure {
        _ = Victim.run(
          Self.words(provider.works[0].line("USUAL\(number)")),
          binary,
          killedAfter: nil
        )
      }
    }
    let usual = times.sorted()[2].components
    return Int(usual.seconds) * 1_000_000 + Int(usual.attoseconds / 1_000_000_000_000)
  }
}

/// The program as a bare child process, whose end is known at once.
enum Victim {
  /// Runs it with its output thrown away, and kills it after so many microseconds; true where it was
  /// still alive then.
  static func run(_ words: [String], _ binary: Binary, killedAfter moment: Int?) -> Bool {
    let environment = ["HOME": binary.home.path, "PATH": "/usr/bin:/bin"]
      .merging(binary.variables) { $1 }
    var arguments: [UnsafeMutablePointer<CChar>?] =
      unsafe ([Binary.path.path] + words).map { unsafe strdup($0) } + [nil]
    var variables: [UnsafeMutablePointer<CChar>?] =
      unsafe environment.map { unsafe strdup("\($0.key)=\($0.value)") } + [nil]
    defer {
      for index in unsafe arguments.indices { unsafe free(arguments[index]) }
      for index in unsafe variables.indices { unsafe free(variables[index]) }
    }
    var actions = unsafe posix_spawn_file_actions_t()
    unsafe posix_spawn_file_actions_init(&actions)
    defer { unsafe posix_spawn_file_actions_destroy(&actions) }
    for descriptor: Int32 in 0...2 {
      unsafe posix_spawn_file_actions_addopen(&actions, descriptor, "/dev/null", O_RDWR, 0)
    }
    var process: pid_t = 0
    guard
      unsafe posix_spawn(&process, Binary.path.path, &actions, nil, &arguments, &variables) == 0
    else { return false }
    if let moment {
      usleep(UInt32(moment))
      kill(process, SIGKILL)
    }
    var status: Int32 = 0
    unsafe waitpid(process, &status, 0)
    return status & 0x7f == SIGKILL
  }
}

/// Random moments that a seed repeats (SplitMix64).
struct Moments {
  private var state: UInt64

  init(seed: Int) { state = UInt64(bitPattern: Int64(seed)) }

  /// A number below `limit`.
  mutating func next(_ limit: Int) -> Int {
    state &+= 0x9e37_79b9_7f4a_7c15
    var value = state
    value = (value ^ value >> 30) &* 0xbf58_476d_1ce4_e5b9
    value = (value ^ value >> 27) &* 0x94d0_49bb_1331_11eb
    return Int((value ^ value >> 31) % UInt64(max(1, limit)))
  }
}

/// What `simulator serve` says that it serves.
enum Served {
  /// The variables that point there, once all have been said.
  static func addresses(_ output: Pipe) throws -> [String: String] {
    var said = ""
    while !said.contains("TENDER_TRUELAYER_AUTH_URL") {
      let more = output.fileHandleForReading.availableData
      guard !more.isEmpty else { break }
      said += String(decoding: more, as: UTF8.self)
    }
    var addresses: [String: String] = [:]
    for line in said.split(separator: "\n") {
      guard let record = JSONReader.read(String(line))?.object, let name = record.text("name")
      else {
        continue
      }
      addresses[name] = record.text("value")
    }
    return addresses
  }
}
