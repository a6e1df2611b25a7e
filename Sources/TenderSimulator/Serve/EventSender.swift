private import Platform
private import Synchronization
package import TenderEngine
package import TenderModel
private import TenderSystem

/// What signs the events of a provider.
package protocol EventSigner: Sendable {
  /// The path and the body of the set of public keys, which the server has for its clients.
  var keySet: (path: String, body: [UInt8]) { get }
  /// Returns the header fields of an event with their signature, for a path without its query. `isWrong` makes a
  /// signature that does not fit.
  ///
  /// Throws `internal` if the library failed.
  func fields(
    of event: PublishedEvent,
    to path: String,
    isWrong: Bool
  ) throws(Fault) -> [HTTPRequest.Field]
}

/// How long a provider repeats the delivery of an event. The times between are not public: here they double from one
/// second to one hour.
package enum EventRetries: Sendable {
  /// For so many milliseconds of the clock.
  case within(Int)
  /// So many times. After that the address gets no further events.
  case times(Int)

  /// Returns the time to wait after so many attempts, in milliseconds; nil if there is no further one.
  func delay(after attempts: Int, since first: Int, now: Int) -> Int? {
    let delay = min(1000 << min(attempts - 1, 12), 3_600_000)
    switch self {
    case .within(let limit): return now + delay - first <= limit ? delay : nil
    case .times(let most): return attempts <= most ? delay : nil
    }
  }
}

/// An address of a webhook.
package struct EventAddress: Sendable {
  /// The provider whose events it gets; nil for all.
  let provider: ProviderName?
  let url: String
  /// The path without its query, which is signed.
  let path: String

  /// Reads `[PROVIDER=]URL`.
  ///
  /// Throws `usage` for anything else, and `unsupported` for a provider that publishes no events.
  package init(_ text: String, among providers: [any SimulatedProvider]) throws(Fault) {
    let named = providers.first { text.hasPrefix($0.name.text + "=") }
    provider = named?.name
    url = named.map { String(text.dropFirst($0.name.text.utf8.count + 1)) } ?? text
    guard let address = WebAddress(url), ["http", "https"].contains(address.scheme) else {
      let names = providers.filter { $0.retries != nil }.map(\.name.text)
      throw .usage(
        "bad_value",
        "--webhook cannot be \(text.quotedForMessage)",
        "http://HOST:PORT/PATH, or with the provider before it: "
          + names.map { "\($0)=URL" }.joined(separator: ", ")
      )
    }
    let path = String(address.target.prefix(before: "?"))
    self.path = path.isEmpty ? "/" : path
    guard let named, named.retries == nil else { return }
    throw Fault(
      .unsupported,
      code: "method_unsupported",
      "the simulated \(named.name.text) sends no webhooks: the scheme of their signature has no public vectors",
      hint: "see: tender help simulator"
    )
  }
}

/// The delivery of an event to an address.
package struct EventDelivery: Booked {
  static let kind = "delivery"

  /// The number of the event.
  private var number = 0
  private var url = ""
  fileprivate(set) var attempts = 0
  /// The status of the last answer; nil without one.
  fileprivate(set) var status: Int?
  /// The time of the last attempt, in milliseconds.
  fileprivate(set) var took: Int?
  /// Why the last attempt failed, or why there is none.
  fileprivate(set) var error: String?

  package init() {}

  fileprivate init(_ event: PublishedEvent, to address: EventAddress) {
    number = event.number
    url = address.url
  }

  package var isDelivered: Bool { status.map { (200..<300).contains($0) } ?? false }

  var key: String { "\(Ledger.sorted(number)) \(url)" }
  var parent: String? { Ledger.sorted(number) }

  mutating func exchange(_ book: inout BookedMembers) {
    book.needed("number", &number)
    book.needed("url", &url)
    book.member("attempts", &attempts)
    book.member("status", &status)
    book.member("ms", &took)
    book.member("error", &error)
  }

  /// The delivery for a person or a program to read.
  var shown: JSONObject {
    [
      "url": url.json, "attempts": attempts.json, "status": status?.json, "ms": took?.json,
      "error": error?.json,
    ]
  }
}

extension Ledger {
  /// Returns every delivery, or those of an event by its number.
  package func deliveries(of number: Int? = nil) throws(Fault) -> [EventDelivery] {
    try list(EventDelivery.self, parent: number.map { Ledger.sorted($0) })
  }
}

/// Sends the published events of a served world to the addresses of its webhooks. Each address has a thread, and gets
/// one event after the other.
final class EventSender: @unchecked Sendable {
  // Unchecked: queues are used in the turn of the server. The rest is immutable or atomic.
  /// An event on its way to an address.
  private struct Pending {
    let event: PublishedEvent
    var delivery: EventDelivery
    /// The time of the first attempt, and of the next one.
    let first: Int
    var next: Int
    /// Whether it waits for a later event to overtake it.
    var isHeld = false
    var isTwice = false
    var isBadlySigned = false
  }

  // Unchecked: it is used in the turn of the server, and its address never changes.
  private final class Queue: @unchecked Sendable {
    let address: EventAddress
    var pending: [Pending] = []
    /// The providers that gave the address up.
    var lost: Set<String> = []

    init(_ address: EventAddress) { self.address = address }
  }

  /// The time that a receiver has for its answer, in milliseconds.
  private static let patience = 10_000
  /// The longest time that an event waits to be overtaken, in milliseconds.
  private static let longestHold = 1000

  private let queues: [Queue]
  /// Signs the events of a provider; nil for one that does not sign.
  private let signers: [String: any EventSigner]
  private let retries: [String: EventRetries]
  private let makeHTTP: @Sendable () -> any HTTPExchange
  private let isFinishing = Atomic(false)
  private let running = Atomic(0)

  /// Creates a sender for the addresses of a server's webhooks. Each thread makes a connection with `http`.
  init(
    _ addresses: [EventAddress],
    _ world: SimulatorWorld,
    _ signers: [String: any EventSigner],
    http: @escaping @Sendable () -> any HTTPExchange
  ) {
    queues = addresses.map(Queue.init)
    self.signers = signers
    retries = Dictionary(
      world.providers.compactMap { provider in provider.retries.map { (provider.name.text, $0) } },
      uniquingKeysWith: { $1 }
    )
    makeHTTP = http
  }

  /// Starts a thread for each address. Events from before are not sent.
  func start(_ server: SimulatorServer) throws(Fault) {
    try server.inWorld { simulator throws(Fault) in try simulator.parts.ledger.handOnAll() }
    for queue in queues {
      running.add(1, ordering: .sequentiallyConsistent)
      let isStarted = DetachedThread.begin { [self] in
        run(queue, server)
        running.subtract(1, ordering: .sequentiallyConsistent)
      }
      guard isStarted else {
        throw .state("state_unusable", "no thread can be started", "try again")
      }
    }
  }

  /// Waits until the events of now were tried once. No further attempt follows. `isStopped` ends the wait.
  func finish(_ isStopped: () -> Bool) {
    isFinishing.store(true, ordering: .sequentiallyConsistent)
    // A receiver that does not answer ends its thread.
    while running.load(ordering: .sequentiallyConsistent) > 0, !isStopped() { _ = poll(nil, 0, 10) }
  }

  private func run(_ queue: Queue, _ server: SimulatorServer) {
    let http = makeHTTP()
    while !server.shouldStop {
      let isLast = isFinishing.load(ordering: .sequentiallyConsistent)
      let due = try? server.inWorld { simulator throws(Fault) in
        try handOn(simulator)
        let now = simulator.world.now
        return queue.pending.first { pending in
          pending.next <= now && (!isLast || pending.delivery.attempts == 0)
        }
      }
      guard let due = due ?? nil else {
        if isLast { return }
        // Requests, the clock and other processes publish events.
        server.pause(upTo: 20)
        continue
      }
      let sent = send(due, to: queue.address, http)
      try? server.inWorld { simulator throws(Fault) in try settle(sent, due, in: queue, simulator) }
      if !sent.isDelivered, isFinishing.load(ordering: .sequentiallyConsistent) { return }
    }
  }

  /// Adds the events that were published since the last look to the queues of their addresses.
  private func handOn(_ simulator: InProcessSimulator) throws(Fault) {
    let (ledger, faults) = (simulator.parts.ledger, simulator.parts.faults)
    let events = try ledger.events(after: ledger.handedOn())
    guard let last = events.last else { return }
    try ledger.transaction { () throws(Fault) in
      for event in events {
        for queue in queues
        where queue.address.provider.map({ $0.text == event.provider })
          ?? (retries[event.provider] != nil)
        {
          let strike = faults.strike("event") { Array(event.body.utf8) }
          var pending = Pending(
            event: event,
            delivery: EventDelivery(event, to: queue.address),
            first: simulator.world.now,
            next: simulator.world.now + strike.delay
          )
          switch strike.what {
          case "drop": pending.delivery.error = "dropped by a fault"
          // The next one overtakes it, and is not held itself.
          case "reorder" where queue.pending.last?.isHeld != true:
            pending.isHeld = true
            pending.next += Self.longestHold
          case "duplicate": pending.isTwice = true
          case "bad-signature": pending.isBadlySigned = true
          default: break
          }
          if queue.lost.contains(event.provider) {
            pending.delivery.error = "not sent: earlier events were not taken"
          }
          try ledger.put(pending.delivery)
          if pending.delivery.error == nil { queue.pending.append(pending) }
        }
      }
      try ledger.handOn(upTo: last.number)
    }
  }

  /// Writes down an attempt, and plans the next one.
  private func settle(
    _ sent: EventDelivery,
    _ due: Pending,
    in queue: Queue,
    _ simulator: InProcessSimulator
  ) throws(Fault) {
    let now = simulator.world.now
    let place = queue.pending.firstIndex { $0.event.number == due.event.number }
    guard let place else { return }
    var pending = queue.pending.remove(at: place)
    pending.delivery = sent
    pending.isHeld = false
    for index in queue.pending.indices
    where queue.pending[index].isHeld && queue.pending[index].event.number < due.event.number {
      queue.pending[index].next = now
    }
    try simulator.parts.ledger.put(sent)
    guard !sent.isDelivered else { return }
    let delay = retries[due.event.provider]?
      .delay(after: sent.attempts, since: pending.first, now: now)
    if let delay {
      pending.next = now + delay / 2 + Int.random(in: 0...delay / 2)
      queue.pending.append(pending)
    } else if case .times? = retries[due.event.provider] {
      queue.lost.insert(due.event.provider)
    }
  }

  /// Sends an event once, or twice at the same moment.
  private func send(
    _ pending: Pending,
    to address: EventAddress,
    _ http: any HTTPExchange
  ) -> EventDelivery {
    var delivery = pending.delivery
    delivery.attempts += 1
    delivery.status = nil
    delivery.error = nil
    let clock = SystemClock(interruption: NeverInterrupted())
    let start = clock.uptime
    do throws(Fault) {
      let fields =
        try signers[pending.event.provider]?
        .fields(of: pending.event, to: address.path, isWrong: pending.isBadlySigned) ?? []
      let request = HTTPRequest(
        method: .post,
        url: address.url,
        fields: fields + [HTTPRequest.Field("Content-Type", "application/json")],
        body: Array(pending.event.body.utf8)
      )
      if pending.isTwice {
        DetachedThread.begin { [makeHTTP] in
          _ = try? makeHTTP().send(request, nil, by: Deadline(in: Self.patience, on: clock))
        }
      }
      let answer = try http.send(request, nil, by: Deadline(in: Self.patience, on: clock))
      delivery.status = answer.status
      if !delivery.isDelivered { delivery.error = "answered \(answer.status)" }
    } catch {
      delivery.error = error.message
    }
    delivery.took = clock.uptime - start
    return delivery
  }
}
