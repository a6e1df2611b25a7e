import Foundation
import Synchronization
import TenderEngine
import TenderJournal
import TenderModel
import TenderSimulator
import TenderTestSupport
import Testing
import Toro

/// Captures, voids and refunds as operations, compared with the acquirer's books.
@Suite struct OperationTests {
  private func hold(_ world: ToroWorld, _ amount: Int = 1000) throws {
    let held = try world.engine().sell(try world.sale("A", amount) { $0.captures = false })
    #expect(held.status == .requiresConfirmation)
  }

  private func money(_ amount: Int) throws -> Money {
    Money(minorUnits: amount, currency: try #require(Currency(code: "GBP")))
  }

  private func confirm(_ world: ToroWorld, _ amount: Int?, fault: String? = nil) throws -> Report {
    let amount = try amount.map { try money($0) }
    return try world.engine(fault: fault)
      .confirm(try world.latest(), handle: "A", amount: amount)
  }

  private func cancel(_ world: ToroWorld, fault: String? = nil) throws -> Report {
    try world.engine(fault: fault).cancel(try world.latest(), handle: "A")
  }

  private func refund(_ world: ToroWorld, _ amount: Int?) throws -> Report {
    let amount = try amount.map { try money($0) }
    return try world.engine().refund(
      try world.latest(),
      handle: "A",
      RefundRequest(amount: amount, name: nil),
      idempotencyKey: nil
    )
  }

  private func looked(_ world: ToroWorld) throws -> Report {
    try world.engine().lookUp("A", known: try world.latest())
  }

  private func text(_ world: ToroWorld) throws -> String {
    String(decoding: try #require(world.wire.requests.last), as: UTF8.self)
  }

  // MARK: Captures

  @Test func `captures a part, and releases the rest`() throws {
    let world = try ToroWorld()
    try hold(world)
    let tooMuch = #expect(throws: Fault.self) { try confirm(world, 1001) }
    #expect(tooMuch?.exitStatus == 6)
    #expect(world.wire.requests.count == 1)
    let report = try confirm(world, 700)
    #expect(report.status == .succeeded)
    #expect(report.receipt["captured"] == true && report.receipt["amount"] == 700)
    #expect(report.receipt["authorisedAmount"] == 1000)
    let sent = try text(world)
    #expect(sent.contains("<TtlAmt>7.00</TtlAmt><AuthrsdAmt>10.00</AuthrsdAmt>"))
    #expect(try SchemaTests.complaint(try #require(world.wire.requests.last)) == nil)
    #expect(try world.booked() == [700, 0])
    let state = try #require(try world.latest()).state
    #expect(state.authorized == 1000 && state.captured == 700 && state.voided == 300)
    #expect(state.leftToRefund == 700)
    #expect(try confirm(world, 700).replayed == true)
    #expect(throws: Fault.self) { try confirm(world, 300) }
    #expect(world.wire.requests.count == 2)
    #expect(try looked(world).receipt["amount"] == 700)
    // A whole refund refunds the captured amount.
    let back = try refund(world, nil)
    #expect(back.status == .cancelled && back.receipt["captured"] == false)
    #expect(try text(world).contains("<TtlAmt>7.00</TtlAmt>"))
    #expect(try world.booked() == [0, 0])
  }

  @Test func `refunds to the card no more than was captured`() throws {
    let world = try ToroWorld()
    try hold(world)
    _ = try confirm(world, 700)
    let above = #expect(throws: Fault.self) {
      try world.engine().sell(try world.refund("R1", of: "A", 800))
    }
    #expect(above?.code == "refund_exceeds")
    #expect(try world.engine().sell(try world.refund("R2", of: "A", 700)).status == .refunded)
    #expect(try world.booked() == [700, 700])
    #expect(try world.latest()?.state.status == .refunded)
  }

  /// The answer to a partial completion is lost. The same advice with the same amount is sent again.
  @Test func `finishes a lost capture of a part with the same advice`() throws {
    let world = try ToroWorld()
    try hold(world)
    let lost = #expect(throws: Fault.self) {
      try confirm(world, 700, fault: "completion:close-after")
    }
    #expect(lost?.exitStatus == 9)
    #expect(try world.latest()?.state.status == .unknown)
    let looked = #expect(throws: Fault.self) {
      try world.engine().resume(try #require(try world.latest()), finish: false, resend: false)
    }
    #expect(looked?.exitStatus == 9)
    let before = world.wire.requests.count
    #expect(try confirm(world, 700).status == .succeeded)
    #expect(world.wire.requests.count == before + 1)
    let advices = world.wire.requests.dropFirst().compactMap { bytes in
      (try? XMLElement.read(bytes))?.children.first
    }
    #expect(Set(advices.map { $0.text("CmpltnAdvc/Tx/TxId/TxRef") }).count == 1)
    #expect(Set(advices.map { $0.text("CmpltnAdvc/Tx/TxDtls/TtlAmt") }) == ["7.00"])
    #expect(try world.booked() == [700, 0])
  }

  /// The cancellation of a sale with an unknown capture is an operation and needs no look-up.
  @Test(arguments: ["completion:close-before", "completion:close-after"])
  func `cancels what a lost capture may have captured`(_ fault: String) throws {
    let world = try ToroWorld()
    try hold(world)
    #expect(throws: Fault.self) { try confirm(world, 700, fault: fault) }
    #expect(try cancel(world).status == .cancelled)
    let payment = try #require(try world.latest())
    #expect(payment.unknowns.isEmpty && payment.state.status == .cancelled)
    #expect(payment.state.isFinal)
    let kinds = payment.operations.map { "\($0.kind.rawValue) \($0.state.name.rawValue)" }
    #expect(kinds == ["authorize succeeded", "capture cancelled", "void succeeded"])
    #expect(try world.booked() == [0, 0])
  }

  // MARK: Shown status

  @Test(arguments: [true, false])
  func `shows one state after a cancel`(_ captures: Bool) throws {
    let world = try ToroWorld()
    _ = try world.engine().sell(try world.sale { $0.captures = captures })
    #expect(try cancel(world).receipt["captured"] == false)
    let looked = try looked(world)
    #expect(looked.status == .cancelled && looked.isFinal)
    #expect(looked.result.text("state") == "cancelled")
    #expect(looked.receipt["captured"] == false)
    #expect(looked.receipt.text("panLastFour") == "0010")
  }

  @Test func `shows what was captured after a confirm`() throws {
    let world = try ToroWorld()
    try hold(world)
    _ = try confirm(world, nil)
    #expect(try looked(world).receipt["captured"] == true)
    let again = try world.engine().sell(try world.sale { $0.captures = false })
    #expect(again.replayed == true && again.receipt["captured"] == true)
  }

  /// The requested amount includes the customer's gratuity.
  @Test func `counts the gratuity of the menu`() throws {
    let world = try ToroWorld()
    _ = try world.engine(scenario: "card:tip_2").sell(
      try world.sale { $0.gratuityMenu = [10, 15, 20] }
    )
    let state = try #require(try world.latest()).state
    #expect(state.asked == 1150 && state.captured == 1150 && state.requestedAmount == 1000)
    #expect(try world.booked() == [1150, 0])
  }

  // MARK: Refunds

  @Test func `names the command for a refund with the card`() throws {
    let world = try ToroWorld()
    _ = try world.engine().sell(try world.sale())
    let part = #expect(throws: Fault.self) { try refund(world, 400) }
    #expect(part?.exitStatus == 15)
    #expect(
      part?.advice?
        .hasSuffix("--type refund --original A --amount 4.00 --currency GBP --reference A-refund-1")
        == true
    )
    let first = try world.engine().sell(try world.refund("R1", of: "A", 400))
    #expect(first.status == .partiallyRefunded)
    // The same command again names the refund that was made.
    let same = #expect(throws: Fault.self) { try refund(world, 400) }
    #expect(same?.advice?.hasSuffix("--amount 4.00 --currency GBP --reference R1") == true)
    for rest in [try? refund(world, nil), try? cancel(world)] { #expect(rest == nil) }
    let rest = #expect(throws: Fault.self) { try refund(world, nil) }
    #expect(rest?.exitStatus == 15)
    #expect(rest?.message.contains("6.00 GBP") == true)
    #expect(
      rest?.advice?
        .hasSuffix("--type refund --original A --amount 6.00 --currency GBP --reference A-refund-2")
        == true
    )
    #expect(try world.engine().sell(try world.refund("R2", of: "A", 600)).status == .refunded)
    for amount in [nil, 100] {
      let full = #expect(throws: Fault.self) { try refund(world, amount) }
      #expect(full?.exitStatus == 6)
      #expect(full?.message.contains("fully refunded") == true)
      #expect(full?.advice?.contains("--type refund") != true)
    }
    #expect(try world.booked() == [1000, 1000])
  }

  // MARK: Suspended sales

  @Test(arguments: [true, false])
  func `ends a suspended sale by a cancel`(_ captures: Bool) throws {
    let world = try ToroWorld()
    let sale = try world.engine(scenario: "gateway:suspended").sell(
      try world.sale { $0.captures = captures }
    )
    #expect(sale.status == .pending)
    #expect(try world.latest()?.attempt?.state == .processing)
    #expect(try cancel(world).status == .cancelled)
    let looked = try looked(world)
    #expect(looked.status == .cancelled && looked.isFinal)
    let anew = try world.engine().sell(try world.sale(), newAttempt: true)
    #expect(anew.status == .succeeded)
    #expect(try world.booked() == [1000, 0])
  }
}

/// A cancellation from another process, while the acquirer is asked or later.
@Suite struct StopTests {
  /// Requests the stop once the acquirer has processed the first message.
  final class StoppingGateway: HTTPExchange {
    let inner: any HTTPExchange
    let stop: @Sendable () -> Void

    init(_ inner: any HTTPExchange, stop: @escaping @Sendable () -> Void) {
      self.inner = inner
      self.stop = stop
    }

    func send(
      _ request: HTTPRequest,
      _ permit: SendPermit?,
      by deadline: Deadline
    ) throws(Fault) -> HTTPResponse {
      let answer = try inner.send(request, permit, by: deadline)
      stop()
      return answer
    }
  }

  /// Requests the stop while the signatures are compared.
  struct StoppingAttendant: Attendant {
    let stop: @Sendable () -> Void

    var canCompare: Bool { true }

    func signature() throws(Fault) -> [UInt8]? { Array("Ada".utf8) }

    func signatureMatches() throws(Fault) -> Bool {
      stop()
      return true
    }
  }

  private func key(_ world: ToroWorld) throws -> ReferenceKey {
    ReferenceKey(env: .simulator, provider: ToroProvider.name, reference: try Reference("A"))
  }

  private func check(_ world: ToroWorld, _ report: Report) throws {
    #expect(report.status == .cancelled && report.fault?.exitStatus == 12)
    #expect(report.result.text("error") == "operatorCancelled")
    #expect(report.result.text("state") == "cancelled")
    #expect(report.receipt["captured"] == false)
    #expect(!world.announced.contains("completed"))
    #expect(try world.ledger() == (1, 0, 0))
    #expect(try world.booked() == [0, 0])
    #expect(try world.latest()?.state.status == .cancelled)
  }

  @Test(arguments: ["card:tap", "card:chip_pin", "card:swipe"])
  func `undoes what was approved while another shell cancelled it`(_ scenario: String) throws {
    let world = try ToroWorld()
    let journal = world.journal
    let key = try key(world)
    let engine = try world.engine(scenario: scenario)
    world.wire.inner = StoppingGateway(try #require(world.wire.inner)) {
      try? journal.setStop(key, isRequested: true)
    }
    try check(world, try engine.sell(try world.sale()))
  }

  @Test func `undoes what is stopped before its approval is recorded`() throws {
    let world = try ToroWorld()
    let journal = world.journal
    let key = try key(world)
    let attendant = StoppingAttendant { try? journal.setStop(key, isRequested: true) }
    let engine = try world.engine(scenario: "card:swipe", attendant: attendant)
    try check(world, try engine.sell(try world.sale()))
  }
}
