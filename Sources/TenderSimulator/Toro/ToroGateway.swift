import TenderEngine
import TenderModel

/// The simulated Toro gateway: structure, then trailer, then ids, then business
/// (Toro/README, 3 and 10.1).
struct ToroGateway {
  let parts: SimulatorParts

  /// The reason for a refusal (`RejectReason1Code`), and a text for people.
  struct Refusal: Error {
    let reason: String
    let words: String
  }

  static let steps: [String: (step: String, root: String, schema: String)] = [
    "/v1/caaa/authorisation-request": ("authorisation", "AccptrAuthstnReq", "caaa.001.001"),
    "/v1/caaa/completion-advice": ("completion", "AccptrCmpltnAdvc", "caaa.003.001"),
    "/v1/caaa/cancellation-advice": ("cancellation", "AccptrCxlAdvc", "caaa.007.001"),
    "/v1/caaa/diagnostic-request": ("diagnostic", "AccptrDgnstcReq", "caaa.013.001"),
    "/v1/catm/status-report": ("status-report", "StsRpt", "catm.001.001"),
  ]

  /// Handles a request; nil for a path of another provider.
  func handle(_ request: SimulatedRequest) throws(Fault) -> HTTPReaction? {
    guard let (step, root, schema) = Self.steps[request.path] else { return nil }
    parts.faults.matched = step
    guard request.method == "POST" else { return .answer(HTTPResponse(status: 405)) }
    // The header with the API key is not public, so any header may have it (Toro/README, 1.1).
    guard !parts.world.isServed || request.fields.values.contains(ToroCatalog.apiKey) else {
      return .answer(HTTPResponse(status: 401))
    }
    let strike = parts.faults.strike(step)
    let fault = strike.what
    let forced = { (status: Int) in HTTPResponse(status: status) }
    func own(_ fault: String) -> HTTPResponse? {
      guard fault.hasPrefix("reject-") else { return nil }
      let reason = fault.dropFirst("reject-".count).uppercased()
      return rejection(Refusal(reason: reason, words: "as asked for"), request, isTerminal(step))
    }
    return try parts.faults.react(strike, forced: forced, own: own) { () throws(Fault) in
      let answer: HTTPResponse
      do throws(Refusal) {
        let message = try read(request, step, root, schema)
        do throws(Fault) {
          answer = try self.answer(message, fault)
        } catch {
          return HTTPResponse(status: 500, body: Array(error.message.utf8))
        }
      } catch {
        answer = rejection(error, request, isTerminal(step))
      }
      switch fault {
      case "empty": return HTTPResponse(status: 200)
      case "truncated":
        let part = Array(answer.body.prefix(answer.body.count * 2 / 3))
        return HTTPResponse(status: answer.status, body: part, fields: answer.fields)
      default: return answer
      }
    }
  }

  private func isTerminal(_ step: String) -> Bool { step == "status-report" }

  /// Reads a message, and checks everything except its business content.
  private func read(
    _ request: SimulatedRequest,
    _ step: String,
    _ expected: String,
    _ schema: String
  ) throws(Refusal) -> GatewayMessage {
    let parsed: XMLElement?
    do throws(Fault) {
      parsed = try XMLElement.read(request.body)
    } catch {
      throw Refusal(reason: "UNPR", words: error.message)
    }
    guard let document = parsed else {
      throw Refusal(reason: "PARS", words: "it is not well-formed XML")
    }
    guard document.name == "Document", document.children.count == 1,
      let root = document.children.first
    else { throw Refusal(reason: "IMSG", words: "there is no Document with one message") }
    guard root.name == expected else {
      throw Refusal(reason: "MSGT", words: "\(root.name) is not taken here")
    }
    // The sample of the gateway's document has version 9 for a message of version 12 (Toro/README, 3.1).
    let prefix = "urn:iso:std:iso:20022:tech:xsd:\(schema)."
    let version = document.namespace.dropFirst(prefix.utf8.count)
    guard document.namespace.hasPrefix(prefix), version.utf8.count == 2,
      let version = Int(version), (1...12).contains(version)
    else { throw Refusal(reason: "IMSG", words: "the namespace is not \(schema)'s") }
    if let problem = GatewayGrammar.problem(document) {
      throw Refusal(reason: "PARS", words: problem)
    }
    guard !request.body.contains(UInt8(ascii: "\n")), !Self.hasSpaces(request.body) else {
      throw Refusal(reason: "IMSG", words: "it is not compact")
    }
    if let problem = GatewaySecurity.problem(root["SctyTrlr"], document: request.body) {
      throw Refusal(reason: "SECU", words: problem)
    }
    let message = GatewayMessage(step: step, root: root, document: request.body)
    try checkParties(message)
    return message
  }

  private static func hasSpaces(_ bytes: [UInt8]) -> Bool {
    bytes[...].range(ofText: "> <") != nil
  }

  /// Version, sender, addressee and number.
  private func checkParties(_ message: GatewayMessage) throws(Refusal) {
    let isTerminal = isTerminal(message.step)
    let version = message.header?.text(isTerminal ? "FrmtVrsn" : "PrtcolVrsn") ?? ""
    guard version.prefix(before: ".") == "12" else {
      throw Refusal(reason: "VERS", words: "version \(version) is not supported")
    }
    let sender = message.header?.text("InitgPty/Id") ?? ""
    let terminal = message.body.text(isTerminal ? "POIId/Id" : "Envt/POI/Id/Id")
    guard sender == terminal else {
      throw Refusal(reason: "INTP", words: "\(sender) is not this terminal")
    }
    let merchant = message.body.text("Envt/Mrchnt/Id/Id") ?? ToroCatalog.merchantID
    if parts.world.isServed, terminal != ToroCatalog.poiID || merchant != ToroCatalog.merchantID {
      throw Refusal(reason: "INTP", words: "merchant or terminal is not known")
    }
    if let recipient = message.header?.text("RcptPty/Id"), recipient != ToroCatalog.recipientID {
      throw Refusal(reason: "RCPP", words: "\(recipient) is not here")
    }
    guard !isTerminal else { return }
    let number = message.header?.text("XchgId") ?? ""
    let isNew: Bool
    do throws(Fault) {
      isNew = try parts.ledger.put(
        "toro-exchange",
        "\(sender)/\(number)",
        ["at": .integer(parts.world.now)],
        replacing: false
      )
    } catch {
      throw Refusal(reason: "UNPR", words: error.message)
    }
    guard isNew else { throw Refusal(reason: "DPMG", words: "exchange \(number) was used before") }
  }

  private func answer(_ message: GatewayMessage, _ fault: String?) throws(Fault) -> HTTPResponse {
    let books = ToroBooks(world: parts.world, ledger: parts.ledger)
    let writer = GatewayWriter(message: message, now: parts.world.now, fault: fault)
    switch message.step {
    case "authorisation":
      let sale = try books.authorise(message.body)
      return writer.authorisation(sale)
    case "completion", "cancellation":
      let isCompletion = message.step == "completion"
      let answer =
        fault == "declined"
        ? ToroBooks.Advised(response: "DECL")
        : isCompletion ? try books.complete(message.body) : try books.cancel(message.body)
      return writer.advice(answer, isCompletion: isCompletion)
    case "diagnostic": return writer.diagnostic()
    default: return writer.plan()
    }
  }

  private func rejection(
    _ refusal: Refusal,
    _ request: SimulatedRequest,
    _ isTerminal: Bool
  ) -> HTTPResponse {
    GatewayWriter.rejection(
      refusal.reason,
      refusal.words,
      request.body,
      isTerminal: isTerminal,
      now: parts.world.now
    )
  }
}
