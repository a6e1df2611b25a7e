internal import TenderCommandLine
internal import TenderEngine
internal import TenderModel
internal import TenderModule
internal import TenderOutput
internal import TenderSystem
internal import TenderWire

/// `find --online`: what the provider says, of all the merchant's payments or of those in the journal.
struct FindOnline {
  let composition: Composition

  private var invocation: Invocation { composition.invocation }
  private var output: Output { composition.output }

  func run(_ asked: AttemptFilter) throws(Fault) -> Int32 {
    let target = try composition.target()
    var filter = asked
    filter.env = target.env
    filter.provider = target.module.name
    composition.signals.hold()
    let engine = try composition.engine(target, needing: .lookUp)
    let limit = invocation.has(Keys.all) ? 1000 : 100
    if asked.provider == nil, composition.catalogue.modules.count > 1 {
      composition.tell("\(target.module.name.text) alone is asked; --provider asks another")
    }
    guard let search = engine.provider.search else {
      return try known(filter, engine, target.module.name.text)
    }
    guard filter.by == nil else {
      throw .badOptions(
        "--by does not go with --online: \(target.module.name.text) does not know who asked for a payment",
        hint: "leave --online out, or --by"
      )
    }
    let result = try search.find(filter, limit: limit)
    for outcome in result.found {
      let id = outcome.facts.id ?? ""
      var report = Report(outcome, env: target.env, provider: target.module.name, reference: nil)
      // What the journal knows of it goes on with it; what it says is older.
      let attempts = try composition.journal().attempts(matching: id, filter: AttemptFilter())
      report.attempt = attempts.first
      show(report)
    }
    if result.searched >= limit || result.total.map({ $0 > result.searched }) == true {
      let total = result.total.map { " of \($0)" } ?? ""
      composition.tell(
        "searched among the latest \(result.searched)\(total); narrow the search, or --all for 1000"
      )
    } else if result.found.isEmpty {
      composition.tell("\(target.module.name.text) has no payment like that")
    }
    return output.exit(0)
  }

  /// Looks each payment of the journal up; one that fails is said in its place.
  private func known(
    _ filter: AttemptFilter,
    _ engine: Engine,
    _ name: String
  ) throws(Fault) -> Int32 {
    composition.tell("\(name) cannot be searched: it is asked about the payments of the journal")
    var attempts: [Attempt] = []
    try composition.journal().each(filter) { attempt in
      attempts.append(attempt)
      return true
    }
    let asked = attempts.filter { $0.id != nil }
    if asked.count < attempts.count {
      composition.tell("\(attempts.count - asked.count) without an id of the provider are left out")
    }
    var exit: Int32 = 0
    for attempt in asked where !output.isBroken {
      do throws(Fault) {
        show(try engine.lookUp(attempt.reference.text, known: attempt, kind: attempt.kind))
      } catch {
        if [.interrupted, .terminated, .state].contains(error.kind) { throw error }
        exit = Fault.Kind.partial.exitStatus
        output.show(composition.records.record(error, RecordSubject(attempt)))
      }
    }
    return output.exit(exit)
  }

  private func show(_ report: Report) {
    let verdict = composition.records.verdict(composition.seen(report), report)
    if output.isTable {
      output.put(output.redactor.redact(verdict.lines.joined(separator: "\n")) + "\n")
    } else {
      var record = composition.records.record(report)
      record.fields["says"] = .string(verdict.words)
      record.fields["next"] = verdict.next.map(JSON.string)
      record.fields["age"] = .integer(verdict.age)
      output.show(record)
    }
  }
}
