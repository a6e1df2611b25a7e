package import TenderModel

/// What one provider's section of a profile may hold, and the variables beside it.
package struct ConfigurationSection: Sendable {
  /// What is wrong with a value.
  package struct Problem: Sendable {
    package let text: String
    package let hint: String?

    /// What is wrong, as it stands behind the key's name, and what would be right.
    package init(_ text: String, hint: String? = nil) {
      self.text = text
      self.hint = hint
    }
  }

  /// One member of the section.
  package struct Key: Sendable {
    /// What a value may be.
    package enum Kind: Sendable {
      /// Text; also in a file (`NAME_file`), or a variable (`TENDER_PROVIDER_NAME`, `…_FILE`).
      case credential(isSecret: Bool)
      /// The same, but in no configuration file.
      case variable
      /// Text; also in a variable (`TENDER_PROVIDER_NAME`), without a file.
      case text
      /// Anything that has no problem; in a variable as JSON.
      case value
    }

    package let name: String
    package let kind: Kind
    /// What is wrong with a value; nil where nothing is.
    package let problem: @Sendable (JSON) -> Problem?

    /// A member; without `problem` any value of its kind is taken.
    package init(
      _ name: String,
      _ kind: Kind = .text,
      problem: @escaping @Sendable (JSON) -> Problem? = { _ in nil }
    ) {
      self.name = name
      self.kind = kind
      self.problem = problem
    }

    /// Whether it is no credential; and whether it is text, not another JSON value.
    package var isPlain: Bool {
      switch kind {
      case .text, .value: true
      case .credential, .variable: false
      }
    }

    var isText: Bool { if case .text = kind { true } else { false } }

    /// Names of the members that it stands for.
    fileprivate var members: [String] {
      switch kind {
      case .credential: [name, name + "_file"]
      case .variable: []
      case .text, .value: [name]
      }
    }
  }

  package let keys: [Key]

  /// A section with these members, in the order of `config show`.
  package init(_ keys: [Key]) { self.keys = keys }

  /// Names that may stand in the section.
  var members: [String] { keys.flatMap(\.members) + ["_comment"] }

  /// Credentials, by their keys.
  package var credentials: [String] {
    keys.filter { !$0.isPlain }.map(\.name)
  }

  /// Whether a section holds a secret in plain text.
  func holdsSecret(_ section: JSONObject) -> Bool {
    keys.contains { key in
      if case .credential(isSecret: true) = key.kind { section[key.name] != nil } else { false }
    }
  }
}
