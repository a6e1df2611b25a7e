import TenderModel

/// The look before a send: one look, folded in and recorded. `Decision` then decides from the payment alone.
extension Engine {
  /// Whether a look comes before an operation: a request of the payment may have reached the provider, so that a
  /// look can show something.
  func needsLook(_ draft: Operation, _ known: Payment) throws(Fault) -> Bool {
    guard provider.traits.canLookUp, known.kind != .storedMethod else { return false }
    // Such a cancel gives no money back. The provider refuses it if the payer was faster.
    if draft.kind == .void, known.attempt?.state.action != nil { return false }
    let isAccepted = known.operations.contains { ![.prepared, .failed].contains($0.state.name) }
    guard !isAccepted, known.operations.contains(where: { $0.state.name == .failed }) else {
      return isAccepted
    }
    // Without an answer, a failed operation may have ended before its request left.
    return try journal.history(of: known).contains {
      $0.state == Operation.State.Name.sent.rawValue
    }
  }

  /// Returns a payment after one look at each of its charges that can still change what may be done, or at the
  /// surplus charge with the id that the operator typed.
  ///
  /// Throws `provider_error` if a look fails or does not show the payment, and `conflict` (`provider_differs`)
  /// if the provider has another id, amount, currency or reference. While an operation is unknown, both are
  /// `unknown`.
  func looked(at known: Payment, _ handle: String) throws(Fault) -> Payment {
    var payment = known
    do throws(Fault) {
      if let surplus = known.surplus(named: handle) {
        return try looked(at: known.upTo(surplus.sequence), of: known)
      }
      for attempt in known.attempts {
        let charge = payment.upTo(attempt.sequence)
        // Only a charge that ended without money can change once a newer one was made.
        guard !charge.isEarlier || charge.state.status.isOver, provider.canLook(at: charge) else {
          continue
        }
        payment = try looked(at: charge, of: payment)
      }
    } catch {
      if error.kind.isStop { throw error }
      if known.state.isUnknown { throw error.lost.forPayment(known) }
      throw known.attempt?.hasConsent == true ? error.unwatched : error
    }
    return payment
  }

  private func looked(at charge: Payment, of whole: Payment) throws(Fault) -> Payment {
    var query = query(of: charge, false)
    query.isBeforeSend = true
    query.others = whole.operations.filter { charge[$0.sequence] == nil }.compactMap(\.id)
    let answer: Outcome?
    do throws(Fault) { answer = try provider.lookUp(query) } catch { throw error.ofLook }
    guard let outcome = answer else {
      // A look-up can lag. A payment without money has nothing that the look-up could show.
      guard charge.state.isCaptured else { return whole }
      throw .notShown(charge, provider.name)
    }
    if let difference = difference(outcome, charge) {
      throw .providerDiffers(difference.what, difference.here, difference.there, charge)
    }
    return try write(folded(outcome, into: charge).payment, over: whole)
  }

  /// Asks about a reference before a charge, if the operator wants that: another journal may have charged it.
  ///
  /// Throws `conflict` (`reference_at_provider`) if the provider has a payment that took or may take money,
  /// and that is not one of the earlier attempts in `known`.
  func checkOthers(
    _ reference: Reference,
    _ known: Payment?,
    _ checked: CheckedOrder
  ) throws(Fault) {
    guard checked.options.looksFirst else { return }
    var query = LookUp(reference: reference)
    query.others = checked.options.despitePayments.sorted()
    query.others += known?.operations.compactMap(\.id) ?? []
    guard let outcome = try provider.lookUp(query),
      ![.declined, .failed, .expired].contains(outcome.status)
    else { return }
    // Neither way out is open to a reference that was pruned.
    if known == nil, try journal.isPruned(key(reference)) { throw .referencePruned(reference) }
    throw .referenceAtProvider(reference, outcome, provider.name)
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

  /// A look-up does not show a payment that took money.
  static func notShown(_ payment: Payment, _ provider: ProviderName) -> Fault {
    Fault(
      .providerError,
      code: "not_shown",
      "\(provider.text) does not show \(payment.reference.quotedForMessage) yet; nothing was sent",
      hint: "to look only: tender payment-status \(payment.shellReference)"
    )
  }

  fileprivate static func providerDiffers(
    _ what: String,
    _ here: String,
    _ there: String,
    _ payment: Payment
  ) -> Fault {
    var fault = Fault.conflict(
      "provider_differs",
      "\(payment.provider.text) has \(what) \(there) for \(payment.reference.quotedForMessage), and this "
        + "journal has \(here); nothing was sent",
      "if \(payment.provider.text) is right: tender journal resolve \(payment.shellReference) --from-provider "
        + "--reason TEXT"
    )
    fault.again = .operator
    return fault
  }

  fileprivate static func referenceAtProvider(
    _ reference: Reference,
    _ found: Outcome,
    _ provider: ProviderName
  ) -> Fault {
    let id = found.id ?? "a payment without an id"
    let amount = found.money.map { " of \($0.text)" } ?? ""
    let made = found.madeAt.map { " from \(Timestamp.text($0))" } ?? ""
    let status = found.providerStatus ?? found.status.rawValue
    var fault = Fault.conflict(
      "reference_at_provider",
      "\(provider.text) already has \(id)\(amount) under reference \(reference.quotedForMessage)\(made), "
        + "which is \(status), and this journal does not have it; nothing was sent",
      (found.status == .requiresConfirmation
        ? "a hold cannot be recorded here: end it at \(provider.text)"
        : "to record it as this payment: tender transact --provider \(provider.text) --payment-id "
          + "\(id.shellQuoted) \(reference.text.shellOption("reference"))")
        + "; to charge all the same, add "
        + "\(id.shellOption("despite-payment")) to the same command"
    )
    fault.again = .operator
    fault.result = [
      "id": found.id?.json, "amount": found.amount?.json, "currency": found.currency?.code.json,
      "created_at": found.madeAt.map { .string(Timestamp.text($0)) }, "status": status.json,
    ]
    return fault
  }
}
