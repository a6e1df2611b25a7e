package import TenderModel

/// A connection's lock, for threads that share it, and the transactions that they commit together.
///
/// While one thread commits and syncs, the others write into the next transaction. One of them then commits it
/// for all.
package final class CommitGroup: @unchecked Sendable {
  // Unchecked: `lock` guards the connection, and `state` the members below.

  /// The connection's lock. A body that is called with each row may ask for others.
  private let lock = ThreadLock(isRecursive: true)
  private let state = ThreadLock()
  private let changed: ThreadCondition

  /// The number of the transaction that threads join now, and that of the last one whose commit ended.
  private var current = 1
  private var finished = 0
  private var isCommitting = false
  /// The number of threads that have written into the current transaction, and whether one needs the disk.
  private var members = 0
  private var needsDisk = false
  /// The reasons why transactions were lost, or may be.
  private var lost: [Int: Fault] = [:]

  package init() { changed = ThreadCondition(of: state) }

  /// Waits for the connection. A thread may take it several times.
  package func take() { lock.take() }

  /// Gives the connection to the next thread.
  package func end() { lock.end() }

  /// Whether a transaction is open that other threads wait for. The caller has the connection.
  package var isOpen: Bool { state.locked { members > 0 } }

  /// Counts what the holder of the connection wrote. Returns the number of its transaction.
  package func join(needsDisk: Bool) -> Int {
    state.locked {
      members += 1
      self.needsDisk = self.needsDisk || needsDisk
      return current
    }
  }

  /// Records that the open transaction is lost, for all threads that wait for it.
  package func lose(_ fault: Fault) {
    state.locked {
      lost[current] = fault
      begin()
      changed.wakeAll()
    }
  }

  private func begin() {
    current += 1
    members = 0
    needsDisk = false
  }

  /// Waits until a transaction is committed, and on the disk if one of its threads needs that. Returns the reason
  /// if it is lost, or may be.
  ///
  /// `commit` is called with the connection, `sync` without it.
  package func wait(
    for number: Int,
    commit: () throws(Fault) -> Void,
    sync: () throws(Fault) -> Void
  ) -> Fault? {
    state.take()
    defer { state.end() }
    while finished < number, lost[number] == nil {
      guard !isCommitting else {
        changed.wait()
        continue
      }
      isCommitting = true
      state.end()
      let problem = close(number, commit, sync)
      state.take()
      isCommitting = false
      if let problem { lost[number] = problem }
      finished = number
      changed.wakeAll()
    }
    return lost[number]
  }

  private func close(
    _ number: Int,
    _ commit: () throws(Fault) -> Void,
    _ sync: () throws(Fault) -> Void
  ) -> Fault? {
    take()
    // Another thread's error may have ended the transaction meanwhile.
    let isWanted: Bool? = state.locked {
      guard current == number else { return nil }
      defer { begin() }
      return needsDisk
    }
    guard let isWanted else {
      end()
      return state.locked { lost[number] }
    }
    do throws(Fault) {
      do {
        defer { end() }
        try commit()
      }
      if isWanted { try sync() }
      return nil
    } catch {
      return error
    }
  }
}
