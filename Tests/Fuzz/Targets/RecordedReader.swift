import Synchronization
import TenderEngine
import TenderModel

/// A reader that answers each command as the simulated one did in a sale: no simulator runs beside it.
struct RecordedReader: DeviceExchange {
  /// The answers to each command, by class and instruction. 0 is the connection.
  private typealias Sale = [UInt16: [[UInt8]]]

  /// A sale of each scenario.
  private static let sales: [Sale] = Names.reader.indices.map { scenario in
    let recorder = Recorder()
    // The first byte chooses a scenario by its number. The others are choices that change nothing.
    let input = [1, UInt8(scenario)] + Array(repeating: UInt8(0), count: 160)
    _ = AdapterRun(input).toro(.reader) { inner in
      recorder.inner = inner
      return recorder
    }
    return recorder.sale
  }

  private let sale: Sale
  private let clock: any Clock

  init(_ feed: SharedFeed, _ clock: any Clock) {
    sale = feed.take { $0.one(of: Self.sales) }
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
  private final class Recorder: DeviceExchange, ByteStream, @unchecked Sendable {
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

/// A gateway that does not answer: a request did not leave, or it is lost.
struct SilentGateway: HTTPExchange {
  let feed: SharedFeed

  func send(
    _ request: HTTPRequest,
    _ permit: SendPermit?,
    by deadline: Deadline
  ) throws(Fault) -> HTTPResponse {
    guard feed.take({ $0.below(4) }) == 1 else {
      throw Fault(.notSent, code: "unreachable", "nothing was sent")
    }
    try permit?.use()
    throw Fault(.providerError, effect: .unknown, code: "no_answer", "no answer")
  }
}
