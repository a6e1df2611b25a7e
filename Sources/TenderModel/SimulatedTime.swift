package enum SimulatedTime: Sendable, Hashable {
  /// A fixed time, in milliseconds since 1970.
  case standing(Int)
  /// A running clock, some milliseconds ahead.
  case ahead(Int)

  /// The range of fixed times: from 1970, with room before the end of year 9999 for every deadline.
  private static let times = 0...253_370_764_800_000
  /// The largest time that it can be ahead: 100 years.
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

  /// The fixed time; nil if the clock runs.
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
