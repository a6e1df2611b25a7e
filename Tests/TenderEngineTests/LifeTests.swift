import TenderEngine
import TenderModel
import TenderTestSupport
import Testing

/// Every state of an attempt with every event: what it becomes, and what a driver is told to do.
@Suite struct LifeTests {
  typealias State = Attempt.State

  /// An attempt in a state, as the journal may hold it.
  static func attempt(_ state: State) -> Attempt {
    var attempt = Attempt.payment("A", at: 1000)
    attempt.amount = 1050
    switch state {
    case .prepared: break
    case .sending:
      attempt.phase = .sent
      attempt.id = "pt-1"
      attempt.preparation = .secret("sealed")
    case .held:
      attempt.phase = .done
      attempt.status = .requiresConfirmation
      attempt.id = "pt-1"
      attempt.preparation = .secret("sealed")
    case .open:
      attempt.phase = .done
      attempt.status = .pending
    case .done:
      attempt.phase = .done
      attempt.status = .succeeded
    case .freed:
      attempt.phase = .done
      attempt.status = .failed
      attempt.isFreed = true
    }
    return attempt
  }

  static let moment = Moment(boot: "b", milliseconds: 7)
  static let paid = Outcome(status: .succeeded, id: "pt-2", result: ["type": "PT_COMPLETE"])
  static let declined = Outcome(status: .declined, result: ["type": "NO"])
  static let lost = Fault(.unknown, effect: .unknown, code: "outcome_unknown", "lost")
  static let refused = Fault(.rejected, code: "refused", "no", result: ["type": "NO"])
  static let expired = Fault(.expired, code: "session_expired", "late")
  static let stopped = Fault(.cancelled, code: "stopped", "stopped")

  static let events: [(name: String, make: @Sendable (Attempt) -> Attempt.Event)] = [
    ("send", { _ in .send(moment) }),
    ("send after", { _ in .send(moment, note: "made, sent") }),
    ("keep", { _ in .keep(.secret("p"), id: nil, sendingNext: false) }),
    ("keep and send", { _ in .keep(.secret("p"), id: "pt-9", sendingNext: true) }),
    ("enter", { _ in .enter("busy", sendingNext: false) }),
    ("record", { _ in .record(paid, note: "made") }),
    ("record and send", { _ in .record(paid, note: nil) }),
    ("conclude", { _ in .conclude(paid, .transact, note: "outcome") }),
    ("fail unknown", { .fail(lost, .confirm, from: $0) }),
    ("fail refused", { .fail(refused, .transact, from: $0) }),
    ("fail expired", { .fail(expired, .transact, from: $0) }),
    ("fail stopped", { .fail(stopped, .transact, from: $0) }),
    ("find", { _ in .find(paid) }),
    ("redo", { _ in .redo(declined, .cancel) }),
    ("absent", { _ in .absent }),
    ("stand", { _ in .stand(paid) }),
    ("see", { _ in .see(paid, .transact) }),
    ("die", { _ in .die }),
    ("settle", { _ in .settle(.declined, reversal: nil, reason: "said so") }),
  ]

  /// What each event makes of each state: the next state, its status, and the actions; nil where it
  /// cannot happen.
  ///
  /// Columns: prepared, sending, held, open, done, freed.
  static let table: [String: [String?]] = [
    "send": [
      "sending pending | write sent, say sent", "sending pending | write sent, say sent",
      "sending requires_confirmation | write sent, say sent",
      "sending pending | write sent, say sent", "sending succeeded | write sent, say sent", nil,
    ],
    "send after": [
      "sending pending | write made, sent, say sent",
      "sending pending | write made, sent, say sent",
      "sending requires_confirmation | write made, sent, say sent",
      "sending pending | write made, sent, say sent",
      "sending succeeded | write made, sent, say sent", nil,
    ],
    "keep": [
      "prepared pending | write preparation kept", "sending pending | write preparation kept",
      "held requires_confirmation | write preparation kept",
      "open pending | write preparation kept", "done succeeded | write preparation kept", nil,
    ],
    "keep and send": [
      "prepared pending |", "sending pending |", "held requires_confirmation |", "open pending |",
      "done succeeded |", nil,
    ],
    "enter": [
      "prepared pending | note busy, announce busy", "sending pending | note busy, announce busy",
      "held requires_confirmation | note busy, announce busy",
      "open pending | note busy, announce busy", "done succeeded | note busy, announce busy", nil,
    ],
    "record": [
      "done succeeded | write made", "done succeeded | write made", "done succeeded | write made",
      "done succeeded | write made", "done succeeded | write made", nil,
    ],
    "record and send": [
      "done succeeded |", "done succeeded |", "done succeeded |", "done succeeded |",
      "done succeeded |", nil,
    ],
    "conclude": [
      "done succeeded | conclude outcome, say succeeded",
      "done succeeded | conclude outcome, say succeeded",
      "done succeeded | conclude outcome, say succeeded",
      "done succeeded | conclude outcome, say succeeded",
      "done succeeded | conclude outcome, say succeeded", nil,
    ],
    "fail unknown": [
      "prepared pending | try outcome unknown: outcome_unknown, say unknown",
      "sending pending | try outcome unknown: outcome_unknown, say unknown",
      "held requires_confirmation | try outcome unknown: outcome_unknown, say unknown",
      "open pending | try outcome unknown: outcome_unknown, say unknown",
      "done succeeded | try outcome unknown: outcome_unknown, say unknown", nil,
    ],
    "fail refused": [
      "freed failed | try ended with no effect: refused, say failed",
      "freed failed | try ended with no effect: refused, say failed",
      "held requires_confirmation | try transact had no effect: refused",
      "open pending | try transact had no effect: refused",
      "done succeeded | try transact had no effect: refused", nil,
    ],
    "fail expired": [
      "freed expired | try ended with no effect: session_expired, say expired",
      "freed expired | try ended with no effect: session_expired, say expired",
      "held requires_confirmation | try transact had no effect: session_expired",
      "open pending | try transact had no effect: session_expired",
      "done succeeded | try transact had no effect: session_expired", nil,
    ],
    "fail stopped": [
      "freed cancelled | try ended with no effect: stopped, say cancelled",
      "freed cancelled | try ended with no effect: stopped, say cancelled",
      "held requires_confirmation | try transact had no effect: stopped",
      "open pending | try transact had no effect: stopped",
      "done succeeded | try transact had no effect: stopped", nil,
    ],
    "find": [nil, "done succeeded | write found out, say succeeded", nil, nil, nil, nil],
    "redo": [nil, "done declined | write sent again and done, say declined", nil, nil, nil, nil],
    "absent": [
      nil, "held requires_confirmation | write found out, say requires_confirmation", nil, nil,
      nil, nil,
    ],
    "stand": [nil, "done succeeded | write found out, say succeeded", nil, nil, nil, nil],
    "see": [
      nil, nil, "done succeeded | write looked up", "done succeeded | write looked up",
      "done succeeded | write looked up", nil,
    ],
    "die": ["freed failed | write ended before anything was sent", nil, nil, nil, nil, nil],
    "settle": [
      nil, "done declined | write settled by hand as declined: said so", nil, nil, nil, nil,
    ],
  ]

  static func words(_ action: Attempt.Action) -> String {
    switch action {
    case .write(let note, .power): "write " + note
    case .write(let note, .process): "note " + note
    case .conclude(let note): "conclude " + note
    case .tryToConclude(let note): "try " + note
    case .announce(let state): "announce " + state
    case .say(let state): "say " + state
    }
  }

  @Test(arguments: events.map(\.name), State.allCases)
  func `takes in what can happen, and nothing else`(_ name: String, _ state: State) throws {
    let row = try #require(Self.table[name])
    #expect(row.count == State.allCases.count)
    let expected = row[try #require(State.allCases.firstIndex(of: state))]
    let event = try #require(Self.events.first { $0.name == name })
    var attempt = Self.attempt(state)
    #expect(attempt.state == state)
    let before = attempt
    do {
      let actions = try attempt.receive(event.make(before), at: 2000)
      let words = actions.map(Self.words).joined(separator: ", ")
      let found = "\(attempt.state.rawValue) \(attempt.status.rawValue) | \(words)"
      #expect(found.trimmingSuffix(" ") == expected)
      #expect(attempt.updatedAt == 2000)
      #expect(attempt.version == before.version)
    } catch {
      #expect(expected == nil, "\(error)")
      #expect(error.kind == .internal)
      let word = event.name.prefix { $0 != " " }
      #expect(error.message == "an attempt that is \(state.rawValue) cannot take in \(word)")
      #expect(attempt.updatedAt == before.updatedAt)
      #expect(attempt.status == before.status)
      #expect(attempt.phase == before.phase)
    }
  }

  @Test func `has a row for every event`() {
    #expect(Set(Self.table.keys) == Set(Self.events.map(\.name)))
  }

  @Test func `writes the moment of a send down`() throws {
    var attempt = Self.attempt(.prepared)
    _ = try attempt.receive(.send(Self.moment), at: 2000)
    #expect(attempt.sentAt == 2000)
    #expect(attempt.sentMoment == Self.moment)
  }

  @Test func `keeps no preparation once nothing waits for it`() throws {
    for event in ["conclude", "find", "redo", "fail refused", "settle"] {
      var attempt = Self.attempt(.sending)
      var from = attempt
      from.phase = .prepared
      let make = try #require(Self.events.first { $0.name == event })
      _ = try attempt.receive(make.make(from), at: 2000)
      #expect(attempt.preparation == nil, "\(event)")
    }
  }

  /// What nothing came of leaves things as they were before it was tried.
  @Test(
    arguments: [
      (Attempt.Operation.transact, Status.pending, nil, nil, State.freed, Status.failed),
      (.transact, .pending, "pt-1", .secret("sealed"), .held, .requiresConfirmation),
      (.confirm, .requiresConfirmation, "pt-1", .secret("sealed"), .held, .requiresConfirmation),
      (.cancel, .succeeded, "pt-1", nil, .done, .succeeded),
      (.cancel, .succeeded, "pt-1", .plain("refund"), .done, .succeeded),
      (.cancel, .partiallyRefunded, "pt-1", .plain("refund"), .done, .partiallyRefunded),
    ] as [(Attempt.Operation, Status, String?, Attempt.Preparation?, State, Status)]
  )
  func `is as before where nothing happened`(
    _ operation: Attempt.Operation,
    _ status: Status,
    _ id: String?,
    _ preparation: Attempt.Preparation?,
    _ next: State,
    _ then: Status
  ) throws {
    var attempt = Self.attempt(.sending)
    attempt.operation = operation
    attempt.status = status
    attempt.id = id
    attempt.preparation = preparation
    attempt.fault = Self.lost
    _ = try attempt.receive(.absent, at: 2000)
    #expect(attempt.state == next)
    #expect(attempt.status == then)
    #expect(attempt.fault == nil)
    #expect(attempt.preparation == (next == .held ? .secret("sealed") : nil))
  }

  @Test(arguments: [
    ("b 100", "b 350", 250), ("b 400", "b 350", 0), ("b 100", "c 20", 20),
    ("c 5000", "d 6000", 6000),
  ])
  func `time since a moment is at least what one boot shows`(
    _ earlier: String,
    _ later: String,
    _ passed: Int
  ) throws {
    let first = try #require(Moment(earlier))
    let second = try #require(Moment(later))
    #expect(second.elapsed(since: first) == passed)
    #expect(Moment(first.text) == first)
  }
}

extension String {
  fileprivate func trimmingSuffix(_ end: Character) -> String {
    last == end ? String(dropLast()) : self
  }
}
