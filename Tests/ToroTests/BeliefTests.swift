import TenderEngine
import TenderJournal
import TenderModel
import TenderSimulator
import TenderTestSupport
import Testing
import Toro

/// Which parts of an answer are believed, and how the rest is reported.
@Suite struct BeliefTests {
  /// Signed content takes precedence over the HTTP status.
  @Test(arguments: [400, 404, 409, 422, 429, 500, 503, 302])
  func `believes a signed answer whatever its HTTP status`(_ status: Int) throws {
    for (scenario, expected) in [("gateway:decline", Status.declined), ("card:tap", .succeeded)] {
      let world = try ToroWorld()
      let engine = try world.engine(scenario: scenario)
      world.wire.status = status
      let report = try engine.sell(try world.sale())
      #expect(report.status == expected)
      #expect(try world.ledger().standing == (expected == .succeeded ? 1 : 0))
      #expect(world.wire.requests.count == 1)
    }
  }

  /// An HTTP status without a message proves nothing, so the sale is undone.
  ///
  /// If the advice proves the refusal, the refusal is the outcome.
  @Test(
    arguments: [
      (400, Int32(12)), (409, 12), (422, 12), (401, 11), (403, 11), (404, 11), (405, 11), (413, 11),
      (415, 11), (429, 11), (431, 11),
    ]
  )
  func `does not believe that a plain refusal did nothing`(_ status: Int, _ exit: Int32) throws {
    let world = try ToroWorld()
    let engine = try world.engine(scenario: "card:tap")
    let order = try world.sale()
    world.wire.status = status
    world.wire.forge = { [wire = world.wire] bytes in
      guard wire.requests.count == 1 else {
        wire.status = nil
        return bytes
      }
      return []
    }
    var found: Int32 = 0
    do throws(Fault) {
      found =
        try engine.sell(order)
        .fault?.exitStatus ?? 0
    } catch {
      found = error.exitStatus
    }
    #expect(found == exit)
    #expect(try world.ledger().standing == 0)
    if exit == 12 { return }
    world.wire.status = nil
    world.wire.forge = nil
    let again = try engine.sell(order)
    #expect(again.status == .succeeded)
    #expect(try world.ledger().standing == 1)
  }

  /// Returns an answer with one element changed and signed again.
  private static func saying(_ word: String, _ element: String, _ bytes: [UInt8]) throws -> [UInt8]
  {
    let text = String(decoding: bytes, as: UTF8.self)
    return try Vectors.signed(
      text.replacing("<Rspn>APPR</Rspn>", with: "<Rspn>\(word)</Rspn>"),
      element
    )
  }

  /// An approval of 0 is invalid. The whole amount may be approved, so the sale is undone.
  @Test(arguments: ["<AuthrsdAmt>0.00</AuthrsdAmt>", "<AuthrsdAmt>0</AuthrsdAmt>"])
  func `an approval of nothing is undone`(_ amount: String) throws {
    let world = try ToroWorld()
    let engine = try world.engine(scenario: "card:tap")
    world.wire.forge = { bytes in
      let text = String(decoding: bytes, as: UTF8.self)
      guard text.contains("<AuthstnRspn>") else { return bytes }
      let changed = text.replacing(#/<AuthrsdAmt>[^<]*<\/AuthrsdAmt>/#, with: "")
        .replacing("</TtlAmt>", with: "</TtlAmt>" + amount)
      return (try? Vectors.signed(changed, "AuthstnRspn")) ?? []
    }
    let report = try engine.sell(world.sale())
    #expect(report.status == .cancelled)
    #expect(report.fault?.exitStatus == 12)
    #expect(try world.ledger().standing == 0)
  }

  /// The refusal proves nothing, and the acquirer does not undo the sale.
  @Test func `does not believe a refusal where the acquirer undoes nothing`() throws {
    let world = try ToroWorld()
    let engine = try world.engine(scenario: "card:tap")
    world.wire.status = 403
    world.wire.forge = { [wire = world.wire] bytes in
      guard wire.requests.count > 1 else { return [] }
      wire.status = nil
      return (try? Self.saying("DECL", "CxlAdvcRspn", bytes)) ?? []
    }
    let fault = #expect(throws: Fault.self) {
      try engine.sell(world.sale())
    }
    #expect(world.wire.requests.count == 2)
    #expect(fault?.result?.text("reason") == "HTTP 403")
    #expect(fault?.effect == .unknown)
    #expect(fault?.exitStatus == 9)
    #expect(try world.latest()?.attempt?.isUnknown == true)
  }

  /// Returns an answer with parts replaced and signed again: `Ccy=` removes the element `Ccy`.
  private static func rewritten(_ answer: [UInt8], _ edits: String, _ body: String) -> [UInt8] {
    var text = String(decoding: answer, as: UTF8.self)
    guard text.contains("<\(body)>") else { return answer }
    for edit in edits.split(separator: " ") {
      let parts = edit.split(separator: "=", omittingEmptySubsequences: false)
      let names = parts[0].split(separator: "/")
      let (name, parent) = (names.last ?? "", names.dropLast().map { "<\($0)>" }.joined())
      guard let start = text.firstRange(of: "\(parent)<\(name)>"),
        let end = text[start.upperBound...].firstRange(of: "</\(name)>")
      else { return [] }
      let value = parts[1].isEmpty ? "" : "<\(name)>\(parts[1])</\(name)>"
      text.replaceSubrange(start.lowerBound..<end.upperBound, with: parent + value)
    }
    return (try? Vectors.signed(text, body)) ?? []
  }

  /// Each would be an approval, a part of one or a decline of another sale.
  @Test(
    arguments: [
      ("card:tap", "Ccy= TtlAmt= AuthrsdAmt="), ("card:tap", "TtlAmt="),
      ("card:tap", "TtlAmt=1.00 AuthrsdAmt=1.00"), ("card:tap", "TtlAmt=1.00"),
      ("card:tap", "TtlAmt=100.00"), ("card:tap", "TtlAmt=ten"),
      ("card:tap", "Mrchnt/Id/Id=OTHER"), ("card:tap", "POI/Id/Id=OTHER"),
      ("card:tap", "MsgFctn=CMPK"), ("card:tap", "MsgFctn=AUTP"), ("card:tap", "MsgFctn="),
      ("gateway:partial", "TtlAmt=1.00"), ("gateway:partial", "AuthrsdAmt="),
      ("gateway:decline", "TtlAmt="), ("gateway:decline", "Mrchnt/Id/Id=OTHER"),
      ("gateway:suspended", "TtlAmt=1.00"),
    ]
  )
  func `an answer that does not fit the sale is undone`(
    _ scenario: String,
    _ edits: String
  ) throws {
    let world = try ToroWorld()
    let engine = try world.engine(scenario: scenario)
    world.wire.forge = { Self.rewritten($0, edits, "AuthstnRspn") }
    let report = try engine.sell(try world.sale())
    #expect(report.status == .cancelled && report.fault?.exitStatus == 12)
    #expect(report.result.text("error") == "malformedResponse")
    #expect(try world.ledger().standing == 0)
  }

  /// `PART` names the approved amount, and its total may be that amount.
  @Test(arguments: ["Ccy=", "TtlAmt=5.00"])
  func `a part is approved by an answer that agrees with itself`(_ edits: String) throws {
    let world = try ToroWorld()
    let engine = try world.engine(scenario: "gateway:partial")
    world.wire.forge = { Self.rewritten($0, edits, "AuthstnRspn") }
    let report = try engine.sell(try world.sale())
    #expect((report.status, report.amount) == (.succeeded, 500))
    #expect(try world.booked() == [500, 0])
  }

  @Test(arguments: ["Mrchnt/Id/Id=OTHER", "POI/Id/Id=OTHER", "MsgFctn=CMPK"])
  func `an advice's answer of another merchant or message decides nothing`(
    _ edits: String
  ) throws {
    let world = try ToroWorld()
    _ = try world.engine().sell(try world.sale())
    let engine = try world.engine()
    world.wire.forge = { Self.rewritten($0, edits, "CxlAdvcRspn") }
    let fault = #expect(throws: Fault.self) { try engine.cancel(try world.latest(), handle: "A") }
    #expect(fault?.exitStatus == 9)
    world.wire.forge = nil
    let again = try world.engine().cancel(try world.latest(), handle: "A")
    #expect(again.status == .cancelled)
    #expect(try world.booked() == [0, 0])
  }

  /// Returns a rejection in the same exchange, instead of an answer.
  private static func rejecting(_ answer: [UInt8], _ reason: String) -> [UInt8] {
    let text = String(decoding: answer, as: UTF8.self)
    let exchange = text.firstMatch(of: /<XchgId>([0-9]+)<\/XchgId>/)?.1 ?? ""
    return Array(
      """
      <Document xmlns="urn:iso:std:iso:20022:tech:xsd:caaa.015.001.12"><AccptrRjctn>\
      <Hdr><DwnldTrf>false</DwnldTrf><FrmtVrsn>12</FrmtVrsn><XchgId>\(exchange)</XchgId>\
      <CreDtTm>2026-11-21T00:00:00Z</CreDtTm></Hdr>\
      <Rjct><RjctRsn>\(reason)</RjctRsn></Rjct></AccptrRjctn></Document>
      """.utf8
    )
  }

  /// A rejection has no trailer and may come after the effect. Only the advice proves that nothing is left.
  @Test(arguments: [("PARS", false, Int32(7)), ("PARS", true, 9), ("SECU", true, 9)])
  func `a rejection is believed once what it may hide is undone`(
    _ reason: String,
    _ everything: Bool,
    _ exit: Int32
  ) throws {
    let world = try ToroWorld()
    let engine = try world.engine(scenario: "card:tap")
    let order = try world.sale()
    world.wire.forge = { [wire = world.wire] bytes in
      guard everything || wire.requests.count == 1 else { return bytes }
      return Self.rejecting(bytes, reason)
    }
    let fault = #expect(throws: Fault.self) {
      try engine.sell(order)
    }
    #expect(fault?.exitStatus == exit)
    #expect(fault?.result?.text("error") == "acceptorRejected")
    #expect(try world.ledger().authorised == 1)
    if !everything { #expect(try world.ledger().standing == 0) }
    #expect(try world.latest()?.attempt?.state.name == (exit == 9 ? .sent : .failed))
  }

  /// An advice is refused without a trailer after it was executed. The same advice again decides.
  @Test(arguments: ["405", "415", "401", "PARS", "SECU", "XXXX"])
  func `a refused advice proves nothing`(_ refusal: String) throws {
    let world = try ToroWorld()
    let engine = try world.engine(scenario: "card:tap")
    _ = try engine.sell(try world.sale())
    world.wire.status = Int(refusal)
    world.wire.forge = { bytes in
      guard Int(refusal) == nil else { return [] }
      return Self.rejecting(bytes, refusal)
    }
    let fault = #expect(throws: Fault.self) { try engine.cancel(try world.latest(), handle: "A") }
    #expect(fault?.exitStatus == 9)
    #expect(try world.ledger().standing == 0)
    world.wire.status = nil
    world.wire.forge = nil
    let again = try world.engine().cancel(try world.latest(), handle: "A")
    #expect(again.status == .cancelled)
  }

  /// The terminal manager rejects with a separate message (ISO 20022, catm.004).
  @Test func `a rejection by the terminal manager has its name, whatever it rejects`() throws {
    let world = try ToroWorld()
    let engine = try world.engine(scenario: "card:tap")
    world.wire.forge = { [wire = world.wire] bytes in
      guard wire.requests.count == 1 else { return bytes }
      return Array(
        """
        <Document xmlns="urn:iso:std:iso:20022:tech:xsd:catm.004.001.05"><TermnlMgmtRjctn>\
        <Rjct><RjctRsn>UNPR</RjctRsn><AddtlInf>try later</AddtlInf></Rjct>\
        </TermnlMgmtRjctn></Document>
        """.utf8
      )
    }
    let fault = #expect(throws: Fault.self) {
      try engine.sell(world.sale())
    }
    #expect(fault?.exitStatus == 7)
    #expect(fault?.result?.text("error") == "terminalManagerRejected")
    #expect(fault?.result?.text("message") == "try later")
    #expect(try world.ledger().standing == 0)
  }

  @Test func `sends authorisations, and nothing else, where the profile says`() throws {
    let world = try ToroWorld()
    let engine = try world.engine(
      scenario: "card:tap",
      change: { _, configuration in configuration.authorisationPath = "/v2/authorisations" }
    )
    // The simulator answers an unknown path with 404, which the advice proves.
    let fault = #expect(throws: Fault.self) {
      try engine.sell(world.sale())
    }
    #expect(fault?.exitStatus == 11)
    #expect(
      world.wire.addresses == [
        "https://api.torogateway.dev/v2/authorisations",
        "https://api.torogateway.dev/v1/caaa/cancellation-advice",
      ]
    )
  }

  struct Row: CustomTestStringConvertible {
    var name: String
    var change: @Sendable (String) -> String
    /// The resulting status; nil if the answer is not believed.
    var status: Status?

    var testDescription: String { name }
  }

  /// Changes that leave the signed bytes as they are, and some that do not.
  static let rows: [Row] = [
    Row(
      name: "the body moved into a comment, a forged one in its place",
      change: { text in
        let body = Self.body(text)
        return text.replacing(body, with: "<!--\(body)-->" + Self.forged(body))
      }
    ),
    Row(
      name: "the body moved into character data of the header",
      change: { text in
        let body = Self.body(text)
        return text.replacing(body, with: Self.forged(body))
          .replacing("<Hdr>", with: "<Hdr><Tracblt><![CDATA[\(body)]]></Tracblt>")
      }
    ),
    Row(
      name: "the body before the root",
      change: { text in
        let body = Self.body(text)
        return text.replacing(body, with: Self.forged(body))
          .replacing("<Document", with: "<!--\(body)--><Document")
      }
    ),
    Row(
      name: "two bodies",
      change: { text in
        let body = Self.body(text)
        return text.replacing(body, with: body + Self.forged(body))
      }
    ),
    Row(
      name: "a changed body",
      change: { $0.replacing("<Rspn>DECL</Rspn>", with: "<Rspn>APPR</Rspn>") }
    ),
    Row(
      name: "another namespace of the same message",
      change: { $0.replacing("caaa.002.001.12", with: "caaa.002.001.09") },
      status: .declined
    ),
    Row(
      name: "another message's namespace",
      change: { $0.replacing("caaa.002.001.12", with: "caaa.004.001.12") }
    ),
    Row(
      name: "a rejection of another exchange",
      change: { _ in
        "<Document xmlns=\"urn:iso:std:iso:20022:tech:xsd:caaa.015.001.06\"><AccptrRjctn><Hdr>"
          + "<XchgId>7</XchgId></Hdr><Rjct><RjctRsn>SECU</RjctRsn></Rjct></AccptrRjctn></Document>"
      }
    ),
    Row(
      name: "a document type",
      change: { $0.replacing("<Document", with: "<!DOCTYPE Document><Document") }
    ),
    Row(
      name: "a thousand attributes",
      change: { text in
        let many = (0..<1000).map { " a\($0)='1'" }.joined()
        return text.replacing("<Document", with: "<Document\(many)")
      }
    ),
  ]

  private static func body(_ text: String) -> String {
    let bytes = XMLElement.bytes(of: "AuthstnRspn", at: 2, in: Array(text.utf8)) ?? []
    return String(decoding: bytes, as: UTF8.self)
  }

  private static func forged(_ body: String) -> String {
    body.replacing("<Rspn>DECL</Rspn>", with: "<Rspn>APPR</Rspn>")
  }

  @Test(arguments: rows) func `believes only what is signed, where it belongs`(_ row: Row) throws {
    let world = try ToroWorld()
    let engine = try world.engine(scenario: "gateway:decline")
    world.wire.forge = { [wire = world.wire] bytes in
      wire.requests.count == 1
        ? Array(row.change(String(decoding: bytes, as: UTF8.self)).utf8) : bytes
    }
    let report = try engine.sell(try world.sale())
    #expect(report.status == row.status ?? .cancelled)
    if row.status == nil { #expect(report.result.text("error") == "malformedResponse") }
    #expect(try world.ledger().standing == 0)
  }

  /// The sample of the documentation declares a prefix for its namespace (Toro/README, 3.1).
  @Test func `takes an answer whose elements have a prefix`() throws {
    let world = try ToroWorld()
    let engine = try world.engine(scenario: "card:tap")
    let key = try MessageKey(
      passphrase: SharedSecret(ToroCatalog.passphrase),
      ToroWorld.configuration().derivation,
      id: ToroCatalog.keyID,
      version: ToroCatalog.keyVersion
    )
    world.wire.forge = { bytes in
      let text = String(decoding: bytes, as: UTF8.self)
        .replacing("</", with: "</none:")
        .replacing("<?", with: "?").replacing("<", with: "<none:")
        .replacing("<none:/none:", with: "</none:").replacing("?xml", with: "<?xml")
        .replacing("?>", with: "?>").replacing(" xmlns=", with: " xmlns:none=")
      let all = Array(text.utf8)
      guard let body = XMLElement.bytes(of: "AuthstnRspn", at: 2, in: all),
        let mac = try? key.mac(over: body),
        let start = text.firstRange(of: "<none:MAC>")?.upperBound,
        let end = text.firstRange(of: "</none:MAC>")?.lowerBound
      else { return bytes }
      return Array((text[..<start] + Base64.encode(mac) + text[end...]).utf8)
    }
    let report = try engine.sell(try world.sale())
    #expect(report.status == .succeeded)
    #expect(report.receipt.text("authCode")?.count == 6)
  }

  /// The answer to an advice is neither an approval nor a decline, so the effect is unknown.
  @Test(arguments: ["SUSP", "TECH", "PART", "XXXX"])
  func `does not take another word for an answer to an advice`(_ word: String) throws {
    let world = try ToroWorld()
    _ = try world.engine().sell(try world.sale { $0.captures = false })
    let held = try world.latest()
    let engine = try world.engine()
    world.wire.forge = { (try? Self.saying(word, "CmpltnAdvcRspn", $0)) ?? [] }
    do throws(Fault) {
      _ = try engine.confirm(held, handle: "A", amount: nil)
      Issue.record("takes it")
    } catch {
      #expect(error.exitStatus == 9)
    }
    world.wire.forge = nil
    let done = try world.engine().confirm(try world.latest(), handle: "A", amount: nil)
    #expect(done.status == .succeeded)
    // There is one capture, however often it was requested.
    let advices = Set(
      world.wire.requests.dropFirst().compactMap { bytes in
        (try? XMLElement.read(bytes))?.children.first?.text("CmpltnAdvc/Tx/TxId/TxRef")
      }
    )
    #expect(advices.count == 1)
  }

  /// An answer may contain values that a request must not repeat.
  @Test(arguments: ["1234", "1234567890123"])
  func `repeats of an answer what its schema has room for`(_ code: String) throws {
    let world = try ToroWorld()
    let engine = try world.engine()
    _ = try engine.sell(try world.sale())
    var payment = try #require(try world.latest())
    var receipt = try #require(payment.attempt?.result["receipt"]?.object)
    receipt["authCode"] = .string(code)
    receipt["responseReason"] = .string(String(repeating: "x", count: 50))
    receipt["recipientTransactionId"] = .string(String(repeating: "y", count: 200))
    try payment.change(1) { $0.result["receipt"] = .object(receipt) }
    try world.journal.update(&payment, 1, note: "as answered", .power)
    _ = try world.engine().cancel(try world.latest(), handle: "A")
    #expect(try SchemaTests.complaint(try #require(world.wire.requests.last)) == nil)
  }

  @Test func `undoes at once what was stopped while the acquirer was asked`() throws {
    let world = try ToroWorld()
    let stop = StopWhileAsked()
    let engine = try world.engine(scenario: "card:tap", interruption: stop)
    stop.inner = world.wire.inner
    world.wire.inner = stop
    let report = try engine.sell(try world.sale())
    #expect(report.status == .cancelled && report.fault?.exitStatus == 12)
    #expect(report.result.text("error") == "operatorCancelled")
    #expect(try world.ledger() == (1, 0, 0))
  }
}

/// Ctrl-C while the first message is in progress.
final class StopWhileAsked: HTTPExchange, Interruption, @unchecked Sendable {
  // Unchecked: a test works on one thread.
  var inner: (any HTTPExchange)?
  private var isPressed = false
  private var isDone = false

  var kind: Fault.Kind? { isPressed ? .interrupted : nil }

  var descriptor: Int32? { nil }

  func acknowledge() { isPressed = false }

  func send(
    _ request: HTTPRequest,
    _ permit: SendPermit?,
    by deadline: Deadline
  ) throws(Fault) -> HTTPResponse {
    guard let inner else { throw Fault(.notSent, code: "unreachable", "nobody") }
    let answer = try inner.send(request, permit, by: deadline)
    guard !isDone else { return answer }
    isDone = true
    isPressed = true
    throw .stopped(by: .interrupted, underWay: "a request was under way")
  }
}
