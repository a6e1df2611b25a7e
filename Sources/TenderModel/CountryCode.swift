/// The country codes of ISO 3166-1, with two and with three letters.
package enum CountryCode {
  /// Returns whether a text is a country code in capital letters.
  package static func isKnown(_ code: String) -> Bool { row(of: code) != nil }

  /// Returns the two letters, the three letters and the shapes of postal codes of a country.
  ///
  /// The file is searched rather than parsed, because a command looks up one code.
  static func row(of code: String) -> [Substring]? {
    let place = code.utf8.count == 3 ? 3 : 0
    guard code.utf8.count == place || code.utf8.count == 2 else { return nil }
    return EmbeddedText.named("TenderModel/Countries.txt").split(separator: "\n")
      .first { $0.dropFirst(place).prefix(code.utf8.count) == code }?.split(separator: " ")
  }
}
