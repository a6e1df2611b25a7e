internal import TenderModel

/// The terms in Pay Theory's documents, with their meanings.
enum Vocabulary {
  /// The processor's codes in `status.reason.error_code`.
  private static let processorCodes = Explanation.embedded("PayTheory", [.processorCode])

  /// Returns our code for a documented processor code (README, 8.3); nil for any other text.
  static func code(_ text: String) -> String? {
    let upper = text.uppercased()
    return processorCodes.contains { $0.code == upper } ? upper.lowercased() : nil
  }

  /// Every page of `tender explain`; a processor's code is an error of ours.
  static let pages: [Explanation] = Explanation.embedded("PayTheory").map { code in
    guard code.subject == .processorCode else { return code }
    var page = Explanation(
      code.code.lowercased(),
      .declined,
      provider: code.code,
      code.meaning,
      code.advice
    )
    (page.side, page.retry, page.payer) = (code.side, code.retry, code.payer)
    (page.path, page.source) = (code.path, code.source)
    return page
  }
}
