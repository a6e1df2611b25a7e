internal import TenderCommandLine
internal import TenderModel
internal import TenderSystem

/// A JUnit report that is written as a batch goes on: the cases into a file beside it, the whole under its
/// own name once the numbers are known.
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
    let error = record?.fields["error"]?.object
    let isError = answer.exit != 0 && record?.kind == .error
    if isError { errors += 1 } else if answer.exit != 0 { failures += 1 }
    let name = answer.reference ?? "line \(answer.line)"
    let text = JUnit.testCase(
      name: name,
      group: "tender." + (record?.fields.text("command") ?? "batch"),
      milliseconds: answer.milliseconds,
      problem: answer.exit == 0
        ? nil
        : JUnit.Problem(
          isError: isError,
          kind: error?.text("code") ?? "exit \(answer.exit)",
          message: error?.text("message") ?? "",
          detail: "line \(answer.line), exit \(answer.exit)"
            + (error?.text("explanation").map { ": \($0)" } ?? "")
        )
    )
    waiting[answer.line] = text
    writeReady()
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
    let text = JUnit.skipped(name: name, group: "tender.batch", why: why)
    if !isBroken { isBroken = !Console.write(text, to: descriptor) }
  }

  /// Puts the report together under its own name; gives what went wrong.
  func finish() -> Fault? {
    let head = JUnit.head(
      tests: tests,
      failures: failures,
      errors: errors,
      skipped: skipped,
      milliseconds: milliseconds,
      start: start,
      properties: properties
    )
    let isWhole = Environment.compose(
      path,
      head: head,
      from: part,
      tail: JUnit.tail,
      closing: descriptor
    )
    guard !isWhole || isBroken else { return nil }
    return Fault.badFile(
      "--junit: cannot write \(path)",
      hint: "the payments are in the journal all the same"
    )
  }
}
