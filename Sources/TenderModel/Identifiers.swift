/// The merchant's own name for a payment, unique per env and provider.
package struct Reference: Sendable, Hashable {
  package let text: String

  /// Checks the shape: 1 to 100 visible ASCII characters.
  ///
  /// Throws a `usage` fault naming the text.
  package init(_ text: String) throws(Fault) {
    let visible = text.utf8.allSatisfy { (0x21...0x7e).contains($0) }
    guard visible, (1...100).contains(text.utf8.count) else {
      throw Fault(
        .usage,
        code: "bad_reference",
        "reference \(text.quotedForMessage) cannot be used",
        hint: "use 1 to 100 visible ASCII characters without spaces, such as ORDER-1042"
      )
    }
    self.text = text
  }
}

/// A provider by the name users type; the set is open, and adapters name themselves.
package struct ProviderName: Sendable, Hashable {
  package let text: String

  package init(_ text: String) { self.text = text }
}

/// Where a command runs: the simulator inside the binary, a provider's test hosts, or real money.
package enum Env: String, Sendable, Hashable, CaseIterable {
  case simulator, sandbox, live
}
