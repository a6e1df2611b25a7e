package import TenderModel

/// What of a payment can be searched for besides its columns: texts for the index of a journal.
///
/// A term is the kind of text, a colon, and the text's beginning in small letters. An index finds candidates;
/// `PaymentFilter.lets` decides.
package enum SearchTerm {
  /// What an index is asked for: terms in a range, or any of some terms.
  package enum Query: Sendable, Hashable {
    case exactly(String)
    /// From the first one up to, and without, the second.
    case range(String, String)
    case anyOf([String], orFrom: String, to: String)
  }

  /// Characters of a text that are indexed.
  private static let limit = 32
  /// Words of a text at which the index begins.
  private static let words = 16

  /// The terms of a payment.
  package static func all(of payment: Payment) -> Set<String> {
    var terms: Set<String> = [
      "r:" + cut(payment.reference.text.reversed()), "e:" + payment.env.rawValue,
      "p:" + payment.provider.text,
    ]
    if let currency = payment.currency { terms.insert("u:" + currency.code) }
    let state = payment.state
    if !state.isFinal || state.isUnknown { terms.insert(open) }
    for id in payment.operations.compactMap(\.id) {
      terms.insert("r:" + cut(id.reversed()))
      terms.insert("i:" + cut(id))
    }
    for text in customers(of: payment) { terms.formUnion(beginnings(of: text).map { "c:" + $0 }) }
    if case .object(let metadata)? = payment.content["metadata"] {
      for member in metadata.members {
        if let value = member.value.plainText { terms.insert(term("m:", member.key, value)) }
      }
    }
    for member in payment.content.members
    where member.key.hasSuffix("_code") || member.key.hasSuffix("_id") {
      if let value = member.value.plainText { terms.insert(term("o:", member.key, value)) }
    }
    for trace in traces(of: payment) { terms.insert("t:" + cut(trace)) }
    for reason in reasons(of: payment) {
      terms.formUnion(beginnings(of: reason).map { "f:" + $0 })
    }
    return terms
  }

  /// Of each payment that may still change.
  private static let open = "s:open"

  /// What finds the payments that may still change.
  package static let queryOpen = Query.exactly(open)

  /// What finds the payments of a provider, an env or a currency.
  package static func query(
    _ provider: ProviderName?,
    _ env: Env?,
    _ currency: Currency?
  ) -> Query? {
    if let provider { return .exactly("p:" + provider.text) }
    if let currency { return .exactly("u:" + currency.code) }
    return env.map { .exactly("e:" + $0.rawValue) }
  }

  /// What finds the payments with this trace id.
  package static func query(traceID: String) -> Query { .exactly("t:" + cut(traceID)) }

  /// What finds the payments with this member of the metadata.
  package static func query(metadata name: String, _ value: String) -> Query {
    .exactly(term("m:", name, value))
  }

  /// What finds the payments whose order names this code or id.
  package static func query(member name: String, _ value: String) -> Query {
    .exactly(term("o:", name, value))
  }

  /// What finds the payments of a customer by the beginning of a word.
  package static func query(customer: String) -> Query { beginning("c:" + cut(word(customer))) }

  /// What finds failures by the beginning of a word, or by any of some codes.
  package static func query(failure: String, codes: Set<String>) -> Query {
    let low = "f:" + cut(word(failure))
    let codes = codes.sorted().map { "f:" + cut($0.lowercased()) }
    return codes.isEmpty ? beginning(low) : .anyOf(codes, orFrom: low, to: end(of: low))
  }

  /// What finds the payment that has an operation with this id.
  package static func query(id: String) -> Query { .exactly("i:" + cut(id)) }

  /// What finds the payments whose reference or id ends so.
  package static func query(end: some BidirectionalCollection<Character>) -> Query {
    beginning("r:" + cut(end.reversed()))
  }

  private static func term(_ kind: String, _ name: String, _ value: String) -> String {
    kind + cut(name) + "=" + cut(value)
  }

  private static func beginning(_ term: String) -> Query { .range(term, end(of: term)) }

  /// What sorts behind every text that begins so.
  package static func end(of beginning: String) -> String { beginning + "\u{10FFFF}" }

  private static func cut(_ text: some Sequence<Character>) -> String {
    String(String.UnicodeScalarView(String(text).unicodeScalars.prefix(limit)))
  }

  /// What is searched, as the index has it: in small letters, from its first letter or digit on.
  private static func word(_ text: String) -> Substring {
    let text = text.lowercased()
    let word = text.drop { !$0.isLetter && !$0.isNumber }
    return word.isEmpty ? text[...] : word
  }

  /// A text from each of its words on.
  private static func beginnings(of text: String) -> [String] {
    starts(of: text.lowercased()).prefix(words).map(cut)
  }

  /// Whether a word of a text, and what follows it, begins with another text, in any case.
  package static func begins(_ part: String, aWordOf text: String) -> Bool {
    // By bytes, as an index compares.
    let part = word(part).utf8
    return starts(of: text.lowercased()).prefix(words).contains { $0.utf8.starts(with: part) }
  }

  /// The text from each word on: words end at what is neither letter nor digit.
  private static func starts(of text: String) -> [Substring] {
    var starts: [Substring] = []
    var isInWord = false
    for index in text.indices {
      let isLetter = text[index].isLetter || text[index].isNumber
      // The whole of it, whatever it begins with.
      if isLetter && !isInWord || index == text.startIndex { starts.append(text[index...]) }
      isInWord = isLetter
    }
    return starts
  }

  /// What the order says of who pays, as it was given.
  package static func customers(of payment: Payment) -> [String] {
    let members = ["payor", "payer", "user"].compactMap { payment.content[$0]?.object }
    return members.flatMap { person in
      let texts = person.members.compactMap(\.value.text)
      let names = ["first_name", "last_name"].compactMap { person.text($0) }
      return texts + (names.count == 2 ? [names.joined(separator: " ")] : [])
    }
  }

  /// The ids under which the provider finds the requests of a payment in its logs.
  package static func traces(of payment: Payment) -> [String] {
    payment.operations.flatMap {
      [$0.result, $0.fault?.result].compactMap { $0?.text("trace_id") }
    }
  }

  /// Codes and sentences that say why an attempt failed; none where it did not.
  package static func reasons(of payment: Payment) -> [String] {
    guard let attempt = payment.attempt, let fault = attempt.fault else { return [] }
    let named = ["failure_reason", "type", "responseReason", "actionCode", "error"].compactMap {
      attempt.result.text($0) ?? attempt.result["receipt"]?[$0]?.text
    }
    return [fault.code, fault.message] + named
  }
}
