import TenderModel

/// An idempotency key in the simulated TrueLayer's books, and the answer that it repeats (TrueLayer/README,
/// 7.1).
struct BankKey {
  static let table = "bank-key"
  /// How long it means the same request, in milliseconds.
  static let life = 30 * 86_400_000

  /// A hash of the request.
  let content: String
  let status: Int
  /// The answer, a resource's token left out.
  let body: JSONObject?
  let hasToken: Bool
  /// When it was used first, in milliseconds since 1970.
  let used: Int

  init(content: String, status: Int, body: JSONObject?, at time: Int) {
    self.content = content
    self.status = status
    hasToken = body?["resource_token"] != nil
    var kept = body
    kept?["resource_token"] = nil
    self.body = kept
    used = time
  }

  /// Reads what the ledger has; nil for what is not a key.
  init?(_ stored: JSONObject) {
    guard let content = stored.text("content"), let status = stored["status"]?.boundedNumber,
      let used = stored["at"]?.boundedNumber
    else { return nil }
    self.content = content
    self.status = status
    self.used = used
    body = stored["body"]?.object
    hasToken = stored["token"] == true
  }

  /// What the ledger keeps.
  var stored: JSONObject {
    var stored: JSONObject = [
      "content": .string(content), "status": .integer(status), "at": .integer(used),
    ]
    if hasToken { stored["token"] = true }
    stored["body"] = body.map(JSON.object)
    return stored
  }
}
