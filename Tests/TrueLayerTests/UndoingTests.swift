import Foundation
import TenderEngine
import TenderModel
import TenderSimulator
import TenderTestSupport
import Testing
import TrueLayer

/// Cancelling, revoking and refunding.
extension FlowTests {
  @Test func `cancels, revokes, and says what it cannot`() throws {
    let world = try World()
    let engine = { try world.engine(change: Self.bank) }
    _ = try world.engine(listens: false, change: Self.bank)
      .pay(try world.payment("OPEN"))
    let cancelled = try engine().cancel(try world.latest("OPEN"), handle: "OPEN")
    #expect(cancelled.status == .cancelled)
    #expect(cancelled.fault == nil)
    #expect(cancelled.result["error"] == "userCanceled")
    #expect(cancelled.result["failure_reason"] == "canceled")
    #expect(try engine().cancel(try world.latest("OPEN"), handle: "OPEN").replayed == true)
    // The command that created it reports its end, and creates no other.
    let ended = try engine().pay(try world.payment("OPEN"))
    #expect(ended.replayed == true)
    #expect(ended.result["error"] == "userCanceled")
    #expect(ended.result["failure_reason"] == "canceled")
    #expect(ended.fault?.exitStatus == 12)
    _ = try engine().pay(try world.payment("DONE"))
    let tooLate = #expect(throws: Fault.self) {
      _ = try engine().cancel(try world.latest("DONE"), handle: "DONE")
    }
    #expect(tooLate?.code == "nothing_to_cancel")
    #expect(tooLate?.exitStatus == 6)
    #expect(try world.latest("DONE")?.state.status == .succeeded)
    _ = try engine().pay(try world.mandate("M"))
    let revoked = try engine().cancel(try world.latest("M"), handle: "M")
    #expect(revoked.status == .revoked)
    #expect(revoked.fault == nil)
    _ = try world.engine().pay(try world.mandate("N"))
    let early = #expect(throws: Fault.self) {
      _ = try engine().cancel(try world.latest("N"), handle: "N")
    }
    #expect(early?.code == "mandate_not_authorized")
    #expect(early?.exitStatus == 6)
  }

  @Test func `a revocation that the mandate does not show yet is pending, and can be repeated`()
    throws
  {
    let world = try World()
    _ = try world.engine(change: Self.bank).pay(try world.mandate("M"))
    let engine = try world.engine(wrap: {
      OtherPaymentTests.Confused(
        inner: $0,
        member: "status",
        value: "authorized",
        parent: "mandates"
      )
    })
    for _ in 0..<2 {
      let pending = try engine.cancel(try world.latest("M"), handle: "M")
      #expect(pending.fault?.exitStatus == 8)
      #expect(pending.fault?.code == "cancel_pending")
      #expect(pending.fault?.message.contains("the mandate is still authorized") == true)
      #expect(try world.latest("M")?.state.status == .authorized)
    }
    let revoked = try world.engine().cancel(try world.latest("M"), handle: "M")
    #expect(revoked.status == .revoked)
    #expect(revoked.fault == nil)
  }
}
