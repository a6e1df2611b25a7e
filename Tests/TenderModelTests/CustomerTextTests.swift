import TenderModel
import TenderTestSupport
import Testing

/// The forms of names and phone numbers that searches take as the same.
@Suite struct CustomerTextTests {
  private static let letters: [(typed: String, plain: String)] = [
    ("é", "e"), ("ü", "u"), ("Ç", "c"), ("ş", "s"), ("ø", "o"), ("ß", "ss"), ("ł", "l"), ("İ", "i"),
    ("ı", "i"), ("ñ", "n"), ("Å", "a"), ("æ", "ae"), ("Œ", "oe"), ("đ", "d"), ("þ", "th"),
    ("ế", "e"), ("ő", "o"), ("ž", "z"), ("’", "'"), ("ʼ", "'"), ("`", "'"), ("´", "'"), ("‘", "'"),
    ("\u{a0}", " "), ("\u{2009}", " "), ("\u{202f}", " "), ("\t", " "), ("  ", " "), ("–", "-"),
    ("\u{2010}", "-"), ("\u{200b}", ""), ("a", "a"), ("Z", "z"), ("ж", "ж"), ("Σ", "σ"), ("が", "が"),
  ]

  @Test func `folds names in each form into one`() {
    var random = Seeded(11)
    for _ in 0..<3000 {
      let parts = (0..<8).map { _ in Self.letters.randomElement(using: &random) ?? ("a", "a") }
      let typed = "x" + parts.map { $0.typed + "y" }.joined() + "x"
      let plain = "x" + parts.map { $0.plain + "y" }.joined() + "x"
      for form in Reference.forms(of: typed) + [
        typed.uppercased().lowercased(), plain.uppercased(),
      ] {
        #expect(form.folded.utf8.elementsEqual(plain.folded.utf8), "\(form)")
      }
    }
    #expect("Ada  Lovelace".folded == "ada lovelace")
    // Letters that are no accents keep words apart.
    for (one, other) in [("が", "か"), ("й", "ж"), ("o", "e")] { #expect(one.folded != other.folded) }
  }

  @Test func `takes a number in each notation as the same`() throws {
    var random = Seeded(12)
    for _ in 0..<2000 {
      let code =
        ["1", "7", "44", "49", "33", "48", "351", "420", "353"].randomElement(using: &random) ?? ""
      let digits = (0..<Int.random(in: 8...10, using: &random)).map { _ in
        Int.random(in: 0...9, using: &random)
      }
      let own = "\(Int.random(in: 1...9, using: &random))" + digits.map(String.init).joined()
      let (area, rest) = (own.prefix(3), own.dropFirst(3))
      let forms: [String] = [
        "+\(code)\(own)", "+\(code) \(area) \(rest)", "00\(code) \(own)",
        "+\(code) (\(area)) \(rest)",
        "+\(code) (0) \(area) \(rest)", "+\(code)-\(area)-\(rest)", "\(code)\(own)", own,
        "(\(area)) \(rest.prefix(3))-\(rest.dropFirst(3))", "0\(area)/\(rest)", "\(area).\(rest)",
        "+\(code)\u{a0}\(area)\u{202f}\(rest)",
      ]
      let numbers = try forms.map { try #require(PhoneNumber($0), "\($0)") }
      for (form, one) in zip(forms, numbers) {
        for (other, number) in zip(forms, numbers) {
          #expect(one.isSame(as: number) && number.isSame(as: one), "\(form) \(other)")
        }
        #expect(one.end == numbers[0].end)
      }
      let last = own.hasSuffix("1") ? "2" : "1"
      let wrong = try #require(PhoneNumber("\(own.dropLast())\(last)"))
      #expect(numbers.allSatisfy { !$0.isSame(as: wrong) })
      let country = code == "44" ? "49" : "44"
      let elsewhere = try #require(PhoneNumber("+\(country)\(own)"))
      #expect(!elsewhere.isSame(as: numbers[0]))
    }
    for text in ["12345", "555-0100 x5", "Ann", "", "A4155550100", "+"] {
      #expect(PhoneNumber(text) == nil)
    }
  }

  @Test func `reads text files of each form`() {
    var random = Seeded(13)
    let signs = ["A", "é", "€", "😀", "\n", "\r\n", "{", "\u{10ffff}"]
    for _ in 0..<1000 {
      let text = (0..<Int.random(in: 0...9, using: &random)).compactMap { _ in
        signs.randomElement(using: &random)
      }.joined()
      let little = text.utf16.flatMap { [UInt8($0 & 255), UInt8($0 >> 8)] }
      let big = text.utf16.flatMap { [UInt8($0 >> 8), UInt8($0 & 255)] }
      let (utf8, mark): ([UInt8], [UInt8]) = (Array(text.utf8), [0xef, 0xbb, 0xbf])
      let files: [[UInt8]] = [utf8, mark + utf8, [0xff, 0xfe] + little, [0xfe, 0xff] + big]
      for file in files {
        #expect(InputText.decoded(file) == utf8)
        // A text without a mark is not copied, so that its caller wipes all there is of it.
        let shared = InputText.decoded(utf8)
        let places = [shared, utf8].map { bytes in
          unsafe bytes.withUnsafeBufferPointer { UInt(bitPattern: $0.baseAddress) }
        }
        #expect(places[0] == places[1])
        var (input, read) = (InputText(), [UInt8]())
        for byte in file { read += input.take([byte]) }
        read += input.end()
        #expect(read == utf8)
      }
      // Half a character is not left out.
      let cut: [[UInt8]] = [[0xff, 0xfe] + little + [0x41], [0xfe, 0xff, 0xd8, 0] + big]
      for file in cut {
        #expect(String(validating: InputText.decoded(file), as: UTF8.self) == nil)
      }
    }
  }
}
