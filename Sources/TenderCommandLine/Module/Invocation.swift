import Synchronization
package import TenderModel

/// The names of the options that were read.
private final class ReadNames: Sendable {
  private let names = Mutex<Set<String>>([])

  func note(_ name: String) { names.withLock { _ = $0.insert(name) } }

  func has(_ name: String) -> Bool { names.withLock { $0.contains(name) } }
}

/// A command with its typed options and operands, checked against the catalogue. Nothing else is resolved
/// yet.
package struct Invocation: Sendable {
  package let command: Command
  /// The values of each option, in order. A flag has one empty value.
  package let values: [String: [String]]
  /// The operands in order, followed by the ids of `--id`.
  package let operands: [String]
  /// The operands that `--id` exempts from the card-number guard.
  package let exemptIDs: [String]

  /// The options that were given for all lines of a batch. A single line may leave them unused.
  package let inherited: Set<String>
  /// The options that were read. All copies of an invocation share them.
  private let read = ReadNames()

  /// Throws `usage` for an option that this command does not use with a provider.
  package func checkOptions(for provider: ProviderName) throws(Fault) {
    for option in command.options
    where values[option.name] != nil && !inherited.contains(option.name) {
      guard let users = command.users(of: option.name), !users.contains(provider.text) else {
        continue
      }
      throw .badOptions(
        "--\(option.name) cannot be used with \(provider.text)",
        hint: "it is for --provider \(users.joined(separator: " or "))"
      )
    }
  }

  /// Throws `usage` for an option of the order that was not read. It would be ignored.
  package func checkRead(by provider: ProviderName) throws(Fault) {
    // Options of these groups concern display, waiting and tests. They are read later.
    let others: [Option.Group] = [.control, .general, .server, .simulator]
    for option in command.options
    where values[option.name] != nil && !inherited.contains(option.name) && !read.has(option.name)
      && !others.contains(option.group)
    {
      throw .badOptions(
        "--\(option.name) changes nothing here: \(provider.text) does not use it for this",
        hint: "leave it out"
      )
    }
  }

  /// Returns the invocation with one more option. An option that was typed stays.
  package func adding(_ option: Option, _ value: String = "") -> Invocation {
    Invocation(
      command: command,
      values: values.merging([option.name: [value]]) { known, _ in known },
      operands: operands,
      exemptIDs: exemptIDs,
      inherited: inherited.union([option.name])
    )
  }

  /// Throws `usage` if several options read standard input.
  func checkStandardInput() throws(Fault) {
    let options = command.options.count { option in
      option.readsStandardInput
        && (option.value == .flag ? values[option.name] != nil : values[option.name]?.last == "-")
    }
    let readers = operands.count { $0 == "-" } + options
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
    key.options.lazy.compactMap { text($0) }.first
  }

  /// The text of an option by its definition; nil if it is absent or has no value.
  package func text(_ option: Option) -> String? {
    read.note(option.name)
    guard let value = values[option.name]?.last, !value.isEmpty else { return nil }
    return value
  }

  /// Whether an option, or one of several related ones, was given.
  package func has(_ key: any OptionKey) -> Bool {
    key.options.contains { option in
      read.note(option.name)
      return values[option.name] != nil
    }
  }

  /// Every text of a repeatable option.
  package func all(_ key: Key<String>) -> [String] {
    read.note(key.option.name)
    return values[key.option.name] ?? []
  }

  /// The given ones of some options, in the order of the definitions.
  package func given(among keys: [any OptionKey]) -> [Option] {
    keys.flatMap(\.options).filter { values[$0.name] != nil }
  }
}
