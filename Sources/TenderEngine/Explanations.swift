package import TenderModel

/// The pages of `tender explain` that belong to no provider.
extension Explanation {
  /// Every general page.
  package static let general: [Explanation] = embedded("TenderEngine")

  /// A page for each exit status.
  package static let exits: [Explanation] =
    [.exit(0, "what was asked for was reached, or looked up")]
    + Fault.Kind.allCases.sorted { $0.exitStatus < $1.exitStatus }.map {
      .exit($0.exitStatus, $0.meaning)
    } + [.exit(141, "a look-up whose reader closed the pipe")]
}
