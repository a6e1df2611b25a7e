internal import TenderCommandLine
internal import TenderModel
internal import TenderSimulator
internal import TenderSystem

extension Action {
  static let simulatorLearn = Command(
    .local(.reads),
    """
    simulator learn: turn a trace into faults
    Reads a file that --trace wrote, of sandbox or live. Prints the values of --sim-fault that play
    the same errors, lost answers and refused connections on the simulator. A trace does not tell if
    a lost answer was to a request that the provider carried out: the fault assumes that it was. Ids
    in a path become *.
    $ tender simulator learn sandbox.trace # the faults of that run
    """,
    operands: [.init("FILE", completion: .files)],
    bounds: .world
  ).performed(by: LearnCommand.run)
}

/// Turns a trace into the faults that play it.
struct LearnCommand: CommandWork {
  let composition: Composition

  func run() throws(Fault) -> Int32 {
    let path = invocation.operands[0]
    let descriptor = try Environment.openForReading(path, named: "simulator learn")
    defer { Environment.close(descriptor) }
    let reader = LineReader(descriptor: descriptor, limit: 65_536) {
      [signals = composition.signals] in signals.wish != nil
    }
    var lesson = Lesson(composition.providers.simulated)
    while let line = try reader.next() {
      guard let entry = JSONReader.read(line)?.object, entry["at"] != nil else {
        throw .badFile(
          "\(path.quotedForMessage) is not a trace",
          hint: "--trace FILE writes one"
        )
      }
      lesson.take(entry)
    }
    guard !output.isTable else {
      if lesson.faults.isEmpty { output.note("nothing failed in this trace") }
      let words = lesson.faults.map { "--sim-fault '\($0.text)'\n" }
      output.put(words.joined())
      return output.exit(0)
    }
    for (text, detail) in lesson.faults { output.show(records.check(text, detail)) }
    return output.exit(0)
  }

  /// What was learned so far.
  private struct Lesson {
    private(set) var faults: [(text: String, detail: String)] = []
    private let actions: [String: String]
    private let points: Set<String>
    /// The point that a request went to last.
    private var point: String?
    /// The number of requests to each point that ended well.
    private var spared: [String: Int] = [:]

    init(_ providers: [any SimulatedProvider]) {
      actions = providers.reduce(into: [:]) { $0.merge($1.actions) { first, _ in first } }
      points = Set(providers.flatMap(\.faults.words).map(\.name))
    }

    mutating func take(_ entry: JSONObject) {
      if let method = entry.text("http") {
        point = method + Trace.pathWithoutIDs(entry.text("url") ?? "")
      } else if entry["socket"] == "open" {
        point = "socket"
      } else if entry["socket"] == "send" {
        point = entry.text("action").flatMap { actions[$0] }
      } else if let status = entry["status"]?.wholeNumber {
        end(status < 400 ? nil : "http-\(status)", "answered \(status)")
      } else if entry["socket"] == "receive" {
        end(entry["type"] == "error" ? "error" : nil, "answered with an error")
      } else if entry["socket"] == "closed" {
        end("close-after", "had no answer before the socket closed")
      } else if let code = entry.text("failed") {
        end(Self.whats[code] ?? "unreachable", "failed: \(code)")
      }
    }

    private static let whats = [
      "no_answer": "silence-after", "connection_closed": "close-after",
      "upgrade_refused": "refused",
    ]

    private mutating func end(_ what: String?, _ detail: String) {
      guard let point else { return }
      self.point = nil
      let earlier = spared[point] ?? 0
      guard let what else {
        spared[point] = earlier + 1
        return
      }
      let name = "\(point):\(what)"
      guard point.contains("/") || points.contains(name) else { return }
      let head = name + (earlier == 0 ? "*" : "+\(earlier)*")
      guard let last = faults.lastIndex(where: { $0.text.hasPrefix(head) }) else {
        return faults.append((head + "1", "\(point) \(detail)"))
      }
      faults[last].text = head + String((Int(faults[last].text.dropFirst(head.count)) ?? 1) + 1)
    }
  }
}
