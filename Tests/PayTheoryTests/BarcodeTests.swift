import PayTheory
import TenderEngine
import TenderModel
import TenderSimulator
import TenderTestSupport
import Testing

/// Cash barcodes, which a shop is paid for later or never.
@Suite struct BarcodeTests {
  private func order(_ world: World) throws -> PayTheoryOrder {
    let payer = try CashPayer(name: "Ada", contact: "ada@example.com")
    return try world.order(instrument: .cash(payer))
  }

  @Test func `a barcode is paid, and refunded`() throws {
    let world = try World()
    let made = try world.engine(scenario: "barcode:paid").pay(order(world))
    #expect(made.status == .requiresAction)
    let waiting = try world.engine().lookUp("A", known: world.latest())
    #expect(waiting.status == .requiresAction)
    #expect(waiting.nextAction?.type == "barcode")
    #expect(waiting.result["barcode"]?["expiration_date"]?.text?.count == 10)
    let paid = try world.engine().wait(for: made, upTo: 60_000, every: 1000) { _ in }
    #expect(paid.status == .succeeded)
    #expect(paid.isFinal)
    #expect(paid.result["transaction"]?["payment_method"]?["payment_type"] == "CASH")
    #expect(try world.latest()?.state.captured == 1050)
    let part = try world.engine().refund(world.latest(), 300)
    #expect(part.status == .partiallyRefunded)
    #expect(try world.books().refunded == 300)
    #expect(try world.engine().lookUp("A", known: world.latest()).status == .partiallyRefunded)
  }

  @Test func `a barcode expires, and another can be made`() throws {
    let world = try World()
    _ = try world.engine().pay(order(world))
    world.clock.advance(7 * 24 * 3_600_000)
    #expect(try world.engine().lookUp("A", known: world.latest()).status == .requiresAction)
    world.clock.advance(2 * 24 * 3_600_000)
    let over = try world.engine().lookUp("A", known: world.latest())
    #expect(over.status == .expired)
    #expect(over.isFinal)
    let replay = try world.engine().pay(order(world))
    #expect(replay.replayed == true)
    #expect(replay.fault?.code == "barcode_expired")
    let again = try world.engine().pay(order(world), newAttempt: true)
    #expect(again.status == .requiresAction)
    #expect(again.attemptNumber == 2)
  }

  /// The payer may have the barcode that this program never received.
  @Test func `a lost barcode can be paid, and a look says so`() throws {
    let world = try World()
    let lost = try world.engine(fault: "barcode:close-after", scenario: "barcode:paid")
      .pay(order(world))
    #expect(lost.fault?.message == "no barcode was received: Pay Theory ended the session")
    #expect(
      lost.fault?.advice
        == "if Pay Theory made one, its payer can still pay it; the same command makes another barcode; "
        + "to look only: tender payment-status A"
    )
    #expect(try world.engine().lookUp("A", known: world.latest()).note == nil)
    world.clock.advance(6000)
    // It is the charge of the request that failed, and the same command says so.
    #expect(try world.engine().lookUp("A", known: world.latest()).status == .succeeded)
    #expect(try world.engine().pay(order(world)).replayed == true)
  }

  /// Answers that name an earlier last day for a barcode, as a server in another time zone would.
  private struct LastDay: HTTPExchange {
    let inner: any HTTPExchange

    func send(
      _ request: HTTPRequest,
      _ permit: SendPermit?,
      by deadline: Deadline
    ) throws(Fault) -> HTTPResponse {
      var response = try inner.send(request, permit, by: deadline)
      let text = String(decoding: response.body, as: UTF8.self)
      let early = text.replacing(
        /"expiration_date":"[0-9-]+/,
        with: #""expiration_date":"2020-01-01"#
      )
      response.body = Array(early.utf8)
      return response
    }
  }

  @Test(arguments: [true, false])
  func `money on an earlier barcode is a charge beside the payment`(_ isLost: Bool) throws {
    let world = try World()
    let fault = isLost ? "barcode:close-after" : nil
    _ = try world.engine(fault: fault, scenario: "barcode:paid").pay(order(world))
    if !isLost {
      let engine = try world.engine(exchange: { LastDay(inner: $0) })
      let over = try engine.lookUp("A", known: world.latest())
      #expect(over.status == .expired)
    }
    let made = try world.engine().pay(order(world), newAttempt: !isLost)
    #expect(made.status == .requiresAction)
    world.clock.advance(6000)
    for _ in 0..<2 {
      _ = try world.engine().lookUp("A", known: world.latest())
      let state = try #require(try world.latest()?.state)
      #expect(state.surplus == 1050)
      #expect(state.status == .requiresAction)
    }
    let surplus = try #require(try world.latest()?.surplus?.id)
    let back = try world.engine()
      .refund(world.latest(), handle: surplus, .test(300, "USD", name: nil), idempotencyKey: nil)
    #expect(back.operation?.kind == .refund)
    #expect(try world.books().refunded == 300)
    #expect(try world.latest()?.state.surplus == 750)
  }

  /// The look before a refund asks for each attempt by its barcode, and lists both payments by their receipts.
  @Test func `both barcodes of a reference are paid, and each counts once`() throws {
    let world = try World()
    _ = try world.engine(scenario: "barcode:paid").pay(order(world))
    let late = try world.engine(exchange: { LastDay(inner: $0) })
    #expect(try late.lookUp("A", known: world.latest()).status == .expired)
    _ = try world.engine(scenario: "barcode:paid").pay(order(world), newAttempt: true)
    world.clock.advance(6000)
    for back in [300, 200] {
      _ = try world.engine().refund(world.latest(), back, name: "R\(back)")
      let state = try #require(try world.latest()?.state)
      #expect(state.captured == 1050 && state.surplus == 1050)
    }
    let payment = try #require(try world.latest())
    #expect(payment.state.refunded == 500)
    #expect(payment.operations.count { $0.isSurplus } == 1)
    #expect(payment.attempts.map(\.state.name) == [.expired, .succeeded])
    let books = try world.books()
    #expect(books.charged == 2100 && books.refunded == 500)
  }

  @Test func `a barcode by its id alone`() throws {
    let world = try World()
    let made = try world.engine(scenario: "barcode:paid").pay(order(world))
    let id = try #require(made.id)
    let provider = try world.engine().provider
    #expect(try provider.lookUp(LookUp(id: id))?.status == .requiresAction)
    world.clock.advance(6000)
    let paid = try #require(try provider.lookUp(LookUp(id: id)))
    #expect(paid.status == .succeeded)
    #expect(paid.amount == 1050)
    #expect(try provider.lookUp(LookUp(id: "none@tender")) == nil)
  }
}
