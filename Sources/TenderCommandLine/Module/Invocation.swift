import Synchronization
package import TenderModel

/// The values of each option, in the order of its first use. A flag has one empty value.
///
/// A command has few options, and reads many that are absent. Comparing lengths first is faster than a hash of each.
package struct OptionValues: Sendable {
  private var entries: [(name: String, values: [String])] = []

  package init() {}

  /// The names in the order of their first use.
  var names: [String] { entries.map(\.name) }

  /// The values of an option; nil if it is absent.
  package subscript(name: String) -> [String]? { place(of: name).map { entries[$0].values } }

  /// Adds a value after those that the option has.
  mutating func add(_ value: String, to name: String) {
    if let place = place(of: name) {
      entries[place].values.append(value)
    } else {
      entries.append((name, [value]))
    }
  }

  private func place(of name: String) -> Int? {
    let length = name.utf8.count
    return entries.firstIndex { $0.name.utf8.count == length && $0.name == name }
  }
}

/// A command with its typed options and operands, checked against the catalogue. Nothing else is resolved
/// yet.
package final class Invocation: Sendable {
  package let command: Command
  package let values: OptionValues
  /// The operands in order, followed by the ids of `--id`.
  package let operands: [String]
  /// The operands that `--id` exempts from the card-number guard.
  package let exemptIDs: [String]

  /// The options that were given for all lines of a batch. A single line may leave them unused.
  package let inherited: [String]
  /// The given options that were read.
  private let read = Mutex<[String]>([])

  init(
    command: Command,
    values: OptionValues,
    operands: [String],
    exemptIDs: [String] = [],
    inherited: [String] = []
  ) {
    self.command = command
    self.values = values
    self.operands = operands
    self.exemptIDs = exemptIDs
    self.inherited = inherited
  }

  /// Throws `usage` for an option that this command does not use with a provider.
  package func checkOptions(for provider: ProviderName) throws(Fault) {
    for name in values.names where !inherited.contains(name) {
      guard !command.isOwn(name, of: provider.text), let users = command.users(of: name)
      else { continue }
      throw .badOptions(
        "--\(name) cannot be used with \(provider.text)",
        hint: "it is for --provider \(users.joined(separator: " or "))"
      )
    }
  }

  /// Throws `usage` for an option of the order that was not read. It would be ignored.
  package func checkRead(by provider: ProviderName) throws(Fault) {
    // Options of these groups concern display, waiting and tests. They are read later.
    let others: [Option.Group] = [.control, .general, .server, .simulator]
    let unread = read.withLock { read in
      values.names.filter { !read.contains($0) && !inherited.contains($0) }
    }
    guard !unread.isEmpty else { return }
    for option in command.options
    where unread.contains(option.name) && !others.contains(option.group) {
      throw .badOptions(
        "--\(option.name) changes nothing here: \(provider.text) does not use it for this",
        hint: "leave it out"
      )
    }
  }

  /// Returns the invocation with one more option. An option that was typed stays.
  package func adding(_ option: Option, _ value: String = "") -> Invocation {
    var values = values
    if values[option.name] == nil { values.add(value, to: option.name) }
    return Invocation(
      command: command,
      values: values,
      operands: operands,
      exemptIDs: exemptIDs,
      inherited: inherited + [option.name]
    )
  }

  /// Throws `usage` if an option or operand contains a secret. The fault names the option, never its text.
  ///
  /// `learn` gets the secret before, for the redactor. A redactor replaces secrets of this length.
  func check(secret: String, _ learn: (String) -> Void) throws(Fault) {
    guard secret.utf8.count >= 6 else { return }
    let option = values.names.first { values[$0]?.contains { $0.contains(secret) } == true }
    guard option != nil || operands.contains(where: { $0.contains(secret) }) else { return }
    learn(secret)
    throw .usage(
      "secret_on_command_line",
      "\(option.map { "--" + $0 } ?? "an operand") contains a configured key or secret; it was not "
        + "sent, logged or stored",
      "clear it from your shell history, and replace the key"
    )
  }

  /// Throws `usage` if several options read standard input.
  func checkStandardInput() throws(Fault) {
    let options = command.options.count { option in
      option.readsStandardInput
        && (option.value == .flag ? values[option.name] != nil : values[option.name]?.last == "-")
    }
    let readers = (command.runsProgram ? 0 : operands.count { $0 == "-" }) + options
    guard readers <= 1 else {
      throw .badOperand(
        "standard input can be read once",
        hint: "give - once"
      )
    }
  }
}

extension Invocation {
  package subscript(_ key: Key<String>) -> String? { text(key) }

  /// Returns the value of an option; nil if it is absent.
  ///
  /// An option without its value has the default that help names. Throws `usage` for an invalid text.
  package func value<Value>(_ key: Key<Value>) throws(Fault) -> Value? {
    guard has(key) else { return nil }
    if let text = text(key) { return try key.read(text) }
    guard case .optional(let usual) = key.option.value else { return nil }
    return try key.read(usual)
  }

  /// The text of an option as typed, for messages and for other programs.
  package func text(_ key: any OptionKey) -> String? {
    key.options.lazy.compactMap { self.text($0) }.first
  }

  /// The text of an option by its definition; nil if it is absent or has no value.
  package func text(_ option: Option) -> String? {
    guard let value = texts(option)?.last, !value.isEmpty else { return nil }
    return value
  }

  /// Returns the values of an option, which counts as read.
  private func texts(_ option: Option) -> [String]? {
    guard let found = values[option.name] else { return nil }
    read.withLock { if !$0.contains(option.name) { $0.append(option.name) } }
    return found
  }

  /// Whether an option, or one of several related ones, was given.
  package func has(_ key: any OptionKey) -> Bool {
    key.options.contains { texts($0) != nil }
  }

  /// Every text of a repeatable option.
  package func all(_ key: Key<String>) -> [String] { all(key.option) }

  /// Every text of an option by its definition.
  package func all(_ option: Option) -> [String] { texts(option) ?? [] }

  /// The given ones of some options, in the order of the definitions.
  package func given(among keys: [any OptionKey]) -> [Option] {
    keys.flatMap(\.options).filter { values[$0.name] != nil }
  }
}
