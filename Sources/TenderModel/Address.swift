/// A postal address. Every part is optional.
package struct Address: Sendable, Hashable {
  package var line1: String?
  package var line2: String?
  package var city: String?
  package var region: String?
  package var postalCode: String?
  package var country: String?

  package init(
    line1: String? = nil,
    line2: String? = nil,
    city: String? = nil,
    region: String? = nil,
    postalCode: String? = nil,
    country: String? = nil
  ) {
    self.line1 = line1
    self.line2 = line2
    self.city = city
    self.region = region
    self.postalCode = postalCode
    self.country = country
  }

  /// The parts that are set, under the names that users and providers write.
  package var parts: [(name: String, value: String)] {
    [
      ("line1", line1), ("line2", line2), ("city", city), ("region", region),
      ("postal_code", postalCode), ("country", country),
    ].compactMap { name, value in value.map { (name, $0) } }
  }

  /// Checks the country (ISO 3166-1) and the postal code by its country's pattern.
  ///
  /// Throws a `usage` fault that names the field only.
  package func checked() throws(Fault) -> Address {
    var address = self
    if let country {
      guard CountryCode.isKnown(country.uppercased()) else {
        throw .badField("country", "must be an ISO 3166 code of two or three letters, such as US")
      }
      address.country = country.uppercased()
    }
    if let postalCode {
      guard PostalCode.fits(postalCode, country: address.country) else {
        throw .badField("postal_code", "is not one of \(address.country ?? "any country")")
      }
    }
    return address
  }
}

/// The shapes of postal codes (Universal Postal Union, postal addressing systems).
package enum PostalCode {
  /// Returns whether a text has the shape of a postal code of the country. Without a country, any shape fits.
  ///
  /// Case, and spaces and dashes between groups, do not matter. For a country without a shape, 2 to 10
  /// letters and digits are accepted.
  package static func fits(_ text: String, country: String?) -> Bool {
    guard (2...12).contains(text.utf8.count) else { return false }
    var squeezed: [UInt8] = []
    for byte in text.uppercased().utf8 {
      switch byte {
      case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"):
        squeezed.append(byte)
      case UInt8(ascii: " "), UInt8(ascii: "-"): continue
      default: return false
      }
    }
    let shapes = country.flatMap(CountryCode.row)?.dropFirst(2) ?? []
    guard !shapes.isEmpty else { return (2...10).contains(squeezed.count) }
    return shapes.contains { Self.matches(squeezed, $0) }
  }

  /// Returns whether a code has a shape of `Countries.txt`: 9 is a digit, @ a letter, * either.
  /// Separators are left out.
  private static func matches(_ code: [UInt8], _ shape: Substring) -> Bool {
    guard code.count == shape.utf8.count else { return false }
    return zip(code, shape.utf8).allSatisfy { byte, kind in
      switch kind {
      case UInt8(ascii: "9"): UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte
      case UInt8(ascii: "@"): UInt8(ascii: "A")...UInt8(ascii: "Z") ~= byte
      case UInt8(ascii: "*"): true
      default: byte == kind
      }
    }
  }
}
