#if canImport(Darwin)
private import Darwin
#else
private import Glibc
#endif

/// Measures commands side by side: every round runs each of them once, so that whatever else the
/// machine does falls on all of them alike.
@main
struct Bench {
  struct Contestant {
    let name: String
    let arguments: [String]
    /// How many times as long as the first one it may take; nil for no target.
    let target: Double?
    /// A file that is its standard input.
    var input: String?
    var milliseconds: [Double] = []
    var kilobytes = 0
  }

  static func main() {
    let arguments = Array(CommandLine.arguments.dropFirst())
    guard let tender = arguments.first, let folder = arguments.dropFirst().first else {
      print("usage: bench TENDER STATE-DIR [ROUNDS]")
      exit(2)
    }
    let rounds = arguments.dropFirst(2).first.flatMap { Int($0) } ?? 100
    if arguments.count == 4, arguments[3] == "journal" {
      return JournalBench.run(tender, folder, rounds)
    }
    if arguments.count == 4, arguments[3] == "million" {
      return MillionBench.run(tender, folder, rounds)
    }
    if arguments.count == 5 {
      return bank(tender, folder, rounds, address: arguments[3], certificate: arguments[4])
    }
    let state = ["--state-dir", folder, "--json", "--quiet"]
    let pay = ["transact", "--amount", "10.50", "--test-card", "visa"] + state
    guard
      run([tender] + pay + ["--reference", "BENCH"]) != nil
    else {
      print("bench: \(tender) cannot be run")
      exit(1)
    }
    var contestants = [
      Contestant(name: "curl --version", arguments: ["/usr/bin/curl", "--version"], target: nil),
      Contestant(name: "tender --version", arguments: [tender, "--version"], target: 0.45),
      Contestant(name: "tender transact (simulator)", arguments: [tender] + pay, target: 1.2),
      Contestant(
        name: "tender payment-status (simulator)",
        arguments: [tender, "payment-status", "BENCH"] + state,
        target: nil
      ),
      Contestant(
        name: "tender transact, chip and PIN",
        arguments: [tender, "transact", "--provider", "toro", "--amount", "10.50"] + state,
        target: 2.5
      ),
    ]
    race(&contestants, rounds)
    report(contestants, rounds)
  }

  /// Looks bank payments up at a server that gives one published answer to everything: `bank.sh`
  /// starts it, and puts ids and curl's configuration into the folder.
  private static func bank(
    _ tender: String,
    _ folder: String,
    _ rounds: Int,
    address: String,
    certificate: String
  ) {
    let token = "Authorization: Bearer benchmark-resource-token"
    let curl = ["/usr/bin/curl", "-s", "--cacert", certificate, "-H", token]
    let look = [tender, "payment-status", "--json", "--state-dir", folder + "/state"]
    let id = "0cd1b0f7-71bc-4d24-b209-95259dadcc20"
    var single = [
      Contestant(
        name: "curl, one payment",
        arguments: curl + ["\(address)/v3/payments/\(id)"],
        target: nil
      ),
      Contestant(name: "tender payment-status ID", arguments: look + [id], target: 1.25),
    ]
    race(&single, rounds)
    report(single, rounds)
    let ids = folder + "/ids.txt"
    var many = [
      Contestant(
        name: "curl --parallel -K, 1,000",
        arguments: curl + ["--parallel", "-K", folder + "/curl.cfg"],
        target: nil
      ),
      Contestant(
        name: "tender payment-status -, 1,000",
        arguments: look + ["-"],
        target: 3,
        input: ids
      ),
    ]
    race(&many, 10)
    report(many, 10)
    let each =
      ["/usr/bin/xargs", "-I{}"] + curl + ["\(address)/v3/payments/{}", "-o", "/dev/null"]
    var slow = [
      Contestant(
        name: "tender payment-status -, 1,000",
        arguments: look + ["-"],
        target: nil,
        input: ids
      ),
      Contestant(name: "xargs -n1 curl, 1,000", arguments: each, target: nil, input: ids),
      Contestant(
        name: "tender payment-status -, 10,000",
        arguments: look + ["-"],
        target: nil,
        input: folder + "/ids10.txt"
      ),
    ]
    race(&slow, 1, warmUp: 0)
    report(slow, 1)
    let ratio = median(slow[1].milliseconds) / median(slow[0].milliseconds)
    print("tender is \(decimal(ratio)) times as fast as xargs -n1 curl (target at least 30)")
  }

  /// Runs each contestant once a round.
  static func race(_ contestants: inout [Contestant], _ rounds: Int, warmUp: Int = 3) {
    for round in 0..<(rounds + warmUp) {
      for index in contestants.indices {
        let contestant = contestants[index]
        guard let result = run(contestant.arguments, input: contestant.input) else { continue }
        // The first rounds fill caches.
        if round >= warmUp { contestants[index].milliseconds.append(result.milliseconds) }
        contestants[index].kilobytes = max(contestants[index].kilobytes, result.kilobytes)
      }
    }
  }

  static func report(_ contestants: [Contestant], _ rounds: Int) {
    print("median of \(rounds) rounds, the commands in turn within each")
    let base = median(contestants[0].milliseconds)
    for contestant in contestants {
      let time = median(contestant.milliseconds)
      var line = pad(contestant.name, 36) + pad(decimal(time) + " ms", 11)
      line += pad(decimal(time / base) + "x", 8)
      line += pad(decimal(Double(contestant.kilobytes) / 1024) + " MB", 11)
      if let target = contestant.target { line += "target at most \(decimal(target))x" }
      print(line)
    }
  }

  static func median(_ values: [Double]) -> Double {
    values.isEmpty ? 0 : values.sorted()[values.count / 2]
  }

  static func decimal(_ value: Double) -> String {
    let hundredths = Int((value * 100).rounded())
    return "\(hundredths / 100).\(String(100 + hundredths % 100).dropFirst())"
  }

  static func pad(_ text: String, _ width: Int) -> String {
    text + String(repeating: " ", count: max(1, width - text.count))
  }

  /// Runs a program with its output thrown away; nil where it cannot be run or is killed.
  static func run(
    _ arguments: [String],
    input: String? = nil
  ) -> (milliseconds: Double, kilobytes: Int)? {
    var words: [UnsafeMutablePointer<CChar>?] = unsafe arguments.map { unsafe strdup($0) }
    unsafe words.append(nil)
    defer { for index in unsafe words.indices { unsafe free(words[index]) } }
    var actions = unsafe posix_spawn_file_actions_t()
    unsafe posix_spawn_file_actions_init(&actions)
    defer { unsafe posix_spawn_file_actions_destroy(&actions) }
    unsafe posix_spawn_file_actions_addopen(&actions, 0, input ?? "/dev/null", O_RDONLY, 0)
    for descriptor: Int32 in [1, 2] {
      unsafe posix_spawn_file_actions_addopen(&actions, descriptor, "/dev/null", O_WRONLY, 0)
    }
    var process: pid_t = 0
    let start = now()
    guard unsafe posix_spawn(&process, arguments[0], &actions, nil, words, environ) == 0 else {
      return nil
    }
    var status: Int32 = 0
    var usage = rusage()
    // What fails at once would look fast.
    guard unsafe wait4(process, &status, 0, &usage) == process, status == 0 else {
      print("bench: \(arguments.prefix(3).joined(separator: " ")) … ended with \(status >> 8)")
      exit(1)
    }
    return (now() - start, usage.ru_maxrss)
  }

  private static func now() -> Double {
    var time = timespec()
    unsafe clock_gettime(CLOCK_MONOTONIC, &time)
    return Double(time.tv_sec) * 1000 + Double(time.tv_nsec) / 1_000_000
  }
}
