internal import TenderCommandLine
internal import TenderEngine
internal import TenderModel
internal import TenderModule
internal import TenderOutput
internal import TenderWire

/// A payment on a terminal: what became of it, what comes next, the facts that people ask for; all of the
/// record with `--all`.
extension Composition {
  /// What every provider's payments show.
  private static let facts = [
    "given_back", "reference", "id", "provider", "env", "status", "requested_amount", "next_action",
    "source",
    "result.refund", "result.reversal", "details.bank", "details.payee", "details.payer",
    "details.refunds", "reversal", "error.code", "error.hint", "history", "created_at", "at",
  ]

  /// Shows what a command ends with.
  func show(_ report: Report) {
    let record = records.record(report)
    guard output.isTable, output.showsAll else { return output.show(record) }
    var shown = record
    // What this command gave back, beside what all of them did.
    if [.changes(.refund), .changes(.cancel)].contains(invocation.command.work),
      let given = report.attempt?.refunds.last?.amount
    {
      shown.fields["given_back"] = .integer(given)
    }
    show(shown, records.verdict(seen(report), report), report.provider)
  }

  /// Shows an attempt of the journal with its history.
  func show(_ attempt: Attempt, _ history: [HistoryEntry]) {
    let record = records.record(attempt, history: history)
    guard output.isTable, output.showsAll else { return output.show(record) }
    show(record, records.verdict(attempt), attempt.provider)
  }

  private func show(_ record: Record, _ verdict: Verdict, _ provider: ProviderName) {
    let line = Printable.text(verdict.words)
    let next = verdict.next.map { "next: " + Printable.text($0) }
    // What comes next is on a line of its own where both have no room on one.
    let isWide = line.count + 3 + (next?.count ?? 0) > output.width
    let text = [line, next].compactMap(\.self).joined(separator: isWide ? "\n" : " · ")
    output.put(output.redactor.redact(text) + "\n")
    guard !invocation.has(Keys.all) else { return output.show(record, hidden: ["command"]) }
    var paths = Self.facts
    let error = record.fields["error"]
    let message = error?["message"]?.text ?? ""
    // What is said once, in better words or as what comes next, is not said again.
    let isExplained =
      error?["explanation"] != nil
      && error?["exit"]?.wholeNumber != Int(Fault.Kind.unexpected.exitStatus)
    let isSaid = line.contains(message.hasSuffix(".") ? String(message.dropLast()) : message)
    if !isSaid, !isExplained { paths.insert("error.message", at: 0) }
    if isExplained, verdict.next != nil { paths.removeAll { $0 == "error.hint" } }
    if record.fields["replayed"] == true { paths.insert("replayed", at: 0) }
    let own = catalogue.modules.first { $0.name == provider }?.facts ?? []
    let place = paths.firstIndex(of: "requested_amount") ?? paths.endIndex
    paths.insert(contentsOf: own.map { "result." + $0 }, at: place)
    // An amount says its currency.
    output.show(RecordLine.flat(record, paths), hidden: ["currency"])
  }

  /// The attempt as a report shows it; what the journal does not know is made up of what was looked up.
  func seen(_ report: Report) -> Attempt {
    var attempt =
      report.attempt
      ?? Attempt(
        key: ReferenceKey(
          env: report.env,
          provider: report.provider,
          reference: report.reference ?? Reference(stored: report.id ?? "")
        ),
        number: 1,
        operation: .transact,
        merchant: "",
        content: [:],
        idempotencyKey: "",
        at: report.madeAt ?? clock.now
      )
    attempt.kind = report.kind
    guard report.attempt == nil || attempt.shownStatus != report.status else { return attempt }
    attempt.phase = report.status == .unknown ? .sent : .done
    attempt.status = report.status
    attempt.facts = report.facts
    attempt.result = report.result
    attempt.nextAction = report.nextAction
    attempt.fault = report.fault
    return attempt
  }
}
