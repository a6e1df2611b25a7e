private import Platform
internal import TenderCommandLine
internal import TenderModel
internal import TenderSystem

/// A JUnit XML report for CI systems: one suite, with a case for each line of a batch.
///
/// The cases are written to a separate file during the batch. The report gets its name at the end, when the
/// numbers are known.
///
/// After the first line, its errors are only warnings, because the payments come first.
final class JUnitFile {
  private let path: String
  private let part: String
  private let descriptor: Int32
  private var tests = 0
  private var failures = 0
  private var errors = 0
  private var skipped = 0
  private var milliseconds = 0
  private var isBroken = false
  private(set) var isFinished = false
  /// Started lines without a written case, in the order of the file.
  private var open: [Int] = []
  /// Cases that wait for the case of an earlier line.
  private var waiting: [Int: String] = [:]
  /// Properties of the run, for the head of the report.
  private let properties: [(name: String, value: String)]
  /// The start, RFC 3339.
  private let start: String
  /// Whether the lines were only checked. Such a report must not look like that of a run.
  private let checks: Bool

  /// Creates the report. Throws `usage` if the file cannot be written.
  init(
    _ path: String,
    start: String,
    checks: Bool,
    properties: [(name: String, value: String)]
  ) throws(Fault) {
    self.checks = checks
    self.start = start
    self.properties = properties
    self.path = path
    (part, descriptor) = try Environment.temporary(beside: path, named: "--junit")
  }

  /// Removes the report of an earlier run. Throws `usage` for a path that cannot be replaced.
  static func remove(_ path: String) throws(Fault) {
    guard Environment.isReplaceable(path) else {
      throw .badFile(
        "--junit: \(path.quotedForMessage) is no file to be replaced",
        hint: "choose another file"
      )
    }
    guard unsafe unlink(path) == 0 || errno == ENOENT else {
      throw .badFile("--junit: cannot replace \(path)", hint: "check its folder")
    }
  }

  /// Removes the report of an earlier run that arguments name, where their run cannot begin. Any other file stays.
  static func removeStale(namedIn arguments: [String]) {
    guard arguments.contains("batch") else { return }
    let option = "--\(Keys.junit.option.name)"
    for (index, argument) in arguments.enumerated() {
      let path =
        argument.hasPrefix(option + "=")
        ? String(argument.dropFirst(option.count + 1))
        : argument == option && index + 1 < arguments.count ? arguments[index + 1] : ""
      guard Environment.isReplaceable(path), isReport(path) else { continue }
      unsafe unlink(path)
    }
  }

  /// Whether a file is a report of a batch, by its first lines.
  private static func isReport(_ path: String) -> Bool {
    guard let descriptor = try? Environment.openForReading(path, named: Keys.junit.option.name)
    else { return false }
    defer { Environment.close(descriptor) }
    let reader = LineReader(descriptor: descriptor, limit: 4096)
    for _ in 0..<4 {
      guard let line = try? reader.next() else { return false }
      if line.hasPrefix(suite) { return true }
    }
    return false
  }

  private static let suite = "<testsuite name=\"tender batch"

  /// Reserves the place of a line's case when the line starts.
  func begins(_ line: Int) { open.append(line) }

  /// Drops the place of a line that has no case after all.
  func leaves(_ line: Int) {
    open.removeAll { $0 == line }
    writeReady()
  }

  func add(_ answer: BatchWorker.Answer, isOK: Bool) {
    tests += 1
    milliseconds += answer.milliseconds
    let record = answer.records.last
    var problem: String?
    if !isOK {
      // An error is a fault. A failure is an unexpected result.
      let isError = record?.kind == .error
      if isError { errors += 1 } else { failures += 1 }
      let error = record?.fields["error"]?.object
      let code =
        error?.text("code") ?? (answer.exit == 0 ? "outcome_unknown" : "exit \(answer.exit)")
      let reason = error?.text("explanation").map { ": \($0)" } ?? ""
      let element = isError ? "error" : "failure"
      problem =
        "<\(element) type=\(quoted(code)) message=\(quoted(error?.text("message") ?? "the result is unknown"))>"
        + shown("line \(answer.line), exit \(answer.exit)\(reason)") + "</\(element)>"
    }
    let command = record?.fields.text("command") ?? "batch"
    let words = [record?.fields.text("command"), answer.reference].compactMap(\.self)
    waiting[answer.line] = testCase(
      name(answer.line, words),
      command,
      answer.milliseconds,
      [problem, output(of: answer)].compactMap(\.self).joined()
    )
    writeReady()
  }

  /// The warnings of a line: a fault that was asked for and struck nothing.
  private func output(of answer: BatchWorker.Answer) -> String? {
    let text = answer.unusedFaults.map(\.sentence).joined(separator: "\n")
    return text.isEmpty ? nil : "<system-err>\(shown(text))</system-err>"
  }

  /// The name of a case. Readers that key by name see each line, because its number is in it.
  private func name(_ line: Int, _ words: [String]) -> String {
    (checks ? "check of " : "") + "line \(line)"
      + (words.isEmpty ? "" : ": " + words.joined(separator: " "))
  }

  /// Adds the fault that ended the run, so that the report is not green.
  func add(_ fault: Fault) {
    tests += 1
    errors += 1
    let text = testCase(
      "the batch",
      "batch",
      0,
      "<error type=\(quoted(fault.code)) message=\(quoted(fault.message))>"
        + shown(fault.hint ?? "") + "</error>"
    )
    if !isBroken { isBroken = !Console.write(text, to: descriptor) }
  }

  private func testCase(
    _ name: String,
    _ command: String,
    _ time: Int,
    _ content: String
  ) -> String {
    "<testcase name=\(quoted(name)) classname=\(quoted((checks ? "tender.check." : "tender.") + command)) time=\(seconds(time))"
      + (content.isEmpty ? "/>\n" : ">\(content)</testcase>\n")
  }

  private func quoted(_ text: String) -> String { "\"\(shown(text))\"" }

  private func shown(_ text: String) -> String { MarkUp.escape(Printable.text(text)) }

  private func seconds(_ milliseconds: Int) -> String {
    "\"\(milliseconds / 1000).\(String(1000 + milliseconds % 1000).dropFirst())\""
  }

  private func writeReady() {
    while let next = open.first, let text = waiting.removeValue(forKey: next) {
      open.removeFirst()
      if !isBroken { isBroken = !Console.write(text, to: descriptor) }
    }
  }

  /// Adds a line that was not started, after all that were.
  func skip(_ line: Int, _ reference: String?) {
    let name = name(line, [reference].compactMap(\.self))
    skip(name, "the batch was stopped before line \(line)")
  }

  /// Adds an entry for an unknown number of lines that were not started.
  func skipRest(_ unit: String) { skip("further \(unit)", "the batch was stopped before them") }

  private func skip(_ name: String, _ why: String) {
    tests += 1
    skipped += 1
    let text = testCase(name, "batch", 0, "<skipped message=\(quoted(why))/>")
    if !isBroken { isBroken = !Console.write(text, to: descriptor) }
  }

  /// Completes the report under its name. Returns its error.
  func finish() -> Fault? {
    isFinished = true
    let shown = properties.map { "<property name=\(quoted($0.name)) value=\(quoted($0.value))/>\n" }
    let counts = "tests=\"\(tests)\" failures=\"\(failures)\" errors=\"\(errors)\""
    let time = "time=\(seconds(milliseconds))"
    let head =
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites \(counts) \(time)>\n"
      + "\(Self.suite)\(checks ? " --check" : "")\" \(counts) skipped=\"\(skipped)\" \(time) "
      + "timestamp=\"\(start)\">\n<properties>\n\(shown.joined())</properties>\n"
    let isWhole = Environment.compose(
      path,
      head: head,
      from: part,
      tail: "</testsuite>\n</testsuites>\n",
      closing: descriptor
    )
    guard !isWhole || isBroken else { return nil }
    return Fault.badFile(
      "--junit: cannot write \(path)",
      hint: "the payments are in the journal all the same"
    )
  }
}
