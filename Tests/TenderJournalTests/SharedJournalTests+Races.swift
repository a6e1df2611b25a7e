import Foundation
import Synchronization
import TenderEngine
import TenderJournal
import TenderModel
import TenderTestSupport
import Testing

/// The rules for several payments at once, independent of the faster machine.
extension SharedJournalTests {
  /// A payment of one provider with a separate key.
  private func payment(
    _ reference: String,
    at provider: String = "paytheory",
    key: String? = nil
  ) throws -> Payment {
    var payment = Payment(
      key: .init(env: .simulator, provider: ProviderName(provider), reference: reference),
      kind: .payment,
      merchant: "m",
      at: clock.now
    )
    payment.append(try #require(Payment.test(reference, at: clock.now).attempt))
    try payment.change(1) { $0.key = key }
    return payment
  }

  private func code(_ body: () throws -> Void) -> String? {
    do {
      try body()
      return nil
    } catch {
      return (error as? Fault)?.code ?? "another error"
    }
  }

  /// Opens payments at the same moment on as many machines. Returns the codes of their faults.
  private func race(_ payments: [Payment], locked: Bool) throws -> [String?] {
    let codes = Mutex<[Int: String?]>([:])
    let done = DispatchGroup()
    for (index, payment) in payments.enumerated() {
      let journal = try journal(index)
      let terms = OpeningTerms(hasOwnKey: true)
      let deadline = Deadline(in: 0, on: clock)
      _ = try journal.extent()
      done.enter()
      Thread {
        defer { done.leave() }
        var code: String?
        do {
          let held =
            locked
            ? try journal.lock(
              payment.key,
              opening: (payment, terms),
              by: deadline,
              interruption: NeverInterrupted()
            ) : nil
          _ = try journal.open(payment, terms, .process)
          withExtendedLifetime(held) {}
        } catch { code = (error as? Fault)?.code ?? "another error" }
        codes.withLock { $0[index] = .some(code) }
      }
      .start()
    }
    done.wait()
    return codes.withLock { codes in payments.indices.map { codes[$0] ?? "no answer" } }
  }

  @Test(arguments: [false, true])
  func `one of two providers gets a reference`(_ locked: Bool) throws {
    for number in 0..<10 {
      let payments = try ["paytheory", "truelayer"].map { try payment("R\(number)", at: $0) }
      let codes = try race(payments, locked: locked)
      #expect(codes.count { $0 == nil } == 1, "\(codes)")
      #expect(codes.contains("reference_elsewhere"), "\(codes)")
    }
    #expect(try sql("SELECT count(*) FROM tender.payment") == "10\n")
  }

  @Test(arguments: [false, true])
  func `one of two references gets an idempotency key`(_ locked: Bool) throws {
    for number in 0..<10 {
      let payments = try ["A", "B"].map { try payment("\($0)\(number)", key: "K\(number)") }
      let codes = try race(payments, locked: locked)
      #expect(codes.count { $0 == nil } == 1, "\(codes)")
      #expect(codes.contains("key_reused"), "\(codes)")
    }
    #expect(try sql("SELECT count(*) FROM tender.operation") == "10\n")
  }

  /// Machines with different keys cannot compare values that they stored as hashes. Each hash names its key.
  @Test func `names the key of a fingerprint`() throws {
    let journal = try journal(0)
    let prints = try journal.fingerprints(of: ["amount": 1], instrument: "4111")
    let print = try #require(prints.text("instrument"))
    #expect(prints.members.count == 1)
    #expect(print.hasPrefix((JournalKey.ofTests?.name ?? "?") + ":"))
    #expect(!print.contains("4111"))
    #expect(try self.journal(1).fingerprints(of: [:], instrument: "4111") == prints)
    #expect(try self.journal(1).fingerprints(of: [:], instrument: "4112") != prints)
    let other = try self.journal(1, key: nil).fingerprints(of: [:], instrument: "4111")
    #expect(other.text("instrument")?.hasPrefix(JournalKey.ofTests?.name ?? "?") == false)
  }
}
