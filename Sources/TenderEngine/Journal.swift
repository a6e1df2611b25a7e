package import TenderModel

/// What a write must survive before it counts as written.
package enum Durability: Sendable, Hashable {
  /// The end of the process, however it ends; the power may take it.
  case process
  /// The end of the power: the bytes are on the disk.
  case power
}

/// Where every attempt is written before it is sent.
///
/// Each write names the version of the attempt that it was made from, and fails (`journal_conflict`)
/// where another has written since. Every function throws a `state` fault.
package protocol Journal: Sendable {
  /// Takes the lock on a reference, waiting until `deadline`; nil where another process holds it.
  /// The lock ends when the returned value is let go, or with the process.
  func lock(
    _ key: ReferenceKey,
    by deadline: Deadline,
    interruption: any Interruption
  ) throws(Fault) -> (any AttemptLock)?
  /// Takes the lock on the reference of an attempt that would be its first, as `lock` does.
  ///
  /// Where the reference is new the attempt may be written at once, so that `insert` of it does nothing more;
  /// `latest` says nothing of it before.
  func lock(
    opening attempt: Attempt,
    by deadline: Deadline,
    interruption: any Interruption
  ) throws(Fault) -> (any AttemptLock)?
  /// Takes the lock on a device of this machine, as `lock` does on a reference.
  func lockDevice(
    _ address: String,
    by deadline: Deadline,
    _ interruption: any Interruption
  ) throws(Fault) -> (any AttemptLock)?
  /// The latest attempt at a reference.
  func latest(_ key: ReferenceKey) throws(Fault) -> Attempt?
  /// The attempts whose reference or provider's id is `handle`, the one with the highest number first.
  func attempts(matching handle: String, filter: AttemptFilter) throws(Fault) -> [Attempt]
  /// The attempts that a filter lets through, newest first, one by one; stops where `body` says no.
  func each(_ filter: AttemptFilter, _ body: (Attempt) -> Bool) throws(Fault)
  /// How many attempts a filter lets through; nothing is counted beyond `limit`.
  func count(_ filter: AttemptFilter, upTo limit: Int) throws(Fault) -> Int
  /// How many attempts there are, for names that a seed makes.
  func count() throws(Fault) -> Int
  /// Writes a new attempt and gives it its row.
  func insert(_ attempt: Attempt, _ durability: Durability) throws(Fault) -> Attempt
  /// Writes an attempt's new state and a line of its history, and raises its version.
  ///
  /// A preparation that the state no longer has is erased from the files for good. Where the state is
  /// `sent`, room for its outcome is taken first (see `setAside`), and the files are looked for at
  /// their paths: without either nothing is written.
  func update(_ attempt: inout Attempt, note: String, _ durability: Durability) throws(Fault)
  /// Writes what came of an attempt in `sent` where `update` cannot: into the room that was taken
  /// before it was sent. Every reader sees it from then on, and the next that can writes it in its
  /// place.
  func setAside(_ attempt: inout Attempt, note: String) throws(Fault)
  /// Throws (`journal_forgot`) where the journal is not all that was written here: then it cannot say
  /// that a reference is new.
  func checkWhole() throws(Fault)
  /// Says that attempts are sent to others than the simulator in this process: they outlive the
  /// journal.
  func reachesOutside()
  /// Of the members that this journal does not keep as they were typed, what tells them apart: a keyed
  /// hash each, by name.
  func fingerprints(of content: JSONObject) throws(Fault) -> JSONObject
  /// Asks whoever works on a reference to stop, where it still can.
  func requestStop(_ key: ReferenceKey) throws(Fault)
  /// Whether that was asked for, and not taken back.
  func isStopRequested(_ key: ReferenceKey) -> Bool
  /// Takes such a wish back, before new work begins or once the old has ended.
  func forgetStop(_ key: ReferenceKey)
  /// How many attempts `prune` would take out.
  func prunable(before time: Int, _ filter: AttemptFilter) throws(Fault) -> Int
  /// Takes references out, with every attempt at them and their history, and says how many attempts
  /// that were.
  ///
  /// A reference goes whole or stays: it stays where an attempt at it changed at `time`
  /// (milliseconds since 1970) or later, is not final, or is a mandate that can still be revoked.
  func prune(before time: Int, _ filter: AttemptFilter) throws(Fault) -> Int
  /// What happened to an attempt, oldest first.
  func history(of attempt: Attempt) throws(Fault) -> [HistoryEntry]

  /// Writes what a request that was sent came to: into the room taken for it where the journal fails.
  ///
  /// `isLast` says that nothing more is written of it under its lock. Gives why it had to be set aside.
  /// Throws the journal's own fault where neither was possible.
  func conclude(_ attempt: inout Attempt, note: String, isLast: Bool) throws(Fault) -> Fault?
  /// Who works on a reference, in words, as far as the journal knows.
  func worker(_ key: ReferenceKey) -> String?
  /// Until when an effecting request may leave; nil where a lock lasts as long as its process.
  var permit: SendPermit? { get }
  /// Reads everything and compares it with its checksums; gives what is wrong, in words.
  func verify() throws(Fault) -> [String]
  /// Writes a consistent copy into a new file, while others go on.
  func backUp(to path: String) throws(Fault)
  /// Takes the journal as it is for whole again, at a time in milliseconds since 1970.
  func settleLoss(reason: String, at time: Int) throws(Fault)
  /// Takes out of the files what is to be gone for good, where that was put off.
  func finishErasing() throws(Fault)
  /// Writes an attempt as another journal had it, with its history; false where it is there already.
  ///
  /// Throws `conflict` where another attempt has its place.
  func take(_ attempt: Attempt, _ history: [HistoryEntry]) throws(Fault) -> Bool
}

extension Journal {
  package func count(_ filter: AttemptFilter, upTo limit: Int) throws(Fault) -> Int {
    try counted(filter, upTo: limit)
  }

  /// Counts one by one what a filter lets through.
  package func counted(_ filter: AttemptFilter, upTo limit: Int) throws(Fault) -> Int {
    var count = 0
    try each(filter) { _ in
      count += 1
      return count < limit
    }
    return count
  }

  package func conclude(
    _ attempt: inout Attempt,
    note: String,
    isLast: Bool
  ) throws(Fault) -> Fault? {
    do throws(Fault) {
      try update(&attempt, note: note, .power)
      return nil
    } catch {
      do throws(Fault) {
        try setAside(&attempt, note: note)
        return .setAside(error)
      } catch let second {
        _ = second
        throw error
      }
    }
  }

  package func lock(
    opening attempt: Attempt,
    by deadline: Deadline,
    interruption: any Interruption
  ) throws(Fault) -> (any AttemptLock)? {
    try lock(attempt.key, by: deadline, interruption: interruption)
  }

  package func lockDevice(
    _ address: String,
    by deadline: Deadline,
    _ interruption: any Interruption
  ) throws(Fault) -> (any AttemptLock)? {
    // No provider has that name.
    let name = ProviderName("device")
    let key = ReferenceKey(env: .simulator, provider: name, reference: Reference(stored: address))
    return try lock(key, by: deadline, interruption: interruption)
  }

  package func worker(_ key: ReferenceKey) -> String? { nil }

  package var permit: SendPermit? { nil }

  package func verify() throws(Fault) -> [String] { [] }

  package func finishErasing() throws(Fault) {}

  package func backUp(to path: String) throws(Fault) { throw .unsupported("copied") }

  package func settleLoss(reason: String, at time: Int) throws(Fault) {
    throw .unsupported("settled")
  }

  package func take(_ attempt: Attempt, _ history: [HistoryEntry]) throws(Fault) -> Bool {
    throw .unsupported("written to from another")
  }
}

extension Fault {
  /// What a journal cannot do.
  fileprivate static func unsupported(_ what: String) -> Fault {
    Fault(.unsupported, code: "journal_unsupported", "this journal cannot be \(what)")
  }
}

/// A held lock; it ends with the last reference to it.
package protocol AttemptLock: AnyObject {}

/// One line of an attempt's history.
package struct HistoryEntry: Sendable, Hashable {
  /// Milliseconds since 1970.
  package let at: Int
  package let phase: String
  package let status: String
  package let note: String
  /// Who wrote it, as `USER@MACHINE`; nil where the journal did not write that down yet.
  package let by: String?

  package init(at: Int, phase: String, status: String, note: String, by: String? = nil) {
    self.at = at
    self.phase = phase
    self.status = status
    self.note = note
    self.by = by
  }
}
