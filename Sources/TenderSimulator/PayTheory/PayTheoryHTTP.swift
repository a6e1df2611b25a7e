import TenderEngine
import TenderModel

/// Pay Theory's HTTP side: the token service and GraphQL (PayTheory/README, 2.1 and 6).
struct PayTheoryHTTP {
  let parts: SimulatorParts

  /// Handles a request; nil for a path of another provider.
  func handle(_ request: SimulatedRequest) throws(Fault) -> HTTPReaction? {
    switch (request.method, request.path) {
    case ("GET", "/pt-token-service/"), ("GET", "/pt-token-service"):
      return try react("token", refusal: 404) { () throws(Fault) in token(request) }
    case ("POST", "/graphql"):
      let own = Self.step(of: request)
      parts.faults.matched = own ?? "graphql"
      return try react(
        own.map(parts.faults.isAbout) == true ? own ?? "" : "graphql",
        refusal: 401,
        echo: request.fields["authorization"] ?? ""
      ) { () throws(Fault) in
        try PayTheoryGraphQL(parts: parts).handle(request)
      }
    default: return nil
    }
  }

  /// The name of a mutation's step, for its faults; nil for a look-up.
  private static func step(of request: SimulatedRequest) -> String? {
    guard let query = JSONReader.read(request.body)?["query"]?.text,
      query.drop(while: \.isWhitespace).hasPrefix("mutation"), !query.contains("Sandbox"),
      !query.contains("createBatchCapture")
    else { return nil }
    return query.contains("createReversal") || query.contains("createRefund")
      ? "reversal" : "stored"
  }

  private func react(
    _ step: String,
    refusal: Int,
    echo: String = "",
    _ body: () throws(Fault) -> HTTPResponse
  ) throws(Fault) -> HTTPReaction {
    let forced = { (status: Int) in HTTPResponse(status: status) }
    return try parts.faults.react(
      step,
      forced: forced,
      own: { fault in
        switch fault {
        case "refused": return HTTPResponse(status: refusal, body: Array("{}".utf8))
        case "echo":
          let text = "Cannot take " + echo
          let body = JSONWriter.text(["errors": [["message": .string(text)]]])
          return HTTPResponse(status: 200, body: Array(body.utf8))
        default: return nil
        }
      },
      body
    )
  }

  /// Returns the token, with the claims of real ones, and the challenge of 128 random bytes
  /// (PayTheory/README, 12.2).
  private func token(_ request: SimulatedRequest) -> HTTPResponse {
    guard let key = request.fields["x-api-key"], SimulatedKey(key) != nil,
      !parts.world.isServed || key == PayTheoryCatalog.apiKey
    else {
      return HTTPResponse(status: 404, body: Array(#"{"message":"Not Found"}"#.utf8))
    }
    let challenge = Base64.encodeURL(parts.world.randomness.bytes(128), padding: true)
    let claims: JSONObject = [
      "api_key": key.json, "merchant_uid": PayTheoryCatalog.merchantUID.json,
      "card_processor": "finix", "ach_processor": "finix", "cash_processor": "pay it today",
      "challenge": challenge.json, "origin": "native", "exp": (parts.world.now / 1000 + 300).json,
      "session_key": request.fields["x-session-key"]?.json,
    ]
    let body: JSON = [
      "pt-token": .string(WebToken.sign(claims)), "origin": "native",
      "challengeOptions": [
        "challenge": .string(challenge),
        "rp": ["name": "Pay Theory", "id": "simulator"],
        "user": ["id": "simulator", "name": "simulator", "displayName": "simulator"],
        "pubKeyCredParams": [["alg": -7, "type": "public-key"]],
        "authenticatorSelection": [
          "authenticatorAttachment": "platform", "userVerification": "required",
        ],
        "timeout": 60_000, "attestation": "direct",
      ],
    ]
    return HTTPResponse(status: 200, body: Array(JSONWriter.text(body).utf8))
  }
}
