import PayTheory
import TenderEngine
import TenderModel
import TenderSimulator
import TenderTestSupport
import Testing

/// Payments and holds by a stored method. The method and the fee are read first.
@Suite struct StoredMethodTests {
  /// Counts the requests that can move money.
  private final class Counter: HTTPExchange, @unchecked Sendable {
    // Unchecked: one test asks it, one request after the other.
    private let inner: any HTTPExchange
    private(set) var mutations = 0

    init(_ inner: any HTTPExchange) { self.inner = inner }

    func send(
      _ request: HTTPRequest,
      _ permit: SendPermit?,
      by deadline: Deadline
    ) throws(Fault) -> HTTPResponse {
      if permit != nil { mutations += 1 }
      return try inner.send(request, permit, by: deadline)
    }
  }

  private func refusal(
    _ world: World,
    _ order: PayTheoryOrder
  ) throws -> (fault: Fault?, mutations: Int) {
    var counter: Counter?
    let engine = try world.engine(exchange: { inner in
      let made = Counter(inner)
      counter = made
      return made
    })
    do throws(Fault) {
      _ = try engine.pay(order)
      return (nil, counter?.mutations ?? 0)
    } catch {
      return (error, counter?.mutations ?? 0)
    }
  }

  @Test func `a method that is not there is 5, and frees the reference`() throws {
    let world = try World()
    let refused = try refusal(world, world.storedOrder("Q", method: "pt_pmt_none"))
    #expect(refused.fault?.exitStatus == 5)
    #expect(refused.fault?.code == "token_not_found")
    #expect(refused.mutations == 0)
    #expect(try world.latest("Q")?.isFree == true)
    #expect(try world.engine().pay(world.storedOrder("Q")).status == .succeeded)
  }

  @Test func `another fee is 2, and frees the reference`() throws {
    let world = try World()
    let order = try world.storedOrder("Q", feeMode: .service, fee: 50)
    let refused = try refusal(world, order)
    #expect(refused.fault?.exitStatus == 2)
    #expect(refused.fault?.code == "fee_differs")
    #expect(refused.fault?.message.contains("0.60 USD") == true)
    #expect(refused.mutations == 0)
    #expect(try world.latest("Q")?.isFree == true)
  }

  @Test(arguments: [nil, 60] as [Int?])
  func `a service fee is read and charged`(_ fee: Int?) throws {
    let world = try World()
    let order = try world.storedOrder("Q", feeMode: .service, fee: fee)
    let paid = try world.engine().pay(order)
    #expect(paid.status == .succeeded)
    #expect(paid.amount == 1110)
    #expect(paid.result["body"]?["service_fee"] == 60)
    #expect(try world.latest("Q")?.attempt?.amount == 1110)
    #expect(try world.books("Q").charged == 1110)
    #expect(try world.engine().pay(order).replayed == true)
    let refunded = try world.engine().refund(world.latest("Q"))
    #expect(refunded.status == .refunded)
    #expect(try world.books("Q").refunded == 1110)
  }

  @Test func `a lost charge is found by its reference, and never sent again by itself`() throws {
    let world = try World()
    let method = try world.engine().store(world.tokenOrder()).id
    for (name, charges) in [("before", 0), ("after", 1)] {
      let order = try world.storedOrder(name, method: method)
      let first = try? world.engine(fault: "stored:close-" + name).pay(order)
      #expect(first?.status == (charges == 1 ? .succeeded : nil))
      guard charges == 0 else { continue }
      for pause in [0, 16 * 60_000] {
        world.clock.advance(pause)
        let again = #expect(throws: Fault.self) { try world.engine().pay(order) }
        #expect(again?.exitStatus == 9)
      }
      #expect(try world.charges(name) == 0)
      // An operator may have it sent again.
      let unknown = try #require(try world.latest(name))
      let sent = try world.engine().resume(unknown, finish: true, resend: true)
      #expect(sent.status == .succeeded)
      #expect(try world.charges(name) == 1)
    }
  }

  /// Amounts that end in 93 cents are declined.
  @Test(arguments: [true, false])
  func `a lost request that is sent again and declined stays unknown`(_ isHold: Bool) throws {
    let world = try World()
    let order = try world.storedOrder("D", amount: 193, confirmation: isHold)
    _ = try? world.engine(fault: "stored:close-before").pay(order)
    let unknown = try #require(try world.latest("D"))
    #expect(unknown.state.isUnknown)
    world.clock.advance(16 * 60_000)
    let fault = #expect(throws: Fault.self) {
      try world.engine().resume(unknown, finish: true, resend: true)
    }
    #expect(fault?.exitStatus == 9)
    #expect(fault?.message.contains("the first request") == true, "\(fault?.message ?? "")")
    #expect(try world.latest("D")?.state.isUnknown == true)
    // A look finds the declined one of two requests, which decides nothing about the other.
    let found = #expect(throws: Fault.self) { try world.engine().pay(order) }
    #expect(found?.exitStatus == 9)
    #expect(found?.message.contains("one of the two") == true, "\(found?.message ?? "")")
    #expect(found?.advice?.contains("journal resolve") == true)
  }

  // MARK: Holds

  private func held(_ world: World, feeMode: FeeMode = .merchant) throws -> Payment {
    let order = try world.storedOrder("H", amount: 1000, confirmation: true, feeMode: feeMode)
    #expect(try world.engine().pay(order).status == .requiresConfirmation)
    #expect(try world.books("H").charged == 0)
    return try #require(try world.latest("H"))
  }

  private func dollars(_ cents: Int) throws -> Money {
    Money(minorUnits: cents, currency: try #require(Currency(code: "USD")))
  }

  @Test func `a part of a hold is captured, refunded and looked up`() throws {
    let world = try World()
    let hold = try held(world)
    let done = try world.engine().confirm(hold, handle: "H", amount: dollars(700))
    #expect(done.status == .succeeded)
    #expect(done.result.text("type") == "PT_COMPLETE")
    let state = try #require(try world.latest("H")?.state)
    let sums: [Int] = [state.authorized, state.captured, state.voided]
    #expect(sums == [1000, 700, 300])
    #expect(state.id == done.result["body"]?["receipt_number"]?.text)
    #expect(try world.books("H").charged == 700)
    let again = try world.engine().confirm(world.latest("H"), handle: "H", amount: dollars(700))
    #expect(again.replayed == true)
    let seen = try world.engine().lookUp("H", known: world.latest("H"))
    #expect(seen.status == .succeeded)
    #expect(seen.note == nil)
    #expect(try world.engine().refund(world.latest("H"), 200).status == .partiallyRefunded)
    #expect(try world.engine().refund(world.latest("H")).status == .refunded)
    #expect(try world.books("H").refunded == 700)
  }

  @Test func `a hold is released once`() throws {
    let world = try World()
    let hold = try held(world)
    #expect(try world.engine().cancel(hold, handle: "H").status == .cancelled)
    #expect(try world.engine().cancel(world.latest("H"), handle: "H").replayed == true)
    let fault = #expect(throws: Fault.self) {
      try world.engine().confirm(world.latest("H"), handle: "H", amount: nil)
    }
    #expect(fault?.code == "no_auth")
  }

  @Test func `a hold with a service fee is captured as a whole`() throws {
    let world = try World()
    let hold = try held(world, feeMode: .service)
    #expect(hold.state.authorized == 1059)
    let part = #expect(throws: Fault.self) {
      try world.engine().confirm(hold, handle: "H", amount: dollars(700))
    }
    #expect(part?.exitStatus == 15)
    #expect(try world.engine().confirm(hold, handle: "H", amount: nil).status == .succeeded)
    #expect(try world.books("H").charged == 1059)
  }

  @Test func `a part of a hold over the socket is 15`() throws {
    let world = try World()
    _ = try world.engine().pay(world.order(confirmation: true))
    let fault = #expect(throws: Fault.self) {
      try world.engine().confirm(world.latest(), handle: "A", amount: dollars(700))
    }
    #expect(fault?.exitStatus == 15)
    #expect(try world.latest()?.state.isHeld == true)
  }

  @Test func `a hold that is too old ends as expired`() throws {
    let world = try World()
    let hold = try held(world)
    world.clock.advance(7 * 24 * 3_600_000)
    let over = try world.engine().confirm(hold, handle: "H", amount: nil)
    #expect(over.status == .expired)
    #expect(over.fault?.exitStatus == 13)
    #expect(try world.books("H").charged == 0)
  }

  @Test(arguments: ["close-after", "close-before"])
  func `what was lost of a hold is found out`(_ name: String) throws {
    let isDone = name == "close-after"
    let world = try World()
    let method = try world.engine().store(world.tokenOrder()).id
    let order = try world.storedOrder("H", amount: 1000, method: method, confirmation: true)
    func lose(_ body: (Engine) throws(Fault) -> Report) throws -> Bool {
      let engine = try world.engine(fault: "stored:" + name)
      return (try? body(engine)) != nil
    }
    // The authorization is lost.
    #expect(try lose { engine throws(Fault) in try engine.pay(order) } == isDone)
    #expect(try world.latest("H")?.state.isUnknown == !isDone)
    if !isDone {
      let unknown = try #require(try world.latest("H"))
      // While it can still appear, no command sends it again.
      #expect(throws: Fault.self) {
        _ = try world.engine().resume(unknown, finish: true, resend: true)
      }
      world.clock.advance(15 * 60_000)
      #expect(
        try world.engine().resume(unknown, finish: true, resend: true).status
          == .requiresConfirmation
      )
    }
    // The capture is lost.
    let hold = try #require(try world.latest("H"))
    let part = try dollars(700)
    let isCaptured = try lose { engine throws(Fault) in
      try engine.confirm(hold, handle: "H", amount: part)
    }
    #expect(isCaptured == isDone)
    #expect(try world.books("H").charged == (isDone ? 700 : 0))
    if !isDone {
      let still = #expect(throws: Fault.self) {
        try world.engine().confirm(world.latest("H"), handle: "H", amount: part)
      }
      #expect(still?.exitStatus == 9)
      // It is not voided while it may be captured.
      let cancel = #expect(throws: Fault.self) {
        try world.engine().cancel(world.latest("H"), handle: "H")
      }
      #expect(cancel?.exitStatus == 9)
      let unknown = try #require(try world.latest("H"))
      world.clock.advance(15 * 60_000)
      let sent = try world.engine().resume(unknown, finish: true, resend: true)
      #expect(sent.status == .succeeded)
    }
    #expect(try world.books("H").charged == 700)
    // The void is lost.
    var other = order
    other.reference = try Reference("V")
    _ = try world.engine().pay(other)
    let second = try #require(try world.latest("V"))
    #expect(try lose { engine throws(Fault) in try engine.cancel(second, handle: "V") } == isDone)
    if !isDone {
      let unknown = try #require(try world.latest("V"))
      world.clock.advance(15 * 60_000)
      _ = try world.engine().resume(unknown, finish: true, resend: true)
    }
    #expect(try world.latest("V")?.state.status == .cancelled)
  }

  @Test func `an authorization that is declined is declined`() throws {
    let world = try World()
    let order = try world.storedOrder("H", amount: 193, confirmation: true)
    let declined = try world.engine().pay(order)
    #expect(declined.status == .declined)
    #expect(declined.fault?.code == "insufficient_funds")
  }
}
