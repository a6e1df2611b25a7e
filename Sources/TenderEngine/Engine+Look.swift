import TenderModel

/// The questions before a send. `Decision` asks them and decides with the answers.
extension Engine {
  /// Answers a question. Returns the payment with what a look showed.
  ///
  /// `handle` is what the operator typed for the payment. `despite` has ids of payments with the same reference that
  /// a person accepted.
  func answer(
    _ question: Evidence.Question,
    _ payment: Payment?,
    _ handle: String,
    despite: Set<String> = [],
    _ evidence: inout Evidence
  ) throws(Fault) -> Payment? {
    switch (question, payment) {
    case (.ids, let payment?):
      // The simulator in this process may reuse ids after a reset.
      let mayShare = remembersIDs && payment.mayShareIDs
      let shared = mayShare ? try journal.sharedID(of: payment) : nil
      evidence.ids = shared.map { .shared($0.id, with: $0.holder) } ?? .own
    case (.payment, let known?):
      let seen = try looked(at: known, handle)
      evidence.sight = seen.sight
      return seen.payment
    case (.reference, _):
      var query = LookUp(reference: evidence.key.reference)
      query.others = despite.sorted() + (payment?.operations.compactMap(\.id) ?? [])
      let found: Outcome?
      do throws(Fault) {
        found = try provider.lookUp(query)
      } catch {
        throw error.kind.isStop ? error : payment?.whileUnknown(error, provider.traits) ?? error
      }
      let isPruned = found != nil && payment == nil ? try journal.isPruned(evidence.key) : false
      evidence.reference = (found, isPruned)
    case (_, nil): throw .bug("a question about no payment")
    }
    return payment
  }

  /// Returns a payment after one look at each of its charges that can still change what may be done, or at the
  /// surplus charge with the id that the operator typed.
  ///
  /// Throws `provider_error` if a look fails. While an operation is unknown, that is `unknown`.
  private func looked(
    at known: Payment,
    _ handle: String
  ) throws(Fault) -> (payment: Payment, sight: Evidence.Sight) {
    var seen = (payment: known, sight: Evidence.Sight.folded)
    do throws(Fault) {
      if let surplus = known.surplus(named: handle) {
        return try looked(at: known.upTo(surplus.sequence), of: known)
      }
      guard try mayBeKnown(known) else { return seen }
      for attempt in known.attempts {
        let charge = seen.payment.upTo(attempt.sequence)
        // Only a charge that ended without money can change once a newer one was made.
        guard !charge.isEarlier || charge.state.status.isOver, provider.canLook(at: charge) else {
          continue
        }
        seen = try looked(at: charge, of: seen.payment)
        guard case .folded = seen.sight else { return seen }
      }
    } catch {
      throw error.kind.isStop ? error : known.whileUnknown(error, provider.traits)
    }
    return seen
  }

  /// Whether a request of the payment may have reached the provider.
  private func mayBeKnown(_ known: Payment) throws(Fault) -> Bool {
    if known.operations.contains(where: { ![.prepared, .failed].contains($0.state.name) }) {
      return true
    }
    // Without an answer, a failed operation may have ended before its request left.
    return try journal.history(of: known).contains {
      $0.state == Operation.State.Name.sent.rawValue
    }
  }

  private func looked(
    at charge: Payment,
    of whole: Payment
  ) throws(Fault) -> (payment: Payment, sight: Evidence.Sight) {
    let seen = try seen(charge, of: whole)
    return (try write(seen.charge, over: whole), seen.sight)
  }

  /// Returns a charge with the answer of a look folded in. It is not written.
  func seen(
    _ charge: Payment,
    of whole: Payment
  ) throws(Fault) -> (charge: Payment, sight: Evidence.Sight) {
    var query = query(of: charge, false)
    query.isBeforeSend = true
    query.others = whole.operations.filter { charge[$0.sequence] == nil }.compactMap(\.id)
    let answer: Outcome?
    do throws(Fault) { answer = try provider.lookUp(query) } catch { throw error.ofLook }
    // A look-up can lag, and a payment without money has nothing that it could show.
    guard let outcome = answer else {
      return (charge, charge.state.isCaptured ? .absent : .folded)
    }
    if let difference = difference(outcome, charge) { return (charge, .differs(difference)) }
    let seen = try folded(outcome, into: charge, of: whole).payment
    let isVoided = outcome.isVoided || outcome.status == .cancelled
    let isOpen = seen.reversals.contains(where: \.isUnknown)
    return (seen, isVoided && isOpen ? .voided : .folded)
  }
}

extension Payment {
  /// Returns the fault of a look, or of what it showed: while the payment's money is unknown, so is the fault's.
  func whileUnknown(_ fault: Fault, _ traits: Traits) -> Fault {
    if state.isUnknown { return fault.lost.forPayment(self, traits) }
    return attempt?.hasConsent == true ? fault.unwatched : fault
  }
}

extension Fault {
  /// Whether it forbids something because of what a look showed. Another look can lift it.
  package var isObserved: Bool { cause == .observed || cause == .refundedElsewhere }

  /// The fault of a look. A refusal of a question is no refusal of the command.
  fileprivate var ofLook: Fault {
    var fault = self
    if [.conflict, .rejected, .notFound].contains(kind) { fault.kind = .providerError }
    return fault
  }
}
