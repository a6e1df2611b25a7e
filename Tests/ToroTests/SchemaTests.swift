import Foundation
import TenderEngine
import TenderModel
import TenderSchemas
import TenderTestSupport
import Testing
import Toro

/// Checks every message of both sides against its schema (ISO 20022, V12 set).
@Suite struct SchemaTests {
  /// Returns the schema's complaint about a message; nil if it is valid.
  static func complaint(_ bytes: [UInt8]) throws -> String? {
    let document = try #require(try XMLElement.read(bytes))
    let name = document.namespace.split(separator: ":").last.map(String.init) ?? ""
    let path = Project.path("Tests/ToroTests/Vectors/xsd/\(name).xsd")
    guard FileManager.default.fileExists(atPath: path) else { return "no schema \(name)" }
    var why = [CChar](repeating: 0, count: 500)
    let status = unsafe bytes.withUnsafeBytes { raw in
      unsafe tender_schema_validate(
        path,
        raw.baseAddress?.assumingMemoryBound(to: CChar.self),
        Int32(raw.count),
        &why,
        why.count
      )
    }
    guard status != 0 else { return nil }
    return "\(name): "
      + String(decoding: why.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  @Test func `finds what does not fit`() throws {
    let good = try Vectors.text("xml/09-completion-advice-capture.xml")
    #expect(try Self.complaint(Array(good.utf8)) == nil)
    let bad = good.replacing("<TxSucss>true</TxSucss>", with: "")
    #expect(try Self.complaint(Array(bad.utf8))?.contains("TxSucss") == true)
  }

  struct Row: CustomTestStringConvertible {
    var scenario: String
    var amount = 1000
    var gratuity: Int?
    var captures = true

    var testDescription: String { scenario }
  }

  static let rows: [Row] =
    [
      "chip_pin", "online_pin", "chip_signature", "tap", "tap_mobile", "swipe", "swipe_pin",
      "pin_bypass", "chip_unreadable", "declines_after", "signature_refused",
    ].map { Row(scenario: "card:" + $0) }
    + [
      "refer", "decline", "partial", "suspended", "technical", "completion_required",
    ].map { Row(scenario: "gateway:" + $0) }
    + [
      Row(scenario: "card:tap", gratuity: 100), Row(scenario: "card:tap", captures: false),
    ]

  @Test(arguments: rows) func `sends and answers what the schemas allow`(_ row: Row) throws {
    let world = try ToroWorld()
    let refuses = row.scenario == "card:signature_refused"
    let engine = try world.engine(
      scenario: row.scenario,
      attendant: AgreeableAttendant(matches: !refuses)
    ) { _, configuration in
      configuration.latitude = "51.5"
      configuration.longitude = "-0.1"
    }
    _ = try engine.sell(
      try world.sale("A & <B>", row.amount) { order in
        order.gratuity = row.gratuity
        order.captures = row.captures
        order.additional = ["order": "A-17", "lines": .array([1, "two"])]
      }
    )
    if let payment = try world.latest("A & <B>"), payment.state.status == .requiresConfirmation {
      _ = try engine.confirm(payment, handle: "A", amount: nil)
    }
    if let payment = try world.latest("A & <B>"), payment.state.status == .succeeded {
      let refund = try world.refund("R", of: "A & <B>", 100)
      let back = try engine.sell(refund)
      if back.operation?.state == .succeeded {
        _ = try engine.cancel(try world.latest("A & <B>"), handle: "R")
      }
    }
    #expect(!world.wire.requests.isEmpty)
    for message in world.wire.requests + world.wire.answers {
      #expect(try Self.complaint(message) == nil)
      // Compact: no space between elements.
      #expect(!String(decoding: message, as: UTF8.self).contains("> "))
      #expect(!message.contains(10))
    }
  }

  @Test func `asks and reports within the schemas`() throws {
    let world = try ToroWorld()
    let provider = try world.provider()
    _ = try provider.checkGateway()
    _ = try provider.checkTerminalManager()
    #expect(world.wire.requests.count == 2)
    for message in world.wire.requests + world.wire.answers {
      let complaint = try Self.complaint(message)
      #expect(complaint == nil)
    }
  }

  @Test(arguments: [
    "unpr", "imsg", "pars", "secu", "intp", "rcpp", "dpmg", "vers", "msgt",
  ]) func `rejects within the schemas`(_ reason: String) throws {
    let world = try ToroWorld()
    let engine = try world.engine(fault: "authorisation:reject-\(reason)")
    let order = try world.sale()
    do throws(Fault) {
      _ = try engine.sell(order)
      Issue.record("is not rejected")
    } catch {
      #expect(error.kind == .rejected && error.effect == .none)
      #expect(error.result?.text("error") == "acceptorRejected")
      #expect(error.result?.text("reason") == reason.uppercased())
    }
    #expect(try Self.complaint(try #require(world.wire.answers.first)) == nil)
    #expect(try world.ledger().authorised == 0)
  }
}
