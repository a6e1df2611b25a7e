internal import PayTheory
internal import TenderCommandLine
internal import TenderEngine
internal import TenderModel
internal import TenderSimulator
internal import TenderSystem
internal import Toro
internal import TrueLayer

/// `doctor`: one record for each thing that a payment needs.
struct DoctorCommand {
  let composition: Composition

  private var output: Output { composition.output }

  /// One thing to try; gives what was found in words.
  private struct Check {
    let name: String
    let run: () throws(Fault) -> String
  }

  func run(_ place: inout WriteCommands.Place) throws(Fault) -> Int32 {
    let (provider, env) = try composition.target()
    place.provider = provider
    place.env = env
    composition.signals.hold()
    var rows: [Record] = []
    var exit: Int32 = 0
    for check in checks(provider, env) {
      var fields: JSONObject = ["name": .string(check.name)]
      do throws(Fault) {
        fields["outcome"] = "ok"
        fields["detail"] = .string(try check.run())
      } catch {
        if error.kind == .interrupted || error.kind == .terminated { throw error }
        if exit == 0 { exit = error.exitStatus }
        fields["outcome"] = "fail"
        fields["detail"] = .string(error.message)
        fields["result"] = error.result.map(JSON.object)
        fields["error"] = .object(error.record)
      }
      let record = composition.records.record(.check, fields)
      if output.isTable { rows.append(record) } else { output.show(record) }
    }
    if output.isTable { output.show(rows, columns: ["name", "outcome", "detail"]) }
    return output.exit(exit)
  }

  private func checks(_ provider: String, _ env: Env) -> [Check] {
    let composition = composition
    let common = [
      Check(name: "config") { () throws(Fault) in
        let config = composition.settings.config
        return Environment.exists(config.path)
          ? "\(config.path): \(config.profiles.count) profiles" : "there is no file, which is fine"
      },
      Check(name: "state") { () throws(Fault) in
        let folder = try composition.settings.stateFolder().text
        try Environment.makeFolder(folder)
        let journal = try composition.journal()
        try journal.checkWhole()
        return "\(folder): \(try journal.count()) attempts in the journal"
      },
      Check(name: "containment") { () throws(Fault) in composition.containment.text },
    ]
    return common + own(provider, env)
  }

  private func own(_ provider: String, _ env: Env) -> [Check] {
    let composition = composition
    switch provider {
    case ToroProvider.name.text:
      return [
        Check(name: "toro credentials") { () throws(Fault) in
          try composition.toro(env).checkReady(for: .sale)
          return "ids and passphrase are set"
        },
        Check(name: "toro reader") { () throws(Fault) in
          try composition.toro(env).checkReader()
        },
        Check(name: "toro gateway") { () throws(Fault) in
          try composition.toro(env).checkGateway()
        },
        Check(name: "toro terminal manager") { () throws(Fault) in
          try composition.toro(env).checkTerminalManager()
        },
      ]
    case TrueLayerProvider.name.text:
      return [
        Check(name: "truelayer credentials") { () throws(Fault) in
          try composition.engine(provider, env, needing: .creation).checkReady(for: .creation)
          return "client and signing key are set"
        }
      ]
    default:
      return [
        Check(name: "paytheory credentials") { () throws(Fault) in
          try composition.engine(provider, env, needing: .lookUp).checkReady(for: .lookUp)
          return "API key and merchant credentials are set"
        }
      ]
    }
  }
}
