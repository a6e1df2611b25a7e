package import TenderModel

/// The form of a credential in a profile, by the end of its member's name.
package enum CredentialForm: String, CaseIterable, Sendable {
  case text = ""
  case file = "_file"
  /// The argument list of a program that prints it.
  case command = "_command"
  case variable = "_env"

  func problem(_ value: JSON) -> ConfigurationSection.Problem? {
    switch self {
    case .text, .file:
      return value.text == nil ? .init("is not text", hint: "put it in quotes") : nil
    case .command:
      let words = value.array?.compactMap(\.text) ?? []
      let isList = words.count == value.array?.count && words.first?.isEmpty == false
      return isList && !words.contains { $0.contains("\0") }
        ? nil
        : .init(
          "is not an argument list",
          hint: #"such as ["/usr/bin/pass", "show", "payments"]; no shell reads it"#
        )
    case .variable:
      return value.text?.isVariableName == true
        ? nil : .init("is not the name of a variable", hint: "such as PAYMENTS_KEY, without $")
    }
  }
}

extension String {
  /// Whether it can name a variable of the environment (POSIX, section 8.1).
  var isVariableName: Bool {
    !isEmpty && utf8.first.map { !(0x30...0x39).contains($0) } == true
      && utf8.allSatisfy { byte in
        (0x30...0x39).contains(byte) || (0x41...0x5a).contains(byte) || byte == 0x5f
          || (0x61...0x7a).contains(byte)
      }
  }

  /// Whether it is `$NAME` or `${NAME}`, as a shell would replace it.
  var isVariableReference: Bool {
    guard hasPrefix("$") else { return false }
    let rest = dropFirst()
    return String(rest.hasPrefix("{") && rest.hasSuffix("}") ? rest.dropFirst().dropLast() : rest)
      .isVariableName
  }
}

/// The definition of one provider's section of a profile, and of its variables.
package struct ConfigurationSection: Sendable {
  /// The problem of a value.
  package struct Problem: Sendable {
    package let text: String
    package let hint: String?

    /// Creates a problem. `text` follows the key's name in the message, and `hint` is a valid value.
    package init(_ text: String, hint: String? = nil) {
      self.text = text
      self.hint = hint
    }
  }

  /// One member of the section.
  package struct Key: Sendable {
    /// The form of a value.
    package enum Kind: Sendable {
      /// Text, in one of the forms of `CredentialForm`; also in a variable (`TENDER_PROVIDER_NAME`,
      /// `…_FILE`).
      case credential
      /// A credential that no output may show.
      case secret
      /// A credential that is never in a configuration file.
      case variable
      /// Text; also in a variable (`TENDER_PROVIDER_NAME`), without a file.
      case text
      /// Any JSON without a problem; in a variable as JSON.
      case value
    }

    package let name: String
    package let kind: Kind
    package let problem: @Sendable (JSON) -> Problem?

    /// Creates a member. Without `problem`, any value of its kind is accepted.
    package init(
      _ name: String,
      _ kind: Kind = .text,
      problem: @escaping @Sendable (JSON) -> Problem? = { _ in nil }
    ) {
      self.name = name
      self.kind = kind
      self.problem = problem
    }

    /// Whether it is not a credential.
    var isPlain: Bool { kind == .text || kind == .value }

    /// Whether no option may contain its value. An API key is public in some apps, and never a reference.
    var isHidden: Bool { kind == .secret || kind == .variable || name == "api_key" && !isPlain }

    /// The names of its members in the section.
    package var members: [String] {
      switch kind {
      case .credential, .secret: CredentialForm.allCases.map { name + $0.rawValue }
      case .variable: []
      case .text, .value: [name]
      }
    }
  }

  package let keys: [Key]

  /// Creates a section with these members, in the order of `config show`.
  package init(_ keys: [Key]) { self.keys = keys }

  /// The names that the section may have.
  var members: [String] { keys.flatMap(\.members) + ["_comment"] }

  package var credentials: [String] { keys.filter { !$0.isPlain }.map(\.name) }

  func holdsSecret(_ section: JSONObject) -> Bool {
    keys.contains { $0.kind == .secret && section[$0.name] != nil }
  }
}
