private import Synchronization
package import TenderEngine
package import TenderModel

/// A journal in memory, by the same contract as the one on disk.
package final class MemoryJournal: Journal {
  private struct State {
    var attempts: [Attempt] = []
    var history: [(row: Int, entry: HistoryEntry)] = []
    var locks: Set<String> = []
    var stops: Set<String> = []
    var rooms: Set<Int> = []
  }

  private let state = Mutex(State())

  package init() {}

  /// A reference in use; the name goes with it.
  private final class Held: AttemptLock {
    let journal: MemoryJournal
    let name: String

    init(_ journal: MemoryJournal, _ name: String) {
      self.journal = journal
      self.name = name
    }

    deinit { journal.state.withLock { _ = $0.locks.remove(name) } }
  }

  package func lock(
    _ key: ReferenceKey,
    by deadline: Deadline,
    interruption: any Interruption
  ) throws(Fault) -> (any AttemptLock)? {
    let name = key.description
    while true {
      if state.withLock({ $0.locks.insert(name).inserted }) { return Held(self, name) }
      guard deadline.remaining > 0 else { return nil }
      try interruption.check()
    }
  }

  package func latest(_ key: ReferenceKey) throws(Fault) -> Attempt? {
    state.withLock { state in
      state.attempts
        .filter { $0.key == key }
        .max { $0.number < $1.number }
    }
  }

  package func attempts(
    matching handle: String,
    filter: AttemptFilter
  ) throws(Fault) -> [Attempt] {
    state.withLock { state in
      state.attempts
        .filter { ($0.reference.text == handle || $0.id == handle) && filter.lets($0) }
        .sorted { $0.row > $1.row }
    }
  }

  package func each(_ filter: AttemptFilter, _ body: (Attempt) -> Bool) throws(Fault) {
    let found = state.withLock { $0.attempts.filter(filter.lets) }
    for attempt in found.sorted(by: { ($0.createdAt, $0.row) > ($1.createdAt, $1.row) }) {
      guard body(attempt) else { return }
    }
  }

  package func count() throws(Fault) -> Int { state.withLock { $0.attempts.map(\.row).max() ?? 0 } }

  package func insert(
    _ attempt: Attempt,
    _ durability: Durability
  ) throws(Fault) -> Attempt {
    let written: Attempt? = state.withLock { state in
      var written = attempt
      written.row = (state.attempts.map(\.row).max() ?? 0) + 1
      written.version = 1
      let isTaken = state.attempts.contains {
        $0.env == attempt.env && $0.provider == attempt.provider
          && $0.reference == attempt.reference && $0.number == attempt.number
      }
      guard !isTaken else { return nil }
      state.attempts.append(written)
      state.history.append((written.row, HistoryEntry(written, "opened")))
      return written
    }
    guard let written else { throw Fault(.state, code: "state_unusable", "the number is taken") }
    return written
  }

  package func update(
    _ attempt: inout Attempt,
    note: String,
    _ durability: Durability
  ) throws(Fault) {
    var written = attempt
    written.version += 1
    let isDone = state.withLock { state in
      let place = state.attempts.firstIndex { $0.row == written.row }
      guard let place, state.attempts[place].version == written.version - 1 else { return false }
      state.attempts[place] = written
      state.history.append((written.row, HistoryEntry(written, note)))
      if written.phase == .sent {
        state.rooms.insert(written.row)
      } else {
        state.rooms.remove(written.row)
      }
      return true
    }
    guard isDone else {
      throw Fault(
        .state,
        code: "journal_conflict",
        cause: .changedMeanwhile,
        "it was changed meanwhile"
      )
    }
    attempt = written
  }

  package func setAside(_ attempt: inout Attempt, note: String) throws(Fault) {
    let hasRoom = state.withLock { $0.rooms.contains(attempt.row) }
    guard hasRoom else { throw Fault(.state, code: "state_unusable", "no room was taken") }
    try update(&attempt, note: note, .power)
  }

  package func checkWhole() throws(Fault) {}

  package func reachesOutside() {}

  package func fingerprints(of content: JSONObject) throws(Fault) -> JSONObject { [:] }

  package func requestStop(_ key: ReferenceKey) throws(Fault) {
    state.withLock { _ = $0.stops.insert(key.description) }
  }

  package func isStopRequested(_ key: ReferenceKey) -> Bool {
    state.withLock { $0.stops.contains(key.description) }
  }

  package func forgetStop(_ key: ReferenceKey) {
    state.withLock { _ = $0.stops.remove(key.description) }
  }

  package func prunable(before time: Int, _ filter: AttemptFilter) throws(Fault) -> Int {
    state.withLock { Self.prunable($0.attempts, before: time, filter).count }
  }

  package func prune(before time: Int, _ filter: AttemptFilter) throws(Fault) -> Int {
    state.withLock { state in
      let rows = Self.prunable(state.attempts, before: time, filter)
      state.attempts.removeAll { rows.contains($0.row) }
      state.history.removeAll { rows.contains($0.row) }
      return rows.count
    }
  }

  private static func prunable(
    _ attempts: [Attempt],
    before time: Int,
    _ filter: AttemptFilter
  ) -> Set<Int> {
    func isNeeded(_ attempt: Attempt) -> Bool {
      attempt.updatedAt >= time || attempt.phase != .done || !attempt.status.isFinal
        || attempt.nextAction != nil || attempt.kind == .mandate && attempt.status == .authorized
        || attempt.content.text("type") == "refund"
          && attempts.contains { $0.reference.text == attempt.content.text("original") }
    }
    let kept = Set(attempts.filter(isNeeded).map(\.key))
    let rows = attempts.filter { attempt in
      filter.lets(attempt) && !kept.contains(attempt.key)
    }
    return Set(rows.map(\.row))
  }

  package func history(of attempt: Attempt) throws(Fault) -> [HistoryEntry] {
    state.withLock { $0.history.filter { $0.row == attempt.row }.map(\.entry) }
  }
}

extension HistoryEntry {
  fileprivate init(_ attempt: Attempt, _ note: String) {
    self.init(
      at: attempt.updatedAt,
      phase: attempt.phase.rawValue,
      status: attempt.shownStatus.rawValue,
      note: note
    )
  }
}
