internal import TenderCommandLine
internal import TenderEngine
internal import TenderModel

/// A command of the program: what parser and help know of it, and what it does.
struct Action: Sendable {
  let command: Command
  private let perform: @Sendable (Composition) throws(Fault) -> Int32

  /// A command as `Command` has it; `run` is the method that does its work, and gives the exit status.
  init<Work: CommandWork>(
    _ work: Command.Work,
    _ page: String,
    operands: [Command.Operand] = [],
    options: [any OptionKey] = [],
    exits: [Fault.Kind] = [],
    unoffered: [String: [String]] = [:],
    bounds: Command.Bounds? = nil,
    csv: [String] = [],
    run: @escaping @Sendable (Work) -> () throws(Fault) -> Int32
  ) {
    command = Command(
      work,
      page,
      operands: operands,
      options: options,
      exits: exits,
      unoffered: unoffered,
      bounds: bounds,
      csv: csv
    )
    perform = { composition throws(Fault) in try run(Work(composition: composition))() }
  }

  /// Does the work of a run's command; gives the exit status.
  static func run(_ composition: Composition) throws(Fault) -> Int32 {
    let words = composition.invocation.command.words
    for make in all {
      let action = make()
      if action.command.words == words { return try action.perform(composition) }
    }
    throw Fault(.internal, code: "internal", "no such command: \(words)")
  }
}

/// What one command does, or several that share their work: a method for each.
protocol CommandWork: SendableMetatype {
  var composition: Composition { get }

  init(composition: Composition)
}

extension CommandWork {
  var invocation: Invocation { composition.invocation }
  var output: Output { composition.output }
  var records: Records { composition.records }
}
