package import TenderModel

/// The terms in Toro's documents, ISO 20022 and ISO 8583, with their meanings.
extension ToroProvider {
  /// Every page of `tender explain`.
  package static let explanations = Explanation.embedded("Toro")

  /// Returns a result with its members in the documented order (README, 5.2).
  package static func inKeyOrder(_ result: JSONObject) -> JSONObject {
    guard result["receipt"] != nil || result["cancellationType"] != nil || result["reason"] != nil
    else { return result }
    var arranged = result.ordered(by: members)
    guard let receipt = result["receipt"]?.object else { return arranged }
    arranged["receipt"] = .object(receipt.ordered(by: fields))
    return arranged
  }

  /// The members of results, in the documented order.
  private static let members = Explanation.embedded("Toro", [.member]).map(\.code)
  private static let fields = members.filter { $0.hasPrefix("receipt.") }
    .map { String($0.dropFirst("receipt.".count)) }
}
