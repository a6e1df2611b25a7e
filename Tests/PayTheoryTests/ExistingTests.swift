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

  @Test func `an id that Pay Theory does not have is not found`() throws {
    let world = try World()
    let fault = #expect(throws: Fault.self) {
      try world.engine().pay(order(world, "B", "pt-nothing"))
    }
    #expect(fault?.exitStatus == 5)
  }
}
