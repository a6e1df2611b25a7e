import TenderModel

/// A value of `--sim-scenario` (a state of the simulated world) or of `--sim-fault` (`POINT:WHAT`).
package struct SimulatorWord: Sendable, Hashable {
  package let name: String
  package let meaning: String
  /// The exit status of the command; nil if it depends on the command.
  package let exit: Int32?
  /// The effect that a request has on the provider's books despite the fault; nil for other values.
  package var effect: Effect?
  /// The command whose request or step a fault strikes; nil for other values and for requests of other
  /// programs.
  package var command: String?

  /// Whether the provider executed the request.
  package enum Effect: String, Sendable { case done, none }

  /// Creates a value with its meaning, and the exit status of its command.
  package init(_ name: String, _ meaning: String, exit: Int32? = nil) {
    self.name = name
    self.meaning = meaning
    self.exit = exit
  }

  /// Reads values from a text. Each line has the name, the exit status or `-`, and the meaning.
  package static func list(_ text: String) -> [SimulatorWord] {
    text.split(separator: "\n").map { line in
      let parts = line.split(separator: " ", maxSplits: 2).map(String.init)
      return SimulatorWord(parts[0], parts[2], exit: Int32(parts[1]))
    }
  }
}

/// The faults of a provider: their points, their effects, and the exit status of `tender`.
package struct FaultTable: Sendable {
  /// The point at which a fault strikes.
  package struct Point: Sendable {
    let name: String
    let purpose: String
    let changesBooks: Bool
    /// The command that needs it; nil if `tender` never does.
    let command: String?
    /// The possible faults, with the exit status of `tender`.
    fileprivate(set) var exits: [(what: String, meaning: String, exit: Int32?)] = []
  }

  private var points: [Point] = []

  /// Reads a table.
  ///
  /// `points` has a line for each point: its name, `changes` or `looks`, its purpose and, after `;`,
  /// the command that needs it. `rows` has a line for
  /// each fault, or for several with commas between them. It has the name, then its meaning in brackets if
  /// only this provider has it. Then come exit statuses or `-`, each followed by the points at which `tender`
  /// ends with it.
  package init(points: String, rows: String) {
    for line in points.split(separator: "\n") {
      let parts = line.split(separator: " ", maxSplits: 2).map(String.init)
      let ends = parts[2].split(separator: "; ").map(String.init)
      let command = ends.count > 1 ? ends[1] : nil
      self.points.append(
        Point(
          name: parts[0],
          purpose: ends[0],
          changesBooks: parts[1] == "changes",
          command: command
        )
      )
    }
    for line in rows.split(separator: "\n") {
      let halves = line.split(separator: "]", maxSplits: 1)
      let head = halves[0].split(separator: "[", maxSplits: 1)
      let whats = line.prefix(before: " ").split(separator: ",").map(String.init)
      var exit: Int32?
      for word in (halves.last ?? "").split(separator: " ") {
        if let status = Int32(word) {
          exit = status
        } else if word == "-" {
          exit = nil
        } else if let place = self.points.firstIndex(where: { $0.name == word }) {
          for what in whats {
            let meaning = head.count > 1 ? String(head[1]) : Self.meaning(what)
            self.points[place].exits.append((what, meaning, exit))
          }
        }
      }
    }
  }

  /// Every fault, in the order of the points.
  package var words: [SimulatorWord] {
    points.flatMap { point in
      point.exits.map { what, meaning, exit in
        let name = "\(point.name):\(what)"
        var word = SimulatorWord(name, "\(point.purpose): \(meaning)", exit: exit)
        let isDone = point.changesBooks && meaning.hasPrefix("done")
        word.effect = isDone ? .done : SimulatorWord.Effect.none
        word.command = point.command
        return word
      }
    }
  }

  func point(_ name: String) -> Point? { points.first { $0.name == name } }

  private static func meaning(_ what: String) -> String {
    common[String(what.prefix(before: "="))]
      ?? PlannedFault.status(what).map { "not done, answers \($0)" }
      ?? "not done, rejected (\(what.dropFirst("reject-".count).uppercased()))"
  }

  /// The faults that every exchange can have.
  private static let common: [String: String] = [
    "unreachable": "not sent: the connection is refused",
    "close-before": "not done, answer lost: the connection closes before the request is handled",
    "reset-before": "not done, answer lost: the connection is reset before the request is read",
    "reset-amid": "not done, answer lost: the connection is reset while the request is read",
    "silence-before": "not done, answer lost: no answer comes",
    "close-after": "done, answer lost: the connection closes",
    "reset-after": "done, answer lost: the connection is reset",
    "silence-after": "done, answer lost: no answer comes",
    "garbage": "done, answer unreadable: it is HTML",
    "cut": "done, answer cut after so many bytes",
    "latency": "done, answer late",
    "bandwidth": "done, answer slow, at so many bytes a second",
  ]
}
