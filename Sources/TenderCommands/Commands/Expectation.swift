internal import TenderCommandLine
internal import TenderEngine
internal import TenderModel

/// `--expect`: which results make the exit 0.
struct Expectation: Sendable {
  /// Nil where every result speaks for itself.
  private let expected: ExpectedResult?
  /// Whether the command itself refunds: then a refund under way is what it was to come to.
  private let refunds: Bool

  /// Throws `usage` for a word that is neither a status nor anything else that can be expected.
  init(_ invocation: Invocation) throws(Fault) {
    // Nothing comes of a dry run that could be expected, waited for or heard of.
    if invocation.has(Keys.dryRun), !invocation.inherited.contains(Keys.dryRun.option.name) {
      let unused: [any OptionKey] = [Keys.expect, Keys.wait, Keys.interval, Keys.events]
      if let option = invocation.given(among: unused).first {
        throw .badOptions(
          "--\(option.name) does not go with --dry-run",
          hint: "leave one of them out"
        )
      }
    }
    expected = try invocation.value(Keys.expect)
    refunds = invocation.command.work == .changes(.refund)
    try FieldChoice.check(expected?.paths ?? [], option: Keys.expect.option.name)
  }

  /// The report to show and the exit status: 0 where it was expected, 18 where something else was, 9 where it is not
  /// known.
  func judge(_ report: Report, _ records: Records) -> (Report, Int32) {
    let exit = report.fault?.exitStatus ?? 0
    guard let expected else { return (report, exit) }
    let fields = records.record(report).fields
    // Money that goes back is not what `succeeded` alone expects.
    let isGoingBack =
      !refunds && report.status == .succeeded && fields["refunding_amount"]?.wholeNumber ?? 0 > 0
    let status = isGoingBack ? nil : report.status
    if expected.holds(status, exit: exit, code: report.fault?.code, fields) {
      return (report, 0)
    }
    var shown = report
    let code = report.fault.map { ", code:\($0.code)" } ?? ""
    shown.fault = Fault(
      .unexpected,
      effect: report.hasUnknown ? .unknown : .none,
      code: "unexpected_status",
      "the result is \(report.status.rawValue)\(isGoingBack ? " with a refund under way" : ""), "
        + "exit:\(exit)\(code), and \(expected.text) was expected",
      hint: report.fault.map { [$0.message, $0.hint].compactMap(\.self).joined(separator: "; ") }
    )
    shown.fault?.again = report.fault?.retry ?? (report.isFinal ? .never : .look)
    return (shown, shown.fault?.exitStatus ?? 0)
  }

  /// Whether a command was expected to end with a fault like this.
  func isMet(by fault: Fault, _ record: Record) -> Bool {
    let status: Status? = fault.kind == .unknown ? .unknown : nil
    return expected?.holds(status, exit: fault.exitStatus, code: fault.code, record.fields) ?? false
  }
}

extension CommandWork {
  /// Does work whose result may be expected: a fault that was is a result like any other, its record and exit 0.
  ///
  /// Throws any other again.
  func expecting(_ work: (Expectation) throws(Fault) -> Int32) throws(Fault) -> Int32 {
    let expectation = try Expectation(invocation)
    do throws(Fault) {
      return try work(expectation)
    } catch {
      let record = records.record(error, composition.subject)
      guard !error.kind.isStop, expectation.isMet(by: error, record) else { throw error }
      output.show(record)
      return 0
    }
  }
}
