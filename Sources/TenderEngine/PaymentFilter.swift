package import TenderModel

/// Which payments to look at; what is nil or empty lets everything through.
package struct PaymentFilter: Sendable {
  package var env: Env?
  package var provider: ProviderName?
  /// Any of these statuses.
  package var statuses: Set<Status> = []
  /// Only what is not final yet, besides what `statuses` names.
  package var isOpen = false
  package var lastFour: String?
  /// In minor units.
  package var amount: Int?
  package var currency: Currency?
  /// Milliseconds since 1970, inclusive.
  package var since: Int?
  package var until: Int?
  /// A reference or a provider's id; `*` stands for any characters.
  package var handle: String?
  /// How a word of a name, e-mail address or phone number of the payer begins, and what follows, in any case.
  package var customer: String?
  /// Members of the metadata, each with its value.
  package var metadata: [(name: String, value: String)] = []
  /// Codes and ids that the order named, by its members.
  package var members: [(name: String, value: String)] = []
  /// The id under which the provider can find a request in its logs.
  package var traceID: String?
  /// How a word of an error code or of a reason begins, and what follows, in any case.
  package var failure: String?

  /// Who wrote any line of its history: `USER@MACHINE`, or the machine alone; the journal decides.
  package var by: String?

  /// Codes and reasons that mean that failure, beside those that hold its text.
  package var failureCodes: Set<String> = []

  package init(env: Env? = nil, provider: ProviderName? = nil) {
    self.env = env
    self.provider = provider
  }

  /// Whether columns alone decide: nothing is looked for within an order or an answer.
  package var isOfColumns: Bool {
    customer == nil && metadata.isEmpty && members.isEmpty && traceID == nil && failure == nil
  }

  /// What finds the candidates in an index of terms; nil where columns have a narrower one, or none has.
  package var query: SearchTerm.Query? {
    if let traceID { return SearchTerm.query(traceID: traceID) }
    if let pair = metadata.first { return SearchTerm.query(metadata: pair.name, pair.value) }
    if let pair = members.first { return SearchTerm.query(member: pair.name, pair.value) }
    if let customer { return SearchTerm.query(customer: customer) }
    if let failure { return SearchTerm.query(failure: failure, codes: failureCodes) }
    // `*` alone at the beginning: the end of a reference or an id.
    if let handle {
      guard handle.hasPrefix("*"), handle.count > 1, !handle.dropFirst().contains("*") else {
        return nil
      }
      return SearchTerm.query(end: handle.dropFirst())
    }
    guard amount == nil, lastFour == nil else { return nil }
    if isOpen || !statuses.isEmpty {
      return statuses.allSatisfy { !$0.isFinal } ? SearchTerm.queryOpen : nil
    }
    return since == nil && until == nil ? SearchTerm.query(provider, env, currency) : nil
  }

  /// Whether nothing but what `query` finds is asked for.
  package var isOfOneTerm: Bool {
    guard isOfColumns, by == nil, handle == nil, amount == nil, lastFour == nil, since == nil,
      until == nil
    else { return false }
    let places = [env == nil, provider == nil, currency == nil].count { !$0 }
    return isOpen
      ? places == 0 && statuses.allSatisfy { !$0.isFinal } : places == 1 && statuses.isEmpty
  }

  /// Whether a payment is one of those.
  package func lets(_ payment: Payment) -> Bool {
    let state = payment.state
    return env.map { $0 == payment.env } ?? true
      && provider.map { $0 == payment.provider } ?? true
      && letsStatus(state)
      && lastFour.map { $0 == payment.lastFour } ?? true
      && amount.map { $0 == state.amount } ?? true
      && currency.map { $0 == payment.currency } ?? true
      && since.map { payment.createdAt >= $0 } ?? true
      && until.map { payment.createdAt <= $0 } ?? true
      && letsWords(of: payment)
  }

  /// A payment with an operation whose result is unknown counts as unknown too, whatever its status is.
  private func letsStatus(_ state: PaymentState) -> Bool {
    guard isOpen || !statuses.isEmpty else { return true }
    return statuses.contains(state.status) || statuses.contains(.unknown) && state.isUnknown
      || isOpen && !state.isFinal
  }

  private func letsWords(of payment: Payment) -> Bool {
    if let handle, !payment.handles.contains(where: { Self.fits(handle, $0) }) { return false }
    if let customer,
      !SearchTerm.customers(of: payment).contains(where: {
        SearchTerm.begins(customer, aWordOf: $0)
      })
    {
      return false
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

  /// Whether a text is what a pattern with `*` says, in time linear in both.
  package static func fits(_ pattern: String, _ text: String) -> Bool {
    let parts = pattern.split(separator: "*", omittingEmptySubsequences: false)
    guard parts.count > 1, let first = parts.first, let last = parts.last else {
      return pattern == text
    }
    guard text.hasPrefix(first), text.hasSuffix(last), text.count >= first.count + last.count
    else { return false }
    var rest = text.dropFirst(first.count).dropLast(last.count)
    for part in parts.dropFirst().dropLast() where !part.isEmpty {
      guard let found = rest.firstRange(of: part) else { return false }
      rest = rest[found.upperBound...]
    }
    return true
  }
}

extension Payment {
  /// What it can be asked for by: its reference, and the provider's ids of its operations.
  package var handles: [String] {
    [reference.text] + operations.compactMap(\.id)
  }
}

extension JSON {
  /// A scalar as it would be typed; nil for anything else.
  package var plainText: String? {
    switch self {
    case .string(let text), .number(let text): text
    case .integer(let number): String(number)
    case .bool(let truth): String(truth)
    case .null, .array, .object: nil
    }
  }
}
