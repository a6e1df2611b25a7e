import Foundation
import TenderEngine
import TenderModel
import TenderSimulator
import TenderTestSupport
import Testing
import Toro

/// Signatures, and the operations after a sale: capture, cancellation, refund.
extension SaleTests {
  @Test(arguments: [true, false])
  func `takes a signature on the reader`(matches: Bool) throws {
    let world = try ToroWorld()
    let report = try world.engine(scenario: "card:chip_signature") { options, _ in
      options.signatureMode = .device
      options.signatureMatches = matches
    }.sell(try world.sale())
    // A PNG file.
    #expect(report.receipt.text("signatureBase64")?.hasPrefix("iVBORw0KGgo") == true)
    #expect(report.receipt["signatureVerificationFailed"] == .bool(!matches))
    #expect(report.fault?.exitStatus ?? 0 == (matches ? 0 : 12))
    #expect(try world.ledger().standing == (matches ? 1 : 0))
    if !matches { #expect(report.result.text("error") == "operatorCancelled") }
  }

  @Test func `undoes the sale of a customer who will not sign on the reader`() throws {
    let world = try ToroWorld()
    let report = try world.engine(scenario: "card:signature_refused") { options, _ in
      options.signatureMode = .device
    }.sell(try world.sale())
    #expect(report.status == .cancelled && report.fault?.code == "signature_verification_failed")
    #expect(report.result.text("error") == "customerCancelled")
    #expect(report.receipt["signatureVerificationFailed"] == true)
    #expect(try world.ledger().standing == 0)
  }

  @Test func `captures later, once`() throws {
    let world = try ToroWorld()
    let engine = try world.engine()
    let held = try engine.sell(try world.sale { $0.captures = false })
    #expect(held.status == .requiresConfirmation && held.receipt["captured"] == false)
    #expect(try world.ledger() == (1, 1, 0))
    let done = try world.engine().confirm(try world.latest(), handle: "A", amount: nil)
    #expect(done.status == .succeeded && done.receipt["captured"] == true)
    #expect(done.replayed == false)
    #expect(try world.ledger() == (1, 1, 1))
    let again = try world.engine().confirm(try world.latest(), handle: "A", amount: nil)
    #expect(again.replayed == true)
    #expect(world.wire.requests.count == 2)
  }

  @Test func `undoes a sale, once, and a held one`() throws {
    for captures in [true, false] {
      let world = try ToroWorld()
      _ = try world.engine().sell(try world.sale { $0.captures = captures })
      let undone = try world.engine().cancel(try world.latest(), handle: "A")
      #expect(undone.status == .cancelled && undone.fault == nil)
      #expect(undone.result.text("cancellationType") == "attendant")
      #expect(undone.receipt.text("panLastFour") == "0010")
      #expect(try world.ledger() == (1, 0, 0))
      #expect(try world.engine().cancel(try world.latest(), handle: "A").replayed == true)
      let again = try world.engine()
        .sell(try world.sale())
      #expect(again.replayed == true && again.fault?.exitStatus == 12)
      #expect(world.wire.requests.count == 2)
      // Money that was taken and given back needs a new reference. A hold took none.
      if captures {
        let next = #expect(throws: Fault.self) {
          try world.engine().sell(try world.sale(), newAttempt: true)
        }
        #expect(next?.code == "payment_given_back")
      } else {
        let next = try world.engine().sell(try world.sale(), newAttempt: true)
        #expect(next.status == .succeeded && next.attemptNumber == 2)
      }
    }
  }

  @Test func `gives back what was paid, and never more`() throws {
    let world = try ToroWorld()
    let engine = try world.engine()
    _ = try engine.sell(try world.sale("P", 2000))
    func refund(_ reference: String, _ amount: Int) throws -> Report {
      try world.engine()
        .sell(try world.refund(reference, of: "P", amount))
    }
    let part = try refund("R1", 500)
    #expect(part.status == .partiallyRefunded && part.receipt.text("type") == "refund")
    #expect(try world.latest("P")?.state.status == .partiallyRefunded)
    #expect(throws: Fault.self) { try refund("R2", 1600) }
    #expect(try world.ledger("R2").authorised == 0)
    #expect(try world.latest("R1") == nil)
    #expect(throws: Fault.self) { try world.engine().cancel(try world.latest("P"), handle: "P") }
    #expect(try refund("R3", 1500).status == .refunded)
    #expect(try world.latest("P")?.state.status == .refunded)
    #expect(throws: Fault.self) { try refund("R4", 1) }
    // Cancelling a refund restores the refundable amount.
    let undone = try world.engine().cancel(try world.latest("P"), handle: "R3")
    #expect(undone.operation?.state == .succeeded && undone.receipt.text("saleReferenceId") == "R3")
    #expect(try world.latest("P")?.state.status == .partiallyRefunded)
    #expect(try refund("R5", 1500).status == .refunded)
    #expect(try refund("R1", 500).replayed == true)
  }

  @Test func `refunds by a saved receipt what the journal does not know`() throws {
    let shop = try ToroWorld()
    let paid = try shop.engine().sell(try shop.sale("P", 900))
    let other = try ToroWorld()
    let simulated = shop.wire.inner
    let engine = try other.engine()
    other.wire.inner = simulated
    let report = try engine.sell(
      try other.sale("R", 900) { order in
        order.isRefund = true
        order.original = paid.receipt
      }
    )
    #expect(report.status == .succeeded)
    let sent = String(decoding: try #require(other.wire.requests.last), as: UTF8.self)
    #expect(sent.contains("<TxTp>RFND</TxTp>"))
    #expect(
      sent.contains(
        "<OrgnlTx><SaleRefId>P</SaleRefId><TxId><TxDtTm>\(paid.receipt.text("dateTime") ?? "")"
      )
    )
  }
}
