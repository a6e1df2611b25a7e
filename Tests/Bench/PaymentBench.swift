#if canImport(Darwin)
private import Darwin
#else
private import Glibc
#endif

/// Measures the syncs and instructions of a payment, and the speed of a batch on fast and slow disks.
enum PaymentBench {
  static func run(_ tender: String, _ folder: String, _ rounds: Int) {
    umask(0o077)
    _ = unsafe mkdir(folder, 0o700)
    size(tender)
    let faults = faultLibrary()
    syncs(tender, folder, faults)
    batches(tender, folder, faults, rounds)
  }

  private static func size(_ tender: String) {
    var status = stat()
    guard unsafe stat(tender, &status) == 0 else { return }
    print(row("the program's file", Double(status.st_size) / 1_000_000, "MB", "at most 11 MB"))
  }

  /// The library that counts syncs and makes them slow; nil if it was not built.
  private static func faultLibrary() -> String? {
    let path = Bench.beside("libtender-faults.so")
    return unsafe access(path, R_OK) == 0 ? path : nil
  }

  private static func row(
    _ name: String,
    _ value: Double,
    _ unit: String,
    _ target: String?
  ) -> String {
    Bench.pad(name, 48) + Bench.pad(Bench.decimal(value) + " " + unit, 18)
      + (target.map { "target \($0)" } ?? "")
  }

  /// The number of syncs: the average of fifty payments, with the checkpoints among them.
  private static func syncs(_ tender: String, _ folder: String, _ faults: String?) {
    guard let faults else { return print("skipped: syncs (there is no libtender-faults.so)") }
    let state = folder + "/syncs/tender"
    _ = unsafe mkdir(folder + "/syncs", 0o700)
    let log = folder + "/calls"
    func count(_ words: [String]) -> Int {
      let watched = [
        "/usr/bin/env", "LD_PRELOAD=\(faults)", "TENDER_FAULT=count:0",
        "TENDER_FAULT_FOLDER=\(folder)/syncs", "TENDER_FAULT_LOG=\(log)", tender,
      ]
      Bench.run(watched + words + ["--state-dir", state])
      return Bench.text(at: log).split(separator: "\n").count { $0.hasPrefix("sync ") }
    }
    let pay = ["transact", "--amount", "10.50", "--test-card", "visa", "--reference"]
    _ = count(pay + ["FIRST"])
    let single = (0..<50).map { count(pay + ["S\($0)"]) }
    print(row("syncs of a payment, median", Double(single.sorted()[25]), "syncs", "at most 2"))
    let sum = single.reduce(0, +)
    print(row("syncs of a payment, average", Double(sum) / 50, "syncs", nil))
    let held = (0..<20).map { count(pay + ["H\($0)", "--confirmation"]) }
    print(row("syncs of a held payment, median", Double(held.sorted()[10]), "syncs", "at most 3"))
    let confirmed = (0..<20).map { count(["confirm", "H\($0)"]) }
    print(row("syncs of its confirm, median", Double(confirmed.sorted()[10]), "syncs", nil))
    put(lines("N", 1000), folder + "/lines.jsonl")
    let batch = count(["batch", folder + "/lines.jsonl", "--jobs", "64", "--quiet"])
    print(row("syncs of a batch of 1,000, --jobs 64", Double(batch), "syncs", nil))
    print(row("syncs of the payment after it", Double(count(pay + ["NEXT"])), "syncs", "at most 2"))
  }

  private static func lines(_ name: String, _ count: Int) -> String {
    (0..<count).map { number in
      """
      {"command":"transact","reference":"\(name)-\(number)","amount":"10.50","test_card":"visa"}
      """
    }
    .joined(separator: "\n")
  }

  /// A thousand payments, as the disk is and with 4 ms for each sync.
  private static func batches(_ tender: String, _ folder: String, _ faults: String?, _ rounds: Int)
  {
    print(row("this disk", diskRate(folder), "syncs/s", nil))
    let path = folder + "/lines.jsonl"
    var runs = 0
    for (name, delay, jobs, target) in [
      ("batch --jobs 4", 0, 4, 1000.0), ("batch --jobs 64", 0, 64, nil),
      ("batch --jobs 4, 4 ms a sync", 4000, 4, nil),
      ("batch --jobs 64, 4 ms a sync", 4000, 64, 1000),
    ] as [(String, Int, Int, Double?)] where delay == 0 || faults != nil {
      var times: [Double] = []
      var kilobytes = 0
      for _ in 0..<rounds {
        runs += 1
        put(lines("B\(runs)", 1000), path)
        let slow = [
          "LD_PRELOAD=\(faults ?? "")", "TENDER_SYNC_MICROSECONDS=\(delay)",
        ]
        let words = [
          tender, "batch", path, "--jobs", String(jobs), "--json", "--quiet", "--state-dir",
          folder + "/batch\(runs)",
        ]
        let result = Bench.run(["/usr/bin/env"] + (delay == 0 ? [] : slow) + words)
        times.append(result.milliseconds)
        kilobytes = max(kilobytes, result.kilobytes)
      }
      let rate = 1_000_000 / max(1, Bench.median(times))
      print(
        row("tender \(name), 1,000", rate, "payments/s", target.map { "at least \(Int($0))" })
          + "  \(Bench.decimal(Double(kilobytes) / 1024)) MB"
      )
    }
  }

  /// The number of times a second that the disk of a folder syncs a page written in place.
  private static func diskRate(_ folder: String) -> Double {
    let file = unsafe open(folder + "/disk", O_WRONLY | O_CREAT, 0o600)
    guard file >= 0 else { return 0 }
    defer { close(file) }
    let page = [UInt8](repeating: 1, count: 4096)
    let start = Bench.now()
    for _ in 0..<200 {
      _ = unsafe pwrite(file, page, page.count, 0)
      fdatasync(file)
    }
    return 200_000 / (Bench.now() - start)
  }

  static func put(_ text: String, _ path: String) {
    let file = unsafe open(path, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
    guard file >= 0 else { return }
    defer { close(file) }
    let bytes = Array(text.utf8)
    var done = 0
    while done < bytes.count {
      let count = unsafe bytes.withUnsafeBytes { buffer in
        unsafe write(file, buffer.baseAddress?.advanced(by: done), bytes.count - done)
      }
      guard count > 0 else { return }
      done += count
    }
  }
}
