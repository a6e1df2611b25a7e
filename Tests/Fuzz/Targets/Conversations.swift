import Synchronization
import TenderEngine
import TenderModel
import TenderSystem
import TenderTestSupport

extension FuzzTarget {
  /// Loops that continue as long as a peer sends something, on a clock from the input. A loop that outlives
  /// its deadline is a finding.
  static let conversations: [FuzzTarget] = [
    FuzzTarget("websocket-client", bytes: SocketRun.seeds) { SocketRun($0).run() }
  ]
}

/// A stop that is requested after some looks.
private final class LateWish: Interruption {
  private let left: Mutex<Int>

  init(after looks: Int) { left = Mutex(looks) }

  var descriptor: Int32? { nil }
  var kind: Fault.Kind? {
    left.withLock { left in
      left -= 1
      return left < 0 ? .interrupted : nil
    }
  }
}

private struct Zeros: Randomness {
  func bytes(_ count: Int) -> [UInt8] { Array(repeating: 0, count: count) }
}

/// A peer that sends the input piece by piece. Then it is silent, gone, or repeats its last piece for ever.
private final class ScriptedStream: ConnectedStream {
  /// More steps than this within a deadline of 100 ms show a loop that ignores the clock.
  private static let most = 1000

  private let clock: ManualClock
  private var feed: Feed
  private let ending: Int
  private var last: [UInt8] = [0x89, 0]
  private(set) var steps = 0
  private(set) var isEndless = false

  init(_ clock: ManualClock, _ feed: Feed, ending: Int) {
    (self.clock, self.feed, self.ending) = (clock, feed, ending)
  }

  func beginAction() { steps = 0 }

  private func step() throws(Fault) {
    steps += 1
    clock.advance(1)
    if steps <= Self.most { return }
    isEndless = true
    throw Fault(.internal, code: "internal", "a loop goes on for ever")
  }

  /// The next piece; nil if there is none now.
  private func piece() -> [UInt8]? {
    guard feed.isOver else {
      let size = Int(feed.byte())
      if size == 0 { return nil }
      var bytes: [UInt8] = []
      for _ in 0..<size where !feed.isOver { bytes.append(feed.byte()) }
      if !bytes.isEmpty { last = bytes }
      return last
    }
    return ending == 0 ? nil : ending == 1 ? [] : last
  }

  func send(_ bytes: [UInt8], _ permit: SendPermit?, by deadline: Deadline) throws(Fault) {
    try step()
  }

  func receive(by deadline: Deadline) throws(Fault) -> [UInt8] {
    while true {
      try step()
      guard deadline.remaining > 0 else {
        throw Fault(.providerError, code: "no_answer", "no answer in time")
      }
      if let bytes = piece() { return bytes }
      clock.advance(feed.isOver ? deadline.remaining : 10)
    }
  }

  func receiveNow() throws(Fault) -> [UInt8]? {
    try step()
    return piece()
  }
}

/// The run of one input. The first bytes are the client's actions, the rest are the bytes that it receives.
private struct SocketRun {
  private static let head = 16
  private static let upgrade =
    "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    + "Sec-WebSocket-Accept: ICX+Yqv66kxgM0FcWaLWlFLwTAI=\r\n\r\n"

  static let seeds: [[UInt8]] = {
    let said: [[UInt8]] = [
      [0x81, 2, 0x68, 0x69], [0x89, 0], [0x88, 2, 3, 0xe8], [0x01, 1, 0x61, 0x80, 1, 0x62],
      [0x82, 0x7e, 1, 0, 1],
    ]
    let opening = [UInt8(upgrade.utf8.count)] + Array(upgrade.utf8)
    var seeds: [[UInt8]] = [[]]
    for bytes in said {
      for action in 0..<5 {
        for ending in 0..<3 {
          let actions = Array(repeating: UInt8(action), count: head - 2)
          seeds.append([UInt8(ending), 255] + actions + opening + [UInt8(bytes.count)] + bytes)
        }
      }
    }
    return seeds
  }()

  private let actions: [UInt8]
  private let clock = ManualClock()
  private let stream: ScriptedStream
  private let settings: TransportSettings

  init(_ input: [UInt8]) {
    let first = Array(input.prefix(Self.head))
    actions = Array(first.dropFirst(2))
    stream = ScriptedStream(
      clock,
      Feed(Array(input.dropFirst(Self.head))),
      ending: Int(first.first ?? 0) % 3
    )
    let patience = first.count > 1 ? Int(first[1]) : 255
    settings = TransportSettings(
      clock: clock,
      randomness: Zeros(),
      interruption: LateWish(after: patience == 255 ? .max : patience),
      userAgent: "fuzz"
    )
  }

  func run() -> String? {
    var soon: Deadline { Deadline(in: 100, on: clock) }
    guard let address = WebAddress("ws://localhost/x") else { return "an address is none" }
    let socket = try? WebSocket.open(over: stream, to: address, settings, fields: [], by: soon)
    if let socket {
      for action in actions {
        stream.beginAction()
        switch action % 4 {
        case 0, 1: _ = try? socket.receive(by: soon)
        case 2: try? socket.send("x", by: soon)
        default: socket.close(waiting: action > 127)
        }
        if stream.isEndless { break }
      }
    }
    return stream.isEndless ? "a loop outlives its deadline" : nil
  }
}
