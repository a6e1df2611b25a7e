import TenderEngine
import TenderModel

/// Where things are (README, 1.4).
enum Paths {
  static func collection(_ kind: Payment.Kind) -> String {
    kind == .mandate ? "/v3/mandates" : "/v3/payments"
  }

  /// `id` has been checked: see `ResourceID`.
  static func resource(_ kind: Payment.Kind, _ id: String) -> String {
    collection(kind) + "/" + id
  }
}

/// Ids before they enter a path.
enum ResourceID {
  /// Five groups of hexadecimal digits, as every published id is (RFC 9562, section 4).
  static func isUUID(_ text: String) -> Bool {
    let groups = text.utf8.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
    return groups.map(\.count) == [8, 4, 4, 4, 12]
      && groups.joined().allSatisfy { byte in
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
          || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte | 0x20)
      }
  }

  /// Letters, digits, dashes, underscores and the asterisks of published samples, 1 to 64 of them:
  /// nothing that means anything in a path.
  static func isSafe(_ text: String) -> Bool {
    (1...64).contains(text.utf8.count)
      && text.utf8.allSatisfy { byte in
        byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_") || byte == UInt8(ascii: "*")
          || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
          || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
      }
  }
}

extension Client {
  /// What was made elsewhere, of which this journal knows nothing that an answer could be compared with: asked
  /// for twice, since one answer may be another payment's.
  ///
  /// Throws `provider_error` where the two differ in amount or currency.
  func adopted(_ kind: Payment.Kind, _ id: String) throws(Fault) -> Resource {
    let first = try resource(kind, id)
    guard first.amount != nil else { return first }
    let second = try resource(kind, id)
    guard first.amount == second.amount, first.currency == second.currency else {
      throw .unexpectedBehaviour(
        "two answers about \(id) name different amounts or currencies",
        traceID: second.traceID
      )
    }
    return second
  }

  /// How a payment or mandate stands.
  ///
  /// What decides about an attempt must be of that very one; a look-up of an id shows what the provider
  /// has to say.
  func resource(
    _ kind: Payment.Kind,
    _ id: String,
    decides: Bool = true
  ) throws(Fault) -> Resource {
    let answer = try send(
      Call(path: Paths.resource(kind, id), credential: .resource(id, kind), kind: kind)
    )
    guard answer.body.text("status") != nil else {
      throw .unexpectedBehaviour("a \(kind == .mandate ? "mandate" : "payment") without status")
    }
    let seen = Resource(kind: kind, id: id, body: answer.body, traceID: answer.traceID)
    guard decides else { return seen.masked }
    if let other = answer.body.text("id"), other != id {
      throw .unexpectedBehaviour(
        "the answer is about another \(kind == .mandate ? "mandate" : "payment")"
      )
    }
    // The end that lets somebody pay again must name the payment whole.
    let isWhole = answer.body["id"] != nil && (kind == .mandate || seen.amount != nil)
    guard seen.status != "failed" || isWhole else {
      throw .unexpectedBehaviour("a failure that does not name its payment and amount")
    }
    // What is there and cannot be read says that the rest is not what it looks like either.
    let isReadable =
      (answer.body["amount_in_minor"] == nil || (seen.amount ?? -1) >= 0)
      && (answer.body["currency"] == nil || seen.currency != nil)
    guard isReadable else {
      throw .unexpectedBehaviour(
        "an amount or currency that cannot be read",
        traceID: answer.traceID
      )
    }
    return seen.masked
  }
}

/// What this program can do in a flow, as it declares it (README, 4.2).
struct Capabilities {
  private let context: TrueLayerContext

  init(_ context: TrueLayerContext) { self.context = context }

  func body(_ kind: Payment.Kind) -> JSONObject {
    let redirect: JSON = ["return_uri": .string(context.configuration.redirectURL)]
    guard kind == .payment else {
      return ["provider_selection": [:], "redirect": redirect, "consent": [:]]
    }
    var consent: JSONObject = ["pis": [:]]
    if context.options.consentsToAccountData {
      consent["ais"] = ["scopes": ["accounts", "balance"]]
    }
    var body: JSONObject = [
      "provider_selection": [:], "scheme_selection": [:], "branch_selection": [:],
      "redirect": redirect, "form": ["input_types": ["text", "text_with_image", "select"]],
      "consent": ["action_type": "explicit", "requirements": .object(consent)],
    ]
    // Without it saved accounts are never offered, and nobody has to choose among them.
    if context.options.account != nil { body["user_account_selection"] = [:] }
    if context.options.retries { body["retry"] = [:] }
    return body
  }
}
