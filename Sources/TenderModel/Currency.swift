/// A currency: its ISO 4217 code and the number of digits of its minor unit.
package struct Currency: Sendable, Hashable {
  package let code: String
  /// The number of decimal digits of an amount (ISO 4217, table A.1, "Minor unit").
  package let exponent: Int

  /// Finds a currency by its three-letter code in any case; nil if ISO 4217 does not list it.
  package init?(code: String) {
    let code = code.uppercased()
    guard Self.place(of: code, in: Self.listed, every: 7) != nil else { return nil }
    self.code = code
    exponent =
      if Self.place(of: code, in: Self.withoutDigits, every: 4) != nil {
        0
      } else if Self.place(of: code, in: Self.withThreeDigits, every: 4) != nil {
        3
      } else {
        code == "CLF" || code == "UYW" ? 4 : 2
      }
  }

  /// Every active code of ISO 4217 for money, without metals and test codes.
  package static let codes: [String] = listed.split(separator: " ").map { String($0.prefix(3)) }

  /// The three-digit code of ISO 4217 (table A.1, "Numeric code"), as card messages carry it.
  package var number: Int {
    Self.place(of: code, in: Self.listed, every: 7)
      .flatMap { Int(Self.listed.dropFirst($0 + 3).prefix(3)) } ?? 999
  }

  /// Returns the place of a code in a text that has one code after every `step` characters.
  ///
  /// The texts are not parsed into a table, because most commands look up one code.
  private static func place(of code: String, in text: String, every step: Int) -> Int? {
    let sought = code.utf8.span
    guard sought.count == 3 else { return nil }
    let listed = text.utf8.span
    return stride(from: 0, to: listed.count, by: step).first {
      listed[$0] == sought[0] && listed[$0 + 1] == sought[1] && listed[$0 + 2] == sought[2]
    }
  }

  private static let listed = """
    AED784 AFN971 ALL008 AMD051 AOA973 ARS032 AUD036 AWG533 AZN944 BAM977 BBD052 BDT050 BHD048 \
    BIF108 BMD060 BND096 BOB068 BRL986 BSD044 BTN064 BWP072 BYN933 BZD084 CAD124 CDF976 CHF756 \
    CLF990 CLP152 CNY156 COP170 CRC188 CUP192 CVE132 CZK203 DJF262 DKK208 DOP214 DZD012 EGP818 \
    ERN232 ETB230 EUR978 FJD242 FKP238 GBP826 GEL981 GHS936 GIP292 GMD270 GNF324 GTQ320 GYD328 \
    HKD344 HNL340 HTG332 HUF348 IDR360 ILS376 INR356 IQD368 IRR364 ISK352 JMD388 JOD400 JPY392 \
    KES404 KGS417 KHR116 KMF174 KPW408 KRW410 KWD414 KYD136 KZT398 LAK418 LBP422 LKR144 LRD430 \
    LSL426 LYD434 MAD504 MDL498 MGA969 MKD807 MMK104 MNT496 MOP446 MRU929 MUR480 MVR462 MWK454 \
    MXN484 MYR458 MZN943 NAD516 NGN566 NIO558 NOK578 NPR524 NZD554 OMR512 PAB590 PEN604 PGK598 \
    PHP608 PKR586 PLN985 PYG600 QAR634 RON946 RSD941 RUB643 RWF646 SAR682 SBD090 SCR690 SDG938 \
    SEK752 SGD702 SHP654 SLE925 SOS706 SRD968 SSP728 STN930 SVC222 SYP760 SZL748 THB764 TJS972 \
    TMT934 TND788 TOP776 TRY949 TTD780 TWD901 TZS834 UAH980 UGX800 USD840 UYI940 UYU858 UYW927 \
    UZS860 VED926 VES928 VND704 VUV548 WST882 XAF950 XCD951 XCG532 XOF952 XPF953 YER886 ZAR710 \
    ZMW967 ZWG924
    """

  private static let withoutDigits = """
    BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF
    """
  private static let withThreeDigits = "BHD IQD JOD KWD LYD OMR TND"
}
