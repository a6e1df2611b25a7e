#if canImport(Darwin)
private import Darwin
#else
private import Glibc
#endif

/// Measures commands side by side: every round runs each of them once, so that whatever else the
/// machine does falls on all of them alike.
@main
struct Bench {
  private struct Contestant {
    let name: String
    let arguments: [String]
    /// How many times as long as the first one it may take; nil for no target.
    let target: Double?
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
    ]
    for round in 0..<(rounds + 3) {
      for index in contestants.indices {
        guard let result = run(contestants[index].arguments) else { continue }
        // The first rounds fill caches.
        if round >= 3 { contestants[index].milliseconds.append(result.milliseconds) }
        contestants[index].kilobytes = max(contestants[index].kilobytes, result.kilobytes)
      }
    }
    report(contestants, rounds)
  }

  private static func report(_ contestants: [Contestant], _ rounds: Int) {
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

  private static func median(_ values: [Double]) -> Double {
    values.isEmpty ? 0 : values.sorted()[values.count / 2]
  }

  private static func decimal(_ value: Double) -> String {
    let hundredths = Int((value * 100).rounded())
    return "\(hundredths / 100).\(String(100 + hundredths % 100).dropFirst())"
  }

  private static func pad(_ text: String, _ width: Int) -> String {
    text + String(repeating: " ", count: max(1, width - text.count))
  }

  /// Runs a program with its output thrown away; nil where it cannot be run or is killed.
  private static func run(_ arguments: [String]) -> (milliseconds: Double, kilobytes: Int)? {
    var words: [UnsafeMutablePointer<CChar>?] = unsafe arguments.map { unsafe strdup($0) }
    unsafe words.append(nil)
    defer { for index in unsafe words.indices { unsafe free(words[index]) } }
    var actions = unsafe posix_spawn_file_actions_t()
    unsafe posix_spawn_file_actions_init(&actions)
    defer { unsafe posix_spawn_file_actions_destroy(&actions) }
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
    guard unsafe wait4(process, &status, 0, &usage) == process, status & 0x7f == 0 else {
      return nil
    }
    return (now() - start, usage.ru_maxrss)
  }

  private static func now() -> Double {
    var time = timespec()
    unsafe clock_gettime(CLOCK_MONOTONIC, &time)
    return Double(time.tv_sec) * 1000 + Double(time.tv_nsec) / 1_000_000
  }
}
