internal import TenderCommandLine
internal import TenderEngine
internal import TenderModel
internal import TenderSystem

struct BatchTally {
  let composition: Composition
  let report: JUnitFile?
  let source: BatchSource
  /// The uptime at its start, in milliseconds.
  let start: Int
  var ok = 0
  var failed = 0
  var unknown = 0
  var replayed = 0
  var statuses: [String: Int] = [:]
  /// The money of each payment after its last line, by provider and reference. It counts once.
  private(set) var money: [String: (currency: String, charged: Int, refunded: Int)] = [:]
  var begun = 0
  var isStopped = false
  /// The number of lines that were not started, as far as they can be counted.
  var left = 0
  var isFatal = false
  private(set) var hasWritten = false
  /// The faults asked for all lines that have struck nothing so far; nil before the first line.
  var sparing: [(fault: String, sentence: String)]?
  /// The reason why no more lines could be read.
  var problem: Fault?
  private(set) var shownAt = 0

  private var output: Output { composition.output }

  mutating func take(_ answer: BatchWorker.Answer) throws(Fault) {
    // An expected unknown result is still unknown. Another one is no success, also of a look-up.
    let isUnknown = answer.records.contains {
      $0.fields["status"] == "unknown" || $0.fields["error"]?["effect"] == "unknown"
    }
    let isOK = answer.exit == 0 && (answer.expects || !isUnknown)
    if isOK { ok += 1 } else { failed += 1 }
    if isUnknown || answer.exit == Fault.Kind.unknown.exitStatus { unknown += 1 }
    isFatal = isFatal || answer.isFatal
    for record in answer.records {
      if record.fields["replayed"] == true { replayed += 1 }
      let status = record.fields.text("status") ?? (record.kind == .error ? "error" : nil)
      if let status { statuses[status, default: 0] += 1 }
      count(record.fields)
      output.stream(record, verdict: answer.expects ? answer.exit == 0 ? "pass" : "FAIL" : nil)
    }
    warnOfUnusedFaults(answer)
    hasWritten = hasWritten || answer.writes
    report?.add(answer, isOK: isOK)
    let now = composition.clock.uptime
    // Users need no more than ten updates a second.
    if now - shownAt >= 100 {
      shownAt = now
      output.showState(progress)
    }
  }

  /// Warns of a line's fault that struck nothing. One that was asked for all lines may spare some of them.
  private mutating func warnOfUnusedFaults(_ answer: BatchWorker.Answer) {
    let shared = composition.invocation.all(Keys.simFault)
    for (fault, sentence) in answer.unusedFaults where !shared.contains(fault) {
      output.warn("line \(answer.line): \(sentence)")
    }
    let unused = answer.unusedFaults.filter { shared.contains($0.fault) }
    sparing =
      sparing.map { known in known.filter { one in unused.contains { $0.fault == one.fault } } }
      ?? unused
  }

  /// Counts the money of a payment's record. Voided and refunded amounts were not retained.
  private mutating func count(_ fields: JSONObject) {
    guard let currency = fields.text("currency"), fields.text("status") != nil else { return }
    let name = fields.text("reference") ?? fields.text("id") ?? ""
    let key = "\(fields.text("provider") ?? "")/\(name)"
    let returned = ["refunded_amount", "voided_amount", "returned_amount"]
      .reduce(0) { $0 + (fields[$1]?.boundedNumber ?? 0) }
    money[key] = (currency, fields["captured_amount"]?.boundedNumber ?? 0, returned)
  }

  /// The charged, refunded and net amounts by currency, in minor units.
  private var sums: JSONObject {
    var sums: [String: (charged: Int, refunded: Int)] = [:]
    for payment in money.values {
      sums[payment.currency, default: (0, 0)].charged += payment.charged
      sums[payment.currency, default: (0, 0)].refunded += payment.refunded
    }
    return JSONObject(
      sums.sorted { $0.key < $1.key }.map { currency, sum in
        .init(
          key: currency,
          value: [
            "charged": .integer(sum.charged), "refunded": .integer(sum.refunded),
            "net": .integer(sum.charged - sum.refunded),
          ]
        )
      }
    )
  }

  private var progress: String {
    let counts = "\(ok + failed) done, \(failed) failed, \(unknown) unknown"
    guard let read = source.fraction else { return counts }
    // A line that was read is not done yet.
    let fraction = read * Double(ok + failed) / Double(max(begun, ok + failed, 1))
    let filled = Int(fraction * 10)
    var text =
      "[" + String(repeating: "#", count: filled) + String(repeating: ".", count: 10 - filled)
      + "] \(Int(fraction * 100)) %  \(counts)"
    // One second is too short for an estimate.
    let elapsed = composition.clock.uptime - start
    if elapsed >= 1000 {
      text += " · \((ok + failed) * 1000 / elapsed)/s"
      if fraction > 0 {
        let left = Int(Double(elapsed) * (1 - fraction) / fraction / 1000)
        text += " · \(Verdict.text(ofSeconds: left)) left"
      }
    }
    return text
  }

  /// Prints the summary. Returns the exit status of the batch.
  func end(milliseconds: Int) throws(Fault) -> Int32 {
    output.keepsState = false
    output.clearState()
    if let problem { report?.add(problem) }
    if let wish = composition.signals.wish, isStopped {
      report?.add(.stopped(by: wish, underWay: "not all lines were run"))
    }
    for (_, sentence) in sparing ?? [] { output.warn(sentence) }
    let unreported = report?.finish()
    if let unreported { output.warn("\(unreported.message); \(unreported.hint ?? "")") }
    if let problem, ok + failed == 0 { throw problem }
    let wish = composition.signals.wish
    // Lines under way were stopped too.
    let isStopped = isStopped || wish != nil && failed > 0
    let counts = statuses.sorted { $0.key < $1.key }
      .map { JSONObject.Member(key: $0.key, value: .integer($0.value)) }
    let fields: JSONObject = [
      "checked": composition.invocation.has(Keys.check) ? true : nil,
      "lines": .integer(ok + failed), "ok": .integer(ok), "failed": .integer(failed),
      "unknown": .integer(unknown), "replayed": .integer(replayed),
      "statuses": .object(JSONObject(counts)), "sums": .object(sums), "stopped": .bool(isStopped),
      "left": left > 0 ? .integer(left) : nil, "milliseconds": .integer(milliseconds),
    ]
    output.show(composition.records.record(.batchSummary, fields))
    if ok + failed + left == 0, !isStopped { output.tell("there was no line to run") }
    if isStopped, problem == nil {
      let lines = left == 0 ? "" : left == 1 ? " with 1 line left" : " with \(left) lines left"
      output.tell("stopped\(lines): the same command with --resume goes on")
    }
    if unknown > 0 { return Fault.Kind.unknown.exitStatus }
    if let problem { output.warn("\(problem.message); the lines before it were run") }
    // A stop that came too late stopped nothing: all lines were run. A stop also ends a wait for the journal.
    if let wish, isStopped { return wish.exitStatus }
    if isFatal { return Fault.Kind.state.exitStatus }
    // A missing report must not look like a success.
    if unreported != nil, failed == 0, !isStopped { return Fault.Kind.state.exitStatus }
    let exit = failed > 0 || isStopped ? Fault.Kind.partial.exitStatus : 0
    // A batch that wrote has done its work, even if its output was lost.
    return hasWritten ? exit : output.exit(exit)
  }
}
