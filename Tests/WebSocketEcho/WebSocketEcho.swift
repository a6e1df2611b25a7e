internal import TenderEngine
internal import TenderModel
internal import TenderSystem

#if canImport(Darwin)
private import Darwin
#else
private import Glibc
#endif

/// An echo client with the program's WebSocket, for the Autobahn suite. It is not part of the product.
@main
struct WebSocketEcho {
  static func main() {
    let arguments = CommandLine.arguments
    guard arguments.count == 3 else {
      print("usage: websocket-echo ws://127.0.0.1:PORT AGENT")
      exit(2)
    }
    do throws(Fault) {
      let base = arguments[1]
      let agent = arguments[2]
      let count = try caseCount(base)
      for number in 1...max(1, count) {
        // The report names a failing case.
        try? echo(base + "/runCase?case=\(number)&agent=\(agent)")
      }
      try? echo(base + "/updateReports?agent=\(agent)")
      print("\(count) cases")
    } catch {
      print("websocket-echo: \(error.message)")
      exit(1)
    }
  }

  private static let clock = MachineClock()

  private static func deadline() -> Deadline { Deadline(in: 30_000, on: clock) }

  private static func connect(_ url: String) throws(Fault) -> WebSocket {
    var settings = TransportSettings(
      clock: clock,
      randomness: MachineRandomness(),
      interruption: NeverInterrupted(),
      userAgent: "websocket-echo"
    )
    settings.answerLimit = 64 << 20
    return try WebSocketClient(settings).connect(url: url, by: deadline())
  }

  private static func caseCount(_ base: String) throws(Fault) -> Int {
    let socket = try connect(base + "/getCaseCount")
    defer { socket.close(waiting: true) }
    guard case .text(let text) = try socket.receive(by: deadline()), let count = Int(text) else {
      throw Fault(.providerError, code: "unreadable_answer", "no case count")
    }
    return count
  }

  private static func echo(_ url: String) throws(Fault) {
    let socket = try connect(url)
    defer { socket.close(waiting: true) }
    while true {
      switch try socket.receive(by: deadline()) {
      case .text(let text): try socket.send(text, by: deadline())
      case .binary(let bytes): try socket.send(WebSocketFrame(.binary, bytes), by: deadline())
      case .closed: return
      }
    }
  }
}

private struct NeverInterrupted: Interruption {
  var kind: Fault.Kind? { nil }

  var descriptor: Int32? { nil }
}

private struct MachineClock: Clock {
  var now: Int { uptime }

  var uptime: Int {
    var time = timespec()
    unsafe clock_gettime(CLOCK_MONOTONIC, &time)
    return time.tv_sec * 1000 + time.tv_nsec / 1_000_000
  }

  var moment: Moment { Moment(boot: "-", milliseconds: uptime) }

  func pause(milliseconds: Int) throws(Fault) {}
}

private struct MachineRandomness: Randomness {
  func bytes(_ count: Int) -> [UInt8] {
    var generator = SystemRandomNumberGenerator()
    return (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }
  }
}
