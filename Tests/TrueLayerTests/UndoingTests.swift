import Foundation
import TenderEngine
import TenderModel
import TenderSimulator
import TenderTestSupport
import TenderWire
import Testing
import TrueLayer
import TrueLayerSimulator

/// Taking back what was made.
extension FlowTests {
  @Test func `cancels, revokes, and says what it cannot`() throws {
    let world = try World()
    let engine = { try world.engine(change: Self.bank) }
    _ = try world.engine(listens: false, change: Self.bank)
      .transact(try world.payment("OPEN"), newAttempt: false, idempotencyKey: nil)
    let cancelled = try engine().withdraw(try world.latest("OPEN"), handle: "OPEN")
    #expect(cancelled.status == .cancelled)
    #expect(cancelled.fault == nil)
    #expect(cancelled.result["status"] == "failed")
    #expect(cancelled.result["failure_reason"] == "canceled")
    #expect(try engine().withdraw(try world.latest("OPEN"), handle: "OPEN").replayed == true)
    // The command that made it says how it ended, and does not make another.
    let ended = try engine().transact(
      try world.payment("OPEN"),
      newAttempt: false,
      idempotencyKey: nil
    )
    #expect(ended.replayed == true)
    #expect(ended.result["error"] == "userCanceled")
    #expect(ended.fault?.exitStatus == 12)
    _ = try engine().transact(try world.payment("DONE"), newAttempt: false, idempotencyKey: nil)
    let tooLate = #expect(throws: Fault.self) {
      _ = try engine().withdraw(try world.latest("DONE"), handle: "DONE")
    }
    #expect(tooLate?.code == "nothing_to_cancel")
    #expect(tooLate?.exitStatus == 6)
    #expect(try world.latest("DONE")?.status == .succeeded)
    _ = try engine().transact(try world.mandate("M"), newAttempt: false, idempotencyKey: nil)
    let revoked = try engine().withdraw(try world.latest("M"), handle: "M")
    #expect(revoked.status == .revoked)
    #expect(revoked.fault == nil)
    _ = try world.engine().transact(try world.mandate("N"), newAttempt: false, idempotencyKey: nil)
    let early = #expect(throws: Fault.self) {
      _ = try engine().withdraw(try world.latest("N"), handle: "N")
    }
    #expect(early?.code == "mandate_not_authorized")
    #expect(early?.exitStatus == 6)
  }

  @Test func `refunds in parts, never more than is left`() throws {
    let world = try World()
    let engine = { (scenario: String?) in try world.engine(scenario: scenario, change: Self.bank) }
    let order = try world.payment("R", amount: 2000) { creation in
      creation.sortCode = nil
      creation.accountNumber = nil
      creation.beneficiaryName = nil
      creation.merchantAccount = "8d5e4f3a-2b1c-4d6e-9f80-a1b2c3d4e5f6"
    }
    let paid = try engine(nil).transact(order, newAttempt: false, idempotencyKey: nil)
    #expect(Self.plain(paid.result) == ["state": "settled"])
    func refund(
      _ amount: Int?,
      _ name: String? = nil,
      again: Bool = false,
      scenario: String? = nil
    ) throws -> Report {
      try engine(scenario).refund(
        try world.latest("R"),
        handle: "R",
        try .test(amount, name: name),
        newAttempt: again,
        idempotencyKey: nil
      )
    }
    let first = try refund(500)
    #expect(first.status == .pending)
    #expect(first.result["refund"]?["amount_in_minor"] == 500)
    #expect(first.result["refund"]?["status"] == "pending")
    world.clock.advance(3000)
    let same = try refund(500)
    #expect(same.replayed == true)
    #expect(same.status == .partiallyRefunded)
    #expect(same.result["refund"]?["id"] == first.result["refund"]?["id"])
    let other = #expect(throws: Fault.self) { _ = try refund(600) }
    #expect(other?.code == "refund_differs")
    let unnamed = #expect(throws: Fault.self) { _ = try refund(100, again: true) }
    #expect(unnamed?.exitStatus == 2)
    #expect(unnamed?.message == "--new-attempt on a refund needs --refund-reference")
    let tooMuch = #expect(throws: Fault.self) { _ = try refund(1600, "two", again: true) }
    #expect(tooMuch?.code == "refund_exceeds")
    #expect(tooMuch?.exitStatus == 6)
    let failing = try refund(100, "two", again: true, scenario: "refund:failed")
    #expect(failing.status == .pending)
    world.clock.advance(3000)
    // The same name is the same refund, with --new-attempt or without.
    let failed = try refund(100, "two", again: true)
    #expect(failed.replayed == true)
    #expect(failed.fault?.code == "refund_failed")
    #expect(failed.fault?.exitStatus == 3)
    #expect(failed.result["refund"]?["failure_reason"] == "insufficient_funds")
    #expect(failed.status == .partiallyRefunded)
    let rest = try refund(nil, "three", again: true)
    #expect(rest.result["refund"]?["amount_in_minor"] == 1500)
    world.clock.advance(3000)
    #expect(try refund(nil, "three").status == .refunded)
    // One that failed stays failed, whatever was refunded after it.
    let second = try refund(100, "two")
    #expect(second.fault?.exitStatus == 3)
    #expect(second.result["refund"]?["refund_reference"] == "two")
    let earlier = try refund(500)
    #expect(earlier.replayed == true)
    #expect(earlier.result["refund"]?["id"] == first.result["refund"]?["id"])
    let differs = #expect(throws: Fault.self) { _ = try refund(100, "three") }
    #expect(differs?.code == "refund_differs")
    let looked = try engine(nil).lookUp("R", known: try world.latest("R"))
    #expect(looked.status == .refunded)
    #expect(looked.details["refunds"]?.array?.count == 3)
  }

  @Test(arguments: ["close-before", "close-after", "silence", "http-500"])
  func `a further refund whose answer is lost is made once`(_ fault: String) throws {
    let world = try World()
    let order = try world.payment("R", amount: 1000) { creation in
      creation.sortCode = nil
      creation.accountNumber = nil
      creation.beneficiaryName = nil
      creation.merchantAccount = "8d5e4f3a-2b1c-4d6e-9f80-a1b2c3d4e5f6"
    }
    _ = try world.engine(change: Self.bank).transact(
      order,
      newAttempt: false,
      idempotencyKey: nil
    )
    func refund(_ amount: Int, _ name: String?, fault: String? = nil) throws -> Report {
      try world.engine(fault: fault, change: Self.bank).refund(
        try world.latest("R"),
        handle: "R",
        try .test(amount, name: name),
        newAttempt: name != nil,
        idempotencyKey: nil
      )
    }
    _ = try refund(200, nil)
    let lost = #expect(throws: Fault.self) { _ = try refund(300, "two", fault: "refund:" + fault) }
    #expect(lost?.exitStatus == 9)
    // Another one is not opened beside it, by another name or another amount.
    for (amount, name) in [(300, "three"), (400, "two"), (200, nil)] {
      let other = #expect(throws: Fault.self) { _ = try refund(amount, name) }
      #expect(other?.code == "refund_differs")
    }
    let found = try refund(300, "two")
    #expect(found.result["refund"]?["amount_in_minor"] == 300)
    #expect(found.result["refund"]?["refund_reference"] == "two")
    world.clock.advance(3000)
    #expect(try refund(300, "two").replayed == true)
    let looked = try world.engine(change: Self.bank).lookUp("R", known: try world.latest("R"))
    #expect(looked.details["refunds"]?.array?.count == 2)
  }
}
