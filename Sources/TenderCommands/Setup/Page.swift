internal import TenderCommandLine
internal import TenderEngine
internal import TenderModel

/// A page of `explain`, and its provider.
struct Page {
  var page: Explanation
  /// Nil for a page that belongs to no provider.
  let provider: String?
  /// The data that the provider's support asks for about a payment.
  let quote: String?

  var head: String {
    let name = page.provider.map { $0 == page.code ? $0 : "\(page.code) (\($0))" } ?? page.code
    let exit = page.kind.map { "exit \($0.exitStatus)" }
    return ([name, page.subject.rawValue] + [provider, exit].compactMap(\.self))
      .joined(separator: " · ")
  }

  var lines: [String] {
    let facts: [(String, String?)] = [
      ("do", page.advice.isEmpty ? nil : page.advice), ("whose side", page.side?.rawValue),
      ("try again", page.retry?.text), ("tell the payer", page.payer), ("quote", quoted),
      ("source", page.source),
    ]
    return [head, "  \(page.meaning)"]
      + facts.compactMap { name, text in text.map { "  \(name): \($0)" } }
  }

  /// A page that is not about a payment needs no quoting.
  private var quoted: String? { page.side == nil ? nil : quote }

  var fields: JSONObject {
    [
      "code": .string(page.code), "subject": .string(page.subject.rawValue),
      "provider": provider?.json, "exit": page.kind.map { .integer(Int($0.exitStatus)) },
      "provider_error": page.provider?.json, "meaning": .string(page.meaning),
      "advice": page.advice.isEmpty ? nil : .string(page.advice), "side": page.side?.rawValue.json,
      "retry": page.retry?.text.json, "tell_payer": page.payer?.json, "quote": quoted?.json,
      "source": .string(page.source),
    ]
  }
}

extension Records {
  /// Every page: the shared ones, then each provider's.
  var pages: [Page] {
    (Explanation.general + Explanation.exits + RecordSchema.explanations)
      .map { Page(page: $0, provider: nil, quote: nil) }
      + modules.flatMap(pages)
      + modules.map { module in
        let meaning = "a provider; see: tender help \(module.name.text)"
        let page = Explanation(
          .type,
          module.name.text,
          meaning,
          "provider of a record of tender"
        )
        return Page(page: page, provider: nil, quote: nil)
      }
  }

  private func pages(of module: any ProviderModule) -> [Page] {
    pages(of: module) { _ in true }
  }

  private func pages(
    of module: any ProviderModule,
    where isWanted: (Explanation) -> Bool
  ) -> [Page] {
    let pages = module.explanations.filter(isWanted)
    guard !pages.isEmpty else { return [] }
    let quote = module.help.quote
    return pages.map { Page(page: $0, provider: module.name.text, quote: quote) }
  }

  /// The codes of failures whose meaning contains a text, in any case.
  func codes(thatSay text: String?) -> Set<String> {
    guard let text else { return [] }
    return Set(
      pages.filter { $0.page.side != nil && SearchTerm.begins(text, aWordOf: $0.page.meaning) }
        .map(\.page.code)
    )
  }

  /// The terms in a payment's record with their meanings, by provider and then by subject.
  var vocabulary: JSONObject {
    var all: JSONObject = [:]
    for page in pages where page.provider != nil || page.page.subject == .status {
      let name = page.provider ?? "tender"
      var own = all[name]?.object ?? [:]
      var words = own[page.page.subject.rawValue]?.object ?? [:]
      words[page.page.code] = .string(page.page.meaning)
      own[page.page.subject.rawValue] = .object(words)
      all[name] = .object(own)
    }
    return all
  }

  /// The pages of a recorded error, and of the reasons in the result.
  ///
  /// A payment that a later operation changed has no error to explain.
  func pages(of report: Report) -> [Page] {
    if report.named == nil, report.payment?.isFollowed == true { return [] }
    return pages(of: report.fault, report.result, report.provider)
  }

  private func pages(of fault: Fault?, _ result: JSONObject, _ provider: ProviderName?) -> [Page] {
    guard let fault else { return [] }
    let own = modules.filter { $0.name == provider }
    func isError(_ page: Explanation) -> Bool {
      page.subject == .error && page.code == fault.code
    }
    // Providers share codes. The page of the payment's provider comes first.
    let error =
      own.flatMap { pages(of: $0, where: isError) }.first ?? pages.first { isError($0.page) }
    return [error].compactMap(\.self)
      + own.flatMap { pages(of: $0) { $0.isReason(in: result) } }
  }

  /// Returns a fault as `error` of a record, with the meaning of the provider's reason.
  func error(_ fault: Fault, _ result: JSONObject, _ provider: ProviderName?) -> JSON {
    var record = fault.record
    if let reason = reason(fault, result, provider) { record["explanation"] = .string(reason) }
    return .object(record)
  }

  /// Returns the meaning of the provider's reason for a failure; nil without one.
  private func reason(
    _ fault: Fault,
    _ result: JSONObject,
    _ provider: ProviderName?
  ) -> String? {
    guard
      fault.kind == .declined || fault.kind == .rejected || fault.kind == .cancelled
        || fault.kind == .expired
    else { return nil }
    let page = pages(of: fault, result, provider).last?.page
    return page.flatMap { $0.payer == nil ? nil : $0.meaning }
  }

  /// Returns the meaning of the provider's reason for a payment that was looked up.
  func explanation(of report: Report) -> String? {
    guard report.fault == nil, report.status.isOver, report.status != .revoked else { return nil }
    if let attempt = report.payment?.attempt, let fault = attempt.fault {
      return reason(fault, attempt.result, report.provider)
    }
    return modules.filter { $0.name == report.provider }.flatMap(\.explanations)
      .first { $0.isReason(in: report.result) }?.meaning
  }

  /// Returns a report as one sentence, with the meaning of its provider's reason.
  func verdict(_ report: Report) -> Verdict {
    var reason = explanation(of: report)
    var retry: Explanation.Retry?
    let attempt = report.payment?.attempt
    // The reason for a declined refund is not about the payment.
    let isOfPayment = report.operation.map { !$0.isReversal } ?? true
    if report.named != nil {
      reason = report.fault.flatMap { self.reason($0, report.result, report.provider) }
    } else if isOfPayment, let fault = report.fault ?? attempt?.fault {
      let result = report.fault == nil ? attempt?.result ?? [:] : report.result
      reason = self.reason(fault, result, report.provider)
      retry = pages(of: fault, result, report.provider).last?.page.retry
    }
    return Verdict(
      report: report,
      reason: reason,
      retry: retry,
      now: now(in: report.env),
      traits: modules.first { $0.name == report.provider }?.traits ?? Traits(kinds: [])
    )
  }

  func verdict(_ payment: Payment) -> Verdict { verdict(.recorded(payment)) }

  /// Returns the operation that a handle names as one sentence, and then its payment.
  func verdict(_ payment: Payment, named handle: String?) -> Verdict {
    guard let handle else { return verdict(payment) }
    let report = Report.recorded(payment, named: handle)
    var verdict = verdict(report)
    if report.named != nil || report.payment?.isEarlier == true {
      let whole = self.verdict(payment)
      verdict.whole = (whole.words, whole.hint, whole.steps)
    }
    return verdict
  }
}

extension Explanation {
  /// Whether a page matches a code, a provider's term or an exit status.
  func isAbout(_ word: String) -> Bool {
    code.lowercased() == word.lowercased() || provider?.lowercased() == word.lowercased()
      || subject == .member && code.split(separator: ".").last.map(String.init) == word
  }

  /// Whether the result has this term at the path of the page.
  fileprivate func isReason(in result: JSONObject) -> Bool {
    guard let path else { return false }
    let value = result.value(at: path)
    let words = value?.array?.compactMap(\.text) ?? [value?.text].compactMap(\.self)
    return words.contains(code) || provider.map(words.contains) == true
  }
}
