internal import TenderEngine
internal import TenderModel
internal import TenderModule
internal import TenderOutput

/// A line of `batch --check`: all that can be known without asking anybody.
struct LineCheck {
  let composition: Composition

  private var invocation: Invocation { composition.invocation }

  /// Options, amounts, reference, profile and credentials of a line; the members of a `check` record.
  ///
  /// Throws what the line would end with.
  func run(_ place: inout WriteCommands.Asked) throws(Fault) -> JSONObject {
    _ = try WaitOptions(invocation)
    _ = try Expectation(invocation)
    let target = try composition.target()
    place = WriteCommands.Asked(
      provider: target.module.name.text,
      env: target.env,
      reference: invocation.text(Keys.reference) ?? invocation.operands.first
    )
    try invocation.checkOptions(for: target.module.name)
    switch invocation.command.work {
    case .makes:
      let need =
        invocation.command.name == "tokenize"
        ? try target.module.tokenPlan(composition, target.env)?.need
        : try target.module.plan(composition, target.env).need
      if let need { try composition.engine(target, needing: need).checkReady(for: need) }
      // What it would send is put together; nothing leaves, and nothing is written.
      composition.output.collect = { _ in }
      _ = try WriteCommands(composition: composition).run(&place)
    case .changes(let change):
      let plan = try target.module.laterPlan(composition, nil, change)
      try composition.engine(target, needing: plan.need).checkReady(for: plan.need)
    case .looksUp: try composition.engine(target, needing: .lookUp).checkReady(for: .lookUp)
    case .nothing: break
    }
    return [
      "name": .string(place.reference ?? ""), "outcome": "ok",
      "detail": .string(
        "\(invocation.command.name) by \(target.module.name.text) on \(target.env.rawValue)"
      ),
    ]
  }
}
