import Foundation
import TenderModel
import TenderTestSupport
import Testing

#if os(Linux)
/// Fails each write, sync and send of each command once, in five ways.
///
/// A full disk, a failing disk, a locked database, SIGKILL and a power cut (unsynced sectors are lost by
/// chance) strike at one system call each. The command's output must then agree with the provider's books.
/// The same command afterwards has exactly one effect. `TENDER_FAULT_STRIDE` chooses the calls (1 for every
/// one). `TENDER_FAULT_SEED` chooses the sectors that a power cut loses.
@Suite(.serialized, .onOwnThread) struct FaultMatrixTests {
  static let kinds = ["enospc", "eio", "busy", "kill", "power"]

  /// Exits that mean that nothing happened.
  static let saysNone: Set<Int32> = [2, 4, 7, 10, 11, 16, 17, 19]

  /// One command struck at one call.
  struct Strike {
    let work: Works.Work
    let reference: String
    let kind: String
    let call: Int
  }

  @Test(arguments: Works.providers)
  func `says what is so, whatever call fails`(_ provider: Works.Provider) throws {
    let stride = Works.setting("TENDER_FAULT_STRIDE", 41)
    let seed = Works.setting("TENDER_FAULT_SEED", Int.random(in: 1..<1_000_000))
    let shop = try Shop()
    let binary = shop.binary
    try Works.waitForNothing(binary)
    let books = Works.Books(path: shop.books)
    let strikes = try strikes(provider, stride, seed, binary)
    let before = strikes.compactMap { $0.work.before?($0.reference) }
    if !before.isEmpty {
      try Works.batch(before, binary) { result in
        #expect(result.status == 0, "\(result.errors)")
      }
    }
    var exits: [Int32: Int] = [:]
    for strike in strikes {
      let exit = try run(strike, seed, binary)
      exits[exit, default: 0] += 1
      let name = "\(strike.kind):\(strike.call) of \(strike.reference), seed \(seed)"
      let made = try strike.work.effects?(books, strike.reference)
      if Self.saysNone.contains(exit) { #expect(made ?? 0 == 0, "\(exit) at \(name)") }
      if exit == 0 { #expect(made ?? 1 == 1, "\(name)") }
      if exit == 12 { #expect(made ?? 0 == 0, "\(name)") }
      let isKnown = [0, 9, 12, 137].contains(exit) || Self.saysNone.contains(exit)
      #expect(isKnown, "\(exit) at \(name)")
    }
    try finish(strikes, exits, provider, books, binary, seed)
  }

  /// Runs the same commands again, and checks their results.
  private func finish(
    _ strikes: [Strike],
    _ exits: [Int32: Int],
    _ provider: Works.Provider,
    _ books: Works.Books,
    _ binary: Binary,
    _ seed: Int
  ) throws {
    var done = 0
    var undone = 0
    var open: Set<String> = []
    let rows = try Works.again(strikes.map { $0.work.line($0.reference) }, binary)
    #expect(rows.count == strikes.count, "seed \(seed)")
    for (strike, row) in zip(strikes, rows) {
      let result = Works.result(row)
      try strike.work.check(books, strike.reference, result)
      if result.status == 0 { done += 1 } else if result.status == 12 { undone += 1 }
      let name = "\(strike.kind):\(strike.call) of \(strike.reference), seed \(seed)"
      let isOpen = strike.work.isKeyless && result.status == 9
      if isOpen { open.insert(strike.reference) }
      #expect([0, 12].contains(result.status) || isOpen, "\(result.status) after \(name): \(row)")
    }
    let left = try binary.run("journal", "list", "--status", "unknown", "--all", "--json")
    let names = Set(left.records.compactMap { $0.text("reference") })
    #expect(names == open, "seed \(seed): \(left.output)")
    let verified = try binary.run("journal", "verify", "--json")
    #expect(verified.status == 0, "seed \(seed): \(verified.output)")
    let first = exits.sorted { $0.key < $1.key }.map { "\($0.value) x \($0.key)" }
    print(
      "\(provider.name): \(strikes.count) faults at \(Set(strikes.map(\.call)).count) calls, first "
        + "exits \(first.joined(separator: ", ")); then \(done) done once, \(undone) undone, "
        + "\(left.records.count) unknown (seed \(seed))"
    )
  }

  /// Every kind of fault at every N-th call of every command. Other runs cover the other calls of the stride.
  private func strikes(
    _ provider: Works.Provider,
    _ stride: Int,
    _ seed: Int,
    _ binary: Binary
  ) throws -> [Strike] {
    var found: [Strike] = []
    for (number, work) in provider.works.enumerated() {
      // The first run creates the files. The second one counts.
      var calls = 0
      for turn in 0..<2 {
        let reference = "COUNT\(number)-\(turn)"
        if let line = work.before?(reference) {
          try Works.batch([line], binary) { #expect($0.status == 0, "\($0.errors)") }
        }
        let report = binary.home.appending(path: "calls")
        let words = Works.words(work.line(reference))
        #expect(try run(words, "count:0", seed, binary, report: report.path) == 0)
        let text = try String(contentsOf: report, encoding: .utf8)
        calls = Int(text.trimmingCharacters(in: .whitespacesAndNewlines)) ?? 0
      }
      #expect(calls > 10)
      var place = seed % stride
      for call in 1...calls + 2 {
        for kind in Self.kinds {
          place += 1
          guard place % stride == 0 else { continue }
          found.append(
            Strike(work: work, reference: "F\(number)-\(kind)-\(call)", kind: kind, call: call)
          )
        }
      }
    }
    return found
  }

  /// A request is on the disk as sent before it leaves. Its outcome is on the disk before the program ends.
  @Test(arguments: Works.providers)
  func `syncs before it sends, and before it ends`(_ provider: Works.Provider) throws {
    let shop = try Shop()
    let binary = shop.binary
    // The first run creates the files.
    for reference in ["A", "B"] {
      let log = binary.home.appending(path: "log").path
      var watched = binary
      watched.variables["TENDER_FAULT_LOG"] = log
      let words = Works.words(provider.works[0].line(reference))
      #expect(try run(words, "count:0", 1, watched) == 0)
      let calls = try String(contentsOfFile: log, encoding: .utf8).split(separator: "\n")
      let effecting = try #require(calls.lastIndex { $0.hasPrefix("send") })
      // A new file survives only with its entry in the folder.
      if reference == "A" { #expect(calls[..<effecting].contains("sync tender")) }
      guard reference == "B" else { continue }
      for part in [calls[..<effecting], calls[effecting...]] {
        let written = try #require(part.lastIndex(of: "write journal.db-wal"))
        let synced = try #require(part.lastIndex(of: "sync journal.db-wal"))
        #expect(written < synced)
      }
      #expect(calls[..<effecting].contains("write .tender.tender-mark"))
      // A card payment waits for the disk only at the send and at the outcome.
      let syncs = calls.count { $0.hasPrefix("sync ") }
      if provider.name == "paytheory" { #expect(syncs == 2, "\(calls)") }
    }
  }

  /// Many payments at once share syncs. A shown line was already on the disk.
  ///
  /// With 64 at once each round has a new journal, so that its creation is struck too.
  @Test(arguments: kinds, [6, 64])
  func `a batch says what is so, whatever call fails`(_ kind: String, _ jobs: Int) throws {
    let rounds = 1 + 40 / Works.setting("TENDER_FAULT_STRIDE", 41)
    let count = jobs == 6 ? 12 : 64
    let seed = Works.setting("TENDER_FAULT_SEED", Int.random(in: 1..<1_000_000))
    let shop = try Shop()
    let binary = shop.binary
    try Works.waitForNothing(binary)
    let books = Works.Books(path: shop.books)
    func lines(_ round: Int) -> [String] {
      (0..<count).map { Works.card("\(kind)-\(round)-\($0)") }
    }
    func place(_ round: Int) -> [String] {
      let folder = binary.home.appending(path: ".local/state/tender\(jobs == 6 ? "" : "-\(round)")")
      return ["--state-dir", folder.path]
    }
    func words(_ round: Int) throws -> [String] {
      let path = try Works.write(lines(round), binary)
      return ["batch", path, "--jobs", "\(jobs)", "--json"] + place(round)
    }
    let report = binary.home.appending(path: "calls")
    #expect(try run(words(-1), "count:0", seed, binary, report: report.path) == 0)
    let text = try String(contentsOf: report, encoding: .utf8)
    let calls = try #require(Int(text.trimmingCharacters(in: .whitespacesAndNewlines)))
    var random = Seeded(seed)
    for round in 0..<rounds {
      let call = random.below(calls) + 1
      let name = "\(kind):\(call) of round \(round), seed \(seed)"
      var broken = binary.faulty("\(kind):\(call)")
      broken.variables["TENDER_FAULT_SEED"] = "\(seed &+ call)"
      let first = try broken.run(words(round))
      for row in first.records where row["record"] == "payment" {
        let reference = row.text("reference") ?? ""
        let charges = try books.charges(reference)
        let exit = Int32(row["error"]?["exit"]?.wholeNumber ?? 0)
        if exit == 0 { #expect(charges == 1, "\(reference) at \(name)") }
        if Self.saysNone.contains(exit) { #expect(charges == 0, "\(reference) at \(name)") }
      }
      let again = try binary.run(words(round))
      #expect(again.status == 0, "\(name): \(again.output)")
      var replayed: Set<String> = []
      for row in again.records where row["replayed"] == true {
        replayed.insert(row.text("reference") ?? "")
      }
      for row in first.records where row["status"] == "succeeded" {
        #expect(replayed.contains(row.text("reference") ?? ""), "\(row) is forgotten at \(name)")
      }
      for number in 0..<count {
        let reference = "\(kind)-\(round)-\(number)"
        #expect(try books.charges(reference) == 1, "\(reference) at \(name)")
      }
      let verified = try binary.run(["journal", "verify", "--json"] + place(round))
      #expect(verified.status == 0, "\(name): \(verified.output)")
    }
    print(
      "batch --jobs \(jobs): \(rounds) \(kind) faults at random calls of \(calls), each line charged "
        + "once"
    )
  }

  /// All connections of a batch use one log. Its folder is synced once, and the log is short afterwards.
  @Test func `a batch syncs the folder of its log once, and leaves a short log`() throws {
    let shop = try Shop()
    let binary = shop.binary
    let path = try Works.write((0..<64).map { Works.card("L\($0)") }, binary)
    let batch = try syncs(["batch", path, "--jobs", "32", "--json"], binary)
    let folders = batch.count { $0 == "sync tender" }
    // For the log, the keys, and the creation of the database.
    #expect(folders <= 4, "\(folders)")
    let left = try FileManager.default.attributesOfItem(atPath: shop.journal + "-wal")[.size]
    #expect(left as? Int ?? .max <= 8192)
    #expect(try syncs(Works.words(Works.card("NEXT")), binary).count == 2)
  }

  /// A power failure can lose the name of a new file. The log's name is on the disk before its content counts.
  @Test func `the folder of a new log is synced at its first commit`() throws {
    let shop = try Shop()
    let calls = try syncs(Works.words(Works.card("FIRST")), shop.binary)
    let place = try #require(calls.firstIndex(of: "sync journal.db-wal"))
    #expect(calls[place...].dropFirst().first == "sync tender", "\(calls)")
  }

  /// Returns the syncs of a command, in order, each with the name of its file or folder.
  private func syncs(_ words: [String], _ binary: Binary) throws -> [Substring] {
    var binary = binary
    let log = binary.home.appending(path: "log").path
    binary.variables["TENDER_FAULT_LOG"] = log
    #expect(try run(words, "count:0", 1, binary) == 0)
    let calls = try String(contentsOfFile: log, encoding: .utf8).split(separator: "\n")
    return calls.filter { $0.hasPrefix("sync ") }
  }

  private func run(_ strike: Strike, _ seed: Int, _ binary: Binary) throws -> Int32 {
    let words = Works.words(strike.work.line(strike.reference))
    return try run(words, "\(strike.kind):\(strike.call)", seed &+ strike.call, binary)
  }

  private func run(
    _ words: [String],
    _ fault: String,
    _ seed: Int,
    _ binary: Binary,
    report: String? = nil
  ) throws -> Int32 {
    var struck = binary.faulty(fault)
    struck.variables["TENDER_FAULT_SEED"] = "\(seed)"
    if let report { struck.variables["TENDER_FAULT_REPORT"] = report }
    return try struck.run(words).status
  }
}
#endif
