/// A page of `tender explain`: a word that a record, a receipt or a provider's document uses.
package struct Explanation: Sendable, Hashable {
  /// The kind of term.
  package enum Subject: String, Sendable, CaseIterable {
    case error, status, state, type, member
    case failureReason = "failure reason"
    case processorCode = "processor code"
    case responseCode = "response code"
    case returnCode = "return code"
    case exit = "exit status"
    case rejection
  }

  /// The side that caused a failure.
  package enum Side: String, Sendable, CaseIterable {
    case payer, bank, network, provider, shop, merchant, order, tender
  }

  /// Whether another try can help.
  package enum Retry: String, Sendable, CaseIterable {
    case no
    case yes
    case later
    /// With another card, account or bank.
    case other
    /// After something is corrected.
    case corrected

    /// The text of the entry, such as `later, unchanged`.
    package var text: String {
      switch self {
      case .no: "no"
      case .yes: "yes, unchanged"
      case .later: "later, unchanged"
      case .other: "with another card, account or bank"
      case .corrected: "once it is corrected"
      }
    }
  }

  package let subject: Subject
  package let code: String
  /// The exit status of an error; nil for any other term.
  package var kind: Fault.Kind?
  /// The provider's documented name of the code, if the code is from a provider.
  package var provider: String?
  package let meaning: String
  package var advice: String
  package var side: Side?
  package var retry: Retry?
  /// The text for the payer.
  package var payer: String?
  /// The source of the term: document and section.
  package var source: String
  /// The path of the term in a result, with dots; nil for a fault's code.
  package var path: String?

  /// A page about an error code.
  package init(
    _ code: String,
    _ kind: Fault.Kind,
    provider: String? = nil,
    _ meaning: String,
    _ advice: String
  ) {
    subject = .error
    self.code = code
    self.kind = kind
    self.provider = provider
    self.meaning = meaning
    self.advice = advice
    side = kind.side
    retry = kind.furtherTry
    source = "an error code of tender"
  }

  /// A page about a word that is not a failure.
  package init(_ subject: Subject, _ code: String, _ meaning: String, _ source: String) {
    self.subject = subject
    self.code = code
    self.meaning = meaning
    self.source = source
    advice = ""
  }

  /// Returns the pages of a room's file about some subjects.
  package static func embedded(
    _ room: String,
    _ subjects: [Subject] = Subject.allCases
  ) -> [Explanation] {
    PageFile.certain { () throws(PageFile.Flaw) in
      try pages(in: .embedded(room), subjects)
    }
  }

  /// Returns the pages of a file, whose tables have their subject as the title.
  ///
  /// A row is `WORD: MEANING`. A row of an error is `CODE KIND [PROVIDER'S-NAME]: MEANING | ADVICE`, or has
  /// the retry instead of the name if it is not that of the kind. A table
  /// with a `path` explains failures, and its rows are `WORD SIDE RETRY: MEANING`. There, the advice and the
  /// payer's text follow from side and retry.
  package static func pages(
    in file: PageFile,
    _ subjects: [Subject] = Subject.allCases
  ) throws(PageFile.Flaw) -> [Explanation] {
    var pages: [Explanation] = []
    for section in file.sections {
      guard let subject = Subject(rawValue: section.title), subjects.contains(subject) else {
        continue
      }
      try section.checkFields(["source", "path"])
      let source = try section.required("source")
      for row in try section.rows() {
        guard let page = Explanation(row, subject, source, at: section.field("path")) else {
          throw PageFile.Flaw(row.line, "not a row about: \(subject.rawValue)")
        }
        pages.append(page)
      }
    }
    return pages
  }

  private init?(_ row: PageFile.Row, _ subject: Subject, _ source: String, at path: String?) {
    let words = row.words
    if subject == .error {
      let texts = row.text.split(separator: " | ").map(String.init)
      guard 2...3 ~= words.count, let kind = Fault.Kind(rawValue: words[1]), texts.count == 2
      else { return nil }
      let last = words.count > 2 ? words[2] : nil
      let retry = last.flatMap(Retry.init)
      self.init(words[0], kind, provider: retry == nil ? last : nil, texts[0], texts[1])
      if let retry { self.retry = retry }
      self.source = source
      return
    }
    self.init(subject, words[0], row.text, source)
    guard let path else {
      if words.count == 1 { return }
      return nil
    }
    guard words.count == 3, let side = Side(rawValue: words[1]),
      let retry = Retry(rawValue: words[2])
    else { return nil }
    (self.side, self.retry, self.path) = (side, retry, path)
    payer = side.sentence(retry)
    advice = retry.advice
  }
}

extension Explanation.Retry {
  fileprivate var advice: String {
    switch self {
    case .no: "do not try again"
    case .yes: "try again with --new-attempt"
    case .later: "try again later with --new-attempt"
    case .other: "--new-attempt with another card, account or bank"
    case .corrected: "correct it, then --new-attempt"
    }
  }
}

extension Explanation.Side {
  /// The text for the payer.
  fileprivate func sentence(_ retry: Explanation.Retry) -> String {
    switch (self, retry) {
    case (.payer, .corrected): "Please check what you entered and try again."
    case (.payer, .no): "You have stopped this payment. Nothing was taken."
    case (.payer, .other): "Please pay with another card or account."
    case (.payer, _): "The payment was not completed. Please try again."
    case (.bank, .no): "Your bank declined the payment. Please speak to your bank."
    case (.bank, .corrected): "Your bank needs other details. Please check them and try again."
    case (.bank, .other):
      "Your bank declined the payment. Please use another card or account, or ask your bank."
    case (.bank, _): "Your bank could not answer. Please try again."
    case (.shop, _), (.merchant, _), (.order, _), (.tender, _):
      "The payment was not made, for a reason on our side. Nothing was taken."
    case (.network, _), (.provider, _):
      "The payment could not be made just now. Nothing was taken. Please try again later."
    }
  }
}

extension Fault.Kind {
  /// The side that caused a failure of this kind.
  fileprivate var side: Explanation.Side {
    switch self {
    case .internal, .state: .tender
    case .usage, .conflict, .rejected, .notFound, .unsupported, .unexpected, .refused, .partial:
      .order
    case .auth: .merchant
    case .declined: .bank
    case .pending, .cancelled, .expired: .payer
    case .unknown, .notSent: .network
    case .providerError: .provider
    case .device: .shop
    case .partPaid: .bank
    case .interrupted, .terminated, .hungUp: .shop
    }
  }

  /// Whether another try can help after a failure of this kind.
  fileprivate var furtherTry: Explanation.Retry {
    switch self {
    // An unknown payment is finished, and never tried again.
    case .internal, .conflict, .unsupported, .unexpected, .partial, .partPaid, .unknown: .no
    case .usage, .auth, .notFound, .rejected, .refused, .state: .corrected
    case .declined: .other
    case .pending, .notSent, .cancelled, .expired, .device, .interrupted, .terminated,
      .hungUp:
      .yes
    case .providerError: .later
    }
  }
}
