package import TenderModel

/// The states of an operation, and the one table of possible transitions (README, 3 to 5).
extension Operation {
  /// The progress of an operation. Each state carries its data.
  package enum State: Sendable, Hashable {
    /// Recorded; nothing that can move money was sent.
    case prepared
    /// A request that can move money may have left: when it was recorded, in milliseconds since 1970 and on the
    /// machine's monotonic clock. The moment is nil if an earlier version wrote the row.
    case sent(at: Int, moment: Moment?)
    /// The provider waits for the payer to do the action; without an action, for the merchant.
    case waiting(PayerAction?)
    /// The provider accepted it and has not finished.
    case processing
    case succeeded
    case declined, cancelled, expired
    /// Provably had no effect.
    case failed
    /// It succeeded, and the provider took it back.
    case returned

    /// The state's name in the journal and in records.
    package enum Name: String, Sendable, Hashable, CaseIterable {
      case prepared, sent, waiting, processing, succeeded, declined, cancelled, expired, failed
      case returned
    }

    package var name: Name {
      switch self {
      case .prepared: .prepared
      case .sent: .sent
      case .waiting: .waiting
      case .processing: .processing
      case .succeeded: .succeeded
      case .declined: .declined
      case .cancelled: .cancelled
      case .expired: .expired
      case .failed: .failed
      case .returned: .returned
      }
    }

    package var action: PayerAction? { if case .waiting(let action) = self { action } else { nil } }

    /// The time of the send, while the result is unknown.
    package var sent: (at: Int, moment: Moment?)? {
      if case .sent(let at, let moment) = self { (at, moment) } else { nil }
    }
  }

  /// The name of an event that can change an operation.
  package enum Event: String, Sendable, CaseIterable {
    /// A request that can move money is about to leave.
    case send
    /// The provider prepared the data for a later step.
    case keep
    /// The operation entered a documented state of the provider.
    case enter
    /// The answer to its request arrived.
    case answer
    /// Its request provably had no effect. The operation returns to its earlier state.
    case revert
    /// Its request failed, or the provider goes on with it unobserved. Its effect is unknown.
    case lose
    /// It provably had no effect.
    case fail
    /// A look-up found the result of its request.
    case find
    /// An observation from another source than its request changed it.
    case observe
    /// An operator resolved it.
    case resolve
    /// A capture, void or undoing ended it.
    case close
  }

  /// Whether an event can move an operation from one state to another: the table.
  ///
  /// Any other transition is a fault `internal`, and changes nothing.
  package static func isPossible(_ event: Event, from state: State, to next: State) -> Bool {
    let isOpen = [.prepared, .sent, .waiting, .processing].contains(state.name)
    let isSame = state.name == next.name
    let isAnswer = ![.prepared, .sent, .failed].contains(next.name)
    return switch event {
    // A payer's flow continues with further requests, and a finish sends the same request again.
    case .send: isOpen && next.name == .sent
    case .keep, .enter: isSame && isOpen && state.name != .processing
    // A run may repeat the outcome that it has already recorded.
    case .answer: isAnswer && (isOpen || isSame)
    case .revert: state.name == .sent && [.sent, .waiting, .processing].contains(next.name)
    case .lose: isOpen && state.name != .prepared && next.name == .sent
    case .fail: [.prepared, .sent].contains(state.name) && next.name == .failed
    case .find: state.name == .sent && isAnswer
    case .observe: state.allows(next)
    case .resolve:
      isOpen && state.name != .prepared
        && ![.prepared, .sent, .processing, .returned].contains(next.name)
    case .close:
      isOpen && state.name != .prepared
        && [.succeeded, .declined, .cancelled, .expired].contains(next.name)
    }
  }

  /// Moves to another state by an event, at a time in milliseconds since 1970.
  ///
  /// Throws `internal` if the table does not allow it.
  package mutating func move(_ event: Event, to next: State, at time: Int) throws(Fault) {
    guard Self.isPossible(event, from: state, to: next) else {
      let words = "\(state.name.rawValue) cannot \(event.rawValue) to \(next.name.rawValue)"
      throw .bug("\(kind.rawValue) in state \(words)")
    }
    state = next
    updatedAt = time
  }
}

extension Operation.State {
  /// Whether an observed state can follow this one, in the published order.
  ///
  /// `sent` < `waiting` (for the payer, then for the merchant) < `expired` < `processing` < `succeeded` <
  /// `returned`, and `processing` < `declined`, `cancelled`. So the order in which the observations of one
  /// operation arrive does not matter. A declined or cancelled operation cannot succeed later, nor the
  /// reverse. Of two contradicting observations, the first stays.
  package func allows(_ next: Operation.State) -> Bool {
    switch (name, next.name) {
    case (_, .prepared), (_, .sent), (_, .failed): false
    case (.waiting, .waiting): action != nil || next.action == nil
    case (.sent, _), (.waiting, _): true
    case (.expired, .waiting), (.expired, .expired): false
    // A barcode may be paid in its last moment.
    case (.expired, _): true
    case (.processing, .waiting), (.processing, .expired): false
    case (.processing, _): true
    case (.succeeded, .succeeded), (.succeeded, .returned): true
    // The refusal that counted as a proof came after the effect.
    case (.failed, .waiting), (.failed, .expired): false
    case (.failed, _): true
    default: false
    }
  }
}
