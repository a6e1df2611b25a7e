import PayTheory
import TenderEngine
import TenderModel
import TenderTestSupport
import Testing

/// A look-up in a state that no document names decides nothing (README, 7).
@Suite struct UnknownStateTests {
  static let words: [JSON] = ["DECLINED", "", .null]

  /// Gives a word as the state of every transaction and authorization.
  private func odd(_ inner: any HTTPExchange, _ word: JSON) -> any HTTPExchange {
    EvidenceTests.Liar(inner, to: "status") { data in
      var data = data
      for name in ["transactions", "authorizations"] {
        guard let items = data[name]?["items"]?.array else { continue }
        let changed = items.map { item -> JSON in
          var item = item.object ?? [:]
          item["status"] = word
          return .object(item)
        }
        data[name] = ["items": .array(changed)]
      }
      return data
    }
  }

  private func exit(_ body: () throws -> Report) -> Int32 {
    do { return try body().fault?.exitStatus ?? 0 } catch {
      return (error as? Fault)?.exitStatus ?? -1
    }
  }

  /// The sale was declined, and its answer was lost.
  @Test(arguments: words + ["CANCELED"])
  func `a decline whose look-up is odd is unknown, and then declined`(_ word: JSON) throws {
    let world = try World()
    let order = try world.order(amount: 193)
    let first = exit {
      try world.engine(fault: "part2:close-after", exchange: { odd($0, word) }).pay(order)
    }
    #expect(first == 9)
    #expect(exit { try world.engine(exchange: { odd($0, word) }).pay(order) } == 9)
    #expect(try world.latest()?.state.captured == 0)
    #expect(exit { try world.engine().pay(order) } == 3)
    #expect(try world.books("A").charged == 0)
  }

  @Test(arguments: words, [false, true])
  func `a charge or hold whose look-up is odd is unknown`(_ word: JSON, _ holds: Bool) throws {
    let world = try World()
    var order = try world.storedOrder("Q")
    order.stopsAtConfirmation = holds
    let first = exit {
      try world.engine(fault: "stored:close-after", exchange: { odd($0, word) }).pay(order)
    }
    #expect(first == 9)
    #expect(exit { try world.engine(exchange: { odd($0, word) }).pay(order) } == 9)
    #expect(try world.latest("Q")?.state.isUnknown == true)
    #expect(try world.engine().pay(order).status == (holds ? .requiresConfirmation : .succeeded))
    #expect(try world.books("Q").charged == (holds ? 0 : 1050))
  }
}
