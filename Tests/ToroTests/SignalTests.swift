import TenderEngine
import TenderModel
import TenderTestSupport
import Testing
import Toro

/// A signal at each moment of a run with the simulator of this process, whose answers are late.
@Suite struct SignalTests {
  @Test(arguments: ["sale", "void"], [Fault.Kind.terminated, .interrupted])
  func `no signal hides what was sent`(_ command: String, _ signal: Fault.Kind) throws {
    var moments = 0
    while moments < 400 {
      let world = try ToroWorld()
      if command == "void" { _ = try world.engine().sell(world.sale()) }
      let struck = Struck(world.clock, by: signal, after: moments)
      world.pauses = struck
      let fault = try perform(command, world, isLate: true, struck)
      guard struck.hasCome else { break }
      moments += 1
      world.pauses = nil
      let books = try world.ledger()
      let payment = try world.latest()
      let last = command == "void" ? payment?.followers.last : payment?.attempt
      // What had an effect is unknown or done, never without effect.
      let isDone = command == "void" ? books.standing == 0 : books.standing > 0
      if isDone, fault != nil {
        #expect(last?.effect ?? .none != Fault.Effect.none, "after \(moments) moments")
        #expect(fault?.exitStatus == 9 || last?.isUnknown == false, "after \(moments) moments")
      }
      world.clock.advance(60_000)
      _ = try perform(command, world, isLate: false)
      #expect(try world.ledger().authorised <= 2)
      #expect(try world.ledger().standing <= 1)
    }
    #expect(moments >= 3)
    #expect(moments < 400)
  }

  private func perform(
    _ command: String,
    _ world: ToroWorld,
    isLate: Bool,
    _ interruption: any Interruption = NeverInterrupted()
  ) throws -> Fault? {
    let point = command == "void" ? "cancellation" : "authorisation"
    let engine = try world.engine(
      fault: isLate ? point + ":latency=1s" : nil,
      interruption: interruption
    )
    let order = try world.sale()
    let known = try world.latest()
    do throws(Fault) {
      return command == "void"
        ? try engine.cancel(known, handle: "A").fault : try engine.sell(order).fault
    } catch {
      return error
    }
  }
}
