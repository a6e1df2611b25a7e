/// Stops a run whose arguments contain something that looks like a card number.
package enum CardNumberGuard {
  /// Options whose values are amounts. Their digits are never a card number.
  private static let moneyOptions = [
    "--amount", "--amount-minor", "--fee", "--fee-minor", "--gratuity", "--gratuity-minor",
  ]

  /// Checks every argument, and every value of `KEY=VALUE`, before anything is parsed.
  ///
  /// Throws a `usage` fault that names the position and never the text. `--id VALUE` is not checked, nor is the same
  /// value elsewhere. An amount of other characters than digits and a point is no amount, so its digits are checked.
  package static func check(_ arguments: [String]) throws(Fault) {
    let ids = ids(among: arguments)
    var previous = ""
    var optionsEnded = false
    for (index, argument) in arguments.enumerated() {
      defer { previous = optionsEnded ? "" : argument }
      if argument == "--", !optionsEnded {
        optionsEnded = true
        continue
      }
      if !optionsEnded {
        if previous == "--id" || argument.hasPrefix("--id=") { continue }
        var money = moneyOptions.contains(previous) ? argument : nil
        if let equals = argument.firstIndex(of: "="),
          moneyOptions.contains(String(argument[..<equals]))
        {
          money = String(argument[argument.index(after: equals)...])
        }
        if let money {
          if holdsGroups(money) { throw .cardNumberTyped("argument \(index + 1)") }
          continue
        }
      }
      if looksLikeCard(argument, besides: ids) { throw .cardNumberTyped("argument \(index + 1)") }
    }
  }

  /// Returns the values of `--id`.
  private static func ids(among arguments: [String]) -> [String] {
    let options = arguments[..<(arguments.firstIndex(of: "--") ?? arguments.endIndex)]
    let separate = zip(options, options.dropFirst()).filter { $0.0 == "--id" }.map(\.1)
    return separate + options.filter { $0.hasPrefix("--id=") }.map { String($0.dropFirst(5)) }
  }

  /// Checks an option's value that did not come as an argument. `ids` are values that only look like a card number.
  ///
  /// Throws a `usage` fault that never contains the value.
  package static func check(
    _ value: String,
    of option: String,
    besides ids: [String] = []
  ) throws(Fault) {
    let isCard =
      moneyOptions.contains("--" + option)
      ? holdsGroups(value) : looksLikeCard("--\(option)=\(value)", besides: ids)
    if isCard { throw .cardNumberTyped("--" + option) }
  }

  /// Checks an id that did not come as an argument.
  ///
  /// Throws a `usage` fault that never contains the id.
  package static func check(id: String) throws(Fault) {
    guard looksLikeCard(id) else { return }
    throw Fault(
      .usage,
      code: "card_number_on_standard_input",
      cause: .cardNumberInInput,
      "an id looks like a card number; it was not sent, logged or stored",
      hint: "pass an id that only looks like one by --id"
    )
  }

  /// Returns whether the digits of a text are a card number, with any separators other than one point.
  private static func holdsGroups(_ text: String) -> Bool {
    let digits = text.utf8.filter { (0x30...0x39).contains($0) }.map { $0 - 0x30 }
    return text.utf8.contains { $0 != 0x2e && !(0x30...0x39).contains($0) }
      && Digits.looksLikeCard(digits)
  }

  /// Returns whether a text contains a card number, whatever separates its digits. A value that would be masked in
  /// output is refused before it is stored. A value that is an id as a whole is not searched.
  private static func looksLikeCard(_ text: String, besides ids: [String] = []) -> Bool {
    let id = ids.first { !$0.isEmpty && (text == $0 || text.hasSuffix("=" + $0)) }
    // An IBAN may be typed in small letters.
    let text = String(text.dropLast(id?.count ?? 0)).uppercased()
    // The signs that separate the values of a web address stay. So do those that `DigitRuns` knows.
    let spaced = text.utf8.map { byte in
      let stays = DigitRuns.isDigit(byte) || DigitRuns.isLetter(byte) || byte >= 0x80
      return stays || "=&?-./_".utf8.contains(byte) ? byte : UInt8(ascii: " ")
    }
    return Redactor.holdsCardNumber(text)
      || Redactor.holdsCardNumber(String(decoding: spaced, as: UTF8.self))
  }
}

extension Fault {
  fileprivate static func cardNumberTyped(_ what: String) -> Fault {
    Fault(
      .usage,
      code: "card_number_on_command_line",
      cause: .cardNumberInArgument,
      "\(what) looks like a card number; it was not sent, logged or stored",
      hint: "pass cards by --instrument-stdin, --instrument-file or the prompt, and clear it from "
        + "your shell history; for an id that only looks like one, add --id with the same value"
    )
  }
}
