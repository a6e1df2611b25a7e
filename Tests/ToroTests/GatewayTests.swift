import Foundation
import TenderEngine
import TenderModel
import TenderSimulator
import TenderTestSupport
import Testing
import Toro

/// The simulated gateway with messages that the adapter did not write.
@Suite struct GatewayTests {
  static let paths = [
    "01-authreq-purchase-contact-capture": "/v1/caaa/authorisation-request",
    "08-authreq-refund": "/v1/caaa/authorisation-request",
    "09-completion-advice-capture": "/v1/caaa/completion-advice",
    "12-cancellation-advice": "/v1/caaa/cancellation-advice",
  ]

  private func post(
    _ world: ToroWorld,
    _ path: String,
    _ text: String
  ) throws -> XMLElement {
    _ = try world.provider()
    let answer = try #require(world.wire.inner).send(
      HTTPRequest(method: .post, url: "https://gateway.example" + path, body: Array(text.utf8)),
      by: Deadline(in: 1000, on: world.clock)
    )
    #expect(answer.status == 200)
    #expect(try SchemaTests.complaint(answer.body) == nil)
    return try #require(try XMLElement.read(answer.body)?.children.first)
  }

  @Test func `takes the constructed messages: purchase, refund, cancellation`() throws {
    let world = try ToroWorld()
    let purchase = try Vectors.text("xml/01-authreq-purchase-contact-capture.xml")
    let path = try #require(Self.paths["01-authreq-purchase-contact-capture"])
    let answer = try post(world, path, purchase)
    #expect(answer.name == "AccptrAuthstnRspn")
    #expect(answer.text("AuthstnRspn/TxRspn/AuthstnRslt/RspnToAuthstn/Rspn") == "APPR")
    #expect(answer.text("AuthstnRspn/Tx/TxId/TxRef") == "purchase-0001")
    #expect(answer.text("Hdr/XchgId") == "1")
    let refund = try post(world, path, try Vectors.text("xml/08-authreq-refund.xml"))
    #expect(refund.text("AuthstnRspn/TxRspn/AuthstnRslt/RspnToAuthstn/Rspn") == "APPR")
    // A refunded sale can no longer be cancelled.
    let cancellation = try post(
      world,
      try #require(Self.paths["12-cancellation-advice"]),
      try Vectors.text("xml/12-cancellation-advice.xml")
    )
    #expect(cancellation.text("CxlAdvcRspn/Tx/Rspn") == "DECL")
    // The exchange number is used twice.
    let again = try post(world, path, purchase)
    #expect(again.text("Rjct/RjctRsn") == "DPMG")
  }

  struct Row: CustomTestStringConvertible {
    var name: String
    var change: @Sendable (String) -> String
    var reason: String
    var path = "/v1/caaa/authorisation-request"

    var testDescription: String { name }
  }

  static let rows: [Row] = [
    Row(name: "cut off", change: { String($0.dropLast(20)) }, reason: "PARS"),
    Row(
      name: "an element is missing",
      change: { $0.replacing("<TxCaptr>true</TxCaptr>", with: "") },
      reason: "PARS"
    ),
    Row(
      name: "two are in the wrong order",
      change: {
        $0.replacing("<TxTp>CRDP</TxTp>", with: "")
          .replacing("<SaleRefId>", with: "<TxTp>CRDP</TxTp><SaleRefId>")
      },
      reason: "PARS"
    ),
    Row(
      name: "one is there twice",
      change: { $0.replacing("<Ccy>GBP</Ccy>", with: "<Ccy>GBP</Ccy><Ccy>GBP</Ccy>") },
      reason: "PARS"
    ),
    Row(
      name: "a code is of no set",
      change: { $0.replacing("<TxTp>CRDP</TxTp>", with: "<TxTp>XXXX</TxTp>") },
      reason: "PARS"
    ),
    Row(
      name: "a currency in small letters",
      change: { $0.replacing("<Ccy>GBP<", with: "<Ccy>gbp<") },
      reason: "PARS"
    ),
    Row(
      name: "36 characters",
      change: { $0.replacing("sale-12345", with: String(repeating: "x", count: 36)) },
      reason: "PARS"
    ),
    Row(
      name: "a version of the message that does not exist",
      change: { $0.replacing("caaa.001.001.12", with: "caaa.001.001.99") },
      reason: "IMSG"
    ),
    Row(
      name: "another namespace",
      change: { $0.replacing("caaa.001.001.12", with: "caaa.003.001.12") },
      reason: "IMSG"
    ),
    Row(name: "not compact", change: { $0.replacing("</Hdr>", with: "</Hdr>\n") }, reason: "IMSG"),
    Row(
      name: "another message",
      change: { $0 },
      reason: "MSGT",
      path: "/v1/caaa/completion-advice"
    ),
    Row(
      name: "the amount was changed",
      change: { $0.replacing("<TtlAmt>10.00</TtlAmt>", with: "<TtlAmt>99.00</TtlAmt>") },
      reason: "SECU"
    ),
    Row(
      name: "no trailer",
      change: { text in
        guard let start = text.firstRange(of: "<SctyTrlr>")?.lowerBound,
          let end = text.firstRange(of: "</SctyTrlr>")?.upperBound
        else { return text }
        return text.replacingCharacters(in: start..<end)
      },
      reason: "SECU"
    ),
    Row(
      name: "another key",
      change: { $0.replacing("<KeyVrsn>1</KeyVrsn>", with: "<KeyVrsn>2</KeyVrsn>") },
      reason: "SECU"
    ),
    Row(
      name: "another version",
      change: { $0.replacing("<PrtcolVrsn>12</PrtcolVrsn>", with: "<PrtcolVrsn>11</PrtcolVrsn>") },
      reason: "VERS"
    ),
    Row(
      name: "another terminal",
      change: { $0.replacing("<InitgPty><Id>66000001<", with: "<InitgPty><Id>66000002<") },
      reason: "INTP"
    ),
    Row(
      name: "another addressee",
      change: { $0.replacing("<Id>toro-gateway</Id>", with: "<Id>elsewhere</Id>") },
      reason: "RCPP"
    ),
  ]

  @Test(arguments: rows) func `rejects a message`(_ row: Row) throws {
    let world = try ToroWorld()
    let text = try Vectors.text("xml/01-authreq-purchase-contact-capture.xml")
    let answer = try post(world, row.path, row.change(text))
    #expect(answer.name == "AccptrRjctn")
    #expect(answer.text("Rjct/RjctRsn") == row.reason)
    #expect(try world.ledger("sale-12345").authorised == 0)
  }

  /// Each text of a message is replaced in turn. The gateway refuses the same values as the schema.
  @Test(arguments: ["01-authreq-purchase-contact-capture", "12-cancellation-advice"])
  func `refuses a value that the schema refuses`(_ name: String) throws {
    let world = try ToroWorld()
    let path = try #require(Self.paths[name])
    let text = try Vectors.text("xml/\(name).xml")
    let pieces = text.components(separatedBy: "</")
    // The gateway does not read what is inside of these.
    let unread: Set = [
      "Acqrr", "Mrchnt", "POI", "POIId", "Cpblties", "Cmpnt", "Rcpt", "CnttNcrptnAlgo", "Crdhldr",
      "DtldAmt", "SctyTrlr",
    ]
    var open: [String] = []
    for (index, piece) in pieces.enumerated() {
      if index > 0 { open.removeLast() }
      let tags = piece.components(separatedBy: "<").dropFirst()
      for tag in tags where !tag.hasPrefix("?") {
        open.append(String(tag.prefix { $0 != ">" && $0 != " " }))
      }
      guard index + 1 < pieces.count, let leaf = piece.lastIndex(of: ">"), !tags.isEmpty,
        unread.isDisjoint(with: open)
      else { continue }
      // The judge of the schema takes any character as base64.
      guard !["NcrptdData", "ICCRltdData", "Val"].contains(open.last) else { continue }
      for value in [
        "", String(repeating: "7", count: 36), "-1", "1.2345678", "gb p", "2026-13-01T00:00:00Z",
        "1",
      ] {
        var changed = pieces
        changed[index] = piece[...leaf] + value
        let message = changed.joined(separator: "</")
        let isRefused = try SchemaTests.complaint(Array(message.utf8)) != nil
        let reason = try post(world, path, message).text("Rjct/RjctRsn")
        #expect((reason == "PARS") == isRefused, "\(open.suffix(3)) \(value): \(reason ?? "none")")
      }
    }
  }

  @Test func `declines another sale under the reference of one`() throws {
    let world = try ToroWorld()
    let text = try Vectors.text("xml/01-authreq-purchase-contact-capture.xml")
    let path = "/v1/caaa/authorisation-request"
    func send(_ number: Int, _ change: (String) -> String = { $0 }) throws -> String? {
      let next = change(text.replacing("<XchgId>1<", with: "<XchgId>\(number)<"))
      let signed = String(decoding: try Vectors.signed(next, "AuthstnReq"), as: UTF8.self)
      let answer = try post(world, path, signed)
      return answer.text("AuthstnRspn/TxRspn/AuthstnRslt/RspnToAuthstn/Rspn")
    }
    #expect(try send(1) == "APPR")
    #expect(try send(2) == "APPR")
    #expect(try send(3) { $0.replacing("<TtlAmt>10.00<", with: "<TtlAmt>11.00<") } == "DECL")
    #expect(try send(4) { $0.replacing("sale-12345", with: "sale-99999") } == "DECL")
    #expect(try world.ledger("sale-12345").authorised == 1)
  }

  @Test func `answers an advice the same however often it comes`() throws {
    let world = try ToroWorld()
    _ = try world.engine().sell(try world.sale())
    _ = try world.engine(fault: "cancellation:close-after*2")
      .cancel(try world.latest(), handle: "A")
    #expect(world.wire.requests.count == 4)
    #expect(try world.ledger() == (1, 0, 0))
  }

  /// Advices that an acquirer refuses for an authorized sale of 10.00 without capture.
  static let refusals: [(advice: String, changes: [String: String])] = [
    ("09-completion-advice-capture", ["<TtlAmt>10.00<": "<TtlAmt>10.01<"]),
    ("09-completion-advice-capture", ["<TtlAmt>10.00<": "<TtlAmt>0.00<"]),
    ("09-completion-advice-capture", ["<Ccy>GBP<": "<Ccy>EUR<"]),
    ("09-completion-advice-capture", ["<TxRef>purchase-0001<": "<TxRef>purchase-0002<"]),
    ("09-completion-advice-capture", ["<TxDtTm>2026-01-02T03:": "<TxDtTm>2026-01-03T03:"]),
    ("09-completion-advice-capture", ["<TxSucss>true<": "<TxSucss>false<"]),
    ("12-cancellation-advice", ["<TtlAmt>10.00<": "<TtlAmt>9.99<"]),
    ("12-cancellation-advice", ["<Ccy>GBP<": "<Ccy>EUR<"]),
    ("12-cancellation-advice", ["<POIId><Id>66000001<": "<POIId><Id>66000002<"]),
  ]

  @Test(arguments: refusals)
  func `declines an advice that does not fit the sale`(
    _ row: (advice: String, changes: [String: String])
  ) throws {
    let world = try ToroWorld()
    try authorise(world)
    let path = try #require(Self.paths[row.advice])
    var text = try Vectors.text("xml/\(row.advice).xml")
    for (old, new) in row.changes {
      #expect(text.contains(old), "\(old)")
      text = text.replacing(old, with: new)
    }
    let answer = try post(world, path, try advice(text))
    #expect((answer.text("CmpltnAdvcRspn/Tx/Rspn") ?? answer.text("CxlAdvcRspn/Tx/Rspn")) == "DECL")
    #expect(try world.ledger("sale-12345") == (1, 1, 0))
  }

  @Test func `captures once, and a part alone`() throws {
    let world = try ToroWorld()
    try authorise(world)
    let path = try #require(Self.paths["09-completion-advice-capture"])
    let text = try Vectors.text("xml/09-completion-advice-capture.xml")
      .replacing("<TtlAmt>10.00<", with: "<TtlAmt>6.00<")
    #expect(try post(world, path, try advice(text)).text("CmpltnAdvcRspn/Tx/Rspn") == "APPR")
    #expect(try world.booked("sale-12345") == [600, 0])
    let another = text.replacing("completion-0001", with: "completion-0002")
      .replacing("<XchgId>4<", with: "<XchgId>44<")
    #expect(try post(world, path, try advice(another)).text("CmpltnAdvcRspn/Tx/Rspn") == "DECL")
    #expect(try world.booked("sale-12345") == [600, 0])
  }

  /// Authorizes the constructed purchase without capture.
  private func authorise(_ world: ToroWorld) throws {
    let text = try Vectors.text("xml/01-authreq-purchase-contact-capture.xml")
      .replacing("<TxCaptr>true<", with: "<TxCaptr>false<")
    let signed = String(decoding: try Vectors.signed(text, "AuthstnReq"), as: UTF8.self)
    _ = try post(world, "/v1/caaa/authorisation-request", signed)
    #expect(try world.ledger("sale-12345") == (1, 1, 0))
  }

  private func advice(_ text: String) throws -> String {
    let body = text.contains("<CmpltnAdvc>") ? "CmpltnAdvc" : "CxlAdvc"
    return String(decoding: try Vectors.signed(text, body), as: UTF8.self)
  }

  @Test func `lets nobody in whose sale was undone before it arrived`() throws {
    let world = try ToroWorld()
    let advice = try post(
      world,
      "/v1/caaa/cancellation-advice",
      try Vectors.text("xml/12-cancellation-advice.xml")
    )
    #expect(advice.text("CxlAdvcRspn/Tx/Rspn") == "APPR")
    let late = try post(
      world,
      "/v1/caaa/authorisation-request",
      try Vectors.text("xml/01-authreq-purchase-contact-capture.xml")
    )
    #expect(late.text("AuthstnRspn/TxRspn/AuthstnRslt/RspnToAuthstn/Rspn") == "DECL")
  }
}

extension String {
  fileprivate func replacingCharacters(in range: Range<String.Index>) -> String {
    String(self[..<range.lowerBound]) + String(self[range.upperBound...])
  }
}
