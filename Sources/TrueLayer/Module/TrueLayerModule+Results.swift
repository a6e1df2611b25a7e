package import TenderCommandLine

extension TrueLayerModule {
  package var results: [ResultShape] { Self.shapes }

  private static let shapes = ResultShape.table(
    """
    state .: state reason? failure_reason? failure_stage? trace_id?
    status .: status reason? failure_reason? failure_stage? trace_id?
    error .: error reason? failure_reason? failure_stage? trace_id?
    refund refund: id status amount_in_minor#?
    """
  )
}
