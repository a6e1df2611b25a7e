package import TenderCommandLine
internal import TenderEngine
package import TenderModel

/// The commands and options that a batch's lines may have, and the batch's options for each line.
package struct BatchVocabulary: Sendable {
  /// Options that concern the batch itself, or that no line may have.
  private static let foreign: [any OptionKey] = [
    Keys.output, Keys.json, Keys.fields, Keys.quiet, Keys.verbose, Keys.trace, Keys.color,
    Keys.noInput, Keys.yes, Keys.config, Keys.stateDir, Keys.help, Keys.version, Keys.events,
    Keys.dryRun, Keys.instrumentDescriptor, Keys.deadline, Keys.jobs, Keys.rate,
  ]
  /// Options of the batch that are defaults of each line. A provider adds more to `batch`.
  private static let passedOn: [any OptionKey] = [
    Keys.provider, Keys.profile, Keys.env, Keys.timeout, Keys.config, Keys.stateDir, Keys.trace,
    Keys.simScenario, Keys.simFault, Keys.simSeed, Keys.simClock,
  ]

  /// The commands of a line, in the order in which help names them. Each asks a provider.
  let commands: [String]
  private let known: [String: Command]
  /// The names of all options of a command, and the options that a line may have.
  private let names: [String: Set<String>]
  private let options: [String: [Option]]
  /// The values that only look like card numbers, for every line.
  fileprivate let ids: [String]
  /// The batch's options, which are defaults of each line.
  fileprivate let defaults: [(option: Option, value: String)]
  /// The options of every line: output as records, and no questions.
  fileprivate let always: [Option]

  /// Creates a vocabulary. With `isLiveAllowed`, the batch was allowed to move real money.
  package init(_ invocation: Invocation, _ catalogue: Catalogue, isLiveAllowed: Bool) {
    ids = invocation.exemptIDs
    let allowed = catalogue.commands.filter { !$0.work.isLocal }
    commands = allowed.map(\.name)
    known = Dictionary(uniqueKeysWithValues: allowed.map { ($0.name, $0) })
    names = known.mapValues { Set($0.options.map(\.name)) }
    let foreign = Set(Self.foreign.flatMap(\.options).map(\.name))
    options = known.mapValues { command in
      command.options.filter { option in
        !foreign.contains(option.name) && !(option.readsStandardInput && option.value == .flag)
      }
    }
    let own = invocation.command.options.filter { invocation.command.users(of: $0.name) != nil }
    defaults = (Self.passedOn.flatMap(\.options) + own).flatMap { option in
      let texts =
        option.repeats ? invocation.all(option) : invocation.text(option).map { [$0] } ?? []
      return texts.map { (option, $0) }
    }
    always =
      [Keys.json, Keys.quiet, Keys.noInput].map(\.option) + (isLiveAllowed ? [Keys.yes.option] : [])
  }

  /// Returns the command of a line.
  ///
  /// Throws `usage` for any other word.
  fileprivate func command(_ name: String) throws(Fault) -> Command {
    if let command = known[name] { return command }
    let all = "one of \(commands.joined(separator: ", "))"
    let hint = Suggestion.hint(for: name, among: commands, else: all)
    throw .badLine("has the command \(name.quotedForMessage)", hint: hint)
  }

  /// A member that a line may have, by all options of its name.
  struct Member {
    /// Whether it can be given without a value, which a table writes as `true`.
    var isFlag = false
    var takesValue = false
    var repeats = false
  }

  /// Every member that a line may have.
  var members: [String: Member] {
    var members: [String: Member] = [:]
    for option in options.values.joined() {
      var member = members[option.member] ?? Member()
      switch option.value {
      case .flag: member.isFlag = true
      case .required: member.takesValue = true
      case .optional: (member.isFlag, member.takesValue) = (true, true)
      }
      member.repeats = member.repeats || option.repeats
      members[option.member] = member
    }
    for name in ["command", "reference", "id"] { members[name] = Member(takesValue: true) }
    return members
  }

  fileprivate func options(of command: Command) -> [Option] { options[command.name] ?? [] }

  fileprivate func names(of command: Command) -> Set<String> { names[command.name] ?? [] }
}

/// One checked line of a batch: a command with its options, and its reference.
package struct BatchLine: Sendable {
  /// The reference in a text that is not a valid line of a batch.
  static func name(in text: String) -> String? {
    JSONReader.read(text)?.object?.namedByText.text("reference")
  }

  /// The command, or the fault that a command line would have, too.
  let invocation: Result<Invocation, Fault>
  package let reference: String
  /// Whether its members are options that its command takes.
  var isRunnable: Bool { (try? invocation.get()) != nil }
  /// Other payments that the line names, such as a sale that it refunds.
  let others: Set<String>
  /// The references of the line: its payment's, and those of others.
  var keys: Set<String> { others.union([reference]) }
  let provider: String?
  let makes: Bool
  let writes: Bool
  /// An instrument in the line. It is never echoed.
  let instrument: [UInt8]?
  /// The order of a new payment without the instrument; nil for a new attempt.
  private let order: JSONObject?
  /// The new payment: a text that identifies it, and a text of its order. Nil for a new attempt.
  var payment: (name: String, text: String)? {
    order.map { ("\(provider ?? "")/\(reference)", JSONWriter.text(.object($0.sorted))) }
  }

  /// Reads a line.
  ///
  /// Throws `usage` for one without a command and a reference.
  package init(_ text: String, _ vocabulary: BatchVocabulary) throws(Fault) {
    let object = try Self.object(text)
    guard let name = object.text("command") else {
      let all = vocabulary.commands.joined(separator: ", ")
      throw .badLine("has no command", hint: "one of \(all)")
    }
    let command = try vocabulary.command(name)
    makes = if case .makes = command.work { true } else { false }
    let allowed = vocabulary.options(of: command)
    var given: [(option: Option, value: String?)] = []
    var operand: String?
    var instrument: [UInt8]?
    try Self.checkAmount(of: object, command)
    for member in object.members where member.key != "command" {
      if Self.amounts.contains(member.key), member.value == .null { continue }
      if member.key == "instrument" {
        guard makes, member.value.object != nil else {
          let hint = "see: tender help instruments"
          throw .badLine("has an instrument that is no object", hint: hint)
        }
        instrument = Array(JSONWriter.text(member.value).utf8)
        continue
      }
      // An id beside the reference is only said to be no card number.
      let isID = member.key == Keys.id.option.name && object["reference"] == nil
      if !makes, member.key == Keys.reference.option.name || isID {
        guard operand == nil, let text = member.value.text, text != "-" else {
          throw .badLine("needs one reference or id as text", hint: "{\"reference\":\"A1\"}")
        }
        operand = text
        continue
      }
      guard let definition = allowed.first(where: { $0.isNamed(byMember: member.key) }) else {
        throw .unknownMember(member.key, command, among: allowed)
      }
      for value in try Self.values(definition, member.value) { given.append((definition, value)) }
    }
    // The user must be able to find a command that writes again.
    if case .number(let text)? = object["reference"] {
      throw .badLine(
        "has the reference \(text), which is no whole number",
        hint: "write it as text: {\"reference\":\"\(text)\"}"
      )
    }
    guard let reference = makes ? object.text("reference") : operand, !reference.isEmpty else {
      throw .badLine(
        "has no reference",
        hint: "every line needs one: {\"command\":\"\(name)\",\"reference\":\"A1\"}"
      )
    }
    self.reference = reference
    provider = object.text("provider")
    others = Set(given.filter { $0.option.completion == .reference }.compactMap(\.value))
    writes = command.work.writes
    self.instrument = instrument
    var said = object
    said["instrument"] = nil
    order = makes && object["new_attempt"] != true ? said : nil
    invocation = Self.invocation(command, given, vocabulary, operand)
  }

  /// The members with an amount.
  static let amounts = ["amount", "amount_minor"]

  /// Checks that a line that changes a payment does not leave its amount empty: without one, all that is left moves.
  private static func checkAmount(of line: JSONObject, _ command: Command) throws(Fault) {
    let given = amounts.compactMap { line[$0] }
    guard case .changes(let change) = command.work else { return }
    if let rest = line["rest"], rest != true {
      throw .badLine(
        "has a \"rest\" that is not true",
        hint: "write true for all that is left, or the amount"
      )
    }
    guard !given.isEmpty, line["rest"] != true,
      given.allSatisfy({ $0 == .null || $0.text?.isBlank == true })
    else { return }
    throw .badLine(
      "has an empty amount",
      hint: "write the amount"
        + (change == .refund
          ? "; for all that is left, add \"rest\": true, or leave \"amount\" out"
          : ". Without \"amount\", the whole payment is meant")
    )
  }

  private static func object(_ text: String) throws(Fault) -> JSONObject {
    if let object = JSONReader.read(text, duplicates: .refusedStrictly)?.object {
      return object.namedByText
    }
    throw .badLine(
      JSONReader.flaw(text.utf8),
      hint: "such as {\"command\":\"transact\",\"reference\":\"A1\",…}"
    )
  }

  /// Creates the options of a line, with those of the batch as defaults.
  private static func invocation(
    _ command: Command,
    _ given: [(option: Option, value: String?)],
    _ vocabulary: BatchVocabulary,
    _ operand: String?
  ) -> Result<Invocation, Fault> {
    do throws(Fault) {
      var typed = OptionValues()
      let ids =
        given.filter { $0.option.name == Keys.id.option.name }.compactMap(\.value) + vocabulary.ids
      if let operand {
        try CardNumberGuard.check(operand, of: Keys.reference.option.name, besides: ids)
      }
      for (option, value) in given {
        if let value, option.name != Keys.id.option.name {
          try CardNumberGuard.check(value, of: option.name, besides: ids)
        }
        try typed.add(option, value, typed: "--" + option.name)
      }
      let names = vocabulary.names(of: command)
      var inherited: [String] = []
      for (option, value) in vocabulary.defaults
      where names.contains(option.name)
        && (typed[option.name] == nil || inherited.contains(option.name))
      {
        try typed.add(option, value, typed: "--" + option.name)
        inherited.append(option.name)
      }
      for flag in vocabulary.always where names.contains(flag.name) {
        try typed.add(flag, nil, typed: "--" + flag.name)
        inherited.append(flag.name)
      }
      let operands = operand.map { [$0] } ?? []
      return .success(
        try Parser.invocation(
          of: command,
          typed,
          operands: operands,
          inherited: inherited,
          exempt: vocabulary.ids
        )
      )
    } catch {
      return .failure(error)
    }
  }

  /// Returns the values of a member's option. Nil means an option without a value.
  private static func values(_ option: Option, _ value: JSON) throws(Fault) -> [String?] {
    let isFlag = option.isFlag
    switch value {
    case .null: return []
    case .bool(let truth):
      if case .required = option.value { throw .badMember(option, "true or false", "a value") }
      return truth ? [nil] : []
    case .string where isFlag: throw .badMember(option, "text", "true or false")
    case .string("-"): throw .badMember(option, "standard input", "a file")
    case .integer where isFlag: throw .badMember(option, "a number", "true or false")
    case .string(let text), .number(let text): return [text]
    case .integer(let number): return [String(number)]
    case .array(let elements):
      guard option.repeats else { throw .badMember(option, "a list", "one value") }
      var values: [String?] = []
      for element in elements {
        guard element.array == nil, element.object == nil else {
          throw .badMember(option, "lists within lists", "a list of values")
        }
        values += try self.values(option, element)
      }
      return values
    case .object(let object):
      guard option.repeats else { throw .badMember(option, "an object", "one value") }
      var values: [String?] = []
      for member in object.members where member.value != .null {
        guard let text = member.value.plainText else {
          throw .badMember(option, "something nested", "names with plain values")
        }
        values.append("\(member.key)=\(text)")
      }
      return values
    }
  }
}

extension JSONObject {
  /// The object with a whole number as its reference or id as text. Databases write order numbers so.
  fileprivate var namedByText: JSONObject {
    var object = self
    for name in ["reference", Keys.id.option.name] {
      if case .integer(let number)? = object[name] { object[name] = .string(String(number)) }
    }
    return object
  }
}

extension Option {
  /// Returns whether a member of a line names this option, with `_` for `-`.
  fileprivate func isNamed(byMember member: String) -> Bool {
    name.utf8.count == member.utf8.count
      && zip(name.utf8, member.utf8).allSatisfy { own, given in
        own == given || own == UInt8(ascii: "-") && given == UInt8(ascii: "_")
      }
  }
}

extension Fault {
  static func badLine(_ problem: String, hint: String) -> Fault {
    .usage("bad_line", "the line \(problem)", hint)
  }

  fileprivate static func badMember(_ option: Option, _ given: String, _ wanted: String) -> Fault {
    let name = option.member
    return .badLine("has \(given) for \(name.quotedForMessage)", hint: "it takes \(wanted)")
  }

  fileprivate static func unknownMember(
    _ name: String,
    _ command: Command,
    among allowed: [Option]
  ) -> Fault {
    let help = "see: tender help \(command.name)"
    return .badLine(
      "has \(name.quotedForMessage), which tender \(command.name) does not take in a batch",
      hint: Suggestion.hint(
        for: name,
        among: allowed.filter(\.isProposed).map(\.member),
        else: help
      )
    )
  }
}
