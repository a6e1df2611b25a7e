import Foundation
import TenderModel
import TenderSimulator
import TenderTestSupport
import Testing

/// Runs commands of all kinds in any order, by two processes, with lost answers, kills and power cuts. After
/// each, the provider's books, the journal and the records agree to the minor unit.
///
/// `TENDER_BOOKS` is the number of histories for each provider, `TENDER_KILL_SEED` the seed.
@Suite(.onOwnThread) struct HistoryTests {
  @Test(arguments: Shelf.all.indices)
  func `books, journal and records agree after any commands`(_ index: Int) throws {
    let shop = try Shop()
    try Works.waitForNothing(shop.binary)
    // Two processes with one journal.
    let run = try HistoryRun(Shelf.all[index], [shop.binary, shop.binary], books: shop.books)
    try run.all(Works.setting("TENDER_BOOKS", 12))
    #expect(run.problems == [])
  }
}

/// Runs histories at one provider, one after the other.
final class HistoryRun {
  private let shelf: Shelf
  private let machines: [Binary]
  private let books: String
  private let seed: Int
  private var random: Seeded
  /// The duration of a command, in microseconds.
  private let usual: Int
  private(set) var problems: [String] = []
  private var count = (
    commands: 0, killed: 0, struck: 0, pairs: 0, unknown: 0, apart: 0, double: 0, beside: 0
  )
  /// Whether a killed command may have left a request that its simulator still executes.
  private var isUnderWay = false
  /// A second home with another journal, at a provider that can be looked at; nil for a fleet.
  private let other: Binary?
  /// Whether the other journal gave money back. The first one knows that after a look.
  private var isBeside = false
  /// The log of the current reference.
  private var said: [String] = []

  init(_ shelf: Shelf, _ machines: [Binary], books: String) throws {
    self.shelf = shelf
    self.machines = machines
    self.books = books
    seed = Works.setting("TENDER_KILL_SEED", Int.random(in: 1..<1_000_000))
    random = Seeded(seed)
    let isShared = machines[0].variables["TENDER_JOURNAL"] != nil
    var other = isShared || shelf.name == "toro" ? nil : try Binary()
    other?.program = machines[0].program
    other?.variables = machines[0].variables
    self.other = other
    usual = KillTests.usualTime(machines[0]) { number in
      var draws = Seeded(number)
      return shelf.first(&draws, "USUAL\(number)") + Self.common(shelf)
    }
  }

  deinit { other?.remove() }

  private static func common(_ shelf: Shelf) -> [String] {
    ["--provider", shelf.name, "--json", "--no-input"]
  }

  /// Runs some histories. `strike` happens once in each, while two commands run.
  func all(_ histories: Int, strike: (() throws -> Void)? = nil) throws {
    for number in 0..<histories { try history("H\(number)", strike) }
    print(
      "\(shelf.name)\(strike == nil ? "" : ", database struck"): \(histories) histories, \(count.commands) commands, \(count.killed) killed, "
        + "\(count.struck) struck, \(count.pairs) pairs at once, \(count.unknown) unknown in the end, "
        + "\(count.apart) with --finish, \(count.double) of them doubled, \(count.beside) refunds by another journal, "
        + "\(problems.count) contradictions (seed \(seed))"
    )
  }

  private func history(_ reference: String, _ strike: (() throws -> Void)?) throws {
    (said, isBeside) = ([], false)
    // A request that only `--finish` repeats may then take effect twice. Such histories are counted
    // separately.
    let isApart = shelf.isKeyless && random.below(6) == 0
    let first = shelf.first(&random, reference)
    let steps = 5 + random.below(8)
    let moment = 1 + random.below(steps - 1)
    for step in 0..<steps {
      var words = first
      if step > 0, random.below(8) > 0 { words = shelf.later(&random, reference) }
      if isApart, random.below(4) == 0 { words = Self.finish(reference) }
      if step > 0, !isApart, random.below(5) == 0 { try refundBeside(reference) }
      if step == moment, let strike {
        try pair(words, shelf.later(&random, reference), strike)
      } else {
        try self.step(words, reference)
      }
    }
    try end(reference, isApart: isApart)
  }

  /// Gives money back by the id, as another journal does. The portal would do the same.
  private func refundBeside(_ reference: String) throws {
    let shown = try machines[0].run(words(["journal", "show", reference]))
    guard let other, let id = shown.record.text("id") else { return }
    let before = try shelf.money(books, reference)
    let command = random.below(4) == 0 ? ["cancel", id] : ["refund", id, "--amount", "0.31"]
    let result = try other.run(words(command))
    guard try shelf.money(books, reference).kept < before.kept else { return }
    isBeside = true
    count.beside += 1
    said.append("elsewhere, \(command[0])= \(result.status)")
  }

  private static func finish(_ reference: String) -> [String] {
    ["journal", "resume", reference, "--finish", "--yes"]
  }

  private func words(_ command: [String]) -> [String] {
    // Commands of the journal find the provider by the reference.
    command + (command[0] == "journal" ? ["--json", "--no-input"] : Self.common(shelf))
  }

  private var machine: Binary { machines[random.below(machines.count)] }

  /// Runs one command in a random way: undisturbed, killed, beside another command, with a failing system
  /// call, or with a fault.
  private func step(_ command: [String], _ reference: String) throws {
    count.commands += 1
    var line = words(command)
    switch random.below(10) {
    case 0:
      let isKilled = Victim.run(line, machine, killedAfter: random.below(usual))
      count.killed += isKilled ? 1 : 0
      isUnderWay = isKilled
      said.append("\(command.joined(separator: " ")): \(isKilled ? "killed" : "ended")")
    case 1:
      try pair(command, shelf.later(&random, reference)) {}
    case 2:
      let kinds = ["enospc", "eio", "busy", "kill", "power"]
      var broken = machine
      #if os(Linux)
      broken = broken.faulty("\(kinds[random.below(kinds.count)]):\(1 + random.below(60))")
      broken.variables["TENDER_FAULT_SEED"] = "\(random.below(1_000_000))"
      #endif
      count.struck += 1
      try judge(command, line, broken, reference)
    case 3, 4, 5:
      let faults = shelf.faults(command[0])
      if command[0] != "journal", command[0] != "payment-status" {
        line += ["--sim-fault", faults[random.below(faults.count)]]
      }
      try judge(command, line, machine, reference)
    default: try judge(command, line, machine, reference)
    }
  }

  /// Runs two commands at once, with an event in between.
  private func pair(_ one: [String], _ other: [String], _ strike: () throws -> Void) throws {
    count.pairs += 1
    let runs = try [one, other].map { try machine.start(words($0)) }
    try strike()
    for (command, run) in zip([one, other], runs) {
      _ = run.1.fileHandleForReading.readDataToEndOfFile()
      _ = run.2.fileHandleForReading.readDataToEndOfFile()
      run.0.waitUntilExit()
      said.append("\(command.joined(separator: " ")) & \(run.0.terminationStatus)")
    }
  }

  /// Runs a command, and compares its output with the books.
  private func judge(
    _ command: [String],
    _ line: [String],
    _ binary: Binary,
    _ reference: String
  ) throws {
    let before = try shelf.money(books, reference)
    let result = try binary.run(line)
    let after = try shelf.money(books, reference)
    let fault = result.errorRecord["error"] ?? result.record["error"]
    let extra = line.dropFirst(words(command).count).joined(separator: " ")
    said.append("\(command.joined(separator: " ")) \(extra)= \(result.status)")
    defer { isUnderWay = result.status >= 128 }
    guard !isUnderWay else { return }
    // A sale or refund at the reader first undoes the rest of an earlier try.
    let isUndoing = shelf.name == "toro" && command[0] == "transact"
    let hasMoved =
      isUndoing
      ? after.returned > before.returned || after.standing > before.standing
      : before.kept != after.kept || before.standing != after.standing
    if fault?["effect"] == "none", hasMoved {
      tell("says that nothing happened: \(before); then \(after)", reference)
    }
    let isReversal = ["refund", "cancel"].contains(command[0])
    if isBeside, isReversal, after.kept < before.kept {
      tell("gives money back beside another journal: \(before); then \(after)", reference)
    }
    // Without a look, the journal does not know what another one did.
    guard result.record.text("reference") == reference, !isBeside else { return }
    let shown = Shown(result.record)
    if !shown.isUnknown, shown.kept != after.kept { tell("\(shown), books: \(after)", reference) }
  }

  /// The end: everything is looked up without faults, and all views agree.
  private func end(_ reference: String, isApart: Bool) throws {
    let binary = machines[0]
    try whenFree(["journal", "resume", reference], binary)
    if !shelf.isKeyless {
      // Refunds at the reader have separate references.
      for reference in shelf.refunds(reference) + [reference] {
        try whenFree(Self.finish(reference), binary)
      }
    }
    let views = try [
      ["payment-status", reference], ["journal", "show", reference], ["find", reference],
    ]
    .map { try binary.run(words($0)) }
    let money = try shelf.money(books, reference)
    guard let record = views[1].records.first else {
      if money.standing > 0 { tell("not in the journal: \(money)", reference) }
      return
    }
    let shown = Shown(record)
    for view in views where Shown(view.record) != shown {
      tell("\(Shown(view.record)) and \(shown)", reference)
    }
    if isApart { count.apart += 1 }
    if shown.isUnknown {
      count.unknown += 1
    } else if shown.kept != money.kept || shown.refunding != money.refunding || money.standing > 1 {
      if isApart { count.double += 1 } else { tell("\(shown), books: \(money)", reference) }
    }
  }

  /// Runs a command once no lease of a killed process is left.
  private func whenFree(_ command: [String], _ binary: Binary) throws {
    let end = ContinuousClock.now + .seconds(30)
    while true {
      let result = try binary.run(words(command))
      let isTaken = result.errorRecord["error"]?["code"] == "in_progress"
      guard isTaken, ContinuousClock.now < end else { return }
    }
  }

  private func tell(_ problem: String, _ reference: String) {
    problems.append("\(shelf.name) \(reference), seed \(seed): \(problem) \(said)")
  }
}

/// The money of a payment, by its record.
struct Shown: Equatable, CustomStringConvertible {
  let status: String
  let captured: Int
  let returned: Int
  let refunding: Int
  let isUnknown: Bool

  init(_ record: JSONObject) {
    status = record.text("status") ?? ""
    captured = record["captured_amount"]?.wholeNumber ?? 0
    returned = record["refunded_amount"]?.wholeNumber ?? 0
    refunding = record["refunding_amount"]?.wholeNumber ?? 0
    isUnknown = (record["operations"]?.array ?? []).contains { $0["status"] == "unknown" }
  }

  /// The amount that the merchant retains.
  var kept: Int { status == "cancelled" ? 0 : captured - returned - refunding }

  var description: String {
    "\(status): captured \(captured), returned \(returned), refunding \(refunding)"
  }
}
