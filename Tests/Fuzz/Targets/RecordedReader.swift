import Synchronization
import TenderEngine
import TenderModel

/// Sales that the simulator ran once, before the first input.
enum Recordings {
  /// Each scenario as a plain sale. The first one and those of the gateway have cancellations and the other
  /// commands after them too. The first bytes choose the scenario, the others all choices.
  static let all = Names.reader.enumerated().flatMap { number, scenario in
    let choices = number == 0 || scenario.hasPrefix("gateway") ? [UInt8(0), 2, 11] : [0]
    return choices.map { choice in
      let (reader, gateway) = (RecordedReader.Recorder(), RecordedGateway.Recorder())
      let input = [1, UInt8(number)] + Array(repeating: choice, count: 400)
      let payment = AdapterRun(input).record(reader, gateway)
      return (reader: reader, gateway: gateway, payment: payment)
    }
  }

  static let payments = all.map(\.payment)
}

/// A reader that answers each command as the simulated one did in a sale: no simulator runs beside it.
struct RecordedReader: DeviceExchange {
  /// The answers to each command, by class and instruction. 0 is the connection.
  typealias Sale = [UInt16: [[UInt8]]]

  /// A sale of each scenario.
  static let sales = Recordings.all.map(\.reader.sale)
  /// The sales with the fewest answers of those that reach the gateway.
  static let shortSales = Array(
    Recordings.all.filter { !$0.gateway.answers.isEmpty }.map(\.reader.sale)
      .sorted { $0.values.joined().count < $1.values.joined().count }.prefix(4)
  )

  private let sale: Sale
  private let clock: any Clock

  init(_ feed: SharedFeed, _ clock: any Clock, among sales: [Sale]) {
    sale = feed.take { $0.one(of: sales) }
    self.clock = clock
  }

  func open(_ address: String, by deadline: Deadline) throws(Fault) -> any ByteStream {
    Replay(sale, clock)
  }

  private static func command(_ frame: [UInt8]) -> UInt16 {
    frame.count > 4 ? UInt16(frame[3]) << 8 | UInt16(frame[4]) : 0
  }

  private final class Replay: ByteStream {
    private var left: Sale
    private var pending: [UInt8]
    private let clock: any Clock

    init(_ sale: Sale, _ clock: any Clock) {
      left = sale
      pending = sale[0]?.first ?? []
      self.clock = clock
    }

    func send(_ bytes: [UInt8]) throws(Fault) {
      let command = RecordedReader.command(bytes)
      guard let answers = left[command], let first = answers.first else { return }
      pending += first
      // The last answer is given again and again.
      if answers.count > 1 { left[command] = Array(answers.dropFirst()) }
    }

    func receive(milliseconds: Int) throws(Fault) -> StreamEvent {
      guard pending.isEmpty else {
        defer { pending = [] }
        return .bytes(pending)
      }
      try? clock.pause(milliseconds: milliseconds)
      return .nothing
    }

    func close() {}
  }

  /// Passes on what a reader says, and notes to which command it said it.
  final class Recorder: DeviceExchange, ByteStream, @unchecked Sendable {
    // Unchecked: a sale has one thread.
    var inner: any DeviceExchange = NoDevices()
    private var stream: (any ByteStream)?
    private(set) var sale: Sale = [0: [[]]]
    private var last: UInt16 = 0

    func open(_ address: String, by deadline: Deadline) throws(Fault) -> any ByteStream {
      stream = try inner.open(address, by: deadline)
      return self
    }

    func send(_ bytes: [UInt8]) throws(Fault) {
      last = RecordedReader.command(bytes)
      sale[last, default: []].append([])
      try stream?.send(bytes)
    }

    func receive(milliseconds: Int) throws(Fault) -> StreamEvent {
      guard let event = try stream?.receive(milliseconds: milliseconds) else { return .ended }
      if case .bytes(let bytes) = event, let place = sale[last]?.indices.last {
        sale[last]?[place] += bytes
      }
      return event
    }

    func close() { stream?.close() }
  }
}

/// No reader at all.
struct NoDevices: DeviceExchange {
  func open(_ address: String, by deadline: Deadline) throws(Fault) -> any ByteStream {
    throw Fault(.device, code: "device_unreachable", "there is no reader")
  }
}

/// A gateway that answers as the simulated one did in a sale, about the payment that it is asked about.
struct RecordedGateway: HTTPExchange {
  /// An answer, with the places where it repeats its question, the last one first.
  private struct Answer {
    let address: String
    let response: HTTPResponse
    private(set) var places: [(place: Range<Int>, asked: String)] = []

    init(_ address: String, _ response: HTTPResponse) {
      (self.address, self.response) = (address, response)
      let body = response.body
      // An approved amount is that of the question, unless a part was approved.
      let approved = RecordedGateway.place(of: "AuthrsdAmt", in: body).map { body[$0] }
      let whole = RecordedGateway.place(of: "TtlAmt", in: body).map { body[$0] }
      let names = repeated.map { ($0, $0) } + (approved == whole ? [("AuthrsdAmt", "TtlAmt")] : [])
      places = names.compactMap { name, asked in
        RecordedGateway.place(of: name, in: body).map { ($0, asked) }
      }
      places.sort { $0.place.lowerBound > $1.place.lowerBound }
    }
  }

  /// The answers at each address.
  private static let answers = Dictionary(
    grouping: Recordings.all.flatMap(\.gateway.answers).map { Answer($0.address, $0.response) },
    by: \.address
  )
  /// What an answer repeats of its question.
  private static let repeated = [
    "XchgId", "SaleRefId", "TxDtTm", "TxRef", "InitrTxId", "TtlAmt", "Ccy",
  ]

  private let feed: SharedFeed
  /// Whether no request reaches it.
  private let isSilent: Bool

  init(_ feed: SharedFeed, isSilent: Bool = false) { (self.feed, self.isSilent) = (feed, isSilent) }

  func send(
    _ request: HTTPRequest,
    _ permit: SendPermit?,
    by deadline: Deadline
  ) throws(Fault) -> HTTPResponse {
    let way = feed.take { $0.below(16) }
    guard way != 1, !isSilent, let all = Self.answers[request.url] else {
      throw Fault(.notSent, code: "unreachable", "nothing was sent")
    }
    try permit?.use()
    if way == 2 { throw Fault(.providerError, code: "no_answer", "no answer") }
    let answer = feed.take { $0.one(of: all) }
    let recorded = answer.response
    var body = recorded.body
    guard !body.isEmpty else { return recorded }
    for (place, asked) in answer.places {
      guard let other = Self.place(of: asked, in: request.body) else { continue }
      body.replaceSubrange(place, with: request.body[other])
    }
    return HTTPResponse(
      status: recorded.status,
      body: GatewaySeal.seal(body, GatewaySeal.quickKey),
      fields: recorded.fields
    )
  }

  /// Returns the place of the first text between the tags of a name.
  private static func place(of name: String, in document: [UInt8]) -> Range<Int>? {
    guard let start = document[...].range(ofText: "<\(name)>")?.upperBound,
      let end = document[start...].range(ofText: "</")?.lowerBound
    else { return nil }
    return start..<end
  }

  /// Passes on another gateway's answers, and notes at which address it gave them.
  final class Recorder: HTTPExchange, @unchecked Sendable {
    // Unchecked: a sale has one thread.
    var inner: (any HTTPExchange)?
    private(set) var answers: [(address: String, response: HTTPResponse)] = []

    func send(
      _ request: HTTPRequest,
      _ permit: SendPermit?,
      by deadline: Deadline
    ) throws(Fault) -> HTTPResponse {
      guard let inner else { throw Fault(.notSent, code: "unreachable", "nobody is there") }
      let answer = try inner.send(request, permit, by: deadline)
      answers.append((request.url, answer))
      return answer
    }
  }
}
