internal import TenderCommandLine
internal import TenderEngine
internal import TenderModel
internal import TenderSystem

/// `find --online`: asks the provider about all payments of the merchant, or about those in the journal.
struct FindOnline: CommandWork {
  let composition: Composition

  func run(_ asked: PaymentFilter) throws(Fault) -> Int32 {
    let target = try composition.target()
    var filter = asked
    filter.env = target.env
    filter.provider = target.module.name
    if try composition.isBlank { try JournalCommands(composition: composition).checkFolder() }
    composition.signals.hold()
    try invocation.checkOptions(for: target.module.name)
    let engine = try composition.engine(target)
    let limit = invocation.has(Keys.all) ? 1000 : 100
    if asked.provider == nil, composition.catalogue.modules.count > 1 {
      composition.tell(
        "searching \(target.module.name.text) only; --provider searches another provider"
      )
    }
    guard let search = engine.provider.search else {
      return try known(filter, engine, target.module.name.text)
    }
    guard filter.by == nil else {
      throw .badOptions(
        "--by cannot be used with --online: \(target.module.name.text) does not know the machine",
        hint: "leave --online out, or --by"
      )
    }
    let result = try search.find(filter, limit: limit)
    var rows: Set<Int> = []
    for outcome in result.found {
      let id = outcome.id ?? ""
      let place = PaymentFilter(env: target.env, provider: target.module.name)
      let known = try composition.journal().payments(matching: id, filter: place)
      rows.formUnion(known.map(\.row))
      // After a void of a part, a payment has another id. An answer under its old id is not about it.
      if let payment = known.lazy.map({ $0.named(by: id) }).first(where: { $0.state.id == id }) {
        show(try engine.take(outcome, of: payment))
      } else {
        show(Report(outcome, env: target.env, provider: target.module.name, reference: nil))
      }
    }
    if result.searched >= limit || result.total.map({ $0 > result.searched }) == true {
      let total = result.total.map { " of \($0)" } ?? ""
      composition.tell(
        "searched among the latest \(result.searched)\(total); narrow the search, or --all for 1000"
      )
    } else if try showRecorded(filter, besides: rows, limit) > 0 {
      return output.exit(0)
    } else if result.found.isEmpty, invocation.asksForOne {
      throw .noMatch(target.module.name.text, others: "another provider or env (--provider, --env)")
    } else if result.found.isEmpty {
      composition.tell("no matching payments at \(target.module.name.text)")
    }
    return output.exit(0)
  }

  /// Shows matches of the journal that the search does not have: holds, unknown payments, names of
  /// holders. Returns their number.
  private func showRecorded(
    _ filter: PaymentFilter,
    besides rows: Set<Int>,
    _ limit: Int
  ) throws(Fault) -> Int {
    // Where a status is asked for, the provider's is the newer one.
    guard filter.statuses.isSubset(of: [.unknown, .requiresConfirmation]), !filter.isOpen else {
      return 0
    }
    var count = 0
    let name = invocation[Keys.provider] ?? filter.provider?.text ?? ""
    try composition.journal().each(filter) { payment in
      guard !rows.contains(payment.row) else { return true }
      if count == 0 {
        composition.tell("the search of \(name) does not show these; the journal has:")
      }
      count += 1
      let verdict = records.verdict(payment, named: filter.handle)
      composition.show(verdict) {
        var record = records.entry(payment, named: filter.handle, verdict: verdict)
        record.fields["source"] = "journal"
        return record
      }
      return count < limit && !output.isBroken
    }
    return count
  }

  /// Looks each payment of the journal up; a fault is printed in its place.
  private func known(
    _ filter: PaymentFilter,
    _ engine: Engine,
    _ name: String
  ) throws(Fault) -> Int32 {
    composition.tell("\(name) has no search: looking up the payments of the journal")
    let payments = try composition.journal().all(filter)
    if payments.isEmpty {
      let place = try composition.journalWords()
      if invocation.asksForOne {
        throw .noMatch(place, others: "another journal (--state-dir, TENDER_JOURNAL)")
      }
      composition.tell("no matching payments in \(place)")
    }
    let asked = payments.filter { $0.state.id != nil }
    if asked.count < payments.count {
      composition.tell("\(payments.count - asked.count) without an id of the provider are left out")
    }
    var exit: Int32 = 0
    for payment in asked where !output.isBroken {
      do throws(Fault) {
        show(try engine.lookUp(payment.reference.text, known: payment, kind: payment.kind))
      } catch {
        if error.kind.isStop || error.kind == .state { throw error }
        exit = Fault.Kind.partial.exitStatus
        output.show(records.record(error, RecordSubject(payment)))
      }
    }
    return output.exit(exit)
  }

  private func show(_ report: Report) {
    composition.warn(of: report)
    let verdict = records.verdict(report)
    composition.show(verdict) {
      var record = records.record(report, verdict: verdict)
      record.fields["brand"] = report.brand?.json
      record.fields["last_four"] = report.lastFour?.json
      return record
    }
  }
}
