internal import TenderCommandLine
internal import TenderModel

/// A command of the program: its definition for parser and help, and its work.
struct Action: Sendable {
  let command: Command
  fileprivate let perform: @Sendable (Composition) throws(Fault) -> Int32

  static func run(_ composition: Composition) throws(Fault) -> Int32 {
    let words = composition.invocation.command.words
    for make in all {
      let action = make()
      if action.command.words == words { return try action.perform(composition) }
    }
    throw Fault(.internal, code: "internal", "no such command: \(words)")
  }
}

extension Command {
  /// Returns the action of this command. `run` is the method that does its work and returns the exit status.
  func performed<Work: CommandWork>(
    by run: @escaping @Sendable (Work) -> () throws(Fault) -> Int32
  ) -> Action {
    Action(command: self) { composition throws(Fault) in try run(Work(composition: composition))() }
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
