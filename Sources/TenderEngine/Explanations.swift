package import TenderModel

/// The pages of `tender explain` that belong to no provider.
extension Explanation {
  /// Every general page.
  package static let general: [Explanation] =
    embedded("TenderEngine")
    + Fault.Retry.allCases.map {
      Explanation(.type, $0.rawValue, $0.meaning, "error.retry.class of a record of tender")
    }

  /// A page for each exit status.
  package static let exits: [Explanation] =
    ([(0, "done, or looked up")]
    + Fault.Kind.allCases.sorted { $0.exitStatus < $1.exitStatus }.map {
      ($0.exitStatus, $0.meaning)
    } + [(141, "a look-up whose reader closed the pipe")]).map {
      Explanation(.exit, String($0), $1, "the exit status of tender: man 7 tender-exit-codes")
    }
}
