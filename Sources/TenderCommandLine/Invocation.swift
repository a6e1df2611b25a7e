/// What was asked for: typed words, checked against the catalogue, nothing resolved.
package struct Invocation: Sendable {
  package let command: Command
  /// What stood behind each option, in order; a flag has one empty value.
  package let values: [String: [String]]
  /// The operands in order, the ids given by `--id` after them.
  package let operands: [String]
  /// Those of the operands that `--id` exempts from the card-number guard.
  package let exemptIDs: [String]

  /// The value of an option that takes one; nil where it was not given, or given without.
  package subscript(name: String) -> String? {
    guard let value = values[name]?.last, !value.isEmpty else { return nil }
    return value
  }

  /// Whether an option was given.
  package func has(_ name: String) -> Bool { values[name] != nil }

  /// Every value of an option that may be repeated.
  package func all(_ name: String) -> [String] { values[name] ?? [] }
}

/// What a command line turned out to be.
package enum ParsedLine: Sendable {
  case run(Invocation)
  /// Help for a command's words or a topic; the overview where there are none.
  case help([String])
  case version(Invocation?)
}
