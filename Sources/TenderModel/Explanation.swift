/// A page of `tender explain`: one stable error code, and what it means for the money.
package struct Explanation: Sendable, Hashable {
  package let code: String
  package let kind: Fault.Kind
  /// The provider's own documented name, where the code comes from one.
  package let provider: String?
  package let meaning: String
  package let advice: String

  package init(
    _ code: String,
    _ kind: Fault.Kind,
    provider: String? = nil,
    _ meaning: String,
    _ advice: String
  ) {
    self.code = code
    self.kind = kind
    self.provider = provider
    self.meaning = meaning
    self.advice = advice
  }
}
