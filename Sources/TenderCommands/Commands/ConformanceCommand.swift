internal import TenderCommandLine
internal import TenderEngine
internal import TenderModel
internal import TenderSystem

extension Action {
  static let conformance = Command(
    .local(.writes),
    """
    conformance: compare the simulator with a sandbox
    Runs the same commands on the simulator inside tender and on the provider's sandbox, and prints
    each difference: exit statuses, states, statuses of HTTP, and names and types of members. Values
    are not compared. The payments are in the journal, with references that begin with C-. Exits 0
    if there is no difference, else 14.
    $ tender conformance --env sandbox # with the provider and credentials of the profile
    """,
    options: [Keys.provider, Keys.simSeed],
    exits: [.partial, .auth, .state, .refused],
    bounds: .chosenProviders
  ).performed(by: ConformanceCommand.run)
}

/// Runs the same commands on the simulator and elsewhere, and compares what both answer.
struct ConformanceCommand: CommandWork {
  let composition: Composition

  private struct Outcome {
    var exit: Int32 = 0
    var code: String?
    var status: String?
    var exchanges: [Shapes.Exchange] = []
  }

  func run() throws(Fault) -> Int32 {
    try composition.refuseReadOnly()
    let target = try composition.target()
    let module = target.module
    guard target.env == .sandbox else {
      throw .badOptions(
        "conformance compares the simulator with --env sandbox only",
        hint: "tender conformance --env sandbox --provider \(module.name.text)"
      )
    }
    let name = SystemRandomness().text(6, from: "23456789ABCDEFGHJKMNPQRSTUVWXYZ")
    var differences = 0
    for (number, words) in module.cases.enumerated() {
      try composition.signals.check()
      let line = words.map { $0.replacing("REF", with: "C-\(name)") }
      let own = try outcome(line, of: module, .simulator)
      let other = try outcome(line, of: module, .sandbox)
      let found = Self.differences(own, other)
      differences += found.count
      for detail in found.isEmpty ? [nil] : found.map(Optional.some) {
        let fields: JSONObject = [
          "name": .string("\(number + 1) \(line.prefix(2).joined(separator: " "))"),
          "outcome": found.isEmpty ? "ok" : "fail", "detail": detail?.json,
        ]
        output.show(records.record(.check, fields))
      }
    }
    return output.exit(differences == 0 ? 0 : Fault.Kind.partial.exitStatus)
  }

  /// Runs one command; `simulator` is the one in this process, whatever addresses are set.
  private func outcome(
    _ words: [String],
    of module: any ProviderModule,
    _ env: Env
  ) throws(Fault) -> Outcome {
    var line = words + ["--provider", module.name.text, "--env", env.rawValue, "--no-input"]
    line += ["--state-dir", try composition.settings.stateFolder().text]
    if let seed = try invocation.value(Keys.simSeed), env == .simulator {
      line += ["--sim-seed", String(seed)]
    }
    guard case .run(let parsed) = try Parser(composition.catalogue).parse(line) else {
      throw Fault(.internal, code: "internal", "no command: \(words.joined(separator: " "))")
    }
    var settings = try Settings(
      parsed,
      Environment(hiding: env == .simulator ? "TENDER_\(module.name.text.uppercased())_" : nil),
      composition.providers.modules,
      config: composition.settings.config
    )
    if let profile = composition.settings.profileName {
      settings = Settings(settings, profile: profile)
    }
    if env == .simulator { settings.hide(module.name) }
    let side = try Composition(
      composition.providers,
      settings,
      composition.redactor,
      composition.signals,
      containment: composition.containment
    )
    let shapes = Shapes()
    side.shapes = shapes
    var outcome = Outcome()
    side.output.collect = { record in
      outcome.status = record.fields.text("status")
      outcome.code = record.fields["error"]?["code"]?.text
    }
    do throws(Fault) {
      outcome.exit = try Action.run(side)
    } catch {
      // Without credentials or a connection there is nothing to compare.
      if [.state, .auth, .notSent].contains(error.kind) || error.kind.isStop { throw error }
      (outcome.exit, outcome.code) = (error.exitStatus, error.code)
    }
    outcome.exchanges = shapes.all
    return outcome
  }

  private static func differences(_ own: Outcome, _ other: Outcome) -> [String] {
    var found: [String] = []
    func compare(_ name: String, _ one: String?, _ two: String?) {
      guard one != two else { return }
      found.append("\(name): simulator \(one ?? "none"), sandbox \(two ?? "none")")
    }
    compare("exit", String(own.exit), String(other.exit))
    compare("error", own.code, other.code)
    compare("status", own.status, other.status)
    for index in 0..<max(own.exchanges.count, other.exchanges.count) {
      guard index < own.exchanges.count, index < other.exchanges.count,
        own.exchanges[index].question == other.exchanges[index].question
      else {
        func question(_ outcome: Outcome) -> String? {
          index < outcome.exchanges.count ? outcome.exchanges[index].question : nil
        }
        // What follows is about other requests.
        compare("request \(index + 1)", question(own), question(other))
        break
      }
      let (one, two) = (own.exchanges[index].answer, other.exchanges[index].answer)
      let question = own.exchanges[index].question
      let differing = one.symmetricDifference(two).sorted()
      // An answer with another status has other members.
      let statuses = differing.filter { $0.hasPrefix("status ") }
      for line in statuses.isEmpty ? differing : statuses {
        found.append("\(question): \(one.contains(line) ? "simulator" : "sandbox") only: \(line)")
      }
    }
    return found
  }
}
