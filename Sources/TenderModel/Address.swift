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
  /// Case, and spaces and dashes between groups, do not matter. For a country without a pattern here, 2 to 10
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
    let two = country.flatMap(CountryCode.twoLetters)
    guard let two, let shapes = Self.shapes[two] else { return (2...10).contains(squeezed.count) }
    return shapes.contains { Self.matches(squeezed, $0) }
  }

  private static func matches(_ code: [UInt8], _ shape: String) -> Bool {
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

  /// In a shape, 9 is a digit, @ a letter, * either. Separators are left out.
  private static let shapes: [String: [String]] = {
    var table: [String: [String]] = [
      "US": ["99999", "999999999"], "PR": ["99999", "999999999"], "GU": ["99999", "999999999"],
      "VI": ["99999", "999999999"], "CA": ["@9@9@9"], "IE": ["@9*****", "@99****"],
      "GB": ["@99@@", "@999@@", "@@99@@", "@@999@@", "@9@9@@", "@@9@9@@"],
      "NL": ["9999@@"], "BR": ["99999999"], "JP": ["9999999"], "CL": ["9999999"],
      "IL": ["9999999", "99999"], "PT": ["9999999", "9999"], "AR": ["9999", "@9999@@@"],
      "MT": ["@@@9999"], "BM": ["@@99", "@@@@"], "BN": ["@@9999"], "SZ": ["@999"],
      "TW": ["999", "99999", "999999"], "IR": ["9999999999", "99999"], "IS": ["999"],
      "FO": ["999", "FO999"], "LS": ["999"], "MG": ["999"], "PG": ["999"], "OM": ["999"],
      "BH": ["999", "9999"], "LV": ["LV9999", "9999"], "AD": ["AD999"], "MD": ["MD9999", "9999"],
      "AZ": ["AZ9999", "9999"], "BB": ["BB99999"], "KY": ["KY99999"], "VC": ["VC9999"],
      "LT": ["99999", "LT99999"], "LU": ["9999", "L9999"], "SI": ["9999", "SI9999"],
      "FI": ["99999", "FI99999"], "AX": ["22999", "AX22999"], "SE": ["99999", "SE99999"],
      "JE": ["JE99@@", "JE999@@"], "GG": ["GY99@@", "GY999@@"], "IM": ["IM99@@", "IM999@@"],
      "GI": ["GX111AA"], "FK": ["FIQQ1ZZ"], "VG": ["VG9999"], "SO": ["@@99999"],
    ]
    let four =
      "AF AL AM AT AU BD BE BG CH CV CX CY DK ET GE GL GW HT HU LI LR MK MZ NE NO NZ PH PY "
      + "TN VE ZA SJ CC NF"
    for country in four.split(separator: " ") { table[String(country)] = ["9999"] }
    let five =
      "BA CR CU DE DO DZ EE EG ES FR GT HN HR ID IQ IT JO KE KR KW LA LK MA MC ME MM MQ MX "
      + "MY NC NI NP PE PF PK PL PM RE RS SA SD SM SN TH TR UA UY VA WF XK YT ZM GF GP BL MF GR CZ "
      + "SK BT MV TZ"
    for country in five.split(separator: " ") { table[String(country)] = ["99999"] }
    let six = "BY CN CO EC IN KG KZ MN NG RO RU SG TJ TM UZ VN"
    for country in six.split(separator: " ") { table[String(country)] = ["999999"] }
    for country in ["NI", "SA", "EC", "CR", "KR", "VN"] {
      table[country] = ["99999", "999999", "999999999"]
    }
    return table
  }()
}
