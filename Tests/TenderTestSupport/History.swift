import Foundation
package import TenderModel

/// Commands with their reported results and the books after each, and the rules that they must satisfy.
package struct History {
  /// One command and its result.
  package struct Entry: Sendable {
    package let command: String
    package let exit: Int32
    package let status: Status?
    /// The number of charges that are valid in the books after it.
    package let standing: Int
    /// Whether the provider made no error while it ran, and has nothing late.
    package let wasCalm: Bool

    package init(
      command: String,
      exit: Int32,
      status: Status?,
      standing: Int,
      wasCalm: Bool
    ) {
      self.command = command
      self.exit = exit
      self.status = status
      self.standing = standing
      self.wasCalm = wasCalm
    }
  }

  package private(set) var entries: [Entry] = []
  private let name: String

  package init(_ name: String) { self.name = name }

  package mutating func add(_ entry: Entry) { entries.append(entry) }

  /// The violated rules. `standing` is the number of valid charges at the end.
  package func problems(standing: Int) -> [String] {
    var problems: [String] = []
    func tell(_ what: String) {
      let told = entries.map { "\($0.command)=\($0.exit)/\($0.status?.rawValue ?? "-")" }
      problems.append("\(name): \(what) [\(told.joined(separator: " "))]")
    }
    for entry in entries {
      if entry.standing > 1 { tell("\(entry.standing) charges stand") }
      let word = Self.word(entry)
      if let word, word != (entry.standing > 0) { tell("\(entry.command) was told the opposite") }
      if entry.exit == 9, entry.wasCalm { tell("\(entry.command) was not found out by asking") }
    }
    if standing > 1 { tell("\(standing) charges stand in the end") }
    if let last = entries.last(where: { Self.word($0) != nil }), entries.last?.exit != 9,
      let word = Self.word(last), word != (standing > 0)
    {
      tell("the last word is not so")
    }
    return problems
  }

  /// Whether a reader of this result believes that money moved and stayed; nil if it leaves that open.
  private static func word(_ entry: Entry) -> Bool? {
    switch entry.status {
    case .succeeded, .partiallyRefunded: true
    case .declined, .cancelled, .failed, .expired, .refunded: false
    default: nil
    }
  }
}

extension History {
  /// Runs as many histories as `TENDER_HISTORIES` requests, from the seed `TENDER_KILL_SEED`. Prints a line
  /// with the results.
  ///
  /// `run` makes one history from a seed. It returns the history, the number of valid charges at the end, and
  /// the number of the provider's errors. `judge` returns the violated rules, and the number of errors for
  /// each history.
  package static func judge(
    _ name: String,
    usually usual: Int,
    _ run: (Int) throws -> (History, standing: Int, troubles: Int)
  ) throws -> (problems: [String], troubles: Double) {
    let asked = ProcessInfo.processInfo.environment["TENDER_HISTORIES"].flatMap { Int($0) }
    let runs = asked ?? usual
    let named = ProcessInfo.processInfo.environment["TENDER_KILL_SEED"].flatMap { Int($0) }
    let first = named ?? Int.random(in: 1..<1_000_000)
    var problems: [String] = []
    var unknown = 0
    var troubles = 0
    for seed in first..<first + runs {
      let (history, standing, trouble) = try run(seed)
      problems += history.problems(standing: standing)
      unknown += history.entries.count { $0.exit == 9 }
      troubles += trouble
    }
    print(
      "\(name): \(runs) histories, \(troubles) troubles, \(unknown) times unknown on the way, "
        + "\(problems.count) contradictions (seeds from \(first))"
    )
    return (problems, Double(troubles) / Double(max(1, runs)))
  }
}
