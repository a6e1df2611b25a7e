import Foundation
import TenderModel
import TenderSimulator
import TenderTestSupport
import Testing

#if canImport(Darwin)
private import Darwin
#else
private import Glibc
#endif

/// Kills the program at random moments and runs it again. It must charge once.
///
/// The simulator has separate books in a separate process. Every reference is charged once, or provably not
/// at all.
///
/// `TENDER_KILL_RUNS` asks for more than 150 runs for each provider. `TENDER_KILL_SEED` repeats the moments
/// of an earlier run. A failure prints its seed.
@Suite(.onOwnThread) struct KillTests {
  @Test(arguments: Works.providers)
  func `charges once, whenever it is killed`(_ provider: Works.Provider) throws {
    try Self.prove(provider, Shop(), runs: Works.setting("TENDER_KILL_RUNS", 150))
  }

  /// A provider that is known only in its folder.
  @Test func `charges once with a fourth provider`() throws {
    let shop = try Shop(program: "tender-with-example")
    try Self.prove(Works.example, shop, runs: 60)
  }

  /// Proves it. `successor` runs the same commands again; nil stands for the same machine.
  static func prove(
    _ provider: Works.Provider,
    _ shop: Shop,
    runs: Int,
    successor: Binary? = nil,
    label: String = ""
  ) throws {
    let seed = Works.setting("TENDER_KILL_SEED", Int.random(in: 1..<1_000_000))
    var random = Seeded(seed)
    let binary = shop.binary
    let second = successor ?? binary
    try Works.waitForNothing(second)
    try Works.waitForNothing(binary)
    let books = Works.Books(path: shop.books)
    let works = (0..<runs).map {
      (reference: "K\($0)", work: provider.works[$0 % provider.works.count])
    }
    try Works.batch(works.compactMap { $0.work.before?($0.reference) }, binary) { result in
      #expect(result.status == 0, "\(result.errors)")
    }
    var usual = usualTime(binary) { Works.words(provider.works[0].line("USUAL\($0)")) }
    var killed = 0
    for (number, (reference, work)) in works.enumerated() {
      var words = Works.words(work.line(reference))
      if !work.faults.isEmpty, random.below(3) == 0 {
        words += ["--sim-fault", work.faults[random.below(work.faults.count)]]
      }
      // From before its start until after its end.
      if Victim.run(words, binary, killedAfter: random.below(usual)) {
        killed += 1
      } else if killed * 2 < number {
        // The machine is less busy than during the measurement.
        usual -= usual / 10
      }
    }
    #expect(killed > runs / 4, "\(killed) of \(runs) were killed; seed \(seed)")
    // The same command again, for each of them.
    var undone = 0
    var done = 0
    var open: Set<String> = []
    let rows = try Works.again(works.map { $0.work.line($0.reference) }, second)
    #expect(rows.count == runs, "seed \(seed)")
    for ((reference, work), row) in zip(works, rows) {
      // A refund with the card is an operation of its payment.
      #expect([reference, reference + "-O"].contains(row.text("reference")))
      let result = Works.result(row)
      try work.check(books, reference, result)
      if result.status == 12 { undone += 1 } else if result.status == 0 { done += 1 }
      if work.isKeyless, result.status == 9 { open.insert(reference) }
    }
    // Nothing that the provider could resolve is left, except requests without a key.
    let left = try second.run("journal", "list", "--status", "unknown", "--all", "--json")
    let names = Set(left.records.compactMap { $0.text("reference") })
    #expect(names == open, "seed \(seed): \(left.output)")
    let third = try second.run("journal", "resume", "--all", "--json")
    #expect(third.status == (open.isEmpty ? 0 : 9), "seed \(seed): \(third.output)")
    print(
      "\(provider.name)\(label): \(runs) runs, \(killed) killed alive, \(undone) undone, "
        + "\(done) done once, \(left.records.count) unknown (seed \(seed))"
    )
  }

  /// Returns the usual duration of a command on this machine, in microseconds. `words` gets a number.
  static func usualTime(_ binary: Binary, _ words: (Int) -> [String]) -> Int {
    let clock = ContinuousClock()
    let times = (0..<6).map { number in
      clock.measure { _ = Victim.run(words(number), binary, killedAfter: nil) }
    }
    let usual = times.sorted()[2].components
    return Int(usual.seconds) * 1_000_000 + Int(usual.attoseconds / 1_000_000_000_000)
  }
}

/// The program as a child process, whose end is noticed at once.
enum Victim {
  /// Runs it without its output, and kills it after some microseconds. Returns true if it was still running.
  static func run(_ words: [String], _ binary: Binary, killedAfter moment: Int?) -> Bool {
    let environment = ["HOME": binary.home.path, "PATH": "/usr/bin:/bin"]
      .merging(binary.variables) { $1 }
    var arguments: [UnsafeMutablePointer<CChar>?] =
      unsafe ([binary.executable.path] + words).map { unsafe strdup($0) } + [nil]
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
      unsafe posix_spawn(&process, binary.executable.path, &actions, nil, &arguments, &variables)
        == 0
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
