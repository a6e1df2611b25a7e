private import CLibraries
private import Platform
private import Synchronization
package import TenderEngine
package import TenderModel

/// SIGINT, SIGTERM, SIGQUIT and SIGHUP. A separate thread receives them and ends the waits of other threads.
///
/// Threads that do separate work have signals of their own (`forOtherThread`): a signal that the work of one
/// has handled still stops the work of the others.
package final class Signals: Interruption {
  private let source: Source
  private let readEnd: Int32
  /// The number of signals that this thread's work has handled.
  private let handled = Atomic(0)

  /// Takes over these signals for the process. SIGPIPE is ignored, because a write reports a closed pipe.
  ///
  /// SIGQUIT counts as SIGTERM. An ignored SIGHUP (`nohup`) or SIGQUIT stays ignored. Until `hold`, a signal
  /// calls `end`, which ends the process.
  package convenience init(end: @escaping @Sendable (Fault.Kind) -> Void) {
    let source = Source(end: end)
    self.init(source)
    signal(SIGPIPE, SIG_IGN)
    tender_system_explain_cuts()
    var set = Source.taken
    unsafe pthread_sigmask(SIG_BLOCK, &set, nil)
    DetachedThread.begin { source.takeSignals() }
  }

  private init(_ source: Source) {
    var ends: [Int32] = [-1, -1]
    unsafe pipe(&ends)
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    self.source = source
    readEnd = ends[0]
    source.add(ends[1])
  }

  /// Returns the same signals for the work of another thread.
  package func forOtherThread() -> Signals { Signals(source) }

  /// From here on, a signal no longer ends the process by itself. Something may be under way, or the terminal
  /// must be restored.
  ///
  /// Returns whether that was the case before.
  @discardableResult
  package func hold() -> Bool {
    source.mayEnd.withLock { mayEnd in
      let wasHeld = !mayEnd
      mayEnd = false
      return wasHeld
    }
  }

  /// From here on, a signal may end the process at once again.
  package func letGo() { source.mayEnd.withLock { $0 = true } }

  /// Interrupts this process like Ctrl-C after some milliseconds.
  package func expire(after milliseconds: Int) {
    DetachedThread.begin { [self] in
      // A signal that stops the command came first.
      guard (try? SystemClock(interruption: self).pause(milliseconds: milliseconds)) != nil else {
        return
      }
      source.expiry.store(true, ordering: .sequentiallyConsistent)
      source.take(SIGINT)
    }
  }

  /// Whether the time limit of the command is over.
  package var hasExpired: Bool { source.expiry.load(ordering: .sequentiallyConsistent) }

  /// From here on, running work has some seconds to finish after the first signal. `wish` returns that signal.
  ///
  /// The second signal stops the work at once.
  package func finishUnderWay() {
    hold()
    source.finishesFirst.store(true, ordering: .sequentiallyConsistent)
  }

  package var kind: Fault.Kind? {
    let first = source.finishesFirst.load(ordering: .sequentiallyConsistent) ? 1 : 0
    return number > max(first, handled.load(ordering: .sequentiallyConsistent)) ? wish : nil
  }

  /// The kind of the last signal, also if it was acknowledged or is the first one and must wait.
  package var wish: Fault.Kind? {
    switch source.last.load(ordering: .sequentiallyConsistent) {
    case 0: nil
    case SIGTERM, SIGQUIT: .terminated
    case SIGHUP: .hungUp
    default: .interrupted
    }
  }

  /// The same signals for a wait for a payer or a card. There, the first signal counts at once.
  package var atTheTill: any Interruption { RuledSignals(signals: self) { $0.pressed } }

  /// The same signals for a wait for a payer at a bank. The first signal counts for all such waits, also
  /// after one acknowledged it.
  package var atTheBank: any Interruption { RuledSignals(signals: self) { $0.wish } }

  /// The same signals for pauses between requests: a deadline ends them, also where the first signal lets work
  /// finish.
  package var atPauses: any Interruption {
    RuledSignals(signals: self) { $0.hasExpired ? $0.wish : $0.kind }
  }

  fileprivate var pressed: Fault.Kind? {
    number > handled.load(ordering: .sequentiallyConsistent) ? wish : nil
  }

  /// The number of signals so far.
  private var number: Int { source.count.load(ordering: .sequentiallyConsistent) }

  package var descriptor: Int32? { readEnd }

  package func acknowledge() {
    handled.store(number, ordering: .sequentiallyConsistent)
    drain()
  }

  /// Returns the number of the last signal, which then counts as handled; nil if there was none since the last call.
  package func next() -> Int32? {
    // A signal is counted before its byte is written, so none is missed.
    drain()
    let count = number
    let before = handled.exchange(count, ordering: .sequentiallyConsistent)
    return count > before ? source.last.load(ordering: .sequentiallyConsistent) : nil
  }

  private func drain() {
    var waiting = pollfd(fd: readEnd, events: Int16(POLLIN), revents: 0)
    var byte: UInt8 = 0
    while unsafe poll(&waiting, 1, 0) > 0, unsafe read(readEnd, &byte, 1) == 1 {}
  }
}

/// The signals of the process.
private final class Source: Sendable {
  /// The time that running work has after the first signal, and after each further one, in milliseconds.
  private static let grace = 3000

  let mayEnd = Mutex(true)
  /// Whether the first signal is only a request to stop.
  let finishesFirst = Atomic(false)
  let count = Atomic(0)
  let last = Atomic<Int32>(0)
  let expiry = Atomic(false)
  private let wakes = Mutex<[Int32]>([])
  private let end: @Sendable (Fault.Kind) -> Void

  init(end: @escaping @Sendable (Fault.Kind) -> Void) { self.end = end }

  /// Adds a descriptor that gets a byte for each signal.
  func add(_ descriptor: Int32) { wakes.withLock { $0.append(descriptor) } }

  static var taken: sigset_t {
    var set = sigset_t()
    unsafe sigemptyset(&set)
    for number in [SIGINT, SIGTERM] { unsafe sigaddset(&set, number) }
    for number in [SIGHUP, SIGQUIT] {
      var action = sigaction()
      if unsafe sigaction(number, nil, &action) == 0, !Self.isIgnored(action) {
        unsafe sigaddset(&set, number)
      }
    }
    return set
  }

  private static func isIgnored(_ action: sigaction) -> Bool {
    #if canImport(Darwin)
    unsafe unsafeBitCast(action.__sigaction_u.__sa_handler, to: Int.self)
      == unsafeBitCast(SIG_IGN, to: Int.self)
    #else
    unsafe unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self)
      == unsafeBitCast(SIG_IGN, to: Int.self)
    #endif
  }

  func takeSignals() {
    var set = Self.taken
    while true {
      var number: Int32 = 0
      guard unsafe sigwait(&set, &number) == 0 else { return }
      take(number)
    }
  }

  func take(_ number: Int32) {
    last.store(number, ordering: .sequentiallyConsistent)
    let times = count.add(1, ordering: .sequentiallyConsistent).newValue
    if times == 1, finishesFirst.load(ordering: .sequentiallyConsistent) {
      return repeatLater(number)
    }
    // Under the lock, so that no thread sends something while the process ends.
    mayEnd.withLock { mayEnd in
      guard mayEnd else { return }
      let isTerm = number == SIGTERM || number == SIGQUIT
      let kind: Fault.Kind = isTerm ? .terminated : number == SIGHUP ? .hungUp : .interrupted
      end(expiry.load(ordering: .sequentiallyConsistent) ? .pending : kind)
    }
    var byte: UInt8 = 1
    wakes.withLock { for end in $0 { _ = unsafe write(end, &byte, 1) } }
  }

  /// Repeats the first signal: work that has not finished by then is stopped, and later its clean-up too.
  private func repeatLater(_ number: Int32) {
    DetachedThread.begin { [self] in
      let clock = SystemClock(interruption: NeverInterrupted())
      while (try? clock.pause(milliseconds: Self.grace)) != nil { take(number) }
    }
  }
}

/// The signals for one kind of wait, with its rule for the signal that counts.
///
/// At the till, a signal counts until it is acknowledged. At the bank, it counts until the process ends.
private struct RuledSignals: Interruption {
  let signals: Signals
  let rule: @Sendable (Signals) -> Fault.Kind?

  var kind: Fault.Kind? { rule(signals) }

  var descriptor: Int32? { signals.descriptor }

  func acknowledge() { signals.acknowledge() }
}

extension Interruption {
  /// Waits until a descriptor is ready for `events`, a signal arrives, or the time ends. Returns the events
  /// of the descriptor.
  func wait(for watched: Int32, _ events: Int32, milliseconds: Int) -> Int16 {
    var polled = [
      pollfd(fd: watched, events: Int16(events), revents: 0),
      pollfd(fd: descriptor ?? -1, events: Int16(POLLIN), revents: 0),
    ]
    _ = unsafe poll(&polled, 2, Int32(clamping: milliseconds))
    return polled[0].revents
  }
}
