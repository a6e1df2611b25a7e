/// Times in RFC 3339, always in UTC.
///
/// A time outside of years 0 to 9999 is clamped to the first or the last.
package enum Timestamp {
  /// The milliseconds since 1970 that can be written, years 0 to 9999. Sums of them cannot overflow.
  package static let range = -62_167_219_200_000...253_402_300_799_999

  /// Returns the nearest time that can be written.
  package static func clamped(_ milliseconds: Int) -> Int {
    min(max(milliseconds, range.lowerBound), range.upperBound)
  }

  /// Returns milliseconds since 1970 as `2026-11-20T17:19:00Z`.
  package static func text(_ milliseconds: Int) -> String {
    let seconds = clamped(milliseconds).flooredQuotient(by: 1000)
    let day = seconds.flooredQuotient(by: 86_400)
    let second = seconds - day * 86_400
    let date = civil(day: day)
    // Digits are written in place, because every record has several times.
    var text = Array("0000-00-00T00:00:00Z".utf8)
    func put(_ number: Int, upTo end: Int) {
      var (left, place) = (number, end)
      while left > 0, place > 0 {
        place -= 1
        text[place] = UInt8(ascii: "0") + UInt8(left % 10)
        left /= 10
      }
    }
    put(date.year, upTo: 4)
    put(date.month, upTo: 7)
    put(date.day, upTo: 10)
    put(second / 3600, upTo: 13)
    put(second / 60 % 60, upTo: 16)
    put(second % 60, upTo: 19)
    return String(decoding: text, as: UTF8.self)
  }

  /// Returns the same with hundredths of a second: `2026-11-20T17:19:00.00Z`.
  package static func preciseText(_ milliseconds: Int) -> String {
    String(text(milliseconds).dropLast()) + "." + pad(fraction(milliseconds) / 10, 2) + "Z"
  }

  /// Returns the same with milliseconds: `2026-11-20T17:19:00.000Z`.
  package static func milliText(_ milliseconds: Int) -> String {
    String(text(milliseconds).dropLast()) + "." + pad(fraction(milliseconds), 3) + "Z"
  }

  /// Returns the milliseconds after the whole second.
  private static func fraction(_ milliseconds: Int) -> Int {
    let milliseconds = clamped(milliseconds)
    return milliseconds - milliseconds.flooredQuotient(by: 1000) * 1000
  }

  /// Reads an HTTP date, such as `Fri, 20 Nov 2026 17:19:00 GMT` (RFC 9110, section 5.6.7), in milliseconds;
  /// nil for anything else.
  package static func httpDate(_ text: String) -> Int? {
    let months = [
      "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]
    let words = text.split(separator: " ").map(String.init)
    guard words.count == 6, words[5] == "GMT", let month = months.firstIndex(of: words[2]) else {
      return nil
    }
    return read("\(words[3])-\(pad(month + 1, 2))-\(words[1])T\(words[4])Z")
  }

  /// Reads an RFC 3339 time, or a date as its midnight, in milliseconds; nil for anything else.
  package static func read(_ text: String) -> Int? {
    let bytes = Array(text.utf8)
    guard bytes.count == 10 || bytes.count >= 20, bytes.count <= 40 else { return nil }
    func number(_ range: Range<Int>) -> Int? {
      var value = 0
      for byte in bytes[range] {
        guard UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte else { return nil }
        value = value * 10 + Int(byte - UInt8(ascii: "0"))
      }
      return value
    }
    guard let year = number(0..<4), bytes[4] == UInt8(ascii: "-"), let month = number(5..<7),
      bytes[7] == UInt8(ascii: "-"), let day = number(8..<10), (1...12).contains(month),
      (1...daysIn(month: month, year: year)).contains(day)
    else { return nil }
    let midnight = daysSince1970(year: year, month: month, day: day) * 86_400_000
    guard bytes.count > 10 else { return midnight }
    guard bytes[10] | 0x20 == UInt8(ascii: "t"), let hour = number(11..<13), hour < 24,
      bytes[13] == UInt8(ascii: ":"), let minute = number(14..<16), minute < 60,
      bytes[16] == UInt8(ascii: ":"), let second = number(17..<19), second <= 60
    else { return nil }
    var index = 19
    var fraction = 0
    if bytes[index] == UInt8(ascii: ".") {
      index += 1
      var scale = 100
      let start = index
      while index < bytes.count, let digit = number(index..<(index + 1)) {
        fraction += digit * scale
        scale /= 10
        index += 1
      }
      guard index > start else { return nil }
    }
    guard index < bytes.count else { return nil }
    let time = midnight + ((hour * 60 + minute) * 60 + second) * 1000 + fraction
    if bytes[index] | 0x20 == UInt8(ascii: "z") { return index + 1 == bytes.count ? time : nil }
    let isBehind = bytes[index] == UInt8(ascii: "-")
    guard isBehind || bytes[index] == UInt8(ascii: "+"), bytes.count == index + 6,
      let hours = number((index + 1)..<(index + 3)), hours < 24,
      bytes[index + 3] == UInt8(ascii: ":"), let minutes = number((index + 4)..<(index + 6)),
      minutes < 60
    else { return nil }
    let offset = (hours * 60 + minutes) * 60_000
    return isBehind ? time + offset : time - offset
  }

  /// Returns the calendar year and month of a time, in UTC.
  package static func yearAndMonth(_ milliseconds: Int) -> (year: Int, month: Int) {
    let date = civil(day: clamped(milliseconds).flooredQuotient(by: 86_400_000))
    return (date.year, date.month)
  }

  private static func pad(_ value: Int, _ width: Int) -> String {
    let digits = String(value)
    return String(repeating: "0", count: max(0, width - digits.count)) + digits
  }

  private static func daysIn(month: Int, year: Int) -> Int {
    let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
    return [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month - 1]
  }

  /// Counts the proleptic Gregorian calendar in 400-year eras. They begin in March, so that the leap
  /// day comes last.
  private static func daysSince1970(year: Int, month: Int, day: Int) -> Int {
    let shifted = month <= 2 ? year - 1 : year
    let era = shifted.flooredQuotient(by: 400)
    let yearOfEra = shifted - era * 400
    let dayOfYear = (153 * ((month + 9) % 12) + 2) / 5 + day - 1
    return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
  }

  private static func civil(day: Int) -> (year: Int, month: Int, day: Int) {
    let shifted = day + 719_468
    let era = shifted.flooredQuotient(by: 146_097)
    let dayOfEra = shifted - era * 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let month = (5 * dayOfYear + 2) / 153
    let year = yearOfEra + era * 400 + (month >= 10 ? 1 : 0)
    return (year, month < 10 ? month + 3 : month - 9, dayOfYear - (153 * month + 2) / 5 + 1)
  }
}

extension Int {
  /// The quotient rounded towards negative infinity.
  fileprivate func flooredQuotient(by divisor: Int) -> Int {
    self % divisor < 0 ? self / divisor - 1 : self / divisor
  }
}
