import TenderEngine
package import TenderModel
import TenderSystem

/// A change of the simulated world that is due at a time.
package struct DueChange: Booked {
  static let kind = "due"

  package private(set) var provider = ""
  /// The provider's name of the change, and the id of what changes.
  package private(set) var what = ""
  package private(set) var object = ""
  package private(set) var detail: String?
  /// Milliseconds since 1970.
  package private(set) var at = 0
  /// The seed of the randomness of this change. It is drawn when the change is planned, so that the same ids follow
  /// whichever process makes the change.
  private(set) var seed = 0
  /// Whether a request with its own clock planned it. Only requests make it, because a server's clock may be far ahead.
  private(set) var isOfRequest = false

  package init() {}

  init(
    _ provider: ProviderName,
    _ what: String,
    _ object: String,
    at time: Int,
    detail: String?,
    seed: Int,
    isOfRequest: Bool
  ) {
    self.provider = provider.text
    self.what = what
    self.object = object
    self.at = time
    self.detail = detail
    self.seed = seed
    self.isOfRequest = isOfRequest
  }

  /// The same change at the same time is planned once.
  var key: String { "\(provider) \(what) \(object) \(at)" }
  /// Its place in the queue. Changes of one time have the order in which they were planned.
  var parent: String? { Self.place(at) }

  static func place(_ time: Int) -> String { Ledger.sorted(max(0, time), digits: 15) }

  mutating func exchange(_ book: inout BookedMembers) {
    book.needed("provider", &provider)
    book.needed("what", &what)
    book.needed("object", &object)
    book.needed("at", &at)
    book.needed("seed", &seed)
    book.member("detail", &detail)
    book.member("of_request", &isOfRequest)
  }
}

/// An event that a provider published about its books, as its webhook would have it.
package struct PublishedEvent: Booked {
  static let kind = "event"

  /// Its place in the list, from 1.
  package private(set) var number = 0
  package private(set) var provider = ""
  /// The provider's id of it. The bodies of some providers have none.
  package private(set) var id = ""
  /// The time of the change, in milliseconds since 1970.
  package private(set) var at = 0
  /// The provider's type, such as `payment_executed` or `TRANSACTION.CREATED`.
  package private(set) var type = ""
  /// The body, byte for byte.
  package private(set) var body = ""
  /// The id of the payment, mandate, refund or dispute that it is about.
  package private(set) var object = ""
  /// The merchant's reference of that; nil without one.
  package private(set) var reference: String?

  package init() {}

  var key: String { Ledger.sorted(number) }
  var listing: String? { reference }

  mutating func exchange(_ book: inout BookedMembers) {
    book.needed("number", &number)
    book.needed("provider", &provider)
    book.needed("id", &id)
    book.needed("at", &at)
    book.needed("type", &type)
    book.needed("body", &body)
    book.needed("object", &object)
    book.member("reference", &reference)
  }

  /// The event for a person or a program to read.
  package var shown: JSONObject {
    [
      "number": number.json, "provider": provider.json, "id": id.json,
      "at": Timestamp.milliText(at).json, "type": type.json, "object": object.json,
      "reference": reference?.json, "body": body.json,
    ]
  }

  /// Adds it to the list in the books.
  fileprivate func append(to ledger: Ledger) throws(Fault) {
    var event = self
    event.number = try ledger.count("counter", Self.kind, upTo: .max) ?? 0
    try ledger.put(event)
  }

  fileprivate init(
    _ provider: ProviderName,
    _ id: String,
    _ type: String,
    at time: Int,
    _ object: String,
    _ reference: String?,
    _ body: JSONObject
  ) {
    self.provider = provider.text
    self.id = id
    self.type = type
    at = time
    self.object = object
    self.reference = reference
    self.body = JSONWriter.text(.object(body))
  }
}

extension Ledger {
  /// Returns the first change of the queue, if it is due by a time; for nil, at whatever time it is due.
  ///
  /// `isOfRequest`: with the changes that requests with their own clocks have planned.
  func next(by time: Int?, isOfRequest: Bool) throws(Fault) -> DueChange? {
    try first(
      DueChange.kind,
      parentUpTo: time.map(DueChange.place),
      lacking: isOfRequest ? nil : #""of_request":true"#
    ).flatMap(DueChange.read(_:))
  }

  /// Returns the published events with a higher number, oldest first.
  package func events(after number: Int = 0) throws(Fault) -> [PublishedEvent] {
    try list(PublishedEvent.kind, after: Self.sorted(number)).compactMap(PublishedEvent.read(_:))
  }

  /// The number of the last event that was handed on; 0 before the first.
  package func handedOn() throws(Fault) -> Int {
    try find("counter", "handed-on")?["number"]?.wholeNumber ?? 0
  }

  /// Notes that every event was handed on.
  func handOnAll() throws(Fault) {
    if let last = try events(after: handedOn()).last { try handOn(upTo: last.number) }
  }

  /// Notes that the events up to a number were handed on.
  package func handOn(upTo number: Int) throws(Fault) {
    try put("counter", "handed-on", ["number": .integer(number)])
  }
}

extension SimulatorParts {
  /// Plans a change of a provider's books.
  func plan(
    _ what: String,
    of object: String,
    at time: Int,
    _ detail: String? = nil,
    by provider: ProviderName
  ) throws(Fault) {
    let seed = world.queueRandomness.bytes(6).reduce(0) { $0 << 8 | Int($1) }
    try ledger.put(
      DueChange(
        provider,
        what,
        object,
        at: time,
        detail: detail,
        seed: seed,
        isOfRequest: world.hasOwnClock
      )
    )
    ledger.hasNewChanges = true
  }

  /// Returns the id of the next event.
  func eventID() -> String { world.queueRandomness.uuid().lowercased() }

  /// Appends an event to the books.
  func publish(
    _ type: String,
    id: String,
    about object: String,
    _ reference: String?,
    at time: Int,
    by provider: ProviderName,
    _ body: JSONObject
  ) throws(Fault) {
    try PublishedEvent(provider, id, type, at: time, object, reference, body).append(to: ledger)
  }

  /// Makes the changes that are due, in the order of the queue and each at its own time.
  func catchUp(isOfRequest: Bool = true) throws(Fault) {
    func next() throws(Fault) -> DueChange? {
      try ledger.next(by: world.now, isOfRequest: isOfRequest)
    }
    guard try next() != nil else { return }
    try ledger.transaction { () throws(Fault) in
      while let change = try next() {
        try ledger.delete(DueChange.kind, change.key)
        var then = world
        then.clock = SimulatedClock(standingAt: change.at, beside: world.clock)
        then.randomness = SeededRandomness(seed: change.seed, label: change.key)
        then.queueRandomness = then.randomness
        then.hasOwnClock = change.isOfRequest
        for provider in world.providers where provider.name.text == change.provider {
          try provider.make(change, SimulatorParts(world: then, ledger: ledger, faults: faults))
        }
      }
    }
  }
}
