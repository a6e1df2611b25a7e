import TenderEngine
import TenderModel
import TenderSystem

/// The paths below `/_simulator/`: the other simulator commands over HTTP.
extension SimulatorServer {
  /// The prefix of paths that control the simulator.
  static let prefix = "/_simulator/"

  /// The paths below the prefix, with their methods.
  static let controls = [
    "advance": "POST", "events": "GET", "load": "POST", "reader": "POST", "requests": "GET",
    "reset": "POST", "save": "GET", "show": "GET",
  ]

  /// Shows or controls the simulator: its clock, its books, its requests, the next customer at its reader.
  func control(
    _ request: SimulatedRequest,
    _ simulator: InProcessSimulator
  ) throws(Fault) -> HTTPResponse {
    let name = String(request.path.dropFirst(Self.prefix.count))
    let ledger = simulator.parts.ledger
    let query = QueryText.parameters(request.query)
    // A filter that is not understood must not show everything.
    for (key, value) in query {
      switch (name, key) {
      case ("show", "ref"): continue
      case ("requests", "after") where Int(value) != nil: continue
      case ("events", "after") where Int(value) != nil: continue
      case ("requests", "unmatched") where ["true", "false"].contains(value): continue
      default:
        throw .usage(
          "bad_value",
          "\(request.path) has no \("\(key)=\(value)".quotedForMessage)",
          "see: tender help simulator"
        )
      }
    }
    switch name {
    case "show": return Self.answer(try simulator.books(about: query["ref"]))
    case "requests":
      let after = query["after"].flatMap { Int($0) } ?? 0
      return Self.answer(
        try ledger.exchanges(after: after, unmatched: query["unmatched"] == "true")
      )
    case "events":
      let after = query["after"].flatMap { Int($0) } ?? 0
      return Self.answer(
        try ledger.events(after: after).map { event throws(Fault) in
          var shown = event.shown
          let deliveries = try ledger.deliveries(of: event.number)
          if !deliveries.isEmpty { shown["deliveries"] = deliveries.map(\.shown).json }
          return shown
        }
      )
    case "save":
      var text: [UInt8] = []
      try ledger.save { line in
        text += Array(line.utf8)
        return true
      }
      return HTTPResponse(status: 200, body: text, fields: ["content-type": "application/jsonl"])
    case "load":
      var lines = request.body.split(separator: UInt8(ascii: "\n"))[...]
      try ledger.load { lines.popFirst().map { String(decoding: $0, as: UTF8.self) } }
    case "advance":
      let time = String(decoding: request.body, as: UTF8.self)
      _ = try ledger.advance(
        by: TimeText.milliseconds(time, option: request.path, most: SimulatedTime.mostAhead)
      )
      try self.simulator([:], isControl: true).catchUp()
    case "reset": try ledger.reset()
    default:
      var options = simulator.world.options
      options.seedLabel = nil
      nextCustomer.set(options)
    }
    return HTTPResponse(status: 204)
  }

  private static func answer(_ entries: [JSONObject]) -> HTTPResponse {
    let text = JSONWriter.text(.array(entries.map(JSON.object)))
    return HTTPResponse(status: 200, body: Array(text.utf8))
  }
}
