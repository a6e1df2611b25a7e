import TenderModel

/// The definition of one option. Parser, help, manual and completions read it.
///
/// It is a class, because every command reads the catalogue. Copies of all its parts would take longer than
/// the parsing.
package final class Option: Sendable {
  /// The value after the name.
  package enum Value: Sendable, Hashable {
    /// No value: the option is present or absent.
    case flag
    case required(String)
    /// An optional value, which is accepted only with `=`.
    case optional(String)
  }

  /// What the value names. Completion offers that. `newFiles` are files that the command creates. `reference` is
  /// another payment: a batch runs a line after earlier lines about it. `program` is a program and its arguments.
  package enum Completion: Sendable, Hashable {
    case nothing, files, newFiles, folders, reference, program
  }

  /// The section of help that lists it.
  ///
  /// Cases with texts as values would be compared as texts.
  package enum Group: Int, Sendable, CaseIterable {
    case money, payment, instrument, bank, reader, filter, server, control, simulator, general

    var title: String {
      [
        "Money", "Payment", "Instrument", "Bank payments and mandates", "Card present", "Filter",
        "Run", "Control", "Simulator", "General",
      ][rawValue]
    }
  }

  package let name: String
  package let group: Group
  /// The only accepted values of an enumeration; empty for any value.
  package var choices: [String] { listChoices() }
  /// Lists the choices. A command has all options, and reads the choices of a few.
  private let listChoices: @Sendable () -> [String]
  package let completion: Completion
  /// Whether it, or its value `-`, reads standard input.
  package let readsStandardInput: Bool

  private let declaration: String
  /// The summary in place of the declaration's; nil for that one.
  private let otherSummary: String?

  /// Creates an option from its line in help: its name, its value, and after a colon its summary.
  ///
  /// `-c, ` before the name is a short form, `[VALUE]` an optional value, and `VALUE...` one that repeats.
  /// Without `choices`, any value is accepted. Only the name is read now, because each command makes all
  /// options.
  init(
    _ group: Group,
    _ declaration: String,
    _ completion: Completion = .nothing,
    choices: @escaping @autoclosure @Sendable () -> [String] = [],
    readsStandardInput: Bool = false,
    summary: String? = nil
  ) {
    self.group = group
    self.declaration = declaration
    self.completion = completion
    listChoices = choices
    self.readsStandardInput = readsStandardInput
    otherSummary = summary
    let bytes = declaration.utf8
    let whole = bytes.first == UInt8(ascii: "-") ? bytes.dropFirst(4) : bytes[...]
    name = String(
      Substring(whole.prefix { $0 != UInt8(ascii: " ") && $0 != UInt8(ascii: ":") })
    )
  }

  package var short: Character? {
    hasShort ? declaration.dropFirst().first : nil
  }

  private var hasShort: Bool { declaration.utf8.first == UInt8(ascii: "-") }

  package var summary: String {
    otherSummary
      ?? String(Substring(tail.dropFirst(placeholder.isEmpty ? 2 : placeholder.utf8.count + 3)))
  }

  /// The declaration after the name.
  private var tail: Substring.UTF8View {
    declaration.utf8.dropFirst((hasShort ? 4 : 0) + name.utf8.count)
  }

  /// The name of the value in help, with its marks; empty for a flag.
  private var placeholder: Substring {
    guard tail.first == UInt8(ascii: " ") else { return "" }
    return Substring(tail.dropFirst().prefix { $0 != UInt8(ascii: " ") }.dropLast())
  }

  package var repeats: Bool { placeholder.utf8.suffix(3).elementsEqual("...".utf8) }

  /// Whether it takes no value.
  package var isFlag: Bool { tail.first != UInt8(ascii: " ") }

  package var value: Value {
    let text = placeholder
    if text.isEmpty { return .flag }
    if text.utf8.first == UInt8(ascii: "[") {
      return .optional(String(text.dropFirst().dropLast()))
    }
    return .required(String(repeats ? text.dropLast(3) : text))
  }

  /// Whether a hint may name it for a word that was mistyped. One that makes a command move more must be typed by
  /// a person who means it.
  package var isProposed: Bool {
    let moving: [any OptionKey] = [
      Keys.all, Keys.rest, Keys.finish, Keys.newAttempt, Keys.despitePayment, Keys.despiteRefund,
      Keys.despiteDispute, Keys.allowPartial, Keys.yes,
    ]
    return !moving.flatMap(\.options).contains { $0 === self }
  }

  /// Returns whether it has a name. Comparing lengths first rules out nearly all options without a call.
  package func isNamed(_ name: String) -> Bool {
    name.utf8.count == self.name.utf8.count && name == self.name
  }

  /// Its name as a member of records and contents.
  package var member: String { name.replacing("-", with: "_") }

  func without(_ values: [String]) -> Option {
    with(choices: self.choices.filter { !values.contains($0) })
  }

  /// The same option with these choices.
  package func with(choices: @escaping @autoclosure @Sendable () -> [String]) -> Option {
    Option(
      group,
      declaration,
      completion,
      choices: choices(),
      readsStandardInput: readsStandardInput,
      summary: otherSummary
    )
  }

  /// The same option with the given parts instead of its own.
  package func with(
    _ completion: Completion? = nil,
    readsStandardInput: Bool? = nil,
    summary: String? = nil
  ) -> Option {
    Option(
      group,
      declaration,
      completion ?? self.completion,
      choices: self.choices,
      readsStandardInput: readsStandardInput ?? self.readsStandardInput,
      summary: summary ?? otherSummary
    )
  }

  /// The option as help writes it: `-o, --output FORMAT`.
  package var usage: String {
    let long =
      switch value {
      case .flag: "--\(name)"
      case .required(let placeholder): "--\(name) \(placeholder)"
      case .optional(let placeholder): "--\(name)[=\(placeholder)]"
      }
    return short.map { "-\($0), \(long)" } ?? long
  }
}

/// Options by the section of help that lists them.
extension Option {
  /// An option of the section Money.
  package static func money(_ text: String) -> Option { Option(.money, text) }
  /// An option of the section Payment.
  package static func payment(_ text: String) -> Option { Option(.payment, text) }
  /// An option of the section Instrument.
  package static func instrument(_ text: String) -> Option { Option(.instrument, text) }
  /// An option of the section Bank payments and mandates.
  package static func bank(_ text: String) -> Option { Option(.bank, text) }
  /// An option of the section Card present.
  package static func reader(_ text: String) -> Option { Option(.reader, text) }
  /// An option of the section Filter.
  package static func filter(_ text: String) -> Option { Option(.filter, text) }
  /// An option of the section Run.
  package static func server(_ text: String) -> Option { Option(.server, text) }
  /// An option of the section Control.
  package static func control(_ text: String) -> Option { Option(.control, text) }
  /// An option of the section Simulator.
  package static func simulator(_ text: String) -> Option { Option(.simulator, text) }
  /// An option of the section General.
  package static func general(_ text: String) -> Option { Option(.general, text) }
}
