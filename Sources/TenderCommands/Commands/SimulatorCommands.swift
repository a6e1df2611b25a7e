internal import TenderCommandLine
internal import TenderEngine
internal import TenderModel
internal import TenderSimulator
internal import TenderSystem

extension Action {
  static let simulatorShow = Command(
    .local(.reads),
    """
    simulator show: show the books of the simulated providers
    Prints what the simulated providers have: payments, refunds, mandates, holds, barcodes and
    merchant accounts, each in the provider's own words. REF is a reference or a provider's id.
    Without it the latest 1,000 of each kind are shown. The journal is not read.
    $ tender simulator show # everything
    $ tender simulator show ORDER-1042 # the books about one payment
    """,
    operands: [.init("REF", optional: true)],
    exits: [.notFound, .state],
    bounds: .world
  ).performed(by: SimulatorCommands.show)

  static let simulatorRequests = Command(
    .local(.reads),
    """
    simulator requests: show the requests that the simulator received
    Prints the latest 1,000 requests and socket messages with their answers, oldest first. Each has
    the point of the provider that it matched, and the faults that struck it there. Names of headers
    are shown. Of bodies only amounts, references, ids and states are shown.
    $ tender simulator requests # every request
    $ tender simulator requests --unmatched # requests to unknown paths
    """,
    options: [Keys.unmatched, Keys.follow],
    exits: [.state],
    bounds: .world
  ).performed(by: SimulatorCommands.requests)

  static let simulatorSave = Command(
    .local(.reads),
    """
    simulator save: save the simulated world to a file
    Writes payments, stored methods, clock and counts of faults to a file for its owner alone, as
    lines of JSON. The signing key and the requests are left out.
    $ tender simulator save paid.world # then, in a test: tender simulator load paid.world
    """,
    operands: [.init("FILE", completion: .newFiles)],
    exits: [.state],
    bounds: .world
  ).performed(by: SimulatorCommands.save)

  static let simulatorLoad = Command(
    .local(.writes),
    """
    simulator load: replace the simulated world by a saved one
    Replaces the simulated world by a file of tender simulator save. The signing key
    stays. An incomplete file changes nothing. At a terminal it asks first, unless the world is
    empty. The journal stays as it is. The list of requests is emptied.
    $ tender simulator load paid.world # the world as it was saved
    """,
    operands: [.init("FILE", completion: .files)],
    exits: [.state, .refused],
    bounds: .world
  ).performed(by: SimulatorCommands.load)

  static let simulatorReset = Command(
    .local(.changes),
    """
    simulator reset: forget the simulated world
    Forgets every simulated payment. The journal and the signing key stay as they are. At a terminal
    it asks first, unless the world is empty.
    $ tender simulator reset # start the simulated world afresh
    """,
    exits: [.state, .refused],
    bounds: .world
  ).performed(by: SimulatorCommands.reset)
}

/// The commands that look into the simulated world, or replace it.
struct SimulatorCommands: CommandWork {
  let composition: Composition

  private func ledger() throws(Fault) -> Ledger {
    try Ledger(path: composition.servedWorld().ledgerPath)
  }

  func show() throws(Fault) -> Int32 {
    let name = invocation.operands.first.map(Reference.composed)
    let books = try composition.hasWorld ? composition.simulator().books(about: name) : []
    guard !books.isEmpty || name == nil else {
      throw Fault(
        .notFound,
        code: "payment_not_found",
        "the simulated providers have nothing under \((name ?? "").quotedForMessage)",
        hint: "to see everything: tender simulator show"
      )
    }
    // Each world has merchant accounts.
    let isUnused = !books.contains { $0.text("kind") != "merchant_account" }
    if isUnused, name == nil { try tellOfEmptyWorld("no payments") }
    output.show(
      books.map { records.record(.book, $0) },
      columns: [
        "provider", "kind", "reference", "id", "status", "amount", "captured", "returned",
        "currency",
      ],
      spare: ["currency", "id"],
      dear: ["returned"]
    )
    return output.exit(0)
  }

  func requests() throws(Fault) -> Int32 {
    let follows = invocation.has(Keys.follow)
    let unmatched = invocation.has(Keys.unmatched)
    let hasWorld = try composition.hasWorld
    let known: Ledger? = try hasWorld || follows ? ledger() : nil
    guard follows, let ledger = known else {
      let found = try known?.exchanges(after: 0, unmatched: unmatched) ?? []
      if found.isEmpty { try tellOfEmptyWorld(unmatched ? "no unmatched requests" : "no requests") }
      output.show(
        found.map { records.record(.exchange, $0) },
        columns: [
          "number", "at", "provider", "method", "path", "matched", "status", "fault", "end",
        ],
        spare: ["at", "provider"]
      )
      return output.exit(0)
    }
    composition.signals.hold()
    var last = 0
    while composition.signals.kind == nil, !output.isBroken {
      for exchange in try ledger.exchanges(after: last, unmatched: unmatched) {
        last = exchange["number"]?.wholeNumber ?? last
        output.show(exchange: records.record(.exchange, exchange))
      }
      try? SystemClock(interruption: composition.signals).pause(milliseconds: 200)
    }
    return output.exit(0)
  }

  /// Says which world has nothing to show: a wrong folder must not look like an unused simulator.
  private func tellOfEmptyWorld(_ what: String) throws(Fault) {
    let folder = try composition.settings.stateFolder().text
    output.tell(
      try composition.hasWorld
        ? "\(what) in \(folder)/simulator.db" : "there is no simulated world in \(folder)"
    )
  }

  func save() throws(Fault) -> Int32 {
    guard try composition.hasWorld else {
      throw .badFile(
        "there is no simulated world in \(try composition.settings.stateFolder().text)",
        hint: "it is made by the first simulated payment; --state-dir names another folder"
      )
    }
    try ledger().save(to: invocation.operands[0], named: "simulator save")
    return output.exit(0)
  }

  func load() throws(Fault) -> Int32 {
    try composition.refuseReadOnly()
    // A missing file leaves no world behind.
    let path = invocation.operands[0]
    let descriptor = try Environment.openForReading(path, named: "simulator load")
    defer { Environment.close(descriptor) }
    let ledger = try ledger()
    try confirm(ledger, "Replace the simulated world")
    try ledger.load(from: descriptor, composition.signals)
    output.note("the simulated world is the saved one; the journal is as it was")
    return output.exit(0)
  }

  func reset() throws(Fault) -> Int32 {
    try composition.refuseReadOnly()
    guard try composition.hasWorld else {
      try tellOfEmptyWorld("")
      return output.exit(0)
    }
    let ledger = try ledger()
    try confirm(ledger, "Forget the simulated world")
    try ledger.reset()
    output.note("the simulated world is empty; the journal is as it was")
    return output.exit(0)
  }

  /// Asks a person before a world that is not empty is lost; a script is not asked.
  private func confirm(_ ledger: Ledger, _ question: String) throws(Fault) {
    guard try ledger.count() > 0, composition.terminal() != nil else { return }
    try composition.confirm(question, "it", code: "world_not_confirmed")
  }
}

extension Ledger {
  /// Saves the world to a file.
  func save(to path: String, named name: String) throws(Fault) {
    try Environment.write(to: path, named: name) { write throws(Fault) in try save(write) }
  }

  /// Replaces the world by that of an open file.
  func load(from descriptor: Int32, _ signals: Signals) throws(Fault) {
    let reader = LineReader(descriptor: descriptor, limit: 1 << 20) { signals.wish != nil }
    try load { () throws(Fault) in try reader.next() }
  }
}
