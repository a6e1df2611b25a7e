/// A time as users write it. The caller resolves it with the time zone and the current day.
package enum TimeExpression: Sendable, Hashable {
  /// Milliseconds since 1970.
  case instant(Int)
  /// A whole day in the local time zone.
  case day(year: Int, month: Int, day: Int)
  /// A time in the local time zone, to the second.
  case local(year: Int, month: Int, day: Int, second: Int)
  /// A number of milliseconds before now.
  case ago(Int)
  /// A whole day, this many days before today; 0 is today.
  case daysAgo(Int)
  /// The latest such weekday before today; 0 is Sunday.
  case weekday(Int)

  private static let weekdays = [
    "sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday",
  ]

  /// Reads `2026-11-20`, `2026-11-20T17:19` (local time, also with seconds) or an RFC 3339 time. Also reads
  /// `today`, `yesterday`, a weekday, or a duration such as `24h`. Nil for anything else.
  package init?(_ text: String) {
    let word = text.lowercased()
    if word == "today" || word == "yesterday" {
      self = .daysAgo(word == "today" ? 0 : 1)
    } else if let weekday = Self.weekdays.firstIndex(where: {
      $0 == word || word.count == 3 && $0.hasPrefix(word)
    }) {
      self = .weekday(weekday)
    } else if let past = Self.length(word) {
      self = .ago(past)
    } else if let expression = Self.date(text) {
      self = expression
    } else {
      return nil
    }
  }

  /// Returns the milliseconds of `90s`, `30m`, `24h`, `7d` or `2w`.
  private static func length(_ word: String) -> Int? {
    let scales: [Character: Int] = [
      "s": 1000, "m": 60_000, "h": 3_600_000, "d": 86_400_000, "w": 604_800_000,
    ]
    guard let last = word.last, let scale = scales[last], word.count <= 7,
      word.dropLast().utf8.allSatisfy({ (0x30...0x39).contains($0) }),
      let number = Int(word.dropLast())
    else { return nil }
    return number * scale
  }

  private static func date(_ text: String) -> TimeExpression? {
    guard Timestamp.read(String(text.prefix(10))) != nil, text.utf8.count >= 10 else { return nil }
    let numbers = text.prefix(10).split(separator: "-").compactMap { Int($0) }
    guard numbers.count == 3 else { return nil }
    if text.utf8.count == 10 {
      return .day(year: numbers[0], month: numbers[1], day: numbers[2])
    }
    // A time without a zone is local. The RFC 3339 reader checks its shape.
    let whole = text.utf8.count == 16 ? text + ":00" : text
    if whole.utf8.count == 19, let midnight = Timestamp.read(String(text.prefix(10))),
      let time = Timestamp.read(whole.replacing(" ", with: "T") + "Z")
    {
      return .local(
        year: numbers[0],
        month: numbers[1],
        day: numbers[2],
        second: (time - midnight) / 1000
      )
    }
    return Timestamp.read(text).map(TimeExpression.instant)
  }
}
