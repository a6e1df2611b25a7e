private import Synchronization
internal import TenderEngine
internal import TenderModel
internal import TenderSimulator
internal import TenderSystem

/// What the lines of a batch that one thread runs have in common: open files and connections.
final class SharedParts {
  var journals: [String: any Journal] = [:]
  var networks: [String: (http: any HTTPExchange, sockets: any SocketExchange)] = [:]
  var simulators: [String: InProcessSimulator] = [:]
  private var clocks: [SimulatedTime?: SimulatedClock] = [:]
  private var folders: Set<String> = []
  let common: CommonParts
  /// What one line has at a time; nil where there is one line.
  let turns: Turns?
  /// What carries the reading requests of all threads; nil where there is one thread.
  let hub: CurlHub?
  /// Whether many attempts are written, and what is erased is taken out of the files for several.
  let isBatch: Bool
  /// Whether its lines are wanted in their order.
  let isOrdered: Bool
  /// How many lines run at once.
  let jobs: Int

  /// `common` and `turns` are shared by all threads.
  init(
    common: CommonParts = CommonParts(),
    turns: Turns? = nil,
    hub: CurlHub? = nil,
    isBatch: Bool = false,
    isOrdered: Bool = false,
    jobs: Int = 1
  ) {
    self.common = common
    self.hub = hub
    self.turns = turns
    self.isBatch = isBatch
    self.isOrdered = isOrdered
    self.jobs = jobs
  }

  /// Makes a state folder where there is none, and checks it, once.
  ///
  /// Throws `state` with what mends it.
  func useFolder(_ path: String, home: String?) throws(Fault) {
    guard !folders.contains(path) else { return }
    try Environment.makeFolder(path)
    try FileGuard.checkState(path, home: home)
    folders.insert(path)
  }

  /// The simulated world's clock, for all lines that name the same time or none.
  func clock(_ time: SimulatedTime?, beside machine: any Clock) -> SimulatedClock {
    if time == nil, let known = clocks[time] { return known }
    let made = SimulatedClock(time, beside: machine)
    clocks[time] = made
    return made
  }

  /// Writes down how far waiting for the simulated providers has moved their clock.
  func keepTime() { for simulator in simulators.values { try? simulator.keepTime() } }

  /// Takes out of the journals' files what is to be gone for good.
  func finishErasing() { for journal in journals.values { try? journal.finishErasing() } }
}

/// What all threads of a process share, one of each kind: access tokens, for one.
final class CommonParts: Sendable {
  private let parts = Mutex<[any AnyObject & Sendable]>([])

  func part<Part: AnyObject & Sendable>(_ make: () -> Part) -> Part {
    parts.withLock { parts in
      for case let known as Part in parts { return known }
      let made = make()
      parts.append(made)
      return made
    }
  }
}
