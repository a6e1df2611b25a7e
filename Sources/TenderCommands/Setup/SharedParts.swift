private import Synchronization
internal import TenderCommandLine
internal import TenderEngine
internal import TenderModel
internal import TenderSimulator
internal import TenderSystem

/// The open files and connections that the lines of one thread of a batch share.
final class SharedParts {
  var journals: [String: any Journal] = [:]
  var networks: [String: Exchanges] = [:]
  var simulators: [String: InProcessSimulator] = [:]
  private var clock: SimulatedClock?
  private var folders: Set<String> = []
  /// The fault of a state folder that was let pass for simulated payments: members of a group can write it.
  private(set) var laxFolder: Fault?
  let common: CommonParts
  /// The batch; nil for a single command. A batch writes many attempts, and erases for several at once.
  let batch: BatchWorker?

  /// Creates the parts of one thread. All threads share `common`.
  init(common: CommonParts = CommonParts(), batch: BatchWorker? = nil) {
    self.common = common
    self.batch = batch
  }

  /// Creates a state folder if it is missing, and checks it, once. For simulated payments, a folder that a group can
  /// write is only warned of.
  ///
  /// Throws `state` with the repair.
  func useFolder(
    _ path: String,
    _ environment: Environment,
    isSimulated: Bool,
    _ warn: (String) -> Void
  ) throws(Fault) {
    if let laxFolder, !isSimulated { throw laxFolder }
    guard !folders.contains(path) else { return }
    try Environment.makeFolder(path)
    if let fault = try FileGuard.checkState(path, home: environment["HOME"]) {
      guard isSimulated else { throw fault }
      laxFolder = fault
      warn(fault.message)
    }
    folders.insert(path)
  }

  /// Checks the folder of marks, once. Throws `state` with the repair.
  func useMarks(_ path: String?, _ environment: Environment) throws(Fault) {
    guard let path, !folders.contains(path) else { return }
    try FileGuard.checkMarks(path, home: environment["HOME"])
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
