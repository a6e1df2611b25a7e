internal import TenderModule

extension ToroModule {
  /// A sale with the card present: which reader, what on top, who signs, what is refunded.
  static let reader: [Option] = [
    Option(
      "type",
      .reader,
      .required("TYPE"),
      choices: ["purchase", "refund"],
      "a purchase (default), or the refund of one"
    ),
    Option(
      "device",
      .reader,
      .required("ADDRESS"),
      "the reader: simulator, tcp://HOST:PORT, tty:PATH or bluetooth:ADDRESS[/CHANNEL]"
    ),
    Option(
      "gratuity",
      .reader,
      .required("AMOUNT"),
      "a gratuity on top of the amount; the sum is authorised"
    ),
    Option("gratuity-minor", .reader, .required("UNITS"), "the gratuity in minor units"),
    Option(
      "gratuity-menu",
      .reader,
      .required("PERCENT,…"),
      "let the customer choose on the reader, such as 10,15,20"
    ),
    Option(
      "signature",
      .reader,
      .required("WHERE"),
      choices: ["device", "app"],
      "where the customer signs: on the reader, or here (default)"
    ),
    Option(
      "signature-file",
      .reader,
      .required("FILE"),
      completion: .files,
      "the customer's signature, such as a picture; else it is typed at a prompt"
    ),
    Option(
      "signature-matches",
      .reader,
      .required("ANSWER"),
      choices: ["yes", "no"],
      "whether the signature matches the card's; else it is asked"
    ),
    Option(
      "no-capture",
      .reader,
      "authorise only; tender confirm captures"
    ),
    Option(
      "original",
      .reader,
      .required("REF"),
      "what is refunded: a sale that the journal knows"
    ),
    Option(
      "original-file",
      .reader,
      .required("FILE"),
      completion: .files,
      "what is refunded: a saved receipt, or the record of a sale"
    ),
    Option(
      "additional",
      .reader,
      .required("KEY=VALUE"),
      repeats: true,
      "something of yours that goes with the sale and comes back in its receipt"
    ),
    Option(
      "additional-file",
      .reader,
      .required("FILE"),
      completion: .files,
      "the same, as a JSON object"
    ),
  ]
}
