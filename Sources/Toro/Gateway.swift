import TenderEngine
import TenderModel

/// The gateway. Every answer is checked before it is used.
struct Gateway {
  let context: ToroContext
  let messages: Messages

  /// Throws `auth` if there is no passphrase, `usage` if an id is missing.
  init(_ context: ToroContext) throws(Fault) {
    self.context = context
    let configuration = context.configuration
    let passphrase = try configuration.checked()
    messages = Messages(
      configuration: configuration,
      key: try MessageKey(
        passphrase: passphrase,
        configuration.derivation,
        id: configuration.keyID,
        version: configuration.keyVersion
      )
    )
  }

  /// Returns a header for a new exchange.
  ///
  /// Its number grows with the clock. Two within one millisecond are equal once in a hundred thousand times.
  func header(repetition: Int = 0) -> Messages.Header {
    let digits = context.randomness.text(5, from: "0123456789")
    return Messages.Header(
      exchange: String(context.clock.now) + digits,
      time: Timestamp.milliText(context.clock.now),
      repetition: repetition
    )
  }

  /// Sends a message and returns the body of its answer. A message that can move money needs a permit.
  ///
  /// Throws a documented error.
  func exchange(
    _ message: Messages.Message,
    _ permit: SendPermit?,
    by deadline: Deadline
  ) throws(Fault) -> XMLElement {
    let configuration = context.configuration
    var fields = [
      HTTPRequest.Field("Content-Type", "application/xml"),
      HTTPRequest.Field("Accept", "application/xml"),
    ]
    if let key = configuration.apiKey {
      fields.append(HTTPRequest.Field(configuration.apiKeyHeader, key.revealed, isSecret: true))
    }
    let path = message.kind == .authorisation ? configuration.authorisationPath : nil
    let answer: HTTPResponse
    do throws(Fault) {
      answer = try context.http.send(
        HTTPRequest(
          method: .post,
          url: configuration.gatewayURL + (path ?? message.kind.path),
          fields: fields,
          body: message.bytes
        ),
        permit,
        by: deadline
      )
    } catch {
      guard error.kind == .notSent || error.kind == .providerError else { throw error }
      throw .toro(
        .gatewayUnavailable,
        "Toro's gateway: \(error.message)",
        hint: "this request moved no money; try again later",
        reason: error.code
      )
    }
    return try body(of: answer, to: message)
  }

  /// HTTP statuses with which a server refuses a request (RFC 9110, section 15.5; RFC 6585, sections 4 and
  /// 5).
  ///
  /// Unlike a rejection message they have no trailer, so they prove nothing, and the sale is undone. The
  /// gateway may send any other status after it has processed the message.
  private static let refusals: Set<Int> = [401, 403, 404, 405, 413, 415, 429, 431]

  private func body(
    of answer: HTTPResponse,
    to message: Messages.Message
  ) throws(Fault) -> XMLElement {
    // The HTTP status of a rejection message is not public, so the body is read first.
    let document = answer.body.isEmpty ? nil : try XMLElement.read(answer.body)
    let root = document?.name == "Document" ? document?.children.first : nil
    if let root, ["AccptrRjctn", "TermnlMgmtRjctn"].contains(root.name) {
      try check(root, message)
      throw rejection(root, message.kind)
    }
    let isAnswer = root.map { root in message.kind.answers.contains { $0.root == root.name } }
    guard (200..<300).contains(answer.status) || isAnswer == true else {
      throw Fault.toro(
        .badGatewayResponse,
        "Toro's gateway answered \(answer.status)",
        hint: [401, 403].contains(answer.status)
          ? "check TENDER_TORO_API_KEY and toro.api_key_header"
          : "this request moved no money; try again later",
        reason: "HTTP \(answer.status)",
        cause: Self.refusals.contains(answer.status) ? .refused : nil
      )
      .retried(after: answer.retryAfter(context.clock.now))
    }
    guard let document, let root else { throw malformed("no ISO 20022 document") }
    let expected = message.kind.answers.first { $0.root == root.name }
    guard let expected else { throw malformed("a \(root.name.prefix(40))") }
    let name = "urn:iso:std:iso:20022:tech:xsd:" + expected.schema
    guard document.namespace.hasPrefix(name + ".") || document.namespace == name else {
      throw malformed("another namespace than \(expected.schema)")
    }
    guard root.children.count(where: { $0.name == expected.body }) == 1,
      let bytes = XMLElement.bytes(of: expected.body, at: 2, in: answer.body)
    else { throw malformed("no \(expected.body)") }
    guard try messages.key.fits(root["SctyTrlr"], body: bytes) else {
      throw malformed("a security trailer that does not fit")
    }
    try check(root, message)
    guard root.text("Hdr/MsgFctn") == message.answerFunction else {
      throw malformed("the function of another message")
    }
    // Only the signed bytes are read. The rest of the document is not trusted.
    guard let body = try XMLElement.read(bytes) else { throw malformed("no body") }
    try checkTransaction(body, message)
    return body
  }

  /// Reads a rejection (`AcceptorRejection`, `TerminalManagementRejection`): its reason and its text.
  private func rejection(_ root: XMLElement, _ kind: Messages.Kind) -> Fault {
    let reason = root.text("Rjct/RjctRsn") ?? "UNPR"
    let words = root.text("Rjct/AddtlInf")
    // The meaning of ISO 20022's `RejectReason1`, in short.
    let page = Explanation.embedded("Toro", [.rejection]).first { $0.code == reason }
    let meaning = page.map { " (\($0.meaning))" } ?? ""
    return Fault.toro(
      // The answer's root names the side that rejects, for any message.
      root.name == "TermnlMgmtRjctn" ? .terminalManagerRejected : .acceptorRejected,
      "Toro rejected the \(kind.rawValue): \(reason)\(meaning)" + (words.map { ": \($0)" } ?? ""),
      hint: reason == "SECU"
        ? "check TENDER_TORO_PASSPHRASE, toro.kdf, toro.key_id and toro.key_version"
        : "change what is named",
      reason: reason,
      cause: .refused
    )
    .with { $0.result?["message"] = words?.json }
  }

  /// Checks that an answer belongs to this exchange.
  private func check(_ root: XMLElement, _ message: Messages.Message) throws(Fault) {
    let isRejection = root["Rjct"] != nil
    guard let exchange = root.text("Hdr/XchgId") else {
      if isRejection { return }
      throw malformed("no exchange number")
    }
    guard exchange == message.exchange else {
      throw malformed("the number of another exchange")
    }
  }

  private func checkTransaction(
    _ body: XMLElement,
    _ message: Messages.Message
  ) throws(Fault) {
    guard let subject = message.subject else { return }
    guard body.text("Tx/TxId/TxRef") == subject.reference,
      let time = body.text("Tx/TxId/TxDtTm"),
      Timestamp.read(time) == Timestamp.read(subject.time)
    else { throw malformed("the reference of another transaction") }
    let initiator = body.text("Tx/InitrTxId")
    guard initiator == nil || subject.initiator == nil || initiator == subject.initiator else {
      throw malformed("the reference of another initiator")
    }
    guard [nil, subject.saleReference].contains(body.text("Tx/SaleRefId")) else {
      throw malformed("the reference of another sale")
    }
    guard [nil, context.configuration.merchantID].contains(body.text("Envt/Mrchnt/Id/Id")),
      [nil, context.configuration.poiID].contains(body.text("Envt/POI/Id/Id"))
    else { throw malformed("another merchant or terminal") }
  }

  private func malformed(_ what: String) -> Fault {
    Fault.toro(
      .malformedResponse,
      "Toro's gateway answered with \(what)",
      hint: "this request moved no money; try again later",
      reason: what
    )
  }

  /// Sends an advice until it is approved.
  ///
  /// Each repetition is a new exchange about the same transaction, counted from `first` on. APPR, DECL and a
  /// rejection are answers and end it. Any other result means that the advice was not processed yet. DPMG means
  /// that the exchange was used before. Then the advice arrived twice and the first may have been processed, so
  /// it is repeated too. Throws a fault with the cause `adviceDeclined` for DECL.
  func advise(
    _ progress: Progress,
    repetition first: Int,
    _ make: (Messages.Header) throws(Fault) -> Messages.Message
  ) throws(Fault) {
    let deadline = context.deadline
    let share = max(context.configuration.timeout / 3, 1000)
    var repetition = first
    try context.clock.repeating(progress, within: deadline, every: 500...5000) {
      permit throws(Fault) in
      let message = try make(header(repetition: repetition))
      repetition += 1
      let limit = Deadline(in: min(share, max(deadline.remaining, 1)), on: context.clock)
      do throws(Fault) {
        let response = try exchange(message, permit, by: limit).text("Tx/Rspn") ?? ""
        if response == "APPR" { return .answer(()) }
        let name = message.kind.rawValue
        guard response == "DECL" else { throw malformed("\(response.prefix(8)) to the \(name)") }
        throw Fault(
          .declined,
          code: name + "_declined",
          cause: .adviceDeclined,
          "the acquirer answered DECL to the \(name)",
          result: ["state": "completed", "response": "DECL"]
        ).proven
      } catch {
        let reason = error.result?.text("reason")
        // If credentials are refused, a retry is refused too.
        guard error.kind == .providerError || reason == "DPMG", reason != "HTTP 401" else {
          throw error
        }
        return .again(error)
      }
    }
  }
}

extension ToroConfiguration {
  /// Checks that every setting without a default is present. Returns the passphrase.
  func checked() throws(Fault) -> SharedSecret {
    let needed = [
      ("acquirer_id", acquirerID), ("merchant_id", merchantID), ("poi_id", poiID),
      ("merchant_category_code", merchantCategory), ("key_id", keyID), ("key_version", keyVersion),
      ("kdf", derivation.iterations == 0 ? "" : "set"),
    ]
    let missing = needed.filter { $0.1.isEmpty }.map { "toro.\($0.0)" }
    guard missing.isEmpty else {
      throw .usage(
        "bad_config",
        "Toro needs \(missing.joined(separator: ", ")) in the profile",
        "see: tender help files"
      )
    }
    guard let passphrase else {
      throw Fault(
        .auth,
        code: "credentials_missing",
        cause: .credentialsMissing,
        "Toro's messages need a passphrase, and TENDER_TORO_PASSPHRASE is not set",
        hint: "set it, or TENDER_TORO_PASSPHRASE_FILE for a file that holds it"
      )
    }
    return passphrase
  }
}
