#if canImport(Darwin)
private import Darwin
#else
private import Glibc
#endif

/// Measures commands side by side. Every round runs each of them once, so that other work of the machine
/// affects all alike.
@main
struct Bench {
  struct Contestant {
    let name: String
    let arguments: [String]
    /// The largest factor to the time of the first one; nil without a target.
    let target: Double?
    /// The expected exit status. Any other one invalidates the measurement.
    var exit: Int32 = 0
    /// A file that is its standard input.
    var input: String?
    /// Whether it is one of several references. The fastest of them counts.
    var isPeer = false
    /// Whether its instructions are counted too. That takes fifty times as long.
    var counts = false
    var milliseconds: [Double] = []
    var kilobytes = 0
  }

  static func main() {
    let arguments = Array(CommandLine.arguments.dropFirst())
    if arguments.count == 3, arguments[0] == "rows", let first = Int(arguments[1]),
      let last = Int(arguments[2]), first <= last
    {
      return FleetRows.write(first...last)
    }
    guard let tender = arguments.first, let folder = arguments.dropFirst().first else {
      print("usage: bench TENDER STATE-DIR [ROUNDS]")
      exit(2)
    }
    let rounds = arguments.dropFirst(2).first.flatMap { Int($0) } ?? 100
    if arguments.count == 4, arguments[3] == "journal" {
      return JournalBench.run(tender, folder, rounds)
    }
    if arguments.count == 4, arguments[3] == "payments" {
      return PaymentBench.run(tender, folder, rounds)
    }
    if arguments.count == 4, arguments[3] == "million" {
      return MillionBench.run(tender, folder, rounds)
    }
    if arguments.count == 5, arguments[3] == "large", let count = Int(arguments[4]) {
      return MillionBench.runLarge(tender, folder, rounds, count)
    }
    if arguments.count == 6 {
      return bank(
        Bank(
          tender: tender,
          folder: folder,
          rounds: rounds,
          plain: arguments[3],
          multiplexed: arguments[4],
          far: arguments[5]
        )
      )
    }
    let state = ["--state-dir", folder, "--json", "--quiet"]
    let pay = ["transact", "--amount", "10.50", "--test-card", "visa"] + state
    run([tender] + pay + ["--reference", "BENCH"])
    var contestants = [
      Contestant(
        name: "curl --version",
        arguments: ["/usr/bin/curl", "--version"],
        target: nil
      ),
      Contestant(name: "tender --version", arguments: [tender, "--version"], target: 0.2),
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
    for index in contestants.indices { contestants[index].counts = true }
    report(contestants, rounds)
  }

  /// The servers and files of `bank.sh`. The servers have one published answer to every request.
  private struct Bank {
    let tender: String
    let folder: String
    let rounds: Int
    /// HTTP/1.1, HTTP/2, and HTTP/2 with a round trip of 100 ms.
    let plain: String
    let multiplexed: String
    let far: String

    var certificate: String { folder + "/root.pem" }
    var bundle: String { folder + "/bundle.pem" }
    var roots: String { folder + "/roots" }
    var curl: [String] {
      ["/usr/bin/curl", "-s", "-H", "Authorization: Bearer benchmark-resource-token"]
    }

    /// A `tender` command at one of the servers.
    func tender(_ words: [String], at address: String, roots: String) -> [String] {
      let settings = [
        "TENDER_PROVIDER=truelayer", "TENDER_TRUELAYER_API_URL=\(address)",
        "TENDER_CA_FILE=\(roots)", "TENDER_TRUELAYER_RESOURCE_TOKEN=benchmark-resource-token",
      ]
      let look = [tender, "payment-status", "--json", "--state-dir", folder + "/state"]
      return ["/usr/bin/env"] + settings + look + words
    }

    /// curl with many addresses from a file, in parallel.
    func parallel(_ most: Int, _ version: String, _ list: String) -> Contestant {
      Contestant(
        name: "curl --parallel-max \(most) --\(version)",
        arguments: curl + [
          "--cacert", certificate, "--parallel", "--parallel-max", String(most), "--\(version)",
          "-K", "\(folder)/\(list)",
        ],
        target: nil,
        isPeer: true
      )
    }
  }

  private static func bank(_ bank: Bank) {
    // Both are started by `env`, so that both pay for it.
    let id = "0cd1b0f7-71bc-4d24-b209-95259dadcc20"
    let get = ["/usr/bin/env"] + bank.curl + ["\(bank.plain)/v3/payments/\(id)", "--cacert"]
    for (name, file, folder, target) in [
      ("one root", bank.certificate, bank.certificate, 1.0),
      ("the system's roots", bank.bundle, bank.roots, 0.5),
    ] {
      print("one look-up, \(name)")
      var single = [
        Contestant(name: "curl", arguments: get + [file], target: nil),
        Contestant(
          name: "tender payment-status",
          arguments: bank.tender([id], at: bank.plain, roots: folder),
          target: target
        ),
      ]
      race(&single, bank.rounds)
      report(single, bank.rounds)
    }
    for (name, last) in [("invisible characters", 1), ("card numbers", 2)] {
      var large = [
        Contestant(
          name: "an answer of 4 MB of \(name)",
          arguments: bank.tender(
            ["00000000-0000-4000-9000-00000000000\(last)"],
            at: bank.plain,
            roots: bank.certificate
          ),
          target: nil
        )
      ]
      race(&large, 3, warmUp: 1)
      print(
        pad(large[0].name, 44) + pad(decimal(median(large[0].milliseconds)) + " ms", 22)
          + "target at most 1000 ms"
      )
    }
    for (count, list, ids, rounds) in [
      ("1,000", "curl", "ids.txt", 10), ("10,000", "curl10", "ids10.txt", 3),
    ] {
      print("\(count) look-ups on loopback, beside the best of four settings of curl")
      var many = [(4, "http1.1", "1"), (50, "http1.1", "1"), (4, "http2", "2"), (50, "http2", "2")]
        .map { bank.parallel($0.0, $0.1, "\(list).\($0.2).cfg") }
      many.append(
        Contestant(
          name: "tender payment-status -",
          arguments: bank.tender(["-"], at: bank.multiplexed, roots: bank.certificate),
          target: 1.5,
          input: "\(bank.folder)/\(ids)"
        )
      )
      race(&many, rounds, warmUp: 1)
      report(many, rounds)
    }
    print("1,000 look-ups, 100 ms away")
    var far = [50, 300].map { bank.parallel($0, "http2", "curl.far.cfg") }
    // This number is curl's default.
    far[1].isPeer = false
    for (jobs, target) in [(16, nil), (64, nil), (256, 0.5)] as [(Int, Double?)] {
      far.append(
        Contestant(
          name: "tender payment-status - --jobs \(jobs)",
          arguments: bank.tender(
            ["-", "--jobs", String(jobs)],
            at: bank.far,
            roots: bank.certificate
          ),
          target: target,
          input: bank.folder + "/ids.txt"
        )
      )
    }
    race(&far, 3, warmUp: 1)
    report(far, 3)
    print("1,000 look-ups, a process for each")
    var slow = [
      Contestant(
        name: "tender payment-status -",
        arguments: bank.tender(["-"], at: bank.plain, roots: bank.certificate),
        target: nil,
        input: bank.folder + "/ids.txt"
      ),
      Contestant(
        name: "xargs -n1 curl",
        arguments: ["/usr/bin/xargs", "-I{}"] + bank.curl + [
          "--cacert", bank.certificate, "\(bank.plain)/v3/payments/{}", "-o", "/dev/null",
        ],
        target: nil,
        input: bank.folder + "/ids.txt"
      ),
    ]
    race(&slow, 1, warmUp: 0)
    report(slow, 1)
  }

  /// Runs each contestant once a round.
  static func race(_ contestants: inout [Contestant], _ rounds: Int, warmUp: Int = 3) {
    for round in 0..<(rounds + warmUp) {
      for index in contestants.indices {
        let contestant = contestants[index]
        let result = run(contestant.arguments, input: contestant.input, exit: contestant.exit)
        // The first rounds fill caches.
        if round >= warmUp { contestants[index].milliseconds.append(result.milliseconds) }
        contestants[index].kilobytes = max(contestants[index].kilobytes, result.kilobytes)
      }
    }
  }

  static func report(_ contestants: [Contestant], _ rounds: Int) {
    print("median of \(rounds) rounds, the commands in turn within each")
    let peers = contestants.filter(\.isPeer)
    let base = (peers.isEmpty ? [contestants[0]] : peers).map { median($0.milliseconds) }.min() ?? 0
    for contestant in contestants {
      let time = median(contestant.milliseconds)
      var line = pad(contestant.name, 36) + pad(decimal(time) + " ms", 11)
      line += pad(decimal(time / base) + "x", 8)
      line += pad(decimal(Double(contestant.kilobytes) / 1024) + " MB", 11)
      if contestant.counts, let count = instructions(contestant.arguments, contestant.exit) {
        line += pad(decimal(count) + " M instructions", 24)
      }
      if let target = contestant.target { line += "target at most \(decimal(target))x" }
      print(line)
    }
  }

  /// Returns the instructions of a command, in millions; nil without valgrind.
  static func instructions(_ arguments: [String], _ exit: Int32 = 0) -> Double? {
    let valgrind = "/usr/bin/valgrind"
    guard unsafe access(valgrind, X_OK) == 0 else { return nil }
    let (name, file) = ("/tmp/tender-bench.\(getpid())", "--cachegrind-out-file=")
    defer { unsafe unlink(name) }
    let watch = [valgrind, "--tool=cachegrind", "--cache-sim=no", "--quiet", file + name]
    let settings = ["/usr/bin/env", "TENDER_CONTAINMENT=off", "SWIFT_DETERMINISTIC_HASHING=1"]
    run(settings + watch + arguments, exit: exit)
    let line = text(at: name).split(separator: "\n").last { $0.hasPrefix("summary:") }
    return line.flatMap { Double($0.split(separator: " ").last ?? "") }.map { $0 / 1_000_000 }
  }

  /// Returns the text of a file; empty if it cannot be read.
  static func text(at path: String) -> String {
    let file = unsafe open(path, O_RDONLY)
    guard file >= 0 else { return "" }
    defer { close(file) }
    return text(from: file)
  }

  private static func text(from file: Int32) -> String {
    var text: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 65_536)
    while case let count = unsafe read(file, &chunk, chunk.count), count > 0 {
      text += chunk.prefix(count)
    }
    return String(decoding: text, as: UTF8.self)
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

  /// Starts a program, with its output to a descriptor, or discarded.
  static func begin(_ arguments: [String], input: String? = nil, output: Int32? = nil) -> Int32 {
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
    if let output { unsafe posix_spawn_file_actions_adddup2(&actions, output, 1) }
    var process: pid_t = 0
    guard unsafe posix_spawn(&process, arguments[0], &actions, nil, words, environ) == 0 else {
      fail("\(arguments[0]) cannot be run")
    }
    return process
  }

  /// Ends the bench: a command that fails at once would look fast.
  static func fail(_ why: String) -> Never {
    print("bench: \(why)")
    exit(1)
  }

  /// Runs a program and discards its output. It has to end with `wanted`.
  ///
  /// A small process starts it, because the kernel counts the memory of the starting process too.
  @discardableResult
  static func run(
    _ arguments: [String],
    input: String? = nil,
    exit wanted: Int32 = 0
  ) -> (milliseconds: Double, kilobytes: Int) {
    var ends: [Int32] = [0, 0]
    guard unsafe pipe(&ends) == 0 else { fail("no pipe") }
    let process = begin([beside("tender-launch")] + arguments, input: input, output: ends[1])
    close(ends[1])
    let numbers = text(from: ends[0]).split { $0 == " " || $0 == "\n" }.compactMap { Int($0) }
    close(ends[0])
    var status: Int32 = 0
    guard unsafe waitpid(process, &status, 0) == process, numbers.count == 3 else {
      fail("\(arguments[0]) cannot be run")
    }
    guard numbers[0] == Int(wanted) << 8 else {
      fail("\(arguments.prefix(6).joined(separator: " ")) … ended with \(numbers[0] >> 8)")
    }
    return (Double(numbers[1]) / 1000, numbers[2])
  }

  /// The path of a file beside this program.
  static func beside(_ name: String) -> String {
    let own = CommandLine.arguments[0]
    return own.prefix(through: own.lastIndex(of: "/") ?? own.startIndex) + name
  }

  static func now() -> Double {
    var time = timespec()
    unsafe clock_gettime(CLOCK_MONOTONIC, &time)
    return Double(time.tv_sec) * 1000 + Double(time.tv_nsec) / 1_000_000
  }
}
