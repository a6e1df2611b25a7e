import TenderEngine
import TenderJournal
import TenderModel

#if canImport(Darwin)
private import Darwin
#else
private import Glibc
#endif

/// Measures the time of the journal and of a look-up in a large one. Also compares a batch with a process for
/// each payment.
enum JournalBench {
  static func run(_ tender: String, _ folder: String, _ rounds: Int) {
    // A journal that other users can read is refused.
    umask(0o077)
    _ = unsafe mkdir(folder, 0o700)
    do {
      try cost(folder + "/cost")
      batch(tender, folder)
      try lookUp(tender, folder, rounds)
    } catch {
      print("bench: \(error)")
      exit(1)
    }
  }

  private static func journal(_ folder: String) throws -> SQLiteJournal {
    _ = unsafe mkdir(folder, 0o700)
    return try SQLiteJournal(folder: folder, redactor: Redactor())
  }

  /// The three writes of a payment: opened, sent, its outcome. The last two are synced.
  private static func cost(_ folder: String) throws {
    let journal = try journal(folder)
    var times: [Double] = []
    for number in 0..<200 {
      let start = Bench.now()
      var payment = try journal.open(
        Filler.prepared("R\(number)", at: 1_800_000_000_000),
        OpeningTerms(),
        .process
      )
      try move(&payment, .send, to: .sent(at: 1_800_000_000_001, moment: nil))
      try journal.update(&payment, 1, note: "sent", .power)
      try move(&payment, .answer, to: .succeeded)
      try journal.update(&payment, 1, note: "outcome", .power)
      times.append(Bench.now() - start)
    }
    print(
      "the journal's part of a payment: \(Bench.decimal(Bench.median(times))) ms (200 payments)"
    )
  }

  private static func move(
    _ payment: inout Payment,
    _ event: Operation.Event,
    to state: Operation.State
  ) throws {
    try payment.change(1) { operation throws(Fault) in
      try operation.move(event, to: state, at: 1_800_000_000_002)
      if state == .succeeded {
        operation.result = [
          "type": "PT_COMPLETE", "body": ["receipt_number": "pt-1", "amount": 1050],
        ]
      }
    }
  }

  /// A thousand payments: as one batch, and as a process for each of them. Both have four at once.
  private static func batch(_ tender: String, _ folder: String) {
    let lines = (0..<1000).map { number in
      """
      {"command":"transact","reference":"B\(number)","amount":"10.50","test_card":"visa"}
      """
    }
    PaymentBench.put(lines.joined(separator: "\n"), folder + "/lines.jsonl")
    PaymentBench.put((0..<1000).map { "X\($0)" }.joined(separator: "\n"), folder + "/names.txt")
    var contestants = [
      Bench.Contestant(
        name: "tender batch --jobs 4, 1,000",
        arguments: [
          tender, "batch", folder + "/lines.jsonl", "--jobs", "4", "--state-dir", folder + "/batch",
        ],
        target: nil
      ),
      Bench.Contestant(
        name: "xargs -P4 tender transact, 1,000",
        arguments: [
          "/usr/bin/xargs", "-P4", "-I{}", tender, "transact", "--amount", "10.50", "--test-card",
          "visa", "--json", "--state-dir", folder + "/each", "--reference", "{}",
        ],
        target: nil,
        input: folder + "/names.txt"
      ),
    ]
    Bench.race(&contestants, 1, warmUp: 0)
    Bench.report(contestants, 1)
  }

  /// One payment by its reference, among a thousand and among a million.
  private static func lookUp(_ tender: String, _ folder: String, _ rounds: Int) throws {
    for (name, count) in [("/thousand", 1000), ("/million", 1_000_000)] {
      try Filler.fill(folder + name, count) { number in
        try Filler.payment("R\(number)", id: "pt-\(number)", at: 1_800_000_000_000 + number)
      }
    }
    var contestants = ["/thousand", "/million"].map { name in
      Bench.Contestant(
        name: name == "/thousand" ? "journal show, among 1,000" : "journal show, among 1,000,000",
        arguments: [tender, "journal", "show", "R500", "--json", "--state-dir", folder + name],
        target: name == "/thousand" ? nil : 2
      )
    }
    Bench.race(&contestants, rounds)
    Bench.report(contestants, rounds)
  }
}
