import TenderEngine
import TenderModel

/// The address to which the bank returned the payer: its query and fragment (README, 4.6).
struct ReturnAddress {
  let query: String
  let fragment: String

  /// Reads the parameters of a query that our listener received.
  init(query: String) {
    self.query = query
    fragment = ""
  }

  /// Reads an address that the operator passes in, with any scheme.
  ///
  /// Throws `usage` for an address without query and fragment.
  init(address: String) throws(Fault) {
    guard address.utf8.count <= 8192 else { throw .badReturn("is longer than 8192 bytes") }
    let parts = address.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)
    fragment = parts.count > 1 ? String(parts[1]) : ""
    let front = parts[0].split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
    query = front.count > 1 ? String(front[1]) : ""
    guard !query.isEmpty || !fragment.isEmpty else { throw .badReturn("has no query") }
  }

  private var parameters: [String: String] { QueryText.parameters(query) }

  /// Whether the address comes from TrueLayer and names the payment or mandate. A bank's address does not.
  var namesResource: Bool {
    parameters["payment_id"] != nil || parameters["mandate_id"] != nil || saysGivenUp
  }

  private var saysGivenUp: Bool {
    ["tl_hpp_cancel", "tl_hpp_abandoned"].contains(parameters["error"] ?? "")
  }

  /// Returns whether the payer gave up on TrueLayer's hosted page.
  ///
  /// The id is required, because any page in the payer's browser can open an address of this machine.
  func isGivenUp(_ kind: Payment.Kind, _ id: String) -> Bool {
    saysGivenUp && parameters[Self.parameter(kind)] == id
  }

  /// Returns the parameter that names a resource of a kind.
  static func parameter(_ kind: Payment.Kind) -> String {
    kind.noun + "_id"
  }

  /// Checks that the address is about this payment or mandate.
  ///
  /// Throws `conflict` if it is about another.
  func check(_ kind: Payment.Kind, _ id: String) throws(Fault) {
    let parameters = parameters
    if let named = parameters[Self.parameter(kind)], named != id {
      throw .otherReturn(named, id)
    }
    // A bank returns the id as OAuth state; for a mandate without its dashes.
    let all = parameters.merging(QueryText.parameters(fragment)) { first, _ in first }
    guard let state = all["state"] else { return }
    let plain = { (text: String) in text.filter { $0 != "-" }.lowercased() }
    let named = state.hasPrefix("mandate-") ? String(state.dropFirst("mandate-".count)) : state
    let isID = plain(named).utf8.count == 32 && plain(named).allSatisfy(\.isHexDigit)
    if isID, plain(named) != plain(id) { throw .otherReturn(state, id) }
  }
}

extension Fault {
  fileprivate static func badReturn(_ problem: String) -> Fault {
    .usage("bad_value", "--return-url \(problem)", "the whole address that the browser went to")
  }

  /// The payer returned from another payment.
  static func otherReturn(_ named: String, _ id: String) -> Fault {
    .conflict(
      "return_mismatch",
      "the return address is about \(named.quotedForMessage), not about \(id)",
      "hand in the address to which the bank sent the payer of this payment"
    )
  }
}
