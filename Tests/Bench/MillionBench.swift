import TenderEngine
import TenderModel

#if canImport(Darwin)
private import Darwin
#else
private import Glibc
#endif

/// Measures the journal's commands with a thousand and with a million payments.
///
/// They have orders, answers, times and histories like real ones. They span two years, one in fifty is
/// declined, and a thousand of the million are not final.
enum MillionBench {
  /// The number of rows that every filter below selects, at the same places in both journals.
  private static let rare = 500

  static func run(_ tender: String, _ folder: String, _ rounds: Int) {
    umask(0o077)
    _ = unsafe mkdir(folder, 0o700)
    do {
      for (name, count) in [("/thousand", 1000), ("/million", 1_000_000)] {
        try fill(folder + name, count)
      }
    } catch {
      print("bench: \(error)")
      exit(1)
    }
    for words in [
      ["journal", "show", "ORDER-0000500"], ["find", "--customer", "ada500@example.com"],
      ["find", "--metadata", "order=500"],
      ["find", "--trace-id", "trace-500"], ["find", "--failure", "stolen"],
      ["find", "--amount", "1234.56"], ["find", "--last-four", "0500"],
      ["find", "--status", "unknown"], ["find", "--status", "open"],
      ["find", "--status", "returned"], ["find", "--provider", "toro"], ["find", "--env", "live"],
      ["find", "--currency", "GBP"], ["find", "ORDER-00005*"], ["find", "*-0000500"],
      ["find", "--since", "2026-11-20T12:00:00Z"], ["find", "*R-0000500*"], ["journal", "list"],
    ] {
      compare(tender, words, folder, rounds)
    }
    // The thousand payments do not include this payer.
    let payer = ["find", "--customer", "lovelace500000"]
    compare(tender, payer, folder, rounds, exitOfThousand: 5)
    // The provider has none of the payments in `sent`, so they stay unknown.
    compare(tender, ["journal", "resume", "--all"], folder, rounds, exit: 9)
    for (words, target) in [
      (["journal", "export"], "at least 40,000/s"),
      (["journal", "list", "--all", "-o", "table"], "at most 64 MB"),
    ] {
      let results = (0..<3).map { _ in
        Bench.run([tender] + words + ["--state-dir", folder + "/million"])
      }
      let rates = results.map { Int(1_000_000_000 / $0.milliseconds) }.sorted()
      let kilobytes = results.map(\.kilobytes).max() ?? 0
      print(
        Bench.pad(words.joined(separator: " "), 44)
          + Bench.pad("\(rates[0]) to \(rates[2])/s", 18)
          + Bench.pad(Bench.decimal(Double(kilobytes) / 1024) + " MB", 11) + "target \(target)"
      )
    }
    for words in [["totals"], ["totals", "--by", "day,provider,status"]] {
      let result = Bench.run([tender] + words + ["--state-dir", folder + "/million"])
      print(
        Bench.pad(words.joined(separator: " "), 44)
          + Bench.pad("\(Int(result.milliseconds)) ms", 10) + "target at most 1000 ms"
      )
    }
    prune(tender, folder + "/million")
  }

  /// Measures the same among very many. Ten million take 40 GB.
  static func runLarge(_ tender: String, _ folder: String, _ rounds: Int, _ count: Int) {
    umask(0o077)
    _ = unsafe mkdir(folder, 0o700)
    do {
      for (name, count) in [("/thousand", 1000), ("/large", count)] {
        try fill(folder + name, count)
      }
    } catch {
      print("bench: \(error)")
      exit(1)
    }
    var status = stat()
    _ = unsafe stat(folder + "/large/journal.db", &status)
    print(
      Bench.pad("the file of \(count) payments", 44)
        + Bench.pad("\(Int(status.st_size) / count) bytes each", 21) + "target at most 1200"
    )
    let pay = ["transact", "--amount", "10.50", "--test-card", "visa"]
    for words in [
      ["journal", "show", "ORDER-0000500"], ["find", "--customer", "ada500@example.com"],
      ["find", "--last-four", "0500"], ["find", "ORDER-00005*"], ["journal", "list"], pay,
    ] {
      compare(tender, words, folder, rounds, "/large", target: "1.3x")
    }
    // A tenth of them: payments begin at a time and are of two years.
    let before = "2027-03-29"
    let start = Bench.now()
    let prune = ["journal", "prune", "--before", before, "--env", "simulator", "--yes"]
    Bench.run([tender] + prune + ["--state-dir", folder + "/large"])
    let rate = Int(Double(count / 10) * 1000 / (Bench.now() - start))
    print(Bench.pad("journal prune", 44) + Bench.pad("\(rate)/s", 10) + "target at least 20,000/s")
  }

  /// Prints the longest time of a payment while a million payments are deleted, and the rate of the deletion.
  private static func prune(_ tender: String, _ folder: String) {
    // The one live payment stays, because deleting it needs an approval.
    let pruning = Bench.begin([
      tender, "journal", "prune", "--before", "2030-01-01", "--env", "simulator", "--yes",
      "--state-dir", folder,
    ])
    let start = Bench.now()
    var times: [Double] = []
    var status: Int32 = 0
    while times.count < 200, unsafe waitpid(pruning, &status, WNOHANG) == 0 {
      let pay = [tender, "transact", "--amount", "1", "--test-card", "visa", "--state-dir", folder]
      times.append(Bench.run(pay + ["--reference", "P\(times.count)"]).milliseconds)
    }
    guard times.count == 200 else {
      Bench.fail("journal prune ended with \(status >> 8) after \(times.count) payments")
    }
    guard unsafe waitpid(pruning, &status, 0) == pruning, status == 0 else {
      Bench.fail("journal prune ended with \(status >> 8)")
    }
    print(
      Bench.pad("a payment during journal prune", 44)
        + Bench.pad(Bench.decimal(Bench.median(times)) + " ms", 10)
        + "longest of 200: \(Bench.decimal(times.max() ?? 0)) ms"
    )
    let rate = Int(1_000_000_000 / (Bench.now() - start))
    print(Bench.pad("journal prune", 44) + Bench.pad("\(rate)/s", 10) + "target at least 20,000/s")
  }

  private static func compare(
    _ tender: String,
    _ words: [String],
    _ folder: String,
    _ rounds: Int,
    _ large: String = "/million",
    target: String = "2x",
    exit: Int32 = 0,
    exitOfThousand: Int32? = nil
  ) {
    var contestants = ["/thousand", large].map { name in
      Bench.Contestant(
        name: name,
        arguments: [tender] + words + ["--state-dir", folder + name, "--output", "table"],
        target: nil,
        exit: name == "/thousand" ? exitOfThousand ?? exit : exit
      )
    }
    Bench.race(&contestants, rounds)
    let times = contestants.map { Bench.median($0.milliseconds) }
    print(
      Bench.pad(words.joined(separator: " "), 44) + Bench.pad(Bench.decimal(times[0]) + " ms", 10)
        + Bench.pad(Bench.decimal(times[1]) + " ms", 11)
        + Bench.pad(Bench.decimal(times[1] / times[0]) + "x", 8) + "target at most \(target)"
    )
  }

  /// Creates a journal of `count` payments.
  ///
  /// Rare statuses have the same number in both. The newest payment is of today.
  private static func fill(_ folder: String, _ count: Int) throws {
    try Filler.fill(folder, count) { number in
      let isRare = number == rare
      let name = String(repeating: "0", count: 7 - String(number).count) + String(number)
      let time = 1_800_000_000_000 + number * (63_072_000_000 / count)
      var payment = try Filler.payment(
        "ORDER-\(name)",
        id: "pt-\(number)",
        amount: isRare ? 123_456 : 1000 + number % 90_000,
        at: time
      )
      payment.lastFour = isRare ? "0500" : String(1000 + number % 9000)
      if number == rare + 1 {
        payment.key = ReferenceKey(
          env: .live,
          provider: ProviderName("toro"),
          reference: payment.reference
        )
        payment.currency = Currency(code: "GBP")
      }
      try payment.change(1) { charge throws(Fault) in
        charge.content["metadata"] = ["order": .integer(number)]
        charge.content["payor"] = [
          "email": .string("ada\(number)@example.com"),
          "name": .string("Ada Lovelace\(number)"),
        ]
        charge.result["trace_id"] = .string("trace-\(number)")
        charge.state = state(number, at: time)
        if isRare { charge.fault = Fault(.declined, code: "stolen_card", "it is stolen") }
        if case .declined = charge.state {
          charge.fault = Fault(.declined, code: "insufficient_funds", "insufficient funds")
        }
      }
      return payment
    }
  }

  private static func state(_ number: Int, at time: Int) -> Operation.State {
    switch number {
    case rare: .returned
    case rare + 2: .sent(at: time, moment: nil)
    case rare + 3: .processing
    default: number % 50 == 49 ? .declined : .succeeded
    }
  }
}
