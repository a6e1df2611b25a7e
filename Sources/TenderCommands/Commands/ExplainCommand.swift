internal import TenderCommandLine
internal import TenderEngine
internal import TenderModel
internal import TenderSystem

extension Action {
  static let explain = Command(
    .local(.reads),
    """
    explain: explain an error, a word of a record, or a payment
    Explains an error code, a provider's error name, or another word of a record. It says what the
    word means for the money, and the next step. A reference or a provider's id explains that
    payment: its state, its error, and the next command. A payment comes before a word. Without
    either, or with --list, it lists every word. Needs no network.
    $ tender explain insufficient_funds # one code
    $ tender explain SOCKET_ERROR # a provider's own name
    $ tender explain ORDER-1042 # the state of a payment
    $ tender explain --json --fields code,exit # all codes with their exit status
    """,
    operands: [.init("CODE", optional: true)],
    options: [Keys.list],
    exits: [.notFound]
  ).performed(by: ExplainCommand.run)
}

/// `tender explain`: the meaning of a term, or the state of a payment.
struct ExplainCommand: CommandWork {
  let composition: Composition

  /// The pages of the named provider, and the shared ones.
  private var pages: [Page] {
    guard let provider = invocation[Keys.provider] else { return records.pages }
    return records.pages.filter { ($0.provider ?? provider) == provider }
  }

  func run() throws(Fault) -> Int32 {
    guard let word = invocation.operands.first else { return list() }
    guard !invocation.has(Keys.list) else {
      throw .exclusive("--list and \(word.quotedForMessage)")
    }
    let all = pages
    let found = all.filter { $0.page.isAbout(String(word.prefix(before: ":"))) }
    // A word needs no journal: one is not made, and no server is asked for it.
    let looks = try found.isEmpty ? true : hasJournalFile
    let isPayment = looks ? try explainPayment(word) : false
    // The page of a word would be read as the state of the payment.
    if isPayment {
      if !found.isEmpty {
        output.tell(
          "\(word.quotedForMessage) is also a word of a record: see tender explain --list"
        )
      }
      return output.exit(0)
    }
    // Among several meanings, one may be no failure. Then no sentence for the payer is right for all of them.
    let isUnclear = found.contains { $0.page.payer == nil }
    for (index, var page) in found.enumerated() {
      if index > 0, output.isTable { output.put("\n") }
      if isUnclear { page.page.payer = nil }
      show(page)
    }
    guard found.isEmpty else { return output.exit(0) }
    try composition.journal().checkWhole()
    let codes = all.map(\.page.code)
    let list = "see: tender explain --list"
    throw Fault(
      .notFound,
      code: "code_not_found",
      "\(word.quotedForMessage) is not a word of tender, nor a reference or id in "
        + (try composition.journalWords()),
      hint: Suggestion.hint(for: word.lowercased(), among: codes, else: list)
    )
  }

  private var hasJournalFile: Bool {
    get throws(Fault) {
      guard composition.settings.journal() == nil else { return false }
      return Environment.exists(try composition.settings.stateFolder().text + "/journal.db")
    }
  }

  private func list() -> Int32 {
    guard output.isTable else {
      for page in pages { show(page) }
      return output.exit(0)
    }
    // The whole meaning is shown, on a separate line for narrow terminals.
    for page in pages { output.put("\(page.head)\n    \(page.page.meaning)\n") }
    return output.exit(0)
  }

  private func show(_ page: Page) {
    guard output.isTable, output.showsAll else {
      return output.show(records.record(.explanation, page.fields))
    }
    output.put(page.lines.joined(separator: "\n") + "\n")
  }

  /// Explains the payments of a reference or id: the state of each, the meaning of its terms, and the next
  /// command.
  ///
  /// Returns false if the journal has none.
  private func explainPayment(_ handle: String) throws(Fault) -> Bool {
    let places = try invocation.places()
    let journal = try composition.journal()
    let payments = try journal.payments(matching: handle, filter: places)
    if !payments.isEmpty, let loss = try journal.loss(), loss.isCopy {
      output.warn(loss.fault.message)
    }
    var explained: Set<Explanation> = []
    for payment in payments {
      composition.show(inWords: payment, named: handle)
      let report = Report.recorded(payment, named: handle)
      // The advice of a page would be to pay again.
      guard report.payment?.isPaidBeside != true else { continue }
      for var page in records.pages(of: report) where explained.insert(page.page).inserted {
        if report.payment?.isEarlier == true {
          (page.page.advice, page.page.retry, page.page.payer) = ("", nil, nil)
        }
        show(page)
      }
    }
    return !payments.isEmpty
  }
}
