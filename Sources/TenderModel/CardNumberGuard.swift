/// Stops a run whose arguments carry something that looks like a card number.
package enum CardNumberGuard {
  /// Options whose values are amounts: digits that are never a card.
  private static let moneyOptions = [
    "--amount", "--amount-minor", "--fee", "--fee-minor", "--gratuity", "--gratuity-minor",
  ]

  /// Checks every argument and every `KEY=VALUE` tail before anything is parsed.
  ///
  /// Throws a `usage` fault that names the position and never the text. `--id VALUE` is exempt.
  package static func check(_ arguments: [String]) throws(Fault) {
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
        if moneyOptions.contains(previous) { continue }
        if let equals = argument.firstIndex(of: "="),
          moneyOptions.contains(String(argument[..<equals]))
        {
          continue
        }
      }
      if looksLikeCard(argument) { throw .cardNumberTyped("argument \(index + 1)") }
    }
  }

  /// Checks the value of an option that comes by other ways than an argument.
  ///
  /// Throws a `usage` fault that never has the text.
  package static func check(_ value: String, of option: String) throws(Fault) {
    guard !moneyOptions.contains("--" + option), looksLikeCard("--\(option)=\(value)") else {
      return
    }
    throw .cardNumberTyped("--" + option)
  }

  /// Checks one id that comes by other ways than an argument.
  ///
  /// Throws a `usage` fault that never has the text.
  package static func check(id: String) throws(Fault) {
    guard looksLikeCard(id) else { return }
    throw Fault(
      .usage,
      code: "card_number_on_standard_input",
      cause: .cardNumberInInput,
      "an id looks like a card number; it was not sent, logged or stored",
      hint: "an id that only looks like one goes behind --id"
    )
  }

  /// Whether a card number stands in a text, or its last value is one however its digits are spaced.
  private static func looksLikeCard(_ text: String) -> Bool {
    let last = text.lastIndex(of: "=").map { text[text.index(after: $0)...] } ?? text[...]
    if let digits = Digits.only(in: last), Digits.looksLikeCard(digits) { return true }
    // What would be masked when it is shown is refused before it is kept.
    return Redactor.holdsCardNumber(text) || Redactor.holdsCardNumber(spaced(text))
  }

  /// The text with a space for each sign that can be typed between digits, and without the marks of each letter.
  private static func spaced(_ text: String) -> String {
    var shown = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
      if scalar.value < 0x80 {
        let isSign = ",:|+'\";*~#()<>[]\n\r".unicodeScalars.contains(scalar)
        shown.append(isSign ? " " : scalar)
      } else {
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .enclosingMark: break
        case .otherPunctuation, .initialPunctuation, .finalPunctuation, .mathSymbol, .otherSymbol,
          .dashPunctuation, .lineSeparator, .paragraphSeparator:
          // Digits in circles are symbols, too.
          shown.append(scalar.properties.numericType == nil ? " " : scalar)
        default: shown.append(scalar)
        }
      }
    }
    return String(shown)
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
        + "your shell history; an id that only looks like one goes behind --id"
    )
  }
}
