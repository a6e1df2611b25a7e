internal import TenderCommandLine
internal import TenderEngine
internal import TenderModel

/// `--expect`: the results that make the exit 0.
struct Expectation: Sendable {
  private let expected: ExpectedResult?
  /// Whether the command itself refunds. Then a refund under way is its success.
  private let refunds: Bool
  /// Whether the command takes a part of the amount as a success.
  private let acceptsPart: Bool
  /// Whether it makes the payment: only its own option counts then.
  private let makes: Bool

  /// Reads the option. Throws `usage` for a word that is not a possible expectation.
  init(_ invocation: Invocation, _ pages: @autoclosure () -> [Page]) throws(Fault) {
    // A dry run has no result to expect or wait for, and no events.
    if invocation.has(Keys.dryRun), !invocation.inherited.contains(Keys.dryRun.option.name) {
      let unused: [any OptionKey] = [Keys.expect, Keys.wait, Keys.interval, Keys.events]
      try invocation.refuse(unused, with: Keys.dryRun)
    }
    expected = try invocation.value(Keys.expect)
    refunds = invocation.command.work == .changes(.refund)
    makes = invocation.command.work == .makes(.payment)
    acceptsPart =
      invocation.has(Keys.allowPartial)
      || invocation.command.work == .changes(.confirm) && invocation.has(Keys.amount)
    if let typed = expected?.codes, !typed.isEmpty {
      let codes = pages().map(\.page).filter { $0.subject == .error }.map(\.code)
      if let unknown = typed.first(where: { !codes.contains($0) }) {
        let hint = Suggestion.hint(for: unknown, among: codes, else: "see: tender explain --list")
        throw .badValue("--" + Keys.expect.option.name, "code:" + unknown, hint: hint)
      }
    }
    try FieldChoice.check(expected?.paths ?? [], option: Keys.expect.option.name)
  }

  /// Returns the report to show and the exit status: 0 for an expected result, 18 for another one, 9 for an
  /// unknown one.
  func judge(_ report: Report, _ records: Records) -> (Report, Int32) {
    let exit = report.fault?.exitStatus ?? 0
    guard let expected else { return (report, exit) }
    let fields = records.record(report).fields
    // `succeeded` alone does not match a payment with a refund, or of a part of the amount.
    let isGoingBack =
      !refunds && report.status == .succeeded && fields["refunding_amount"]?.wholeNumber ?? 0 > 0
    let isAccepted = acceptsPart || !makes && report.acceptedPart
    let isPart = report.ended(acceptsPart: isAccepted).fault?.kind == .partPaid
    // The status is of the whole payment. An earlier refund may have given it.
    let reversal = report.operation.flatMap { $0.isReversal ? $0 : nil }
    let isOpen =
      switch reversal?.state {
      case nil, .succeeded: false
      case .processing, .waiting: [.refunded, .partiallyRefunded].contains(report.status)
      default: true
      }
    let status = isGoingBack || isPart || isOpen ? nil : report.status
    if expected.holds(status, exit: exit, code: report.fault?.code, fields) {
      return (report, 0)
    }
    var shown = report
    let state = reversal?.state.name.rawValue ?? ""
    let code = report.fault.map { ", code:\($0.code)" } ?? ""
    shown.fault = Fault(
      .unexpected,
      effect: report.hasUnknown ? .unknown : .none,
      code: "unexpected_status",
      "the result is \(report.status.rawValue)"
        + (isGoingBack
          ? " with a refund under way, "
          : isPart
            ? " for a part of the amount, "
            : isOpen ? ", this \(reversal?.kind.rawValue ?? "refund") is \(state), " : ", ")
        + (["exit:\(exit)\(code)"] + expected.differences(fields)).joined(separator: ", ")
        + ", and \(expected.text) was expected",
      hint: report.fault.map { [$0.message, $0.hint].compactMap(\.self).joined(separator: "; ") }
        ?? hint(after: report)
    )
    // A look does not end a hold: it waits for the merchant.
    let isHeld = report.status == .requiresConfirmation
    shown.fault?.again =
      report.fault?.retry ?? (report.isFinal ? .never : isHeld ? .operator : .look)
    return (shown, shown.fault?.exitStatus ?? 0)
  }

  /// Advice after a result that was not expected, is no error, and does not change by waiting.
  private func hint(after report: Report) -> String? {
    let isOpen = !report.isFinal || report.payment?.state.refunding ?? 0 > 0
    return isOpen
      ? nil : "it does not change by waiting; --expect \(report.status.rawValue) names this result"
  }

  /// Throws `unexpected` where a result is expected and nothing was looked up.
  func checkNone() throws(Fault) {
    guard let expected else { return }
    throw Fault(
      .unexpected,
      code: "unexpected_status",
      "standard input has no ids, and \(expected.text) was expected",
      hint: "check the program that writes the ids"
    )
  }

  func isMet(by fault: Fault, _ record: Record) -> Bool {
    let status: Status? = fault.kind == .unknown ? .unknown : nil
    return expected?.holds(status, exit: fault.exitStatus, code: fault.code, record.fields) ?? false
  }
}

extension CommandWork {
  /// Runs work with an expected result. An expected fault is a result like any other, with its record and
  /// exit 0.
  ///
  /// Throws any other fault again.
  func expecting(_ work: (Expectation) throws(Fault) -> Int32) throws(Fault) -> Int32 {
    let expectation = try Expectation(invocation, records.pages)
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
