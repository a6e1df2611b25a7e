/// A currency by its ISO 4217 code, with the number of digits its minor unit has.
package struct Currency: Sendable, Hashable {
  package let code: String
  /// How many decimal digits an amount may have (ISO 4217, table A.1, "Minor unit").
  package let exponent: Int

  /// The currency of a three-letter code in any case; nil for a code that ISO 4217 does not list.
  package init?(code: String) {
    let code = code.uppercased()
    guard Self.codes.contains(code) else { return nil }
    self.code = code
    exponent = Self.exponents[code] ?? 2
  }

  /// Every active code of ISO 4217 that names money (metals and test codes left out).
  package static let codes: [String] = """
    AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BHD BIF BMD BND BOB BRL BSD BTN BWP BYN BZD \
    CAD CDF CHF CLF CLP CNY COP CRC CUP CVE CZK DJF DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL \
    GHS GIP GMD GNF GTQ GYD HKD HNL HTG HUF IDR ILS INR IQD IRR ISK JMD JOD JPY KES KGS KHR KMF \
    KPW KRW KWD KYD KZT LAK LBP LKR LRD LSL LYD MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN \
    MYR MZN NAD NGN NIO NOK NPR NZD OMR PAB PEN PGK PHP PKR PLN PYG QAR RON RSD RUB RWF SAR SBD \
    SCR SDG SEK SGD SHP SLE SOS SRD SSP STN SVC SYP SZL THB TJS TMT TND TOP TRY TTD TWD TZS UAH \
    UGX USD UYI UYU UYW UZS VED VES VND VUV WST XAF XCD XCG XOF XPF YER ZAR ZMW ZWG
    """
    .split(separator: " ").map(String.init)

  private static let exponents: [String: Int] = {
    var table: [String: Int] = [:]
    for code in "BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF"
      .split(separator: " ")
    {
      table[String(code)] = 0
    }
    for code in "BHD IQD JOD KWD LYD OMR TND".split(separator: " ") { table[String(code)] = 3 }
    for code in "CLF UYW".split(separator: " ") { table[String(code)] = 4 }
    return table
  }()
}
