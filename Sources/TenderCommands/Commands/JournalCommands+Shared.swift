internal import TenderCommandLine
internal import TenderEngine
internal import TenderJournal
internal import TenderModel
internal import TenderSystem

/// `journal migrate`, `journal grants` and `journal import`.
extension JournalCommands {
  func migrate() throws(Fault) -> Int32 {
    guard let address = composition.settings.journal()?.text else {
      _ = try composition.journal()
      show("ok", "the journal is a file of this machine: each command brings it up to date")
      return output.exit(0)
    }
    let folder = try composition.settings.stateFolder().text
    composition.signals.hold()
    show("ok", try composition.sharedJournal(address, folder, isReading: false).migrate())
    return output.exit(0)
  }

  private func show(_ outcome: String, _ detail: String) {
    let record = composition.records.record(
      .check,
      ["name": "journal", "outcome": .string(outcome), "detail": .string(detail)]
    )
    if output.isTable {
      output.show([record], columns: ["name", "outcome", "detail"])
    } else {
      output.show(record)
    }
  }

  func grants() throws(Fault) -> Int32 {
    output.put(SharedSchema.grants + "\n")
    return output.exit(0)
  }

  /// Copies payments from the lines of an export.
  func takeOver() throws(Fault) -> Int32 {
    let path = invocation.operands.first ?? "-"
    try WriteCommands(composition: composition).refuseReadOnly()
    let source = try BatchSource(path) { composition.signals.wish != nil }
    let journal = try composition.journal()
    try journal.checkWhole()
    composition.signals.hold()
    var (taken, there, failed, line, held) = (0, 0, 0, 0, 0)
    while let text = try source.next(idle: { () throws(Fault) in }) {
      line += 1
      do throws(Fault) {
        let text = try text.get()
        if text.isBlank { continue }
        guard let record = JSONReader.read(text)?.object else { throw .notExported(line) }
        guard let stored = record["stored"]?.object, let payment = PaymentRow.payment(of: stored)
        else { throw record.isOldExport ? .exportedInPart(line) : .notExported(line) }
        if try journal.take(payment, Self.history(of: record)) {
          taken += 1
          if payment.state.isHeld { held += 1 }
        } else {
          there += 1
        }
      } catch {
        if error.kind == .state, error.cause != .changedMeanwhile { throw error }
        failed += 1
        output.show(composition.records.record(error, line: line))
      }
      if composition.signals.wish != nil { break }
    }
    let words =
      "\(taken) \(taken == 1 ? "payment" : "payments") copied, \(there) there already"
      + (failed == 0 ? "" : ", \(failed) not copied")
    show(failed == 0 ? "ok" : "fail", words)
    if held > 0 {
      output.note(
        "\(held) of them are held: their preparations stay in the journal that they come from"
      )
    }
    return output.exit(failed == 0 ? 0 : Fault.Kind.partial.exitStatus)
  }

  private static func history(of record: JSONObject) -> [HistoryEntry] {
    (record["history"]?.array ?? []).compactMap { entry in
      guard let at = entry["at"]?.text.flatMap(Timestamp.read) else { return nil }
      return HistoryEntry(
        at: at,
        operation: entry["operation"]?.text ?? "",
        // Versions before 7 had a phase of the attempt instead.
        state: entry["state"]?.text ?? entry["phase"]?.text ?? "",
        amount: entry["amount"]?.boundedNumber,
        status: entry["status"]?.text ?? "",
        note: entry["note"]?.text ?? "",
        by: entry["by"]?.text
      )
    }
  }
}

extension JSONObject {
  /// Whether a version before 6 of the journal exported it, which left out the order that was carried out.
  fileprivate var isOldExport: Bool {
    self["schema"] == 1 && self["record"] == "journal_entry" && self["stored"] == nil
  }
}

extension Fault {
  fileprivate static func exportedInPart(_ line: Int) -> Fault {
    Fault(
      .usage,
      code: "bad_import",
      "line \(line) was exported by an old version, whose exports cannot be imported",
      hint: "export that journal again with this version: tender journal export --state-dir FOLDER"
    )
  }

  fileprivate static func notExported(_ line: Int) -> Fault {
    Fault(
      .usage,
      code: "bad_import",
      "line \(line) is not a payment that tender journal export printed",
      hint: "such as: tender journal export | TENDER_JOURNAL=postgres://… tender journal import"
    )
  }
}
