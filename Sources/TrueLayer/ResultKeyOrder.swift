package import TenderModel

/// The order in which a failure's members are shown: the library's error, then why.
extension TrueLayerProvider {
  private static let failure = ["state", "error", "reason", "message"]

  /// A result with its members in one order, wherever it was kept meanwhile.
  package static func inKeyOrder(_ result: JSONObject) -> JSONObject {
    result["reason"] == nil ? result : result.ordered(by: failure)
  }
}
