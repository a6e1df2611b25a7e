import Synchronization
import TenderEngine
import TenderModel
import TenderTestSupport
import Testing
import Toro

/// A reader with scripted answers: frames in pieces of any size, at any moment.
final class ScriptedReader: ByteStream, DeviceExchange, @unchecked Sendable {
  // Unchecked: a test works on one thread.
  /// The answers to a command, by CLA and INS. Each is used once; then the answer is plain.
  var script: [UInt16: [[UInt8]]] = [:]
  /// The number of bytes that arrive at a time.
  var pieces = Int.max
  private(set) var commands: [UInt16] = []
  private var pending: [UInt8] = []
  var ends = false

  func open(_ address: String, by deadline: Deadline) throws(Fault) -> any ByteStream { self }

  func send(_ bytes: [UInt8]) throws(Fault) {
    let name = UInt16(bytes[3]) << 8 | UInt16(bytes[4])
    commands.append(name)
    if var left = script[name], !left.isEmpty {
      pending += left.removeFirst()
      script[name] = left
    } else {
      pending += Self.plain[name] ?? Hex.decode("010002900093") ?? []
    }
  }

  func receive(milliseconds: Int) throws(Fault) -> StreamEvent {
    guard !pending.isEmpty else { return ends ? .ended : .nothing }
    let part = pending.prefix(pieces)
    pending.removeFirst(part.count)
    return .bytes(Array(part))
  }

  func close() {}

  /// The serial number, and keys for card data and PINs.
  private static let plain: [UInt16: [UInt8]] = [
    0xd000: packet(TLV(0xe1, holding: [TLV(0x9f1e, Array("11111111".utf8))]).encoded),
    0xeee0: packet([0xe1, 5, 0xdf, 0xae, 1, 1, 6]),
    // CARD STATUS is answered with an event only (Toro/README, 4.3).
    0xd060: [],
  ]

  static func packet(
    _ body: [UInt8],
    _ status: UInt16 = 0x9000,
    unsolicited: Bool = false
  ) -> [UInt8] {
    let apdu = body + [UInt8(status >> 8), UInt8(status & 0xff)]
    let packet: [UInt8] = [1, unsolicited ? 0x40 : 0, UInt8(apdu.count)] + apdu
    return packet + [packet.reduce(0, ^)]
  }

  static func card(_ status: [UInt8]) -> [UInt8] {
    packet(TLV(0xe1, holding: [TLV(0x48, status)]).encoded, unsolicited: true)
  }

  /// Returns the constructed answer of a chip that goes online, in two packets.
  static func online() throws -> [UInt8] {
    try #require(
      FrameTests.whole.first { $0.name == "E4 online authorisation required (chained)" }
    ).bytes
  }
}

@Suite struct LinkTests {
  private func run(
    _ reader: ScriptedReader,
    interruption: any Interruption = NeverInterrupted()
  ) throws -> (result: JSONObject, exit: Int32, world: ToroWorld) {
    let world = try ToroWorld()
    let engine = try world.engine(devices: reader, interruption: interruption)
    let order = try world.sale()
    do throws(Fault) {
      let report = try engine.sell(order)
      return (report.result, report.fault?.exitStatus ?? 0, world)
    } catch {
      return (error.result ?? [:], error.exitStatus, world)
    }
  }

  private static let noCard = ScriptedReader.card([0, 0])
  private static let ok = ScriptedReader.packet([])

  /// Returns a reader with a chip that is inserted during a contactless prompt, a chained answer and an
  /// approval.
  private func chip() throws -> ScriptedReader {
    let reader = ScriptedReader()
    reader.script = [
      0xd060: [Self.noCard],
      0xdec1: [ScriptedReader.card([3, 0]) + ScriptedReader.packet([], 0x9f43)],
      0xded1: [try ScriptedReader.online()],
      0xded2: [ScriptedReader.packet([0xe3, 4, 0x8a, 2, 0x30, 0x30])],
    ]
    return reader
  }

  @Test(arguments: [1, 2, 5, 64, 255, Int.max])
  func `reads answers in pieces of any size`(_ size: Int) throws {
    let reader = try chip()
    reader.pieces = size
    let (result, exit, world) = try run(reader)
    #expect(exit == 0)
    #expect(result["receipt"]?["panLastFour"] == "0010")
    #expect(result["receipt"]?["authenticationMethod"] == "NPIN")
    let sent = try #require(world.wire.requests.first)
    let message = try #require(try XMLElement.read(sent))
    let card = message.children.first?["AuthstnReq"]?["Envt"]?["Card"]
    let envelope = card?["PrtctdCardData"]?["EnvlpdData"]
    // The encrypted data, and the key's serial number in two halves.
    #expect(
      envelope?.text("NcrptdCntt/NcrptdData")
        == Base64.encode([UInt8](repeating: 0xa5, count: 64))
    )
    #expect(
      envelope?.text("Rcpt/KEK/KEKId/DerivtnId")
        == Base64.encode([0xff, 0xff, 0x98, 0x76, 0x54])
    )
    #expect(envelope?.text("Rcpt/KEK/NcrptdKey") == Base64.encode([0x32, 0x10, 0xe0, 0, 1]))
    #expect(card?.text("MskdPAN") == "476173******0010")
    let data = try #require(
      message.children.first?.text("AuthstnReq/Tx/TxDtls/ICCRltdData").flatMap { Base64.decode($0) }
    )
    let tags = Set(try #require(TLV.read(data)).map(\.tag))
    #expect(tags.isDisjoint(with: [0x5a, 0x57, 0x56, 0x5f20, 0x5f24, 0x99, 0xdfae02, 0xdfae57]))
    #expect(tags.isSuperset(of: [0x9f26, 0x9f27, 0x9f10, 0x9f36, 0x95, 0x84, 0x82]))
  }

  @Test func `ends a tap itself where the reader does not`() throws {
    let reader = try chip()
    reader.script[0xdec1] = [ScriptedReader.card([3, 0])]
    reader.script[0xd0ff] = [Self.ok + ScriptedReader.packet([], 0x9f41)]
    let (result, exit, _) = try run(reader)
    #expect(exit == 0 && result["receipt"]?["paymentInterface"] == "contact")
    #expect(reader.commands.contains(0xd0ff))
  }

  /// The contactless answer is about to arrive when the abort is sent. It does not answer the abort.
  @Test func `tells an abort's answer from that of what it ends`() throws {
    let reader = try chip()
    reader.script[0xdec1] = [[]]
    reader.script[0xd0ff] = [try ScriptedReader.online() + Self.ok]
    let stop = StopAfter(reader, command: 0xdec1)
    let (result, exit, world) = try run(reader, interruption: stop)
    #expect(exit == 12 && result.text("error") == "operatorCancelled")
    #expect(world.wire.requests.isEmpty)
    #expect(!reader.commands.contains(0xded2))
  }

  /// The acquirer approved, and the reader does not finish with the card. A deadline is like Ctrl-C.
  @Test(arguments: [Fault.Kind.interrupted, .terminated, .hungUp])
  func `a stop ends the last step of a chip, lets the reader go, and undoes the sale`(
    _ kind: Fault.Kind
  ) throws {
    let reader = try chip()
    reader.script[0xded2] = [[]]
    reader.script[0xd0ff] = [Self.ok]
    let (result, exit, world) = try run(
      reader,
      interruption: StopAfter(reader, command: 0xded2, kind)
    )
    #expect(exit == 12 && result.text("error") == "operatorCancelled")
    #expect(reader.commands.suffix(3) == [0xd0ff, 0xd201, 0xd060])
    #expect(try world.ledger() == (1, 0, 0))
    // A look at this clock takes a millisecond. The greeting is awaited for 1.5 s.
    #expect(world.clock.uptime - world.clock.now < 5000)
  }

  /// The card's approval may cross the stop.
  @Test(arguments: [(UInt8(0xe3), Int32(0)), (0xe5, 3)])
  func `an answer of the card that crosses a stop decides the sale`(
    _ tag: UInt8,
    _ status: Int32
  ) throws {
    let reader = try chip()
    reader.script[0xded2] = [[]]
    reader.script[0xd0ff] = [Self.ok + ScriptedReader.packet([tag, 4, 0x8a, 2, 0x30, 0x30])]
    let (_, exit, world) = try run(
      reader,
      interruption: StopAfter(reader, command: 0xded2)
    )
    #expect(exit == status)
    #expect(try world.ledger().standing == (exit == 0 ? 1 : 0))
  }

  @Test func `goes on where insert and its event come in either order`() throws {
    let reader = try chip()
    reader.script[0xdec1] = [ScriptedReader.packet([], 0x9f43) + ScriptedReader.card([3, 0])]
    #expect(try run(reader).exit == 0)
    let first = try chip()
    first.script[0xd060] = [ScriptedReader.card([3, 0])]
    #expect(try run(first).exit == 0)
    #expect(!first.commands.contains(0xdec1))
  }

  static let ends: [(name: String, answer: [UInt8], error: String, exit: Int32)] = [
    ("9F41", ScriptedReader.packet([], 0x9f41), "customerCancelled", 12),
    ("9F42", ScriptedReader.packet([], 0x9f42), "transactionTimeout", 13),
    ("9F22", ScriptedReader.packet([], 0x9f22), "deviceBusy", 19),
    ("9F26", ScriptedReader.packet([], 0x9f26), "deviceBusy", 19),
    ("9F23", ScriptedReader.packet([], 0x9f23), "cardReadError", 19),
    ("9F25", ScriptedReader.packet([], 0x9f25), "unsupportedCard", 19),
    ("9F21", ScriptedReader.packet([], 0x9f21), "deviceError", 19),
    ("9FCF", ScriptedReader.packet([], 0x9fcf), "deviceError", 19),
    ("9FFF", ScriptedReader.packet([], 0x9fff), "deviceError", 19),
    ("no TLV", ScriptedReader.packet([0xe4, 0x20, 0x01]), "deviceError", 19),
    ("E3", ScriptedReader.packet([0xe3, 0]), "transactionError", 19),
    ("E4 in the clear", ScriptedReader.packet([0xe4, 3, 0x50, 1, 0x41]), "deviceError", 19),
    (
      "a stripe without tracks",
      ScriptedReader.card([0, 1]) + ScriptedReader.packet([], 0x9f44), "magSwipeError", 19
    ),
    ("a wrong checksum", [1, 0, 2, 0x90, 0, 0x92], "deviceError", 19),
  ]

  @Test(arguments: ends)
  func `names what ends a tap`(
    _ row: (name: String, answer: [UInt8], error: String, exit: Int32)
  ) throws {
    let reader = try chip()
    reader.script[0xdec1] = [row.answer]
    let (result, exit, world) = try run(reader)
    #expect(exit == row.exit && result.text("error") == row.error)
    #expect(world.wire.requests.isEmpty)
  }

  /// After a chip that fails with MSR allowed: the stripe within its time limit, else the chip's error.
  @Test(arguments: [(UInt16(0x9f28), "unsupportedCard"), (0x9f30, "cardReadError")])
  func `falls back to the stripe, or ends with why`(_ status: UInt16, _ error: String) throws {
    let reader = try chip()
    reader.script[0xded1] = [ScriptedReader.packet([], status)]
    let (result, exit, _) = try run(reader)
    #expect(exit == 19 && result.text("error") == error)
    #expect(reader.commands.contains(0xd061))
  }

  @Test func `hears the cancel key where nothing else listens`() throws {
    let reader = try chip()
    reader.script[0xdec1] = [ScriptedReader.packet([], 0x9fc1)]
    let key = TLV(0xe0, holding: [TLV(0xdfa205, [0x1b])]).encoded
    reader.script[0xd061] = [Self.ok + ScriptedReader.packet(key, unsolicited: true)]
    let (result, exit, _) = try run(reader)
    #expect(exit == 12 && result.text("error") == "customerCancelled")
  }

  @Test func `survives whatever a reader says`() throws {
    var generator = SystemRandomNumberGenerator()
    for _ in 0..<60 {
      let reader = try chip()
      reader.ends = true
      let names: [UInt16] = [0xd000, 0xd002, 0xeee0, 0xd060, 0xdec1, 0xded1, 0xded2]
      for name in names where Int.random(in: 0..<3) == 0 {
        let body = (0..<Int.random(in: 0..<40)).map { _ in
          UInt8.random(in: .min ... .max, using: &generator)
        }
        reader.script[name] = [ScriptedReader.packet(body, 0x9000)]
      }
      let (_, exit, world) = try run(reader)
      #expect([0, 3, 12, 13, 19].contains(exit))
      // No sale exists that was not reported to the caller.
      if exit != 0 { #expect(try world.ledger().standing == 0) }
    }
  }
}

/// A signal as soon as a command was sent.
final class StopAfter: Interruption, @unchecked Sendable {
  // Unchecked: a test works on one thread.
  private let reader: ScriptedReader
  private let command: UInt16
  private let signal: Fault.Kind
  private var isHeard = false

  init(_ reader: ScriptedReader, command: UInt16, _ signal: Fault.Kind = .interrupted) {
    self.reader = reader
    self.command = command
    self.signal = signal
  }

  var kind: Fault.Kind? { !isHeard && reader.commands.contains(command) ? signal : nil }

  var descriptor: Int32? { nil }

  func acknowledge() { isHeard = true }
}
