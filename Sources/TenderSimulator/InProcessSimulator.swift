package import TenderEngine
package import TenderModel
import TenderSystem

/// The simulated providers within this process: no socket, no port, no waiting.
package final class InProcessSimulator: @unchecked Sendable {
  // Unchecked: one thread uses it. A batch gives each worker a separate one.
  let parts: SimulatorParts

  var world: SimulatorWorld { parts.world }

  /// Uses an open ledger, or opens one. `playsPayer`: no browser can reach the bank's pages, so the simulator
  /// acts as the payer.
  ///
  /// Throws `state` if the ledger cannot be used.
  package init(
    _ world: SimulatorWorld,
    playsPayer: Bool = true,
    _ open: Ledger? = nil
  ) throws(Fault) {
    let ledger =
      if let open { open } else {
        try Ledger(path: world.ledgerPath, for: world.isOfBatch ? .batch : .command)
      }
    var world = world
    world.playsPayer = playsPayer
    if let seed = world.options.seed {
      // Each request to a server has a number of its own, so that no two get the same ids.
      var label = world.options.seedLabel
      if label == nil {
        label = String(try playsPayer ? ledger.count() : ledger.number(for: "seed"))
      }
      world.randomness = SeededRandomness(seed: seed, label: "world/\(label ?? "")")
      world.queueRandomness = SeededRandomness(seed: seed, label: "queue/\(label ?? "")")
    }
    parts = SimulatorParts(world: world, ledger: ledger, faults: FaultPlan(world, ledger))
    (world.clock as? SimulatedClock)?.startAhead(by: try ledger.ahead() - world.aheadBefore)
  }

  /// The faults that were asked for and have struck nothing, and whether their count was used up before.
  package var unusedFaults: [(text: String, isSpent: Bool)] { parts.faults.unused }

  /// Stores the time by which pauses have moved the clock. The next command continues from there.
  package func keepTime() throws(Fault) {
    guard let clock = world.clock as? SimulatedClock, let ahead = clock.newlyAhead() else { return }
    try parts.ledger.setAhead(ahead + world.aheadBefore)
  }

  /// Makes every change that is due. Returns the milliseconds until the next one; nil without one.
  ///
  /// `isOfRequest`: also what requests with their own clocks have planned.
  @discardableResult
  package func catchUp(isOfRequest: Bool = true) throws(Fault) -> Int? {
    try keepTime()
    try parts.catchUp(isOfRequest: isOfRequest)
    let next = try parts.ledger.next(by: nil, isOfRequest: isOfRequest)
    return next.map { max(0, $0.at - world.now) }
  }
}

extension InProcessSimulator {
  /// Passes a request to the service with its path; nil if there is none.
  package func handle(_ request: SimulatedRequest) throws(Fault) -> HTTPReaction? {
    try parts.ledger.transaction { () throws(Fault) in
      try keepTime()
      try parts.catchUp()
      let reaction = try react(to: request) { provider throws(Fault) in
        try provider.handle(request, parts)
      }
      try log(request, reaction)
      return reaction?.1
    }
  }

  /// Returns the reaction to a request that has not arrived completely, if a fault resets its connection then;
  /// else nil.
  ///
  /// `name` is a fault that needs no body.
  package func interrupt(
    _ request: SimulatedRequest,
    by name: String
  ) throws(Fault) -> HTTPReaction? {
    let reaction = try react(to: request) { provider throws(Fault) in
      provider.point(request.method, request.path)
        .flatMap { parts.faults.strike(early: $0, name) }
        .map { HTTPReaction(end: .reset, delay: $0.delay) }
    }
    if reaction != nil { try log(request, reaction) }
    return reaction?.1
  }

  /// Returns the first provider that reacts to a request, and its reaction.
  private func react(
    to request: SimulatedRequest,
    _ body: (any SimulatedProvider) throws(Fault) -> HTTPReaction?
  ) throws(Fault) -> (ProviderName, HTTPReaction)? {
    parts.faults.begin(request)
    for provider in world.providers {
      if let reaction = try body(provider) { return (provider.name, reaction) }
    }
    return nil
  }

  private func log(
    _ request: SimulatedRequest,
    _ reaction: (provider: ProviderName, reaction: HTTPReaction)?
  ) throws(Fault) {
    defer { parts.faults.begin(nil) }
    var exchange = SimulatedExchange(request.method, request.path, at: world.now)
    if let reaction { exchange.match(reaction.provider, parts.faults) }
    exchange.add(request)
    exchange.add(reaction?.reaction)
    try parts.ledger.log(exchange.fields)
  }

  /// Passes a socket to its provider.
  package func upgrade(path: String, query: String) throws(Fault) -> UpgradeReaction {
    try catchUp()
    parts.faults.begin(nil)
    var exchange = SimulatedExchange("UPGRADE", path, at: world.now)
    var reaction = UpgradeReaction.refuse(status: 401)
    for provider in world.providers {
      guard let opened = provider.open(path: path, query: query, parts) else { continue }
      exchange.match(provider.name, parts.faults)
      if case .accept(let session) = opened {
        reaction = .accept(LoggedSession(session, provider.name, parts))
      } else {
        reaction = opened
      }
      break
    }
    exchange.add(reaction)
    try parts.ledger.log(exchange.fields)
    return reaction
  }

  /// Returns the device of the first provider that has one; nil if there is none.
  ///
  /// Throws `state`.
  package func device() throws(Fault) -> (any DeviceSession)? {
    try catchUp()
    for provider in world.providers {
      if let session = try provider.device(parts) { return session }
    }
    return nil
  }

  /// Returns what the providers' books have about an id or a reference; for nil, the latest of each kind.
  package func books(about name: String?) throws(Fault) -> [JSONObject] {
    try catchUp()
    var shown: [JSONObject] = []
    for provider in world.providers {
      let head = JSONObject.Member(key: "provider", value: .string(provider.name.text))
      shown += try provider.books(parts, about: name).map { JSONObject([head] + $0.members) }
    }
    return shown
  }

  /// Deletes all payments but the latest, with what came before those.
  func forget(butLatest number: Int) throws(Fault) {
    let kinds = world.providers.map(\.passing)
    try parts.ledger.forget(
      butLatest: number,
      of: kinds.map(\.payment),
      kinds.flatMap { [$0.payment] + $0.others },
      owned: world.providers.compactMap(\.owned)
    )
  }
}

/// The payer of a simulated world. The payer returns from the bank at once.
package struct SimulatedPayer: RedirectListener {
  private let clock: any Clock

  package init(clock: any Clock) { self.clock = clock }

  package func listen(at address: String) throws(Fault) -> any RedirectVisit {
    SimulatedVisit(clock)
  }
}

private final class SimulatedVisit: RedirectVisit {
  private let clock: any Clock
  private var hasCome = false

  init(_ clock: any Clock) { self.clock = clock }

  func expect(_ name: String, _ value: String) {}

  func wait(milliseconds: Int) throws(Fault) -> String? {
    guard hasCome else {
      hasCome = true
      return ""
    }
    try clock.pause(milliseconds: milliseconds)
    return nil
  }

  func close() {}
}

extension InProcessSimulator: HTTPExchange {
  package func send(
    _ request: HTTPRequest,
    _ permit: SendPermit?,
    by deadline: Deadline
  ) throws(Fault) -> HTTPResponse {
    guard let address = WebAddress(request.url) else { throw .unreachable(request.url) }
    try permit?.use()
    let parts = address.target.split(separator: "?", maxSplits: 1).map(String.init)
    let simulated = SimulatedRequest(
      method: request.method.rawValue,
      path: parts.first ?? "/",
      query: parts.count > 1 ? parts[1] : "",
      fields: Dictionary(
        request.fields.map { ($0.name.lowercased(), $0.value) },
        uniquingKeysWith: { $1 }
      ),
      body: request.body
    )
    guard let reaction = try handle(simulated) else { return HTTPResponse(status: 404) }
    guard reaction.end != .unreachable else {
      permit?.giveBack()
      throw .unreachable(request.url)
    }
    let size = reaction.response?.body.count ?? 0
    let late = reaction.delay + (reaction.rate.map { size * 1000 / $0 } ?? 0)
    guard late <= deadline.remaining, reaction.end != .silence else { throw .noAnswer }
    if late > 0 { try world.clock.pause(milliseconds: late) }
    guard reaction.end == .whole, let response = reaction.response else { throw .dropped }
    return response
  }
}

extension InProcessSimulator: SocketExchange {
  package func open(
    url: String,
    fields: [HTTPRequest.Field],
    by deadline: Deadline
  ) throws(Fault) -> any MessageSocket {
    guard let address = WebAddress(url) else { throw .unreachable(url) }
    let parts = address.target.split(separator: "?", maxSplits: 1).map(String.init)
    switch try upgrade(path: parts.first ?? "/", query: parts.count > 1 ? parts[1] : "") {
    case .unreachable: throw .unreachable(url)
    case .accept(let session): return InProcessSocket(session, clock: world.clock)
    case .refuse(let status):
      throw Fault(
        .providerError,
        code: "upgrade_refused",
        "the upgrade to WebSocket was answered \(status)"
      )
    }
  }
}

/// A socket with its other end in this process.
private final class InProcessSocket: MessageSocket {
  private let session: any SocketSession
  private let clock: any Clock
  private var pending: [SocketReaction] = []
  private var isBroken = false

  init(_ session: any SocketSession, clock: any Clock) {
    self.session = session
    self.clock = clock
  }

  func send(_ text: String, _ permit: SendPermit?, by deadline: Deadline) throws(Fault) {
    guard !isBroken else { throw .unreachable("the simulated socket") }
    try permit?.use()
    pending += try session.receive(text)
  }

  func receive(by deadline: Deadline) throws(Fault) -> SocketMessage {
    while !pending.isEmpty {
      switch pending.removeFirst() {
      case .send(let text): return .text(text)
      case .pause(let milliseconds):
        guard milliseconds <= deadline.remaining else { throw .noAnswer }
        try clock.pause(milliseconds: milliseconds)
      case .close(let code):
        isBroken = true
        return .closed(code: code, reason: "")
      case .drop, .cut:
        isBroken = true
        throw .dropped
      case .silence: throw .noAnswer
      }
    }
    throw .noAnswer
  }

  func close(waiting: Bool) { isBroken = true }
}

/// The simulated device in this process. It has no cable, and no wait.
package struct SimulatedDevices: DeviceExchange {
  private let simulator: InProcessSimulator

  package init(_ simulator: InProcessSimulator) { self.simulator = simulator }

  package func open(_ address: String, by deadline: Deadline) throws(Fault) -> any ByteStream {
    guard let device = try simulator.device() else { throw .gone }
    return DeviceLink(device, clock: simulator.world.clock)
  }
}

/// A stream with its other end at a reader in this process.
private final class DeviceLink: ByteStream {
  private let reader: any DeviceSession
  private let clock: any Clock
  private var pending: [DeviceReaction]
  private var isBroken = false

  init(_ reader: any DeviceSession, clock: any Clock) {
    self.reader = reader
    self.clock = clock
    pending = reader.greet()
  }

  func send(_ bytes: [UInt8]) throws(Fault) {
    guard !isBroken else { throw .gone }
    pending += reader.receive(bytes)
  }

  func receive(milliseconds: Int) throws(Fault) -> StreamEvent {
    if !pending.isEmpty {
      switch pending.removeFirst() {
      case .send(let bytes): return .bytes(bytes)
      case .drop: isBroken = true
      }
    }
    guard !isBroken else { return .ended }
    // A signal ends the wait. That is not an error of the connection.
    try? clock.pause(milliseconds: milliseconds)
    return .nothing
  }

  func close() { isBroken = true }
}

extension Fault {
  /// In the simulator, silence takes no time: the deadline counts as passed.
  fileprivate static var noAnswer: Fault {
    Fault(
      .providerError,
      code: "no_answer",
      "no answer within the time for one request"
    )
  }

  fileprivate static var dropped: Fault {
    Fault(
      .providerError,
      code: "connection_closed",
      cause: .connectionClosed,
      "the connection was closed before an answer"
    )
  }

  fileprivate static var gone: Fault {
    Fault(.device, code: "device_disconnected", "the simulated reader is gone")
  }

  fileprivate static func unreachable(_ what: String) -> Fault {
    Fault(.notSent, code: "unreachable", "cannot reach \(what.quotedForMessage)")
  }
}
