internal import TenderCommandLine
internal import TenderModel

extension Keys {
  static let type = Key<SaleType>(.reader("type TYPE: a purchase (default), or the refund of one"))
  static let device = Key<String>(
    .reader(
      "device ADDRESS: the reader: simulator, tcp://HOST:PORT, tty:PATH or "
        + "bluetooth:ADDRESS[/CHANNEL]"
    )
  )
  static let gratuityMenu = Key<[Int]>(
    .reader("gratuity-menu PERCENT,…: let the customer choose on the reader, such as 10,15,20")
  ) { text, option throws(Fault) in
    let parts = text.split(separator: ",", omittingEmptySubsequences: false)
    let numbers = parts.compactMap { Int($0) }
    guard numbers.count == parts.count else {
      throw .badValue(option, text, hint: "whole percentages, such as 10,15,20")
    }
    return numbers
  }
  static let signature = Key<SaleOptions.SignatureMode>(
    .reader("signature WHERE: where the customer signs: on the reader, or here (default)")
  )
  static let signatureFile = Key<String>(
    .reader(
      "signature-file FILE: the customer's signature, such as a picture; else it is typed at a "
        + "prompt"
    ).with(.files)
  )
  static let signatureMatches = Key<String>(
    .reader("signature-matches ANSWER: whether the signature matches the card's; else it is asked")
      .with(choices: ["yes", "no"])
  )
  static let noCapture = Key<Bool>(.reader("no-capture: authorise only; tender confirm captures"))
  static let original = Key<String>(
    .reader("original REF: the sale to refund, in the journal").with(.reference)
  )
  static let originalFile = Key<String>(
    .reader("original-file FILE: the sale to refund, as a saved receipt or record").with(.files)
  )
  static let additional = Key<String>(
    .reader(
      "additional KEY=VALUE...: your own key and value, sent with the sale and printed in its "
        + "receipt"
    )
  )
  static let additionalFile = Key<String>(
    .reader("additional-file FILE: the same, as a JSON object").with(.files)
  )
  static let gratuity = MoneyKey(
    .reader("gratuity AMOUNT: a gratuity on top of the amount; the sum is authorised"),
    minor: "the gratuity in minor units"
  )
}

extension ToroModule {
  /// The options of a sale with the card present: reader, gratuity, signature, refund.
  static let reader: [any OptionKey] = [
    Keys.type, Keys.device, Keys.gratuity, Keys.gratuityMenu, Keys.signature, Keys.signatureFile,
    Keys.signatureMatches, Keys.noCapture, Keys.original, Keys.originalFile, Keys.additional,
    Keys.additionalFile,
  ]
}

enum SaleType: String, CaseIterable, Sendable { case purchase, refund }
