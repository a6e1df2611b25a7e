private import Synchronization

/// A lock for writing to a file, among the threads of this process.
///
/// SQLite lets a thread that finds a file locked sleep, longer each time. Threads that wait here wake at
/// once, and in turn.
final class WriterTurn: Sendable {
  private static let all = Mutex<[String: WriterTurn]>([:])

  let lock = ThreadLock()
  /// The number of open connections.
  private let connections = Mutex(0)

  /// The turn of a file, shared by all connections of the process. It lasts as long as the process.
  static func of(_ path: String) -> WriterTurn {
    all.withLock { all in
      if let known = all[path] { return known }
      let made = WriterTurn()
      all[path] = made
      return made
    }
  }

  /// Counts a connection that was opened.
  func join() { connections.withLock { $0 += 1 } }

  /// Counts a connection that closes. Returns whether it is the last one of this process.
  func leave() -> Bool {
    connections.withLock { connections in
      connections -= 1
      return connections == 0
    }
  }
}
