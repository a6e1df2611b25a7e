internal import TenderCommandLine
internal import TenderEngine
internal import TenderModel

/// Shows a payment on a terminal: its state, the next command, and the most useful facts. `--all-fields` shows the
/// whole record.
extension Composition {
  /// The facts about payments of every provider.
  private static let facts = [
    "this_refund", "reference", "id", "provider", "env", "status", "provider_status",
    "requested_amount", "captured_amount", "released_amount", "voided_amount", "refunded_amount",
    "refunding_amount", "returned_amount", "next_action", "source", "result.refund",
    "result.reversal", "details.bank", "details.payee", "details.payer", "details.constraints",
    "details.revoked_at", "details.revocation_source", "details.revocation_reason",
    "details.reversal_reason", "details.refunds", "error.code", "error.hint", "operations",
    "history", "created_at", "at",
  ]

  func show(_ report: Report) {
    let subject = RecordSubject(report)
    let verdict = records.verdict(report)
    warn(of: report)
    // A table shows it as the next step.
    if !output.isTable, report.payment?.isSuspended == true {
      let why = "the acquirer has not processed it, and nothing was charged yet: "
      output.tell(why + (text(verdict.hint, verdict.steps) ?? ""))
    }
    let record = records.record(report)
    guard output.isTable, output.showsAll else { return output.show(record) }
    var shown = record
    // A single operation has the same facts as the payment.
    if report.payment?.operations.count == 1 { shown.fields["operations"] = nil }
    show(shown, verdict, subject)
  }

  /// Prints the note of a report, with the steps that can follow.
  func warn(of report: Report) {
    guard let note = report.note else { return }
    let verdict = records.verdict(report)
    let advice = [note, verdict.hint].compactMap(\.self).joined(separator: "; ")
    output.warn(text(advice, verdict.steps) ?? note)
  }

  func show(_ payment: Payment, named handle: String, _ history: [HistoryEntry]) {
    let record = records.entry(payment, named: handle, history: history)
    guard output.isTable, output.showsAll else { return output.show(record) }
    show(record, records.verdict(payment, named: handle), RecordSubject(payment))
  }

  private func show(_ record: Record, _ verdict: Verdict, _ subject: RecordSubject) {
    let line = Printable.text(output.redactor.redact(verdict.words, foreign: true))
    let step = text(verdict.hint, verdict.steps)
    // The warning about an unknown result has it already.
    let next = verdict.isWarned ? nil : step.map { "next: " + Printable.text($0) }
    // The next command goes to a separate line if one line is too short.
    let isWide = line.count + 3 + (next?.count ?? 0) > output.width
    let words = HelpText.wrapped(line, indent: 0, width: output.width).joined(separator: "\n")
    let text = [words, next].compactMap(\.self).joined(separator: isWide ? "\n" : " · ")
    output.put(output.redactor.redact(text) + "\n")
    guard !invocation.has(Keys.allFields) else { return output.show(record, hidden: ["command"]) }
    var paths = Self.facts
    // If all or nothing was captured, the headline shows it.
    let captured = record.fields["captured_amount"]
    if captured == record.fields["amount"] || captured == 0 {
      paths.removeAll { $0 == "captured_amount" }
    }
    let error = record.fields["error"]
    let message = error?["message"]?.text ?? ""
    // A message that the explanation or the next command covers is not repeated.
    let isExplained =
      error?["explanation"] != nil
      && error?["exit"]?.wholeNumber != Int(Fault.Kind.unexpected.exitStatus)
    let isSaid = line.contains(message.hasSuffix(".") ? String(message.dropLast()) : message)
    if !isSaid, !isExplained { paths.insert("error.message", at: 0) }
    if let step, isExplained || error?["hint"]?.text == step {
      paths.removeAll { $0 == "error.hint" }
    }
    if record.fields["replayed"] == true { paths.insert("replayed", at: 0) }
    let own = catalogue.modules.first { $0.name == subject.provider }?.facts ?? []
    // They come after the amounts. Of two facts with one name, the first counts, and these are of all
    // operations.
    let place = paths.firstIndex(of: "next_action") ?? paths.endIndex
    paths.insert(contentsOf: own.map { "result." + $0 }, at: place)
    // Each amount already shows the currency.
    // A flat record does not show which members are the provider's.
    output.show(RecordLine.flat(output.redacted(record), paths), hidden: ["currency"])
  }
}
