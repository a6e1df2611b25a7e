internal import TenderCommandLine
internal import TenderEngine
internal import TenderModel
internal import TenderModule
internal import TenderSystem

/// `doctor`: one record for each thing that a payment needs.
struct DoctorCommand {
  let composition: Composition

  private var output: Output { composition.output }

  func run(_ place: inout WriteCommands.Asked) throws(Fault) -> Int32 {
    let target = try composition.target()
    place.provider = target.module.name.text
    place.env = target.env
    try composition.invocation.checkOptions(for: target.module.name)
    composition.signals.hold()
    var rows: [Record] = []
    var exit: Int32 = 0
    for check in checks(target) {
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

  private func checks(_ target: Target) -> [Check] {
    let composition = composition
    let common = [
      Check("config") { () throws(Fault) in
        let config = composition.settings.config
        return Environment.exists(config.path)
          ? "\(config.path): \(config.profiles.count) profiles" : "there is no file, which is fine"
      },
      Check("state") { () throws(Fault) in
        let folder = try composition.settings.stateFolder().text
        try Environment.makeFolder(folder)
        let journal = try composition.journal()
        try journal.checkWhole()
        return "\(folder): \(try journal.count()) attempts in the journal"
      },
      Check("containment") { () throws(Fault) in composition.containment.text },
    ]
    return common + target.module.checks(composition, target.env)
  }
}
