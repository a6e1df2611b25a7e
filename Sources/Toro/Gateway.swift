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
  /// Throws a documented error, with effect unknown if the message may have been processed.
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
      guard error.kind == .notSent || error.kind == .providerError else {
        throw error.effect == .unknown && message.kind.isEffecting ? error.afterSending : error
      }
      throw Fault.toro(
        .gatewayUnavailable,
        "Toro's gateway: \(error.message)",
        hint: "this request moved no money; try again later",
        reason: error.code
      ).of(message, isLost: error.effect == .unknown)
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
      ).of(message, isLost: !Self.refusals.contains(answer.status))
        .retried(after: answer.retryAfter(context.clock.now))
    }
    guard let document, let root else { throw malformed("no ISO 20022 document", message) }
    let expected = message.kind.answers.first { $0.root == root.name }
    guard let expected else { throw malformed("a \(root.name.prefix(40))", message) }
    let name = "urn:iso:std:iso:20022:tech:xsd:" + expected.schema
    guard document.namespace.hasPrefix(name + ".") || document.namespace == name else {
      throw malformed("another namespace than \(expected.schema)", message)
    }
    guard root.children.count(where: { $0.name == expected.body }) == 1,
      let bytes = XMLElement.bytes(of: expected.body, at: 2, in: answer.body)
    else { throw malformed("no \(expected.body)", message) }
    guard try messages.key.fits(root["SctyTrlr"], body: bytes) else {
      throw malformed("a security trailer that does not fit", message)
    }
    try check(root, message)
    guard root.text("Hdr/MsgFctn") == message.answerFunction else {
      throw malformed("the function of another message", message)
    }
    // Only the signed bytes are read. The rest of the document is not trusted.
    guard let body = try XMLElement.read(bytes) else { throw malformed("no body", message) }
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
    var fault = Fault.toro(
      // The answer's root names the side that rejects, for any message.
      root.name == "TermnlMgmtRjctn" ? .terminalManagerRejected : .acceptorRejected,
      "Toro rejected the \(kind.rawValue): \(reason)\(meaning)" + (words.map { ": \($0)" } ?? ""),
      hint: reason == "SECU"
        ? "check TENDER_TORO_PASSPHRASE, toro.kdf, toro.key_id and toro.key_version"
        : "change what is named",
      reason: reason,
      cause: .refused
    )
    if let words { fault.result?["message"] = .string(words) }
    return fault
  }

  /// Checks that an answer belongs to this exchange.
  private func check(_ root: XMLElement, _ message: Messages.Message) throws(Fault) {
    let isRejection = root["Rjct"] != nil
    guard let exchange = root.text("Hdr/XchgId") else {
      if isRejection { return }
      throw malformed("no exchange number", message)
    }
    guard exchange == message.exchange else {
      throw malformed("the number of another exchange", message)
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
    else { throw malformed("the reference of another transaction", message) }
    let initiator = body.text("Tx/InitrTxId")
    guard initiator == nil || subject.initiator == nil || initiator == subject.initiator else {
      throw malformed("the reference of another initiator", message)
    }
    guard [nil, subject.saleReference].contains(body.text("Tx/SaleRefId")) else {
      throw malformed("the reference of another sale", message)
    }
    guard [nil, context.configuration.merchantID].contains(body.text("Envt/Mrchnt/Id/Id")),
      [nil, context.configuration.poiID].contains(body.text("Envt/POI/Id/Id"))
    else { throw malformed("another merchant or terminal", message) }
  }

  private func malformed(_ what: String, _ message: Messages.Message) -> Fault {
    Fault.toro(
      .malformedResponse,
      "Toro's gateway answered with \(what)",
      hint: "this request moved no money; try again later",
      reason: what
    ).of(message, isLost: true)
  }

  /// The acquirer's answer to an advice.
  struct Advised {
    /// ISO 20022's `Response9`.
    let word: String
    /// Whether an earlier exchange with the same advice may have been processed.
    let wasLost: Bool

    var isApproved: Bool { word == "APPR" }
  }

  /// Sends an advice until it is answered or time runs out. Returns the answer's body.
  ///
  /// Each repetition is a new exchange about the same transaction, counted from `repetition` on, with a new
  /// permit. APPR, DECL and a rejection are answers and end it. Any other result means that the advice was
  /// not processed yet. DPMG means that the exchange was used before. Then the advice arrived twice and the
  /// first may have been processed, so it is repeated too. Throws with effect unknown if no answer came.
  func advise(
    _ progress: Progress,
    repetition first: Int,
    _ make: (Messages.Header) throws(Fault) -> Messages.Message
  ) throws(Fault) -> Advised {
    let deadline = Deadline(in: context.configuration.timeout, on: context.clock)
    var pause = 500
    var repetition = first
    var isOut = false
    while true {
      let share = max(context.configuration.timeout / 3, 1000)
      do throws(Fault) {
        let message = try make(header(repetition: repetition))
        let body = try exchange(
          message,
          progress.permit(),
          by: Deadline(in: min(share, max(deadline.remaining, 1)), on: context.clock)
        )
        let response = body.text("Tx/Rspn") ?? ""
        if ["APPR", "DECL"].contains(response) { return Advised(word: response, wasLost: isOut) }
        throw malformed("\(response.prefix(8)) to the \(message.kind.rawValue)", message)
      } catch {
        let isTwice = error.kind == .rejected && error.result?.text("reason") == "DPMG"
        isOut = isOut || error.effect == .unknown || isTwice
        let isNoAnswer =
          error.effect == .unknown || error.kind == .providerError
          || error.kind == .notSent || isTwice
        // If credentials are refused, a retry is refused too.
        let isForGood = error.result?.text("reason") == "HTTP 401"
        guard isNoAnswer, !isForGood, !error.kind.isStop,
          pause < deadline.remaining
        else { throw isOut ? error.afterSendingAnyway : error }
        do throws(Fault) {
          try context.clock.pause(milliseconds: pause)
        } catch let signal {
          throw isOut ? error.afterSendingAnyway : signal
        }
        pause = min(pause * 2, 5000)
        repetition += 1
      }
    }
  }
}

extension Fault {
  /// The failure of a message. Its effect is unknown if the message may have been processed and can move
  /// money.
  fileprivate func of(_ message: Messages.Message, isLost: Bool) -> Fault {
    isLost && message.kind.isEffecting ? afterSending : proven
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
