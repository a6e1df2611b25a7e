import TenderEngine
import TenderModel
import TenderTestSupport
import Testing
import Toro

/// A reader that follows a script up to a command, and then never stops sending.
final class TalkativeReader: ByteStream, DeviceExchange, @unchecked Sendable {
  // Unchecked: a test works on one thread.
  static let most = 50_000

  private let inner: ScriptedReader
  private let command: UInt16
  private let talk: [UInt8]
  private(set) var count = 0

  init(_ inner: ScriptedReader, from command: UInt16, _ talk: [UInt8]) {
    self.inner = inner
    self.command = command
    self.talk = talk
  }

  func open(_ address: String, by deadline: Deadline) throws(Fault) -> any ByteStream { self }

  func send(_ bytes: [UInt8]) throws(Fault) { try inner.send(bytes) }

  func receive(milliseconds: Int) throws(Fault) -> StreamEvent {
    let event = try inner.receive(milliseconds: milliseconds)
    guard case .nothing = event, inner.commands.contains(command) else { return event }
    count += 1
    // The bound makes an endless sale fail the test instead of hanging it.
    return count < Self.most ? .bytes(talk) : .ended
  }

  func close() {}
}

/// A step of a sale has one deadline, with any messages from the reader.
@Suite struct PatienceTests {
  struct Case: Sendable, CustomTestStringConvertible {
    let name: String
    let script: [UInt16: [[UInt8]]]
    let command: UInt16
    let talk: [UInt8]
    let error: String

    var testDescription: String { name }
  }

  /// A battery event, which no step waits for.
  private static let battery = ScriptedReader.packet([0xe1, 3, 0xc4, 1, 5], unsolicited: true)
  private static let noCard = ScriptedReader.card([0, 0])
  private static let card = ScriptedReader.card([3, 0])
  private static let inserted = card + ScriptedReader.packet([], 0x9f43)

  static let cases: [Case] = [
    Case(
      name: "instead of an answer",
      script: [0xd000: [[]]],
      command: 0xd000,
      talk: battery,
      error: "deviceError"
    ),
    Case(
      name: "while a card is awaited",
      script: [0xd060: [noCard], 0xdec1: [[]]],
      command: 0xdec1,
      talk: battery,
      error: "transactionTimeout"
    ),
    Case(
      name: "cards come and go",
      script: [0xd060: [noCard], 0xdec1: [[]]],
      command: 0xdec1,
      talk: card + noCard,
      error: "transactionTimeout"
    ),
    Case(
      name: "while the chip is read",
      script: [0xd060: [noCard], 0xdec1: [inserted], 0xded1: [[]]],
      command: 0xded1,
      talk: card,
      error: "transactionTimeout"
    ),
    Case(
      name: "an application is to be chosen again and again",
      script: [0xd060: [noCard], 0xdec1: [inserted], 0xded1: [[]]],
      command: 0xded1,
      talk: ScriptedReader.packet([0xe2, 3, 0x50, 1, 0x41]),
      error: "transactionTimeout"
    ),
    Case(
      name: "the same card cannot be read again and again",
      script: [0xd060: [noCard], 0xdec1: [inserted], 0xded1: [[]]],
      command: 0xded1,
      talk: ScriptedReader.packet([], 0x9f28) + card,
      error: "unsupportedCard"
    ),
    Case(
      name: "instead of a goodbye",
      script: [0xd000: [ScriptedReader.packet([], 0x9f22)], 0xd201: [[]]],
      command: 0xd201,
      talk: battery,
      error: "deviceBusy"
    ),
  ]

  @Test(arguments: cases) func `a reader that never stops talking is left`(_ row: Case) throws {
    let inner = ScriptedReader()
    inner.script = row.script
    let reader = TalkativeReader(inner, from: row.command, row.talk)
    let world = try ToroWorld()
    let engine = try world.engine(devices: reader) { $1.cardTimeout = 2000 }
    let order = try world.sale()
    let result: JSONObject?
    do throws(Fault) { result = try engine.sell(order).result } catch { result = error.result }
    #expect(result?["error"]?.text == row.error)
    #expect(reader.count < TalkativeReader.most)
    #expect(world.wire.requests.isEmpty)
  }

  /// Some firmware neither reports its slot nor acknowledges the command.
  @Test func `a reader that is silent after CARD STATUS sells`() throws {
    let reader = ScriptedReader()
    reader.script = [
      0xd060: [[]], 0xdec1: [Self.inserted], 0xded1: [try ScriptedReader.online()],
      0xded2: [ScriptedReader.packet([0xe3, 4, 0x8a, 2, 0x30, 0x30])],
    ]
    let world = try ToroWorld()
    let report = try world.engine(devices: reader).sell(try world.sale())
    #expect(report.status == .succeeded)
    #expect(reader.commands.contains(0xdec1))
  }
}
