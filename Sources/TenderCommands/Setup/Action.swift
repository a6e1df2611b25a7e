internal import TenderCommandLine
internal import TenderEngine
internal import TenderModel

/// A command of the program: its definition for parser and help, and its work.
struct Action: Sendable {
  let command: Command
  private let perform: @Sendable (Composition) throws(Fault) -> Int32

  /// Creates a command like `Command`. `run` is the method that does its work and returns the exit status.
  init<Work: CommandWork>(
    _ work: Command.Work,
    _ page: String,
    operands: [Command.Operand] = [],
    options: [any OptionKey] = [],
    exits: [Fault.Kind] = [],
    unoffered: [String: [String]] = [:],
    meanings: [String: String] = [:],
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
      meanings: meanings,
      bounds: bounds,
      csv: csv
    )
    perform = { composition throws(Fault) in try run(Work(composition: composition))() }
  }

  static func run(_ composition: Composition) throws(Fault) -> Int32 {
    let words = composition.invocation.command.words
    for make in all {
      let action = make()
      if action.command.words == words { return try action.perform(composition) }
    }
    throw Fault(.internal, code: "internal", "no such command: \(words)")
  }
}

/// The work of one command, or of several that share it, with a method for each.
protocol CommandWork: SendableMetatype {
  var composition: Composition { get }

  init(composition: Composition)
}

extension CommandWork {
  var invocation: Invocation { composition.invocation }
  var output: Output { composition.output }
  var records: Records { composition.records }
}
