// The standard library's own Unicode normal forms (annex 15). No other library is needed.
@_spi(_Unicode) private import Swift

/// The merchant's name for a payment, unique for an env and provider.
package struct Reference: Sendable, Hashable {
  package let text: String

  /// Checks the shape: 1 to 100 visible characters. The only space allowed is U+0020, and not at either end.
  ///
  /// The text is stored in Unicode's normal form C, so that letters that look alike are one reference.
  ///
  /// Throws a `usage` fault that names the text.
  package init(_ text: String) throws(Fault) {
    let isVisible = text.unicodeScalars.allSatisfy { scalar in
      scalar.value >= 0x20 && !(0x7f..<0xa0).contains(scalar.value)
        && !scalar.properties.isBidiControl && !scalar.properties.isDefaultIgnorableCodePoint
        && (scalar == " " || !scalar.properties.isWhitespace)
    }
    let isTrimmed = text.first?.isWhitespace == false && text.last?.isWhitespace == false
    guard isVisible, isTrimmed, text.count <= 100, text.utf8.count <= 400 else {
      throw .usage(
        "bad_reference",
        "reference \(text.quotedForMessage) cannot be used",
        "use 1 to 100 visible characters, such as ORDER-1042"
      )
    }
    self.text = Self.composed(text)
  }

  /// Returns a text with its letters composed (NFC).
  package static func composed(_ text: String) -> String {
    guard !text.utf8.allSatisfy({ $0 < 0x80 }) else { return text }
    var composed = ""
    composed.unicodeScalars.append(contentsOf: text._nfc)
    return composed
  }

  /// The forms in which a journal may have a text, the typed form first: a reference is composed, and an id is as the
  /// provider gave it.
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

  /// Creates a reference from stored text, which was checked when it was typed.
  package init(stored text: String) { self.text = text }
}

extension Reference: CustomStringConvertible {
  package var description: String { text }

  package var quotedForMessage: String { text.quotedForMessage }
}

/// The name of a provider as users type it. Each adapter defines one.
package struct ProviderName: Sendable, Hashable {
  package let text: String

  package init(_ text: String) { self.text = text }
}

/// The environment: the built-in simulator, a provider's test hosts, or live money.
package enum Env: String, Sendable, Hashable, CaseIterable {
  case simulator, sandbox, live
}

/// A reference at a provider in an environment. Locks and attempt numbers belong to it.
package struct ReferenceKey: Sendable, Hashable, CustomStringConvertible {
  package let env: Env
  package let provider: ProviderName
  package let reference: Reference

  package init(env: Env, provider: ProviderName, reference: Reference) {
    self.env = env
    self.provider = provider
    self.reference = reference
  }

  /// `ENV/PROVIDER/REFERENCE`, the name of the lock.
  package var description: String { "\(env.rawValue)/\(provider.text)/\(reference)" }
}
