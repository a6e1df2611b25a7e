package import TenderModel

/// A choice of payments. A nil or empty member matches everything.
package struct PaymentFilter: Sendable {
  package var env: Env?
  package var provider: ProviderName?
  /// Any of these statuses.
  package var statuses: Set<Status> = []
  /// Also payments that are not final yet, besides those that `statuses` names.
  package var isOpen = false
  package var lastFour: String?
  /// The amount or the requested amount.
  package var amount: Amount?
  package var currency: Currency?
  /// The time of creation, in milliseconds since 1970, inclusive.
  package var since: Int?
  package var until: Int?
  /// A reference or a provider's id. `*` matches any characters.
  package var handle: String?
  /// A reference or a provider's id in which no character is a wildcard.
  package var name: String?
  /// The first letters of a word in a name or address of payer or holder, a phone number, or a whole e-mail
  /// address (`SearchTerm.isCustomer`).
  package var customer: String?
  /// Members of the metadata, with their values.
  package var metadata: [(name: String, value: String)] = []
  /// Codes and ids of the order, by their members.
  package var members: [(name: String, value: String)] = []
  /// The id under which the provider finds a request in its logs.
  package var traceID: String?
  /// The beginning of a word in an error code or reason, and the text after it, in any case.
  package var failure: String?

  /// The writer of any line of its history: `USER@MACHINE`, or the machine alone. The journal decides by it.
  package var by: String?

  /// The time before which payments changed last that are no longer needed. The journal decides by it.
  ///
  /// A payment is needed if it is not final or has an unknown operation. So is a mandate that can still be revoked,
  /// and a refund that an original payment counts.
  package var unneededBefore: Int?

  /// Codes and reasons that mean `failure`, besides those that contain its text.
  package var failureCodes: Set<String> = []

  package init(env: Env? = nil, provider: ProviderName? = nil) {
    self.env = env
    self.provider = provider
  }

  /// An amount in each currency: its minor units by the currency's number of digits.
  package struct Amount: Sendable {
    /// The minor units by the number of digits.
    private var units = [Int?](repeating: nil, count: 5)

    /// The same number of minor units in each currency.
    package init(minorUnits: Int) {
      for currency in Self.currencies { units[currency.exponent] = minorUnits }
    }

    /// An amount such as `30` or `10.50`. A currency with fewer digits has no such amount.
    ///
    /// Throws `usage` if no currency has it.
    package init(decimal text: String, named option: String) throws(Fault) {
      var problem: Fault?
      for currency in Self.currencies {
        do throws(Fault) {
          let money = try Money(decimal: text, currency: currency, named: option)
          units[currency.exponent] = money.minorUnits
        } catch {
          problem = problem ?? error
        }
      }
      if let problem, candidates.isEmpty { throw problem }
    }

    /// A currency for each number of digits.
    private static let currencies = ["USD", "JPY", "KWD", "CLF"].compactMap(Currency.init)

    /// The minor units in any currency. A payment with one of them matches if its currency does, too.
    package var candidates: [Int] { Set(units.compactMap(\.self)).sorted() }

    /// The minor units in a currency; nil if it has no such amount.
    package subscript(currency: Currency?) -> Int? { units[currency?.exponent ?? 2] }

    func lets(_ state: PaymentState, _ currency: Currency?) -> Bool {
      guard let units = self[currency] else { return false }
      return state.amount == units || state.requestedAmount == units
    }
  }

  /// Whether columns alone decide, without a search in an operation, an order or an answer, or a comparison in each
  /// currency.
  package var isOfColumns: Bool {
    handle == nil && name == nil && customer == nil && metadata.isEmpty && members.isEmpty
      && traceID == nil && failure == nil && (amount == nil || currency != nil)
  }

  /// The query for candidates in an index of terms; nil if a column is narrower, or no term fits.
  package var query: SearchTerm.Query? {
    if let traceID { return .init(exact: ["t:" + SearchTerm.cut(traceID)]) }
    if let pair = metadata.first {
      return .init(exact: [SearchTerm.term("m:", pair.name, pair.value)])
    }
    if let pair = members.first {
      return .init(exact: [SearchTerm.term("o:", pair.name, pair.value)])
    }
    if let customer {
      let phone = PhoneNumber(customer).map { [SearchTerm.phone($0)] }
      let beginnings = SearchTerm.beginnings(ofCustomer: customer)
      return .init(exact: phone ?? [], beginnings: beginnings)
    }
    if let failure {
      let low = "f:" + SearchTerm.cut(SearchTerm.word(failure.lowercased()))
      let codes = failureCodes.sorted().map { "f:" + SearchTerm.cut($0.lowercased()) }
      return .init(exact: codes, beginnings: [low])
    }
    guard name == nil else { return nil }
    // A single `*` at the beginning: the end of a reference or an id.
    if let handle {
      guard handle.hasPrefix("*"), handle.count > 1, !handle.dropFirst().contains("*") else {
        return nil
      }
      let end = SearchTerm.backwards(String(handle.dropFirst()))
      return .init(beginnings: ["r:" + SearchTerm.cut(end)])
    }
    guard amount == nil, lastFour == nil else { return nil }
    if isOpen || !statuses.isEmpty {
      return statuses.allSatisfy { !$0.isFinal } ? .init(exact: [SearchTerm.open]) : nil
    }
    guard since == nil, until == nil else { return nil }
    if let provider { return .init(exact: ["p:" + provider.text]) }
    if let currency { return .init(exact: ["u:" + currency.code]) }
    return env.map { .init(exact: ["e:" + $0.rawValue]) }
  }

  /// Whether a payment matches.
  package func lets(_ payment: Payment) -> Bool {
    env.map { $0 == payment.env } ?? true
      && provider.map { $0 == payment.provider } ?? true
      && letsStatus(of: payment)
      && lastFour.map { $0 == payment.lastFour } ?? true
      && amount.map { $0.lets(payment.state, payment.currency) } ?? true
      && currency.map { $0 == payment.currency } ?? true
      && since.map { payment.createdAt >= $0 } ?? true
      && until.map { payment.createdAt <= $0 } ?? true
      && letsWords(of: payment)
  }

  /// Whether the status matches. A payment with an unknown operation also matches the status `unknown`.
  private func letsStatus(of payment: Payment) -> Bool {
    guard isOpen || !statuses.isEmpty else { return true }
    let state = payment.state
    return statuses.contains(state.status) || statuses.contains(.unknown) && state.isUnknown
      || isOpen && !state.isFinal
  }

  private func letsWords(of payment: Payment) -> Bool {
    if let name, !payment.handles.contains(name) { return false }
    if let handle, !payment.handles.contains(where: { Self.fits(handle, $0) }) { return false }
    if let customer {
      let texts = SearchTerm.customers(of: payment)
      guard texts.contains(where: { SearchTerm.isCustomer(customer, $0) }) else { return false }
    }
    for pair in metadata {
      guard let value = payment.content["metadata"]?[pair.name], value.plainText == pair.value
      else { return false }
    }
    for pair in members where payment.content[pair.name]?.plainText != pair.value { return false }
    if let traceID, !SearchTerm.traces(of: payment).contains(traceID) { return false }
    if let failure {
      return SearchTerm.reasons(of: payment).contains {
        SearchTerm.begins(failure, aWordOf: $0) || failureCodes.contains($0)
      }
    }
    return true
  }

  /// Whether a text matches a pattern with `*`, in time linear in both.
  package static func fits(_ pattern: String, _ text: String) -> Bool {
    let parts = pattern.split(separator: "*", omittingEmptySubsequences: false)
    guard parts.count > 1, let first = parts.first, let last = parts.last else {
      return pattern == text
    }
    guard text.utf8.count >= first.utf8.count + last.utf8.count,
      text.utf8.starts(with: first.utf8),
      text.utf8.suffix(last.utf8.count).elementsEqual(last.utf8)
    else { return false }
    var rest = Substring(text.utf8.dropFirst(first.utf8.count).dropLast(last.utf8.count))
    for part in parts.dropFirst().dropLast() where !part.isEmpty {
      guard let found = rest.firstRange(of: String(part)) else { return false }
      rest = rest[found.upperBound...]
    }
    return true
  }
}

extension Payment {
  /// The payer and the holder of the card or account, from the order.
  package var people: [JSONObject] {
    ["payor", "payer", "user", Operation.holder].compactMap { content[$0]?.object }
  }

  /// The handles of the payment: its reference, those of its refunds with the card, and the provider's ids of its
  /// operations.
  package var handles: [String] { [reference.text] + ownReferences + ids }

  fileprivate var ownReferences: [String] { operations.compactMap(\.ownReference?.text) }

  /// The provider's ids of its operations, with the receipt numbers of their answers. A hold has another id
  /// after its capture, and is still found by the first one.
  fileprivate var ids: [String] {
    operations.flatMap { operation in
      let receipt = operation.result["body"]?["receipt_number"]?.text
      return [operation.id, receipt == operation.id ? nil : receipt].compactMap(\.self)
    }
  }
}

extension JSON {
  /// The text of a scalar as an operator would type it; nil for anything else.
  package var plainText: String? {
    switch self {
    case .string(let text), .number(let text): text
    case .integer(let number): String(number)
    case .bool(let truth): String(truth)
    case .null, .array, .object: nil
    }
  }
}

/// The searchable texts of a payment besides its columns, for the index of a journal.
///
/// A term is the kind of text, a colon, and the beginning of the text in lower case. An index finds
/// candidates, and `PaymentFilter.lets` decides.
package enum SearchTerm {
  /// A query to an index: any of some terms, and of the terms with some beginnings.
  package struct Query: Sendable, Hashable {
    package var exact: [String] = []
    package var beginnings: [String] = []
  }

  /// The number of characters of a text in the index.
  private static let limit = 32
  /// The number of words of a text from which the index has a term.
  private static let words = 16

  /// Returns the terms of a payment.
  package static func all(of payment: Payment) -> Set<String> {
    var terms: Set<String> = [
      "r:" + cut(backwards(payment.reference.text)), "e:" + payment.env.rawValue,
      "p:" + payment.provider.text,
    ]
    if let currency = payment.currency { terms.insert("u:" + currency.code) }
    let state = payment.state
    if !state.isFinal || state.isUnknown { terms.insert(open) }
    if let requested = state.requestedAmount { terms.insert(self.requested(requested)) }
    for id in payment.ids {
      terms.insert("r:" + cut(backwards(id)))
      terms.insert(self.id(id))
    }
    for reference in payment.ownReferences { terms.insert(refund(reference)) }
    for text in customers(of: payment) {
      let (small, folded) = (text.lowercased(), text.folded)
      terms.formUnion(beginnings(of: small).map { "c:" + $0 })
      if !folded.utf8.elementsEqual(small.utf8) {
        terms.formUnion(beginnings(of: folded).map { "w:" + $0 })
      }
      if let phone = PhoneNumber(text) { terms.insert(self.phone(phone)) }
    }
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
      terms.formUnion(beginnings(of: reason.lowercased()).map { "f:" + $0 })
    }
    return terms
  }

  /// The term of each payment that may still change.
  package static let open = "s:open"

  /// The longest term of an id, in characters.
  package static let longestID = limit + 2

  /// The term of the payment that has a refund with this reference.
  package static func refund(_ reference: String) -> String { "n:" + cut(reference) }

  /// The term of the payment that has an operation with this id.
  package static func id(_ id: String) -> String { "i:" + cut(id) }

  /// The term of a payment whose requested amount, in minor units, differs from its amount.
  package static func requested(_ amount: Int) -> String { "a:\(amount)" }

  /// Returns whether payments of earlier versions can lack a term.
  package static func isLater(_ term: String) -> Bool {
    ["a:", "n:", "w:", "d:"].contains { term.hasPrefix($0) }
  }

  /// The term of a phone number.
  fileprivate static func phone(_ number: PhoneNumber) -> String { "d:" + number.end }

  /// Returns the beginnings of terms for a customer. Names with other letters than ASCII have folded terms beside
  /// those in lower case, since a payment of an earlier version has no others.
  fileprivate static func beginnings(ofCustomer text: String) -> [String] {
    let (small, folded) = (cut(word(text.lowercased())), cut(word(text.folded)))
    let old = small.utf8.elementsEqual(folded.utf8) ? [] : ["c:" + small]
    return old + ["c:" + folded, "w:" + folded]
  }

  /// Returns a customer as a page or a spreadsheet has it, without blanks around it and `mailto:` before it.
  package static func customer(_ typed: String) -> String {
    let text = typed.trimmed()
    let scheme = "mailto:"
    guard text.lowercased().hasPrefix(scheme) else { return text }
    return String(text.dropFirst(scheme.count).prefix(before: "?"))
  }

  /// Returns whether a customer's name, address or number is the one that is looked for: a text that begins at one of
  /// its words, the same phone number, or the same whole e-mail address.
  package static func isCustomer(_ sought: String, _ text: String) -> Bool {
    if Contact.isEmail(sought) { return sought.folded == text.folded }
    if let sought = PhoneNumber(sought), let phone = PhoneNumber(text), sought.isSame(as: phone) {
      return true
    }
    return begins(sought, aWordOf: text)
  }

  fileprivate static func term(_ kind: String, _ name: String, _ value: String) -> String {
    kind + cut(name) + "=" + cut(value)
  }

  /// The text that sorts after every text with this beginning.
  package static func end(of beginning: String) -> String { beginning + "\u{10FFFF}" }

  fileprivate static func cut(_ text: String) -> String {
    text.utf8.count <= limit ? text : String(text.unicodeScalars.prefix(limit))
  }

  /// The text in reverse order of its characters, as a reader counts them.
  fileprivate static func backwards(_ text: String) -> String {
    // Nearly all texts are ASCII, where only CR LF is one character of two bytes.
    var bytes = Array(text.utf8)
    guard bytes.allSatisfy({ $0 < 0x80 && $0 != 13 }) else { return String(text.reversed()) }
    bytes.reverse()
    return String(decoding: bytes, as: UTF8.self)
  }

  /// The text from its first letter or digit on.
  fileprivate static func word(_ text: String) -> String {
    let word = text.drop { !isOfWord($0) }
    return word.isEmpty ? text : String(word)
  }

  private static func beginnings(of text: String) -> [String] {
    starts(of: text).prefix(words).map { String($0.unicodeScalars.prefix(limit)) }
  }

  /// Whether a text, from one of its words on, begins with another text, as both are folded.
  package static func begins(_ part: String, aWordOf text: String) -> Bool {
    // An index compares bytes, too.
    let part = word(part.folded).utf8
    return starts(of: text.folded).prefix(words).contains { $0.utf8.starts(with: part) }
  }

  /// Returns whether a character is a letter or digit. Nearly all are ASCII.
  private static func isOfWord(_ character: Character) -> Bool {
    guard let byte = character.asciiValue else { return character.isLetter || character.isNumber }
    return switch byte {
    case 0x30...0x39, 0x41...0x5a, 0x61...0x7a: true
    default: false
    }
  }

  /// The text from each word on. A word ends at any character that is no letter or digit.
  private static func starts(of text: String) -> [Substring] {
    var starts: [Substring] = []
    var isInWord = false
    for index in text.indices {
      let isLetter = isOfWord(text[index])
      // The first entry is the whole text, also if it begins with another character.
      if isLetter && !isInWord || index == text.startIndex { starts.append(text[index...]) }
      isInWord = isLetter
    }
    return starts
  }

  /// The names and addresses of the payer and the holder, as they were typed.
  package static func customers(of payment: Payment) -> [String] {
    payment.people.flatMap { person in
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

  /// The codes and sentences that explain why an attempt failed; empty if it did not.
  package static func reasons(of payment: Payment) -> [String] {
    guard let attempt = payment.attempt, let fault = attempt.fault else { return [] }
    let named = ["failure_reason", "type", "responseReason", "actionCode", "error"].compactMap {
      attempt.result.text($0) ?? attempt.result["receipt"]?[$0]?.text
    }
    return [fault.code, fault.message] + named
  }
}
