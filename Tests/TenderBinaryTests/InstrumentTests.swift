import Foundation
import TenderModel
import TenderTestSupport
import Testing

/// Instruments with the names and dates of other programs.
@Suite struct InstrumentTests {
  private static let members: KeyValuePairs = [
    "number": "4111111111111111", "security_code": "987", "expiration": "12/39", "name": "Ada",
  ]

  /// Pays with a card, with one member under another name.
  private func pay(_ member: String, as key: String, _ value: String? = nil) throws -> Binary.Result
  {
    let binary = try Binary()
    defer { binary.remove() }
    let card = Self.members.map { name, known in
      name == member ? "\"\(key)\":\"\(value ?? known)\"" : "\"\(name)\":\"\(known)\""
    }
    let words = ["transact", "--amount", "5", "--reference", "I", "--instrument-stdin", "--json"]
    return try binary.run(words, input: "{\(card.joined(separator: ","))}")
  }

  @Test(arguments: [
    ("security_code", "cvc"), ("security_code", "CVV2"), ("security_code", "securityCode"),
    ("expiration", "exp"), ("expiration", "expiry_date"), ("expiration", "exp-year"),
    ("number", "pan"), ("number", "card_number"), ("name", "cardholder_name"),
  ])
  func `names the member that another program calls`(_ member: String, _ key: String) throws {
    let result = try pay(member, as: key)
    #expect(result.status == 2 && result.output == "")
    let message = result.errorRecord["error"]?["message"]?.text ?? ""
    #expect(message == "the instrument has an unknown key; did you mean \(member)?")
    for (_, value) in Self.members { #expect(!result.errors.contains("\"\(value)\"")) }
    #expect(!result.errors.contains("4111") && !result.errors.contains("987"))
  }

  @Test(arguments: [
    ("12/39", 0), ("12/2039", 0), ("2039-12", 0), ("1239", 0), ("2039/12", 2), ("2039-12-31", 2),
    ("December 2039", 2),
  ])
  func `reads the date of a card`(_ text: String, _ exit: Int32) throws {
    let result = try pay("expiration", as: "expiration", text)
    #expect(result.status == exit, "\(result.errors)")
    guard exit == 2 else { return }
    #expect(
      result.errorRecord["error"]?["message"]
        == "the instrument's expiration must be written MM/YY, MM/YYYY or YYYY-MM"
    )
  }
}
