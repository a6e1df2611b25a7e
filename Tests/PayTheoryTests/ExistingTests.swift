import Foundation
import PayTheory
import TenderEngine
import TenderJournal
import TenderModel
import TenderTestSupport
import Testing

/// Payments that exist at Pay Theory already (`--payment-id`).
@Suite struct ExistingTests {
  private func order(_ world: World, _ reference: String, _ id: String) throws -> PayTheoryOrder {
    var order = try world.order(reference, amount: 0)
    (order.instrument, order.existingID) = (nil, id)
    return order
  }

  @Test func `records a payment that another journal made, and refunds it`() throws {
    let world = try World()
    let id = try #require(try world.engine().pay(world.order()).id)
    let folder = world.folder.path + "/other"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    let other = try SQLiteJournal(folder: folder, redactor: Redactor())
    other.reachesOutside()
    let engine = try world.engine(over: other)
    let report = try engine.pay(order(world, "MINE", id))
    #expect(report.status == .succeeded)
    #expect((report.id, report.amount, report.currency?.code) == (id, 1050, "USD"))
    #expect(try world.charges() == 1)
    let key = ReferenceKey(env: .simulator, provider: PayTheoryProvider.name, reference: "MINE")
    #expect(try engine.refund(other.payment(key), 300).status == .partiallyRefunded)
    let again = try engine.pay(order(world, "MINE", id))
    #expect(again.replayed == true)
    #expect(again.status == .partiallyRefunded)
  }

  @Test func `a payment that a record has is no second payment`() throws {
    let world = try World()
    let id = try #require(try world.engine().pay(world.order()).id)
    let fault = #expect(throws: Fault.self) {
      try world.engine().pay(order(world, "B", id))
    }
    #expect(fault?.code == "id_held")
    #expect(fault?.exitStatus == 6)
    #expect(fault?.message.contains("'A'") == true)
    #expect(try world.latest("B") == nil)
    // Without a reference of its own, it is the payment of that record.
    let report = try world.engine().pay(order(world, id, id))
    #expect(report.reference?.text == "A")
    #expect((report.replayed, report.amount) == (true, 1050))
    #expect(try world.latest(id) == nil)
  }

  /// A server that lists no more than some transactions, whatever is asked for.
  private struct Capped: HTTPExchange {
    let inner: any HTTPExchange
    let most: Int

    func send(
      _ request: HTTPRequest,
      _ permit: SendPermit?,
      by deadline: Deadline
    ) throws(Fault) -> HTTPResponse {
      var response = try inner.send(request, permit, by: deadline)
      guard var body = JSONReader.read(response.body)?.object, var data = body["data"]?.object,
        var list = data["transactions"]?.object, let items = list["items"]?.array
      else { return response }
      list["items"] = .array(Array(items.prefix(most)))
      data["transactions"] = .object(list)
      body["data"] = .object(data)
      response.body = Array(JSONWriter.text(.object(body)).utf8)
      return response
    }
  }

  /// Attempts that failed took nothing.
  @Test func `a list full of failed attempts hides no payment`() throws {
    let world = try World()
    for attempt in 0..<3 {
      let declined = try world.engine().pay(world.order(amount: 193), newAttempt: attempt > 0)
      #expect(declined.status == .declined)
    }
    #expect(try world.engine().pay(world.order(), newAttempt: true).status == .succeeded)
    let engine = try world.engine(exchange: { Capped(inner: $0, most: 2) })
    #expect(try engine.lookUp("A", known: world.latest()).status == .succeeded)
    #expect(try engine.refund(world.latest(), 300).status == .partiallyRefunded)
    // A list without the payment itself proves nothing, and a person can do something.
    let none = try world.engine(exchange: { Capped(inner: $0, most: 0) })
    let fault = #expect(throws: Fault.self) { try none.lookUp("A", known: world.latest()) }
    #expect(fault?.exitStatus == 11 && fault?.retry == .operator)
    #expect(fault?.hint?.contains("portal") == true)
  }

  /// A hold that was released took nothing, so that its reference is free for another journal.
  @Test func `a released hold holds no reference`() throws {
    let world = try World()
    let order = try world.storedOrder("A", confirmation: true)
    #expect(try world.engine().pay(order).status == .requiresConfirmation)
    let card = try world.order()
    func other() throws -> String {
      let engine = try world.engine(over: MemoryJournal())
      var options = Engine.Options()
      options.looksFirst = true
      do throws(Fault) {
        return try engine.execute(.placed(card), options).status.rawValue
      } catch { return error.code }
    }
    #expect(try other() == "reference_at_provider")
    let held = try world.latest()
    #expect(try world.engine().cancel(held, handle: "A").status == .cancelled)
    #expect(try other() == "succeeded")
  }

  @Test func `an id that Pay Theory does not have is not found`() throws {
    let world = try World()
    let fault = #expect(throws: Fault.self) {
      try world.engine().pay(order(world, "B", "pt-nothing"))
    }
    #expect(fault?.exitStatus == 5)
  }
}
