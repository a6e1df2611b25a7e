package import TenderCommandLine
package import TenderModel

extension TrueLayerModule {
  package var help: ModuleHelp {
    ModuleHelp(
      "TrueLayer",
      addresses: ["TENDER_TRUELAYER_API_URL", "TENDER_TRUELAYER_AUTH_URL"]
    )
  }

  package var results: [ResultShape] {
    ResultShape.table(
      """
      state .: state reason? failure_reason? failure_stage? trace_id?
      status .: status reason? failure_reason? failure_stage? trace_id?
      error .: error reason? failure_reason? failure_stage? trace_id?
      refund refund: id status amount_in_minor#?
      """
    )
  }

  /// Returns a failure with the library's error first and the reasons after it.
  package func inKeyOrder(_ result: JSONObject) -> JSONObject {
    guard result["reason"] != nil else { return result }
    return result.ordered(by: ["state", "error", "reason", "message"])
  }
}
