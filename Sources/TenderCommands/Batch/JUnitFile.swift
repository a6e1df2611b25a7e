internal import TenderCommandLine
internal import TenderModel
internal import TenderSystem

/// A JUnit XML report, as CI systems read it: one suite, a case for each line of a batch.
///
/// It is written as the batch goes on: the cases into a file beside it, the whole under its own name once the
/// numbers are known.
///
/// What goes wrong with it once the first line has begun is a warning: the payments come first.
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
  /// Lines that have begun and whose cases are not written yet, in the order of the file.
  private var open: [Int] = []
  /// Cases that wait for an earlier line's.
  private var waiting: [Int: String] = [:]
  /// What the run was like, for the head of the report.
  private let properties: [(name: String, value: String)]
  /// When it began, RFC 3339.
  private let start: String

  /// Throws `usage` where the file cannot be written, is the batch itself, or belongs to the state.
  init(
    _ path: String,
    input: String,
    state: String,
    start: String,
    properties: [(name: String, value: String)]
  ) throws(Fault) {
    self.start = start
    self.properties = properties
    let isInput = input != "-" && Environment.isSameFile(path, input)
    let isState = Environment.isInside(path, state)
    guard !isInput, !isState, Environment.isReplaceable(path) else {
      let what =
        isInput ? "the batch itself" : isState ? "in the state folder" : "no file to be replaced"
      throw .badFile(
        "--junit: \(path.quotedForMessage) is \(what)",
        hint: "choose another file"
      )
    }
    self.path = path
    (part, descriptor) = try Environment.temporary(beside: path, named: "--junit")
  }

  /// A line has begun: its case has this place.
  func begins(_ line: Int) { open.append(line) }

  /// Says that a line's case does not come after all.
  func leaves(_ line: Int) {
    open.removeAll { $0 == line }
    writeReady()
  }

  /// Adds a line's case.
  func add(_ answer: BatchWorker.Answer) {
    tests += 1
    milliseconds += answer.milliseconds
    let record = answer.records.last
    var problem: String?
    if answer.exit != 0 {
      // A fault, rather than an outcome that was not wanted.
      let isError = record?.kind == .error
      if isError { errors += 1 } else { failures += 1 }
      let error = record?.fields["error"]?.object
      let code = error?.text("code") ?? "exit \(answer.exit)"
      let reason = error?.text("explanation").map { ": \($0)" } ?? ""
      let element = isError ? "error" : "failure"
      problem =
        "<\(element) type=\(quoted(code)) message=\(quoted(error?.text("message") ?? ""))>"
        + MarkUp.escape("line \(answer.line), exit \(answer.exit)\(reason)") + "</\(element)>"
    }
    let name = answer.reference ?? "line \(answer.line)"
    let command = record?.fields.text("command") ?? "batch"
    waiting[answer.line] = testCase(name, command, answer.milliseconds, problem)
    writeReady()
  }

  private func testCase(
    _ name: String,
    _ command: String,
    _ time: Int,
    _ problem: String?
  ) -> String {
    "<testcase name=\(quoted(name)) classname=\(quoted("tender." + command)) time=\(seconds(time))"
      + (problem.map { ">\($0)</testcase>\n" } ?? "/>\n")
  }

  /// A text as the value of an attribute.
  private func quoted(_ text: String) -> String { "\"\(MarkUp.escape(text))\"" }

  private func seconds(_ milliseconds: Int) -> String {
    "\"\(milliseconds / 1000).\(String(1000 + milliseconds % 1000).dropFirst())\""
  }

  private func writeReady() {
    while let next = open.first, let text = waiting.removeValue(forKey: next) {
      open.removeFirst()
      if !isBroken { isBroken = !Console.write(text, to: descriptor) }
    }
  }

  /// Adds a line that was not begun, behind all that were.
  func skip(_ line: Int, _ reference: String?) {
    skip(reference ?? "line \(line)", "the batch was stopped before line \(line)")
  }

  /// Adds that further lines were not begun, where nobody knows how many.
  func skipRest() { skip("further lines", "the batch was stopped before them") }

  private func skip(_ name: String, _ why: String) {
    tests += 1
    skipped += 1
    let text = testCase(name, "batch", 0, "<skipped message=\(quoted(why))/>")
    if !isBroken { isBroken = !Console.write(text, to: descriptor) }
  }

  /// Puts the report together under its own name; gives what went wrong.
  func finish() -> Fault? {
    let shown = properties.map { "<property name=\(quoted($0.name)) value=\(quoted($0.value))/>\n" }
    let counts = "tests=\"\(tests)\" failures=\"\(failures)\" errors=\"\(errors)\""
    let time = "time=\(seconds(milliseconds))"
    let head =
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites \(counts) \(time)>\n"
      + "<testsuite name=\"tender batch\" \(counts) skipped=\"\(skipped)\" \(time) "
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
