import TenderEngine
package import TenderModel

/// The requests that the simulator received last, each with its answer.
extension Ledger {
  /// The number of exchanges that are stored; older ones are deleted.
  package static let mostExchanges = 1000

  /// Stores an exchange under the next number.
  func log(_ exchange: JSONObject) throws(Fault) {
    try transaction { () throws(Fault) in
      let number = try count("log", "exchanges", upTo: .max) ?? 0
      let numbered = JSONObject([.init(key: "number", value: .integer(number))] + exchange.members)
      try put("exchange", Self.sorted(number), numbered)
      if number > Self.mostExchanges {
        try delete("exchange", upTo: Self.sorted(number - Self.mostExchanges))
      }
    }
  }

  /// Returns the exchanges with a higher number, oldest first; `unmatched` leaves out those that a provider knows.
  package func exchanges(after number: Int, unmatched: Bool) throws(Fault) -> [JSONObject] {
    try list("exchange", after: Self.sorted(number)).filter { !unmatched || $0["matched"] == nil }
  }
}

/// A request to the simulator with its answer, as `simulator requests` shows it.
///
/// Of a body it has every member's name, but the values of the members in `shown` only.
struct SimulatedExchange {
  private(set) var fields: JSONObject

  /// Begins with what came: a request's method and path, or a message's action.
  init(_ method: String, _ path: String, at time: Int) {
    fields = ["at": Timestamp.preciseText(time).json, "method": method.json, "path": path.json]
  }

  /// Adds who took the request, at which point of the provider's, and the fault that struck there.
  mutating func match(_ provider: ProviderName, _ faults: FaultPlan) {
    fields["provider"] = .string(provider.text)
    fields["matched"] = faults.matched?.json
    if !faults.struck.isEmpty {
      fields["fault"] = .string(faults.struck.joined(separator: " "))
    }
  }

  mutating func add(_ name: String, _ body: [UInt8]) {
    add(name, body.count <= Self.mostRead ? JSONReader.read(body) : nil, bytes: body.count)
  }

  /// The number of bytes of the largest body that is stored.
  private static let mostRead = 65_536

  /// Adds a body; nil if it is no JSON.
  mutating func add(_ name: String, _ read: JSON?, bytes: Int) {
    guard bytes > 0 else { return }
    guard let read, read.object != nil, bytes <= Self.mostRead else {
      fields[name] = ["bytes": .integer(bytes)]
      return
    }
    // A fault may have sent a secret back.
    let hidesErrors = fields["fault"] != nil || read["type"] == "error" && name == "request"
    fields[name] = Self.redactor.redact(Self.masked(read, isShown: false, hidesErrors))
  }

  mutating func add(_ request: SimulatedRequest) {
    fields["headers"] = .array(request.fields.keys.sorted().map(JSON.string))
    fields["idempotency_key"] = request.fields["idempotency-key"]?.json
    add("request", request.body)
  }

  /// Adds an answer over HTTP; nil for none at all.
  mutating func add(_ reaction: HTTPReaction?) {
    guard let reaction else {
      fields["status"] = 404
      return
    }
    fields["status"] = reaction.response.map { .integer($0.status) }
    add("answer", reaction.response?.body ?? [])
    if reaction.end != .whole { fields["end"] = .string(reaction.end.rawValue) }
  }

  /// Adds the answer to a socket's request to upgrade.
  mutating func add(_ reaction: UpgradeReaction) {
    switch reaction {
    case .accept: fields["status"] = 101
    case .refuse(let status): fields["status"] = .integer(status)
    case .unreachable: fields["end"] = "unreachable"
    }
  }

  mutating func add(_ reactions: [SocketReaction]) {
    for reaction in reactions {
      switch reaction {
      case .send(let text): add("answer", Array(text.utf8))
      case .cut: fields["end"] = "cut"
      case .close: fields["end"] = "close"
      case .drop: fields["end"] = "reset"
      case .silence: fields["end"] = "silence"
      case .pause: break
      }
    }
  }

  private static let redactor = Redactor()

  /// The members whose values are shown.
  private static let shown = Set(
    """
    action amount amount_in_minor captured country_code created_at currency detail executed_at
    failure_reason failure_stage fee fee_mode final id idempotency kind mandate_id maximum_amount
    merchant_account_id message payment_id payment_intent_id payment_method_id period_alignment
    provider_id receipt_number reference refund_id refunded scheme_id settled_at state status title
    transaction_id type use_case voided
    """.split(separator: "\n").flatMap { $0.split(separator: " ").map(String.init) }
  )
  private static let errors: Set = ["error", "errors", "detail", "message"]

  private static func masked(_ value: JSON, isShown: Bool, _ hidesErrors: Bool) -> JSON {
    switch value {
    case .object(let object):
      let isError = object["type"] == "error"
      return .object(
        JSONObject(
          object.members.map { member in
            let isOfError = errors.contains(member.key) || isError && member.key == "body"
            let isOpen = isShown || shown.contains(member.key) || isOfError
            return JSONObject.Member(
              key: member.key,
              value: masked(
                member.value,
                isShown: isOpen && !(isOfError && hidesErrors),
                hidesErrors
              )
            )
          }
        )
      )
    case .array(let elements):
      return .array(elements.map { masked($0, isShown: isShown, hidesErrors) })
    case .bool, .null: return value
    case .string, .integer, .number: return isShown ? value : "[redacted]"
    }
  }
}

/// A client of a simulated socket whose messages are logged.
final class LoggedSession: SocketSession {
  private let inner: any SocketSession
  private let provider: ProviderName
  private let parts: SimulatorParts

  init(_ inner: any SocketSession, _ provider: ProviderName, _ parts: SimulatorParts) {
    self.inner = inner
    self.provider = provider
    self.parts = parts
  }

  func receive(_ text: String) throws(Fault) -> [SocketReaction] {
    try parts.ledger.transaction { () throws(Fault) in try logged(text) }
  }

  private func logged(_ text: String) throws(Fault) -> [SocketReaction] {
    try parts.catchUp()
    parts.faults.begin(nil)
    let reactions = try inner.receive(text)
    let message = JSONReader.read(text)
    let action = message?["action"]?.text ?? ""
    var exchange = SimulatedExchange(
      "MESSAGE",
      parts.faults.matched == nil ? "unknown" : action,
      at: parts.world.now
    )
    exchange.match(provider, parts.faults)
    exchange.add("request", message, bytes: text.utf8.count)
    exchange.add(reactions)
    try parts.ledger.log(exchange.fields)
    return reactions
  }
}
