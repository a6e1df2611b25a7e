package enum TimeText {
  /// Milliseconds of `500ms`, `30s`, `5m`, `1h`, `2d` or plain seconds; at most `most`, or a day.
  ///
  /// Throws a `usage` fault that names the option and the typed value.
  package static func milliseconds(
    _ text: String,
    option: String,
    most: Int = 86_400_000
  ) throws(Fault) -> Int {
    let digits = text.prefix { $0.isASCII && $0.isNumber }
    let scale: Int? =
      switch text.dropFirst(digits.count) {
      case "ms": 1
      case "s", "": 1000
      case "m": 60_000
      case "h": 3_600_000
      case "d": 86_400_000
      default: nil
      }
    guard let scale, digits.count <= 9, let number = Int(digits), number > 0,
      number <= most / scale
    else {
      throw .usage(
        "bad_value",
        "\(option) \(text.quotedForMessage) is not a length of time",
        "write 500ms, 30s, 5m, 1h or 2d; at most \(most / 3_600_000)h"
      )
    }
    return number * scale
  }
}
