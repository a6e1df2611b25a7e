package import TenderModel

/// The life of an attempt: a machine that takes events in and gives the actions that they ask for.
///
/// It does nothing by itself: a driver writes and announces what it is told to, in that order. What
/// cannot be in a state is a fault `internal`, and changes nothing.
extension Attempt {
  /// Where an attempt stands.
  package enum State: String, Sendable, Hashable, CaseIterable {
    /// Nothing effecting has left.
    case prepared
    /// An effecting request may have left, and nobody knows what it did.
    case sending
    /// Authorized, and waits for a capture.
    case held
    /// Its payer, merchant or provider still has something to do.
    case open
    /// It has its outcome.
    case done
    /// It provably had no effect, and its reference may be used again.
    case freed
  }

  /// What happens to an attempt.
  package enum Event: Sendable {
    /// An effecting request is about to leave.
    case send(Moment, note: String = "sent")
    /// The provider prepared something that a later step needs; `sendingNext` says that `send` follows
    /// at once and writes both.
    case keep(Preparation, id: String?, sendingNext: Bool)
    /// A provider's documented state was entered.
    case enter(String, sendingNext: Bool)
    /// An outcome that the work goes on from; without a note it is written with what comes next.
    case record(Outcome, note: String?)
    /// The outcome of an operation.
    case conclude(Outcome, Operation, note: String)
    /// The work ended with a fault; `from` is what it is without that work.
    case fail(Fault, Operation, from: Attempt)
    /// Its lost answer was found out.
    case find(Outcome)
    /// It was done now, or undone, since nothing of it was there.
    case redo(Outcome, Operation)
    /// Nothing of it is there, and nothing will be.
    case absent
    /// Nothing of it is there, and this is how the payment is without it.
    case stand(Outcome)
    /// Somebody looked it up; `Operation` says in whose words the answer is kept, if it is.
    case see(Outcome, Operation)
    /// Its process is gone.
    case die
    /// Somebody says how it ended.
    case settle(Status, reversal: Reversal?, reason: String)
  }

  /// What a driver does for an event, in this order.
  package enum Action: Sendable, Hashable {
    /// Write the state; where that fails nothing has happened.
    case write(note: String, Durability)
    /// Write what a request came to; where the journal fails, into the room that was taken for it.
    case conclude(note: String)
    /// As `conclude`, where a failure to write loses no knowledge.
    case tryToConclude(note: String)
    /// Show a state to whoever watches.
    case announce(String)
    /// Show a state, unless the provider has names of its own for them.
    case say(String)
  }

  package var state: State {
    switch phase {
    case .prepared: .prepared
    case .sent: .sending
    case .done where isFreed: .freed
    case .done where status == .requiresConfirmation: .held
    case .done: isFinal ? .done : .open
    }
  }

  /// Takes an event in, at a time in milliseconds since 1970.
  ///
  /// Throws `internal` for what cannot happen in its state.
  package mutating func receive(_ event: Event, at time: Int) throws(Fault) -> [Action] {
    guard Self.isPossible(event, in: state) else { throw .impossible(event, state) }
    updatedAt = time
    switch event {
    case .send(let moment, let note):
      phase = .sent
      sentAt = time
      sentMoment = moment
      writtenMoment = nil
      return [.write(note: note, .power), .say("sent")]
    case .keep(let preparation, let id, let sendingNext):
      self.preparation = preparation
      facts.id = id ?? facts.id
      return sendingNext ? [] : [.write(note: "preparation kept", .power)]
    case .enter(let name, let sendingNext):
      result = ["state": .string(name)]
      return (sendingNext ? [] : [.write(note: name, .process)]) + [.announce(name)]
    case .record(let outcome, let note):
      apply(outcome, at: time)
      return note.map { [.write(note: $0, .power)] } ?? []
    case .conclude(let outcome, let operation, let note):
      self.operation = operation
      apply(outcome, at: time)
      return [.conclude(note: note), .say(status.rawValue)]
    case .fail(let fault, let operation, let from):
      return fail(fault, operation, from, at: time)
    case .find(let outcome):
      apply(outcome, at: time)
      return [.write(note: "found out", .power), .say(status.rawValue)]
    case .redo(let outcome, let operation):
      self.operation = operation
      apply(outcome, at: time)
      return [.write(note: "sent again and done", .power), .say(status.rawValue)]
    case .absent:
      leaveUndone()
      return [.write(note: "found out", .power), .say(status.rawValue)]
    case .stand(let outcome):
      operation = .transact
      apply(outcome, at: time)
      return [.write(note: "found out", .power), .say(status.rawValue)]
    case .see(let outcome, let operation):
      if outcome.recorded != nil {
        self.operation = operation
        apply(outcome, at: time)
      } else {
        status = outcome.status
      }
      return [.write(note: "looked up", .power)]
    case .die:
      free(as: .failed)
      return [.write(note: "ended before anything was sent", .power)]
    case .settle(let status, let reversal, let reason):
      end(as: status, reversal)
      return [.write(note: "settled by hand as \(status.rawValue): \(reason)", .power)]
    }
  }

  /// What can happen in which state.
  private static func isPossible(_ event: Event, in state: State) -> Bool {
    switch event {
    case .send, .keep, .enter, .record, .conclude, .fail: state != .freed
    case .find, .redo, .absent, .stand, .settle: state == .sending
    case .see: [.held, .open, .done].contains(state)
    case .die: state == .prepared
    }
  }

  /// Unknown stays as sent as it is; effect none leaves things as they were found.
  private mutating func fail(
    _ fault: Fault,
    _ operation: Operation,
    _ from: Attempt,
    at time: Int
  ) -> [Action] {
    if fault.effect == .unknown {
      self.operation = operation
      self.fault = fault
      return [.tryToConclude(note: "outcome unknown: \(fault.code)"), .say("unknown")]
    }
    if from.phase == .done {
      let version = version
      self = from
      self.version = version
      updatedAt = time
      return [.tryToConclude(note: "\(operation.rawValue) had no effect: \(fault.code)")]
    }
    let status: Status =
      switch fault.kind {
      case .expired: .expired
      case .cancelled: .cancelled
      default: .failed
      }
    free(as: status)
    self.fault = fault
    if let result = fault.result { self.result = result }
    return [.tryToConclude(note: "ended with no effect: \(fault.code)"), .say(status.rawValue)]
  }

  private mutating func free(as status: Status) {
    phase = .done
    self.status = status
    isFreed = true
    preparation = nil
  }

  /// What was tried did not happen: the attempt is as it was before.
  private mutating func leaveUndone() {
    fault = nil
    if operation == .cancel, status != .requiresConfirmation {
      phase = .done
      preparation = nil
    } else if preparation != nil, facts.id != nil {
      // What was prepared at the provider is held there; the body of a creation is not.
      phase = .done
      status = .requiresConfirmation
    } else if operation == .transact {
      free(as: .failed)
    } else {
      phase = .done
    }
  }

  private mutating func end(as status: Status, _ reversal: Reversal?) {
    if status == .failed {
      free(as: .failed)
    } else {
      phase = .done
      self.status = status
      preparation = nil
    }
    fault = nil
    nextAction = nil
    self.reversal = reversal ?? self.reversal
  }
}

extension Fault {
  fileprivate static func impossible(_ event: Attempt.Event, _ state: Attempt.State) -> Fault {
    // Its name alone: what comes with it may be a secret.
    let name = "\(event)".prefix { $0 != "(" }
    return Fault(
      .internal,
      code: "internal",
      "an attempt that is \(state.rawValue) cannot take in \(name)"
    )
  }
}
