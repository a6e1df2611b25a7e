package import TenderModel

/// Ids that belong to one record. An id of a charge, authorization, mandate or refund names one thing at the
/// provider, and one thing is one operation here.
extension Operation {
  /// The kinds of things at a provider whose ids belong to one record.
  package enum Thing: String, Sendable, CaseIterable { case payment, mandate, refund }

  /// The thing that the operation's id names; nil without an id, or if several records may have it.
  ///
  /// Captures and voids may have the id of their attempt. Stored methods are used by many payments.
  package var thing: Thing? {
    guard id != nil, ownReference == nil else { return nil }
    return switch kind {
    case .charge, .authorize: .payment
    case .createMandate: .mandate
    case .refund: .refund
    case .capture, .void, .store, .revoke, .payout: nil
    }
  }

  /// The sequence in the claim of its id. It is 0 for a charge: attempts of a record may share an id, and a look
  /// can show a declined attempt as paid under the same id.
  package var claimedSequence: Int { kind == .refund && !isAttempt ? sequence : 0 }
}

extension Journal {
  /// Returns the record of a thing at a provider, besides that of a payment.
  package func holder(
    of id: String,
    _ things: Set<Operation.Thing>,
    besides payment: Payment
  ) throws(Fault) -> Payment? {
    var filter = PaymentFilter()
    (filter.env, filter.provider) = (payment.env, payment.provider)
    return try payments(matching: id, filter: filter).first { other in
      other.reference != payment.reference
        && other.operations.contains { operation in
          operation.id == id && operation.state.name != .failed
            && operation.thing.map(things.contains) == true
        }
    }
  }

  /// Returns an id of a payment that another record has too, and that record; nil without one.
  package func sharedID(of payment: Payment) throws(Fault) -> (id: String, holder: Payment)? {
    for operation in payment.operations {
      guard let thing = operation.thing, let id = operation.id else { continue }
      if let holder = try holder(of: id, [thing], besides: payment) { return (id, holder) }
    }
    return nil
  }

  /// Gives the ids that several records share to one of them. The other records lose these ids.
  ///
  /// Throws `conflict` if the record shares no id, or if another process works on one of the records.
  package func hold(
    _ found: Payment,
    reason: String,
    _ clock: any Clock,
    _ interruption: any Interruption
  ) throws(Fault) -> Payment {
    try checkWhole()
    guard try sharedID(of: found) != nil else { throw found.sharesNothing }
    func change(
      _ key: ReferenceKey,
      _ note: String,
      _ body: (inout Operation) -> Bool
    ) throws(Fault) -> Payment {
      let lock = try lock(key, by: Deadline(in: 0, on: clock), interruption: interruption)
      guard let lock else { throw .inProgress(key.reference) }
      defer { withExtendedLifetime(lock) {} }
      guard var payment = try payment(key) else { throw .unknownHandle(key.reference.text) }
      var last: Int?
      for operation in payment.operations {
        var next = operation
        guard body(&next) else { continue }
        try payment.change(operation.sequence) { $0 = next }
        last = operation.sequence
      }
      guard let last else { return payment }
      payment.updatedAt = clock.now
      try update(&payment, last, note: note + ": " + reason, .power)
      return payment
    }
    while let (id, other) = try sharedID(of: found) {
      let note = "its id belongs to \(found.reference.text)"
      _ = try change(other.key, note) { operation in
        guard operation.id == id, operation.thing != nil else { return false }
        operation.id = nil
        return true
      }
    }
    return try change(found.key, "it holds its ids") { $0.thing != nil }
  }
}

extension Engine {
  /// Returns the record that has the existing payment of an order already, and that the order names; nil if there
  /// is none.
  ///
  /// Throws `conflict` (`id_held`) if the order has another reference. An order without one names the id.
  func holder(of draft: Operation, _ reference: Reference) throws(Fault) -> Payment? {
    guard let id = draft.content.text("id"),
      let holder = try journal.holder(of: id, [.payment, .mandate], besides: newPayment(reference))
    else { return nil }
    guard reference.text == id else { throw .idHeld(id, by: holder.key, not: reference) }
    try holder.checkNewest(id)
    return holder
  }
}

extension Payment {
  fileprivate var sharesNothing: Fault {
    .conflict(
      "nothing_to_resolve",
      "no other record has an id of \(reference.quotedForMessage)"
    ).then([.verify])
  }
}

extension Fault {
  /// Another record has an id.
  package static func idHeld(
    _ id: String,
    by holder: ReferenceKey,
    not reference: Reference
  ) -> Fault {
    .conflict(
      "id_held",
      "\(id) is the id of \(holder.reference.quotedForMessage), and cannot be that of "
        + reference.quotedForMessage
    ).then(Payment(key: holder).next(.show))
  }
}
