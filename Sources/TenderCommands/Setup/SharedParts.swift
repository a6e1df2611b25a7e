private import Synchronization
internal import TenderEngine
internal import TenderModel
internal import TenderSimulator
internal import TenderSystem

/// The open files and connections that the lines of one thread of a batch share.
final class SharedParts {
  var journals: [String: any Journal] = [:]
  var networks: [String: (http: any HTTPExchange, sockets: any SocketExchange)] = [:]
  var simulators: [String: InProcessSimulator] = [:]
  private var clock: SimulatedClock?
  private var folders: Set<String> = []
  let common: CommonParts
  /// Resources that one line uses at a time; nil outside of a batch.
  let turns: Turns?
  /// Sends the reading requests of all threads; nil with one thread.
  let hub: CurlHub?
  /// Whether many attempts are written. Then erasing is done for several at once.
  let isBatch: Bool
  /// Whether the lines must run in their order.
  let isOrdered: Bool
  /// Whether a batch continues, so that finished lines are replayed.
  let resumes: Bool
  let jobs: Int

  /// Creates the parts of one thread. All threads share `common` and `turns`.
  init(
    common: CommonParts = CommonParts(),
    turns: Turns? = nil,
    hub: CurlHub? = nil,
    isBatch: Bool = false,
    isOrdered: Bool = false,
    resumes: Bool = false,
    jobs: Int = 1
  ) {
    self.common = common
    self.hub = hub
    self.turns = turns
    self.isBatch = isBatch
    self.isOrdered = isOrdered
    self.resumes = resumes
    self.jobs = jobs
  }

  /// Creates a state folder if it is missing, and checks it, once.
  ///
  /// Throws `state` with the repair.
  func useFolder(_ path: String, _ environment: Environment) throws(Fault) {
    guard !folders.contains(path) else { return }
    try Environment.makeFolder(path)
    try FileGuard.checkState(
      path,
      home: environment["HOME"],
      isInContainer: environment["container"] != nil
    )
    folders.insert(path)
  }

  /// Checks the folder of marks, once. Throws `state` with the repair.
  func useMarks(_ path: String?, _ environment: Environment) throws(Fault) {
    guard let path, !folders.contains(path) else { return }
    try FileGuard.checkMarks(
      path,
      home: environment["HOME"],
      isInContainer: environment["container"] != nil
    )
    folders.insert(path)
  }

  /// Returns the simulated world's clock, shared by all lines without a time.
  func clock(_ time: SimulatedTime?, beside machine: any Clock) -> SimulatedClock {
    if time == nil, let clock {
      clock.begin()
      return clock
    }
    let made = SimulatedClock(time, beside: machine)
    if time == nil { clock = made }
    return made
  }

  /// Stores the time by which waits for simulated providers have moved their clock.
  func keepTime() { for simulator in simulators.values { try? simulator.keepTime() } }

  /// Erases deleted secrets from the journals' files.
  func finishErasing() { for journal in journals.values { try? journal.finishErasing() } }
}

/// Parts that all threads of a process share, one of each type, such as access tokens.
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
