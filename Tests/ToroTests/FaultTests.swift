import TenderEngine
import TenderJournal
import TenderModel
import TenderSimulator
import TenderTestSupport
import Testing
import Toro

/// Every fault at every step of a sale: the exit, the documented name, the acquirer's books, and the result
/// of the same command afterwards.
@Suite struct FaultTests {
  @Test func `explains every documented error under its own exit`() {
    let pages = ToroProvider.explanations.filter { $0.source == "Toro's mobile SDK, its errors" }
    #expect(pages.map(\.provider) == ToroError.allCases.map(\.rawValue))
    #expect(pages.map(\.code) == ToroError.allCases.map(\.code))
    #expect(pages.map(\.kind) == ToroError.allCases.map(\.kind))
  }

  struct Row: CustomTestStringConvertible {
    var fault: String
    var exit: Int32
    var error: String
    var scenario: String?
    var isSignedOnDevice = false

    var testDescription: String { fault }
  }

  /// An authorization that may have been processed is undone in the same run: 12.
  static let authorisation: [Row] =
    [
      ("empty", 12, "malformedResponse"), ("garbage", 12, "malformedResponse"),
      ("truncated", 12, "malformedResponse"), ("bad-mac", 12, "malformedResponse"),
      ("no-trailer", 12, "malformedResponse"), ("wrong-exchange", 12, "malformedResponse"),
      ("wrong-transaction", 12, "malformedResponse"), ("too-much", 12, "malformedResponse"),
      ("silence-after", 12, "gatewayUnavailable"), ("close-before", 12, "gatewayUnavailable"),
      ("close-after", 12, "gatewayUnavailable"), ("http-500", 12, "badGatewayResponse"),
      ("http-502", 12, "badGatewayResponse"), ("http-503", 12, "badGatewayResponse"),
      ("http-401", 11, "badGatewayResponse"), ("http-404", 11, "badGatewayResponse"),
      ("http-429", 11, "badGatewayResponse"), ("reject-secu", 7, "acceptorRejected"),
    ].map { Row(fault: "authorisation:" + $0.0, exit: $0.1, error: $0.2) }

  /// A reader that fails before the acquirer was asked ends in 19. Afterwards the sale is undone.
  static let reader: [Row] = {
    let troubles = [
      ("disconnect", "deviceDisconnected"), ("busy", "deviceBusy"), ("error", "deviceError"),
      ("silence", "deviceError"), ("garbage", "deviceError"), ("bad-lrc", "deviceError"),
    ]
    var rows: [Row] = []
    for (trouble, error) in troubles {
      rows.append(Row(fault: "reader-setup:" + trouble, exit: 19, error: error))
      let isSilent = trouble == "silence"
      rows.append(
        Row(
          fault: "reader-card:" + trouble,
          exit: isSilent ? 13 : 19,
          error: isSilent ? "transactionTimeout" : error
        )
      )
      rows.append(
        Row(
          fault: "reader-finish:" + trouble,
          exit: 12,
          error: error
        )
      )
    }
    rows += [
      Row(fault: "reader-pin:disconnect", exit: 19, error: "deviceDisconnected"),
      Row(fault: "reader-pin:silence", exit: 13, error: "transactionTimeout"),
      Row(
        fault: "reader-choice:disconnect",
        exit: 19,
        error: "deviceDisconnected",
        scenario: "card:application_choice"
      ),
      Row(fault: "reader-connect:disconnect", exit: 19, error: "deviceDisconnected"),
      Row(fault: "reader-connect:busy*1", exit: 19, error: "deviceBusy"),
      Row(fault: "reader:no-keys", exit: 19, error: "deviceError"),
      Row(
        fault: "reader-touch:busy*1",
        exit: 19,
        error: "deviceBusy",
        isSignedOnDevice: true
      ),
      Row(
        fault: "reader-touch:error*1",
        exit: 19,
        error: "deviceError",
        isSignedOnDevice: true
      ),
      Row(
        fault: "reader-touch:disconnect*1",
        exit: 19,
        error: "deviceDisconnected",
        isSignedOnDevice: true
      ),
    ]
    return rows
  }()

  private func engine(_ world: ToroWorld, _ row: Row) throws -> Engine {
    try world.engine(scenario: row.scenario, fault: row.fault) { options, _ in
      if row.isSignedOnDevice { options.signatureMode = .device }
    }
  }

  @Test(arguments: authorisation + reader)
  func `is answered, and the same command makes it good`(_ row: Row) throws {
    let world = try ToroWorld()
    let engine = try engine(world, row)
    let order = try world.sale()
    var exit: Int32 = 0
    var result: JSONObject = [:]
    do throws(Fault) {
      let report = try engine.sell(order)
      exit = report.fault?.exitStatus ?? 0
      result = report.result
    } catch {
      exit = error.exitStatus
      result = error.result ?? [:]
      #expect(error.effect == .none)
    }
    #expect(exit == row.exit)
    #expect(result.text("error") == row.error)
    #expect(try world.ledger().standing == 0)
    let isUndone = row.exit == 12
    #expect(world.announced.last == (isUndone ? "cancelled" : world.announced.last))
    // An undone sale is final. Every other result leaves the reference free.
    let again = try world.engine().sell(order, newAttempt: isUndone)
    #expect(again.status == .succeeded && again.attemptNumber == 2)
    #expect(try world.ledger().standing == 1)
  }

  /// The gateway stops answering, also for the undoing. The sale stays unknown until the gateway answers
  /// again.
  @Test func `stays unknown until the undoing is answered`() throws {
    let world = try ToroWorld()
    let order = try world.sale()
    let silent = SilentGateway()
    let engine = try world.engine()
    silent.inner = world.wire.inner
    world.wire.inner = silent
    func run(_ engine: Engine) -> Fault? {
      do throws(Fault) {
        return try engine.sell(order).fault
      } catch {
        return error
      }
    }
    let first = run(engine)
    #expect(first?.exitStatus == 9 && first?.effect == .unknown)
    #expect(first?.result?.text("error") == "gatewayUnavailable")
    #expect(try world.ledger().standing == 1)
    #expect(try world.latest()?.state.status == .unknown)
    let advices = world.wire.requests.dropFirst().compactMap { bytes in
      (try? XMLElement.read(bytes))?.children.first
    }
    // Each repetition is a new exchange about the same transaction, and is counted.
    #expect(advices.count > 1)
    #expect(Set(advices.map { $0.text("Hdr/XchgId") }).count == advices.count)
    #expect(Set(advices.map { $0.text("CxlAdvc/Tx/TxId/TxRef") }).count == 1)
    #expect(advices.dropFirst().first?.text("Hdr/ReTrnsmssnCntr") == "1")
    #expect(advices.first?.text("CxlAdvc/Tx/FailrRsn") == "TIMO")
    // A new attempt cannot bypass it either.
    let second = try world.engine()
    silent.inner = world.wire.inner
    world.wire.inner = silent
    #expect(run(second)?.exitStatus == 9)
    let third = run(try world.engine())
    #expect(third?.exitStatus == 12)
    #expect(try world.ledger().standing == 0)
    #expect(try world.latest()?.attempt?.result.text("error") == "gatewayUnavailable")
    let last = try XMLElement.read(try #require(world.wire.requests.last))
    #expect(
      last?.children.first?.text("CxlAdvc/Tx/TxId/TxRef")
        == advices.first?.text("CxlAdvc/Tx/TxId/TxRef")
    )
  }

  /// A completion whose answer is lost is repeated until it is answered.
  @Test(arguments: [
    ("silence-after*1", Int32(0)), ("close-after*1", 0), ("bad-mac*1", 0), ("http-500*1", 0),
    ("silence-after", 9), ("truncated", 9), ("http-500", 9), ("reject-pars", 9), ("http-401", 9),
    ("declined", 3),
  ]) func `captures once, whatever happens to the answers`(_ fault: String, _ exit: Int32) throws {
    let world = try ToroWorld()
    _ = try world.engine().sell(try world.sale { $0.captures = false })
    let held = try world.latest()
    let engine = try world.engine(fault: "completion:\(fault)")
    var found: Int32 = 0
    do throws(Fault) {
      found = try engine.confirm(held, handle: "A", amount: nil).fault?.exitStatus ?? 0
    } catch {
      found = error.exitStatus
    }
    #expect(found == exit)
    let again = try world.engine().confirm(try world.latest(), handle: "A", amount: nil)
    #expect(again.status == .succeeded && again.receipt["captured"] == true)
    #expect(try world.ledger() == (1, 1, 1))
  }

  @Test(arguments: [
    ("silence-after*1", Int32(0)), ("close-after*1", 0), ("close-before*1", 0),
    ("wrong-exchange*1", 0),
    ("http-503*1", 0), ("silence-after", 9), ("garbage", 9), ("declined", 3), ("reject-intp", 9),
  ]) func `cancels once, whatever happens to the answers`(_ fault: String, _ exit: Int32) throws {
    let world = try ToroWorld()
    _ = try world.engine().sell(try world.sale())
    let engine = try world.engine(fault: "cancellation:\(fault)")
    let paid = try world.latest()
    var found: Int32 = 0
    do throws(Fault) {
      found = try engine.cancel(paid, handle: "A").fault?.exitStatus ?? 0
    } catch {
      found = error.exitStatus
    }
    #expect(found == exit)
    if exit == 3 || exit == 7 { #expect(try world.latest()?.state.status == .succeeded) }
    let again = try world.engine().cancel(try world.latest(), handle: "A")
    #expect(again.status == .cancelled)
    #expect(try world.ledger().standing == 0)
  }

  /// A receipt with masked identifiers undoes nothing.
  @Test func `never sends a reference that was masked`() throws {
    let world = try ToroWorld()
    let order = try world.sale()
    _ = try world.engine().sell(order)
    var payment = try #require(try world.latest())
    let attempt = try #require(payment.attempt)
    #expect(attempt.id?.allSatisfy { $0.isLetter } == true)
    var receipt = try #require(attempt.result["receipt"]?.object)
    receipt["transactionReference"] = "X[redacted]Y"
    try payment.change(1) { $0.result["receipt"] = .object(receipt) }
    try world.journal.update(&payment, 1, note: "masked", .power)
    let engine = try world.engine()
    #expect(throws: Fault.self) { try engine.cancel(try world.latest(), handle: "A") }
    #expect(world.wire.requests.count == 1)
    #expect(try world.ledger() == (1, 1, 1))
  }

  /// A process that died between request and answer left an attempt in `sent`.
  @Test func `undoes what a dead process left, and says so`() throws {
    let world = try ToroWorld()
    let order = try world.sale()
    let engine = try world.engine()
    _ = try engine.sell(order)
    var payment = try #require(try world.latest())
    let kept = Self.kept(payment)
    try payment.change(1) { operation in
      operation.state = .sent(at: world.clock.now, moment: nil)
      operation.preparation = kept.map { .plain($0) }
      operation.result = ["state": "authorising"]
    }
    try world.journal.update(&payment, 1, note: "as killed", .power)
    let report = try world.engine().finish(try #require(try world.latest()))
    #expect(report.status == .cancelled)
    #expect(report.result.text("error") == "transactionAborted")
    #expect(try world.ledger() == (1, 0, 0))
    #expect(try world.latest()?.attempt?.preparation == nil)
  }

  /// Returns the stored data of a sale while its result is unknown.
  private static func kept(_ payment: Payment) -> String? {
    guard let receipt = payment.attempt?.result["receipt"]?.object else { return nil }
    let sale: JSONObject = [
      "sale": .string(payment.reference.text), "ref": receipt["transactionReference"] ?? .null,
      "at": receipt["dateTime"] ?? .null, "init": receipt["initiatorTransactionId"] ?? .null,
      "refund": false, "amount": receipt["amount"] ?? .null, "currency": "GBP",
    ]
    return JSONWriter.text(["sale": .string(JSONWriter.text(.object(sale)))])
  }

  @Test(arguments: [
    ("reference of 36", "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789", 1000, "bad_reference"),
    ("nothing", "A", 0, "bad_amount"),
  ]) func `refuses before anything is opened`(
    _ name: String,
    _ reference: String,
    _ amount: Int,
    _ code: String
  ) throws {
    let world = try ToroWorld()
    let order = try world.sale(reference, amount)
    let engine = try world.engine()
    do throws(Fault) {
      _ = try engine.sell(order)
      Issue.record("takes it")
    } catch {
      #expect(error.kind == .usage && error.code == code)
    }
    #expect(try world.latest(reference) == nil && world.wire.requests.isEmpty)
  }

  @Test func `needs somebody who can sign and compare before the sale`() throws {
    let world = try ToroWorld()
    let engine = try world.engine(attendant: Nobody())
    let order = try world.sale()
    do throws(Fault) {
      _ = try engine.sell(order)
      Issue.record("takes it")
    } catch {
      #expect(error.exitStatus == 17 && error.code == "signature_not_asked")
    }
    #expect(try world.latest() == nil)
  }
}

/// Executes every message and never answers.
final class SilentGateway: HTTPExchange, @unchecked Sendable {
  // Unchecked: a test works on one thread.
  var inner: (any HTTPExchange)?
  private var isFirst = true

  func send(
    _ request: HTTPRequest,
    _ permit: SendPermit?,
    by deadline: Deadline
  ) throws(Fault) -> HTTPResponse {
    // The authorization arrives. The message that would undo it does not.
    if isFirst { _ = try inner?.send(request, permit, by: deadline) }
    isFirst = false
    throw Fault(.providerError, code: "no_answer", "no answer")
  }
}

/// A till without an attendant.
struct Nobody: Attendant {
  var canCompare: Bool { false }

  func signature() throws(Fault) -> [UInt8]? { nil }

  func signatureMatches() throws(Fault) -> Bool { false }
}
