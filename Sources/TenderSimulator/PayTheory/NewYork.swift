import TenderModel

/// Times of day in New York, where Pay Theory's documented hours are.
enum NewYork {
  private static let hour = 3_600_000
  private static let day = 24 * hour

  /// Returns the next time after another one at which it is an hour of the day there, in milliseconds since 1970.
  static func next(_ clockHour: Int, after time: Int) -> Int {
    let local = time + offset(time)
    let today = local - local % day + clockHour * hour
    let wanted = today > local ? today : today + day
    // The offset may change in the night before it.
    return wanted - offset(wanted - offset(time))
  }

  /// Returns an hour of the morning after a time's day there.
  static func morning(_ clockHour: Int, after time: Int) -> Int {
    next(clockHour, after: next(0, after: time))
  }

  /// The difference to UTC: summer time is from 2:00 on the second Sunday of March to 2:00 on the first of November.
  private static func offset(_ time: Int) -> Int {
    let year = Timestamp.yearAndMonth(time).year
    let begin = sunday(year, 3) + 7 * day + 7 * hour
    let end = sunday(year, 11) + 6 * hour
    return ((begin..<end).contains(time) ? -4 : -5) * hour
  }

  /// The first Sunday of a month, at midnight in UTC. 1970-01-01 was a Thursday.
  private static func sunday(_ year: Int, _ month: Int) -> Int {
    let first = Timestamp.read("\(year)-\(month < 10 ? "0" : "")\(month)-01") ?? 0
    let weekday = (first / day + 4) % 7
    return first + (7 - weekday) % 7 * day
  }
}
