package import TenderModel

/// What was asked for: typed words, checked against the catalogue, nothing resolved.
package struct Invocation: Sendable {
  package let command: Command
  /// What stood behind each option, in order; a flag has one empty value.
  package let values: [String: [String]]
  /// The operands in order, the ids given by `--id` after them.
  package let operands: [String]
  /// Those of the operands that `--id` exempts from the card-number guard.
  package let exemptIDs: [String]

  /// The names of options that were not given for this command alone, but for all lines of a batch:
  /// a line may leave them unused.
  package let inherited: Set<String>

  /// What was typed, checked against its command.
  package init(
    command: Command,
    values: [String: [String]],
    operands: [String],
    exemptIDs: [String],
    inherited: Set<String> = []
  ) {
    self.command = command
    self.values = values
    self.operands = operands
    self.exemptIDs = exemptIDs
    self.inherited = inherited
  }

  /// Throws `usage` for an option that this command does not use with a provider.
  package func checkOptions(for provider: ProviderName) throws(Fault) {
    for option in command.options
    where values[option.name] != nil && !inherited.contains(option.name) {
      guard let users = command.users(of: option.name), !users.contains(provider.text) else {
        continue
      }
      throw Fault(
        .usage,
        code: "bad_options",
        "--\(option.name) does not go with \(provider.text)",
        hint: "it is for --provider \(users.joined(separator: " or "))"
      )
    }
  }

  /// Throws `usage` where standard input has more than one reader.
  package func checkStandardInput() throws(Fault) {
    let options = command.options.count { option in
      option.readsStandardInput
        && (option.value == .flag ? values[option.name] != nil : values[option.name]?.last == "-")
    }
    let readers = operands.count { $0 == "-" } + options
    guard readers <= 1 else {
      throw Fault(
        .usage,
        code: "bad_operand",
        "standard input can be read once",
        hint: "give - once"
      )
    }
  }
}
