internal import TenderCommandLine
internal import TenderModel
internal import TenderModule
internal import TenderWire

/// One line of a batch as the words of a command line, checked.
struct BatchLine: Sendable {
  /// The words behind the program's name.
  let words: [String]
  let reference: String?
  /// The references that it is about: its own, and that of the sale that it refunds.
  let keys: [String]
  /// An instrument that stands in the line; never echoed.
  let instrument: [UInt8]?

  private static let commands = [
    "transact", "confirm", "cancel", "tokenize", "payment-status", "mandate-status",
  ]
  /// What belongs to the batch, or to nobody.
  private static let forbidden: Set<String> = [
    "output", "json", "fields", "quiet", "verbose", "trace", "color", "no-input", "yes", "config",
    "state-dir", "help", "version", "events", "dry-run", "instrument-stdin", "instrument-fd", "id",
  ]

  /// Reads a line; `defaults` are the batch's own options, behind those of the line.
  ///
  /// Throws `usage` for what no command line could say.
  init(
    _ text: String,
    defaults: [(name: String, value: String)],
    _ catalogue: Catalogue
  ) throws(Fault) {
    guard let object = JSONReader.read(text, duplicates: .refused)?.object else {
      if JSONReader.read(text) != nil {
        // Readers differ in which of them counts; here none does.
        throw .badLine("has a key twice", hint: "leave one of them")
      }
      throw .badLine(
        "is no JSON object",
        hint: "such as {\"command\":\"transact\",\"reference\":\"A1\",…}"
      )
    }
    guard let name = object.text("command") else {
      throw .badLine("has no command", hint: "one of \(Self.commands.joined(separator: ", "))")
    }
    guard Self.commands.contains(name), let command = catalogue.command([name]) else {
      let nearest = Suggestion.nearest(to: name, among: Self.commands)
      throw .badLine(
        "has the command \(name.quotedForMessage)",
        hint: nearest.map { "did you mean \($0)?" }
          ?? "one of \(Self.commands.joined(separator: ", "))"
      )
    }
    let makes = name == "transact" || name == "tokenize"
    var words = [name]
    var operand: String?
    var given: Set<String> = []
    var instrument: [UInt8]?
    for member in object.members where member.key != "command" {
      if member.key == "instrument" {
        guard makes, member.value.object != nil else {
          throw .badLine(
            "has an instrument that is no object",
            hint: "see: tender help instruments"
          )
        }
        instrument = Array(JSONWriter.text(member.value).utf8)
        continue
      }
      let option = member.key.replacing("_", with: "-")
      if !makes, option == "reference" || option == "id" {
        guard operand == nil, let text = member.value.text, text != "-" else {
          throw .badLine("needs one reference or id as text", hint: "{\"reference\":\"A1\"}")
        }
        operand = text
        continue
      }
      guard command.options.contains(where: { $0.name == option }),
        !Self.forbidden.contains(option), let definition = catalogue.option(option)
      else { throw .unknownMember(member.key, command, without: Self.forbidden) }
      given.insert(option)
      words += try Self.words(definition, member.value)
    }
    for (option, value) in defaults
    where !given.contains(option) && command.options.contains(where: { $0.name == option }) {
      words.append("--\(option)=\(value)")
    }
    words += ["--json", "--quiet", "--no-input"]
    reference = makes ? object.text("reference") : operand
    // A command that writes must be found again by whoever runs the batch.
    guard let reference, !reference.isEmpty else {
      throw .badLine(
        "has no reference",
        hint: "every line needs one: {\"command\":\"\(name)\",\"reference\":\"A1\"}"
      )
    }
    if let operand { words += ["--", operand] }
    keys = [reference] + [object.text("original")].compactMap { $0 }
    self.words = words
    self.instrument = instrument
  }

  /// A member as the words of its option.
  private static func words(_ option: Option, _ value: JSON) throws(Fault) -> [String] {
    let name = "--" + option.name
    switch value {
    case .null: return []
    case .bool(let truth):
      switch option.value {
      case .flag, .optional: return truth ? [name] : []
      case .required: throw .badMember(option, "true or false", "a value")
      }
    case .string(let text):
      if option.value == .flag { throw .badMember(option, "text", "true or false") }
      guard text != "-" else { throw .badMember(option, "standard input", "a file") }
      return ["\(name)=\(text)"]
    case .integer(let number):
      if option.value == .flag { throw .badMember(option, "a number", "true or false") }
      return ["\(name)=\(number)"]
    case .number(let text): return ["\(name)=\(text)"]
    case .array(let elements):
      guard option.repeats else { throw .badMember(option, "a list", "one value") }
      var words: [String] = []
      for element in elements {
        guard element.array == nil, element.object == nil else {
          throw .badMember(option, "lists within lists", "a list of values")
        }
        words += try self.words(option, element)
      }
      return words
    case .object(let object):
      guard option.repeats else { throw .badMember(option, "an object", "one value") }
      var words: [String] = []
      for member in object.members {
        switch member.value {
        case .string(let text): words.append("\(name)=\(member.key)=\(text)")
        case .integer(let number): words.append("\(name)=\(member.key)=\(number)")
        case .number(let text): words.append("\(name)=\(member.key)=\(text)")
        case .bool(let truth): words.append("\(name)=\(member.key)=\(truth)")
        case .null: break
        case .array, .object:
          throw .badMember(option, "something nested", "names with plain values")
        }
      }
      return words
    }
  }
}

extension Fault {
  fileprivate static func badLine(_ problem: String, hint: String) -> Fault {
    Fault(.usage, code: "bad_line", "the line \(problem)", hint: hint)
  }

  fileprivate static func badMember(_ option: Option, _ given: String, _ wanted: String) -> Fault {
    let name = option.name.replacing("-", with: "_")
    return .badLine("has \(given) for \(name.quotedForMessage)", hint: "it takes \(wanted)")
  }

  fileprivate static func unknownMember(
    _ name: String,
    _ command: Command,
    without: Set<String>
  ) -> Fault {
    let known = command.options.map(\.name).filter { !without.contains($0) }
      .map { $0.replacing("-", with: "_") }
    let nearest = Suggestion.nearest(to: name, among: known)
    return .badLine(
      "has \(name.quotedForMessage), which tender \(command.name) does not take in a batch",
      hint: nearest.map { "did you mean \($0)?" } ?? "see: tender help \(command.name)"
    )
  }
}
