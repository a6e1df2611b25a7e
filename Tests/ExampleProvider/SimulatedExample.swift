import TenderEngine
import TenderModel
import TenderSimulator

/// The simulated counterpart (PROTOCOL.md).
struct SimulatedExample: SimulatedProvider {
  private static let key = "example-opens-nothing-else"

  var name: ProviderName { ExampleProvider.name }
  var section: JSONObject { ["access_key": .string(Self.key)] }

  var scenarios: [SimulatorWord] {
    [SimulatorWord("example:refuse", "every payment by example is refused", exit: 3)]
  }

  var faults: FaultTable {
    FaultTable(
      points: "example changes the request",
      rows: """
        close-before 9 example
        silence-before 9 example
        close-after 9 example
        silence-after 9 example
        garbage 9 example
        latency=2s 0 example
        """
    )
  }

  var passing: (payment: String, others: [String]) { ("example", []) }

  func books(_ parts: SimulatorParts, about name: String?) throws(Fault) -> [JSONObject] {
    try parts.ledger.list("example").filter { name == nil || $0.text("id") == name }
  }

  var variables: [(name: String, address: ServedAddress)] { [("TENDER_EXAMPLE_API_URL", .http)] }

  func handle(
    _ request: SimulatedRequest,
    _ parts: SimulatorParts
  ) throws(Fault) -> HTTPReaction? {
    guard request.path.hasPrefix("/example/payments") else { return nil }
    return try parts.ledger.transaction { () throws(Fault) in
      try parts.faults.react("example", forced: { HTTPResponse(status: $0) }) {
        () throws(Fault) in try answer(request, parts)
      }
    }
  }

  private func answer(
    _ request: SimulatedRequest,
    _ parts: SimulatorParts
  ) throws(Fault) -> HTTPResponse {
    guard request.fields["x-example-key"] == Self.key else { return HTTPResponse(status: 401) }
    let words = request.path.split(separator: "/").map(String.init).dropFirst(2)
    if words.isEmpty {
      return request.method == "POST"
        ? try create(request, parts) : try find(request.query, parts)
    }
    guard let id = words.first, var payment = try parts.ledger.find("example", id) else {
      return HTTPResponse(status: 404)
    }
    switch (request.method, words.dropFirst().first) {
    case ("GET", nil): break
    case ("POST", "capture"): payment["state"] = "paid"
    case ("POST", "void"): payment["state"] = "void"
    default: return HTTPResponse(status: 404)
    }
    try parts.ledger.put("example", id, payment)
    return shown(payment)
  }

  private func create(
    _ request: SimulatedRequest,
    _ parts: SimulatorParts
  ) throws(Fault) -> HTTPResponse {
    guard let asked = JSONReader.read(request.body)?.object, let key = asked.text("key"),
      let amount = asked["amount"]?.wholeNumber
    else { return HTTPResponse(status: 400) }
    let known = try parts.ledger.list("example", column: "parent", value: key)
    if let first = known.first { return shown(first) }
    let isRefused = amount % 100 == 13 || parts.world.options.scenario == "example:refuse"
    let id = "ex-" + parts.world.randomness.text(12, from: "0123456789abcdef")
    let state = isRefused ? "refused" : asked["hold"]?.truth == true ? "held" : "paid"
    let payment: JSONObject = [
      "id": .string(id), "reference": asked["reference"] ?? .null, "amount": .integer(amount),
      "currency": asked["currency"] ?? .null, "state": .string(state),
    ]
    try parts.ledger.put(
      "example",
      id,
      payment,
      reference: asked.text("reference"),
      parent: key
    )
    return shown(payment)
  }

  private func find(_ query: String, _ parts: SimulatorParts) throws(Fault) -> HTTPResponse {
    let key = String(query.drop { $0 != "=" }.dropFirst())
    let found = try parts.ledger.list("example", column: "parent", value: key)
    return found.first.map(shown) ?? HTTPResponse(status: 404)
  }

  private func shown(_ payment: JSONObject) -> HTTPResponse {
    HTTPResponse(status: 200, body: Array(JSONWriter.text(.object(payment)).utf8))
  }
}
