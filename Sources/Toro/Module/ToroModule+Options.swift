internal import TenderCommandLine
internal import TenderModel

extension Keys {
  static let type = Key<SaleType>(
    "type",
    .reader,
    "TYPE",
    "a purchase (default), or the refund of one"
  )
  static let device = Key<String>(
    "device",
    .reader,
    "ADDRESS",
    "the reader: simulator, tcp://HOST:PORT, tty:PATH or bluetooth:ADDRESS[/CHANNEL]"
  )
  static let gratuityMenu = Key<[Int]>(
    Option(
      "gratuity-menu",
      .reader,
      .required("PERCENT,…"),
      "let the customer choose on the reader, such as 10,15,20"
    )
  ) { text, option throws(Fault) in
    let parts = text.split(separator: ",", omittingEmptySubsequences: false)
    let numbers = parts.compactMap { Int($0) }
    guard numbers.count == parts.count else {
      throw .badValue(option, text, hint: "whole percentages, such as 10,15,20")
    }
    return numbers
  }
  static let signature = Key<SaleOptions.SignatureMode>(
    "signature",
    .reader,
    "WHERE",
    "where the customer signs: on the reader, or here (default)"
  )
  static let signatureFile = Key<String>(
    "signature-file",
    .reader,
    "FILE",
    completion: .files,
    "the customer's signature, such as a picture; else it is typed at a prompt"
  )
  static let signatureMatches = Key<String>(
    "signature-matches",
    .reader,
    "ANSWER",
    choices: ["yes", "no"],
    "whether the signature matches the card's; else it is asked"
  )
  static let noCapture = Key<Bool>("no-capture", .reader, "authorise only; tender confirm captures")
  static let original = Key<String>(
    "original",
    .reader,
    "REF",
    "the sale to refund, in the journal"
  )
  static let originalFile = Key<String>(
    "original-file",
    .reader,
    "FILE",
    completion: .files,
    "the sale to refund, as a saved receipt or record"
  )
  static let additional = Key<String>(
    "additional",
    .reader,
    "KEY=VALUE",
    repeats: true,
    "your own key and value, sent with the sale and printed in its receipt"
  )
  static let additionalFile = Key<String>(
    "additional-file",
    .reader,
    "FILE",
    completion: .files,
    "the same, as a JSON object"
  )
  static let gratuity = MoneyKey(
    "gratuity",
    .reader,
    "a gratuity on top of the amount; the sum is authorised",
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
