private import Synchronization
package import TenderEngine
import TenderModel

/// Conversations that are opened while others run: five of a payment's seven round trips are the same for
/// every payment, and move no money.
///
/// At most one is opened for every two that were taken, so that few lines leave little behind; what is
/// left at the end is closed with the process.
package final class ConversationsAhead: Sendable {
  package typealias Exchanges = (http: any HTTPExchange, sockets: any SocketExchange)

  private struct State: Sendable {
    var ready: [Opened] = []
    var opening = 0
    var taken = 0
    var idle: [Carrier] = []
  }

  /// A conversation that nobody uses yet.
  private struct Opened: @unchecked Sendable {
    // Unchecked: it goes from the thread that opened it to the one that takes it, under the lock.
    let conversation: Conversation
    let name: String
    let at: Int
  }

  private struct Carrier: Sendable {
    let http: any HTTPExchange
    let sockets: any SocketExchange
  }

  /// Shorter than any documented life of a token, and than what gateways let idle, in milliseconds.
  private static let freshness = 60_000
  private static let threadsAtOnce = 4

  private let state = Mutex(State())
  private let most: Int
  private let make: @Sendable () -> Exchanges

  /// So many at most; `make` gives a thread what it opens them with.
  package init(most: Int, make: @escaping @Sendable () -> Exchanges) {
    self.most = most
    self.make = make
  }

  /// How many wait to be taken.
  package var count: Int { state.withLock(\.ready.count) }

  /// A conversation that was opened for the same account; nil where there is none.
  ///
  /// Begins to open others.
  func take(_ context: PayTheoryContext) -> Conversation? {
    let name = context.account
    let now = context.clock.uptime
    let (found, lacking) = state.withLock { state in
      state.taken += 1
      state.ready.removeAll { now - $0.at > Self.freshness }
      var found: Conversation?
      if let index = state.ready.firstIndex(where: { $0.name == name }) {
        found = state.ready.remove(at: index).conversation
      }
      let wanted = min(most, state.taken / 2) - state.ready.count - state.opening
      let lacking = max(0, min(wanted, Self.threadsAtOnce))
      state.opening += lacking
      return (found, lacking)
    }
    for _ in 0..<lacking { begin(context, name) }
    guard let found, found.isOpen else { return nil }
    found.serve(context)
    return found
  }

  private func begin(_ context: PayTheoryContext, _ name: String) {
    let hasBegun = DetachedThread.begin { [self] in
      let carrier =
        state.withLock { $0.idle.popLast() }
        ?? { Carrier(http: $0.http, sockets: $0.sockets) }(make())
      var own = context
      own.http = carrier.http
      own.sockets = carrier.sockets
      // What a line learns is its thread's alone.
      own.redactor = Redactor()
      let made = try? Conversation.open(session: own.randomness.uuid(), own)
      let opened = made.map {
        Opened(conversation: $0, name: name, at: own.clock.uptime)
      }
      state.withLock { state in
        state.opening -= 1
        state.idle.append(carrier)
        // Where it failed, the next line finds out why by itself.
        if let opened { state.ready.append(opened) }
      }
    }
    if !hasBegun { state.withLock { $0.opening -= 1 } }
  }
}
