// The standard library's own normal forms (Unicode, annex 15): no other library is needed for them.
@_spi(_Unicode) private import Swift

/// The merchant's own name for a payment, unique per env and provider.
package struct Reference: Sendable, Hashable {
  package let text: String

  /// Checks the shape: 1 to 100 visible characters, no space but the usual one, none at either end.
  ///
  /// It is kept in Unicode's form C: letters that look alike are one reference.
  ///
  /// Throws a `usage` fault naming the text.
  package init(_ text: String) throws(Fault) {
    let isVisible = text.unicodeScalars.allSatisfy { scalar in
      scalar.value >= 0x20 && !(0x7f..<0xa0).contains(scalar.value)
        && !scalar.properties.isBidiControl && !scalar.properties.isDefaultIgnorableCodePoint
        && (scalar == " " || !scalar.properties.isWhitespace)
    }
    let isTrimmed = text.first?.isWhitespace == false && text.last?.isWhitespace == false
    guard isVisible, isTrimmed, text.count <= 100, text.utf8.count <= 400 else {
      throw Fault(
        .usage,
        code: "bad_reference",
        "reference \(text.quotedForMessage) cannot be used",
        hint: "use 1 to 100 visible characters, such as ORDER-1042"
      )
    }
    self.text = Self.composed(text)
  }

  private static func composed(_ text: String) -> String {
    guard !text.utf8.allSatisfy({ $0 < 0x80 }) else { return text }
    var composed = ""
    composed.unicodeScalars.append(contentsOf: text._nfc)
    return composed
  }

  /// The forms in which an earlier version may have kept a text that is typed now, as typed first.
  package static func forms(of text: String) -> [String] {
    guard !text.utf8.allSatisfy({ $0 < 0x80 }) else { return [text] }
    var decomposed = ""
    decomposed.unicodeScalars.append(contentsOf: text._nfd)
    var forms: [String] = []
    for form in [text, composed(text), decomposed]
    where !forms.contains(where: { $0.utf8.elementsEqual(form.utf8) }) {
      forms.append(form)
    }
    return forms
  }

  /// A reference as it was written down, which was checked when it was typed.
  package init(stored text: String) { self.text = text }
}

extension Reference: CustomStringConvertible {
  package var description: String { text }

  /// As messages show it.
  package var quotedForMessage: String { text.quotedForMessage }
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

/// A reference at a provider in an environment: what a lock is taken on, and what attempts are numbered under.
package struct ReferenceKey: Sendable, Hashable, CustomStringConvertible {
  package let env: Env
  package let provider: ProviderName
  package let reference: Reference

  package init(env: Env, provider: ProviderName, reference: Reference) {
    self.env = env
    self.provider = provider
    self.reference = reference
  }

  /// `ENV/PROVIDER/REFERENCE`, the name of its lock.
  package var description: String { "\(env.rawValue)/\(provider.text)/\(reference)" }
}
