// `struct tm` comes with the headers of the C libraries.
private import CLibraries
private import Platform
package import TenderModel

/// Times in the local zone (`TZ`, else the system's).
package enum LocalTime {
  /// The value of `TZ`, if it names no zone of this machine and is no rule such as `EST5EDT`. Then local times
  /// are UTC.
  package static var unknownZone: String? {
    guard let zone = Environment()["TZ"], !zone.isEmpty, zone != "UTC", zone != "UTC0" else {
      return nil
    }
    let name = zone.hasPrefix(":") ? String(zone.dropFirst()) : zone
    // The name of a rule has at least three letters, and its offset has a digit.
    let rule = name.prefix(before: ",")
    let isRule = !rule.contains("/") && rule.contains { $0.isNumber }
    let folder = Environment()["TZDIR"] ?? "/usr/share/zoneinfo"
    let isFile = Environment.exists(name.hasPrefix("/") ? name : "\(folder)/\(name)")
    return isRule || isFile ? nil : zone
  }

  /// The first and the last millisecond of an expression. For a moment, both are the same.
  ///
  /// `now` is in milliseconds since 1970. Nil if the zone has no such time.
  package static func range(of expression: TimeExpression, now: Int) -> ClosedRange<Int>? {
    switch expression {
    case .instant(let time): return time...time
    case .ago(let past):
      let (time, overflows) = now.subtractingReportingOverflow(past)
      return overflows ? nil : time...time
    case .day(let year, let month, let day): return range(year, month, day)
    case .local(let year, let month, let day, let second):
      return instant(year, month, day, second: second).map { $0...($0 + 999) }
    case .daysAgo(let days):
      guard let today = civil(now) else { return nil }
      return range(today.year, today.month, today.day - days)
    case .weekday(let weekday):
      guard let today = civil(now) else { return nil }
      let back = (today.weekday - weekday + 7) % 7
      return range(today.year, today.month, today.day - (back == 0 ? 7 : back))
    }
  }

  /// A whole day. A day outside of the month is one of a neighboring month.
  private static func range(_ year: Int, _ month: Int, _ day: Int) -> ClosedRange<Int>? {
    guard let first = instant(year, month, day, second: 0),
      let next = instant(year, month, day + 1, second: 0), next > first
    else { return nil }
    return first...(next - 1)
  }

  private static func instant(_ year: Int, _ month: Int, _ day: Int, second: Int) -> Int? {
    var parts = unsafe tm()
    unsafe parts.tm_year = Int32(year - 1900)
    unsafe parts.tm_mon = Int32(month - 1)
    unsafe parts.tm_mday = Int32(day)
    unsafe parts.tm_hour = Int32(second / 3600)
    unsafe parts.tm_min = Int32(second / 60 % 60)
    unsafe parts.tm_sec = Int32(second % 60)
    unsafe parts.tm_isdst = -1
    let time = unsafe mktime(&parts)
    return time == -1 ? nil : Timestamp.clamped(Int(time) * 1000)
  }

  private static func civil(
    _ milliseconds: Int
  ) -> (year: Int, month: Int, day: Int, weekday: Int)? {
    var seconds = time_t(milliseconds / 1000)
    var parts = unsafe tm()
    guard unsafe localtime_r(&seconds, &parts) != nil else { return nil }
    return unsafe (
      Int(parts.tm_year) + 1900, Int(parts.tm_mon) + 1, Int(parts.tm_mday), Int(parts.tm_wday)
    )
  }

  /// Returns the day of a time in the local zone, such as `2026-11-20`.
  package static func day(_ milliseconds: Int) -> String {
    String((text(milliseconds) ?? Timestamp.text(milliseconds)).prefix(10))
  }

  /// A time in the local zone, `2026-11-20 18:19:00 CET`; nil if the zone is UTC.
  package static func text(_ milliseconds: Int) -> String? {
    var seconds = time_t(milliseconds / 1000)
    var parts = unsafe tm()
    guard unsafe localtime_r(&seconds, &parts) != nil else { return nil }
    guard unsafe parts.tm_gmtoff != 0 else { return nil }
    var buffer = [CChar](repeating: 0, count: 64)
    _ = unsafe strftime(&buffer, buffer.count, "%Y-%m-%d %H:%M:%S %Z", &parts)
    return buffer.text
  }
}
