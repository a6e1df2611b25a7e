package import TenderModel

/// The states of an operation, and the one table of what may follow what (README, 3 to 5).
extension Operation {
  /// How far an operation has come; a state carries what belongs to it.
  package enum State: Sendable, Hashable {
    /// Recorded; nothing that can move money was sent.
    case prepared
    /// A request that can move money may have left.
    case sent(Sent)
    /// The provider waits for the payer (the action says for what); without one, for the merchant.
    case waiting(PayerAction?)
    /// The provider accepted it and has not finished.
    case processing
    case succeeded
    case declined, cancelled, expired
    /// Provably had no effect.
    case failed
    /// It succeeded, and the provider took it back.
    case returned

    /// The state's name, as journal and records have it.
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

    /// What the payer has to do.
    package var action: PayerAction? { if case .waiting(let action) = self { action } else { nil } }

    /// When it was sent, while its result is unknown.
    package var sent: Sent? { if case .sent(let sent) = self { sent } else { nil } }
  }

  /// When a request that can move money was recorded as sent.
  package struct Sent: Sendable, Hashable {
    /// Milliseconds since 1970.
    package var at: Int
    /// The same on the machine's own clock; nil where an old version did not write it.
    package var moment: Moment?

    package init(at: Int, moment: Moment?) {
      self.at = at
      self.moment = moment
    }
  }

  /// What happens to an operation, by name.
  package enum Event: String, Sendable, CaseIterable {
    /// A request that can move money is about to leave.
    case send
    /// The provider prepared what a later step needs.
    case keep
    /// A documented state of the provider was entered.
    case enter
    /// The answer to its request.
    case answer
    /// Its request provably had no effect, and it is as it was before.
    case revert
    /// Its request failed, and what it did is unknown.
    case lose
    /// It provably had no effect.
    case fail
    /// A look told what its request did.
    case find
    /// Somebody else told how it is now.
    case observe
    /// An operator says how it ended.
    case resolve
    /// A capture, void or undoing ended it.
    case close
  }

  /// Whether an event can move an operation from one state to another: the table.
  ///
  /// What is not in it is a fault `internal`, and changes nothing.
  package static func isPossible(_ event: Event, from state: State, to next: State) -> Bool {
    let isOpen = [.prepared, .sent, .waiting, .processing].contains(state.name)
    let isSame = state.name == next.name
    let isAnswer = ![.prepared, .sent, .failed].contains(next.name)
    return switch event {
    // A payer's flow goes on with further requests; a finish sends the same again.
    case .send: isOpen && next.name == .sent
    case .keep, .enter: isSame && isOpen && state.name != .processing
    // What a run has recorded already it can end with.
    case .answer: isAnswer && (isOpen || isSame)
    case .revert: state.name == .sent && [.sent, .waiting, .processing].contains(next.name)
    case .lose: state.name == .sent && isSame
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
  /// Throws `internal` for what cannot happen in its state.
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
  /// Whether an observation may follow: the published order of what is observed.
  ///
  /// `sent` < `waiting` (for the payer, then for the merchant) < `expired` < `processing` < `succeeded` < `returned`,
  /// and `processing` < `declined`, `cancelled`. So the order in which the observations of one operation arrive does
  /// not matter. What was declined or cancelled did not succeed later, and the other way round: of two that
  /// contradict each other the first stays.
  package func allows(_ next: Operation.State) -> Bool {
    switch (name, next.name) {
    case (_, .prepared), (_, .sent), (_, .failed): false
    case (.waiting, .waiting): action != nil || next.action == nil
    case (.sent, _), (.waiting, _): true
    case (.expired, .waiting), (.expired, .expired): false
    // A barcode that was paid after all, at its last moment.
    case (.expired, _): true
    case (.processing, .waiting), (.processing, .expired): false
    case (.processing, _): true
    case (.succeeded, .succeeded), (.succeeded, .returned): true
    default: false
    }
  }
}
