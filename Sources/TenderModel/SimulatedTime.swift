/// What the simulated clock shows.
package enum SimulatedTime: Sendable, Hashable {
  /// It stands still, at milliseconds since 1970.
  case standing(Int)
  /// It goes on, so many milliseconds ahead.
  case ahead(Int)

  /// The times at which the simulated clock can stand: from 1970, and far enough from the end of year
  /// 9999 that every deadline can be written.
  private static let times = 0...253_370_764_800_000
  /// How far it can be ahead: 100 years.
  package static let mostAhead = 100 * 366 * 86_400_000

  /// Reads milliseconds since 1970, or `+` and milliseconds.
  package init?(_ text: String) {
    guard let number = Int(text) else { return nil }
    if text.hasPrefix("+") {
      guard number <= Self.mostAhead else { return nil }
      self = .ahead(number)
    } else {
      guard Self.times.contains(number) else { return nil }
      self = .standing(number)
    }
  }

  /// Where it stands; nil where it goes on.
  package var standing: Int? {
    if case .standing(let time) = self { time } else { nil }
  }

  package var text: String {
    switch self {
    case .standing(let time): String(time)
    case .ahead(let time): "+\(time)"
    }
  }
}
