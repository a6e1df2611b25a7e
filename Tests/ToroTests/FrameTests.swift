import Foundation
import TenderModel
import Testing
import Toro

/// Packets of Miura's MPI, captured and constructed (origin: `Vectors/README.md`).
@Suite struct FrameTests {
  struct Packet: CustomTestStringConvertible {
    let name: String
    let fromHost: Bool
    let bytes: [UInt8]

    var testDescription: String { name }
  }

  static func packets(_ group: String) throws -> [Packet] {
    let file = try #require(JSONReader.read(try Vectors.bytes("mpi.json"))?.object)
    return try #require(file[group]?.array).compactMap { entry in
      let hex = entry["hex"]?.text ?? entry["hex"]?.array?.compactMap(\.text).joined()
      guard let bytes = hex.flatMap({ Hex.decode($0) }) else { return nil }
      return Packet(
        name: entry["name"]?.text ?? entry["meaning"]?.text ?? "",
        fromHost: entry["dir"]?.text == "host>ped",
        bytes: bytes
      )
    }
  }

  /// Every complete packet of the file.
  static let whole: [Packet] =
    ((try? packets("captured")) ?? []) + ((try? packets("constructed")) ?? [])

  @Test func `has the vectors`() { #expect(Self.whole.count == 51) }

  @Test(arguments: whole.filter { !$0.fromHost && $0.bytes[1] & 1 == 0 })
  func `reads a packet whole, in bursts and byte by byte`(_ packet: Packet) throws {
    var all = FrameDecoder()
    let once = try all.receive(packet.bytes)
    #expect(once.count == 1)
    #expect(!all.isInside)
    for size in [1, 2, 3, 7] {
      var decoder = FrameDecoder()
      var found: [ReaderMessage] = []
      for start in stride(from: 0, to: packet.bytes.count, by: size) {
        found += try decoder.receive(packet.bytes[start...].prefix(size))
      }
      #expect(found == once)
    }
    var burst = FrameDecoder()
    #expect(try burst.receive(packet.bytes + packet.bytes) == once + once)
  }

  @Test func `puts a chained answer together`() throws {
    let chained = try #require(
      Self.whole.first { $0.name == "E4 online authorisation required (chained)" }
    )
    var decoder = FrameDecoder()
    let message = try #require(try decoder.receive(chained.bytes).first)
    #expect(message.status == 0x9000)
    let outer = try #require(TLV.read(message.body)?.first)
    #expect(outer.tag == 0xe4)
    let objects = try #require(outer.objects)
    #expect(objects[tag: 0xdfae02]?.count == 64)
    #expect(objects[tag: 0xdfae03].map(Hex.encode) == "FFFF9876543210E00001")
    #expect(objects[tag: 0x9f34].map(Hex.encode) == "020300")
    // An event between the two packets of a chain belongs to neither of them.
    let event = try #require(Hex.decode("014008E10448020300900075"))
    var mixed = FrameDecoder()
    let found = try mixed.receive(chained.bytes.prefix(258) + event + chained.bytes.dropFirst(258))
    #expect(found.map(\.isUnsolicited) == [true, false])
    #expect(found.last?.body == message.body)
  }

  @Test func `reads no chain without an end`() {
    let packet = [UInt8(1), 1, 200] + [UInt8](repeating: 0x20, count: 200)
    let bytes = packet + [packet.reduce(0, ^)]
    var decoder = FrameDecoder()
    let isEnded = (0..<1000).contains { _ in (try? decoder.receive(bytes)) == nil }
    #expect(isEnded)
  }

  @Test func `keeps the first packet of a captured chain until the rest comes`() throws {
    let first = try #require(Self.whole.first { !$0.fromHost && $0.bytes[1] & 1 == 1 })
    var decoder = FrameDecoder()
    #expect(try decoder.receive(first.bytes.prefix(258)) == [])
    #expect(decoder.isInside)
  }

  static let broken: [(hex: String, why: String)] = [
    ("010002900092", "a packet whose checksum (LRC) is wrong"),
    ("010004D0020000D4", "a packet whose checksum (LRC) is wrong"),
    ("030002900091", "a packet for node 3, which does not exist"),
    ("018002900013", "a packet with the control byte 128"), ("010000", "a packet of 0 bytes"),
    ("0100FF", "a packet of 255 bytes"), ("0100019090", "a message without a status word"),
    ("FFFFFFFF", "a packet for node 255, which does not exist"),
  ]

  @Test(arguments: broken)
  func `refuses what is no packet, and all after it`(_ row: (hex: String, why: String)) throws {
    var decoder = FrameDecoder()
    let bytes = try #require(Hex.decode(row.hex))
    #expect(throws: FrameProblem.self) { try decoder.receive(bytes) }
    do throws(FrameProblem) {
      _ = try decoder.receive([])
      Issue.record("goes on")
    } catch {
      #expect(error.text == row.why)
    }
  }

  @Test func `gives what came whole before a broken packet`() throws {
    var decoder = FrameDecoder()
    let good = try #require(Hex.decode("010002900093"))
    #expect(try decoder.receive(good + [9]).count == 1)
    #expect(throws: FrameProblem.self) { try decoder.receive([]) }
  }

  @Test func `waits for the rest of a packet that is longer than what came`() throws {
    var decoder = FrameDecoder()
    #expect(try decoder.receive(try #require(Hex.decode("010003900093"))) == [])
    #expect(decoder.isInside)
  }

  @Test func `survives any bytes`() {
    var generator = SystemRandomNumberGenerator()
    for _ in 0..<2000 {
      var decoder = FrameDecoder()
      let bytes = (0..<Int.random(in: 0..<600)).map { _ in
        UInt8.random(in: 0...3, using: &generator) &* UInt8.random(in: 1...85)
      }
      for part in stride(from: 0, to: bytes.count, by: 97) {
        guard let found = try? decoder.receive(bytes[part...].prefix(97)) else { break }
        for message in found { _ = TLV.read(message.body) }
      }
    }
  }

  static let commands: [(name: String, command: ReaderCommand)] = {
    guard let pound = Currency(code: "GBP") else { return [] }
    let money = Money(minorUnits: 1000, currency: pound)
    // 2026-01-02T03:04:05Z, as in the vectors.
    let time = ReaderTime(1_767_323_045_000)
    return [
      ("RESET DEVICE (soft)", .reset), ("GET DEVICE INFO", .deviceInfo),
      ("P2PE STATUS", .encryptionStatus), ("ABORT", .abort), ("CARD STATUS on", .cardEvents),
      ("CARD STATUS off", .noCardEvents), ("BATTERY STATUS", .battery),
      ("SYSTEM CLOCK set", .setClock(time)),
      ("DISPLAY TEXT", .display("Insert or tap\nGBP 10.00")),
      (
        "START CONTACTLESS purchase GBP 10.00",
        .start(contactless: true, money, isRefund: false, at: time)
      ),
      (
        "CONTINUE approve",
        .proceed([
          TLV(0x8a, [0x30, 0x30]),
          TLV(0x91, [0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88, 0, 0x12]),
        ])
      ), ("CONTINUE decline", .proceed([TLV(0x8a, [0x30, 0x35])])),
      ("KEYBOARD STATUS P1=01 (report key presses)", .keyEvents),
    ]
  }()

  @Test(arguments: commands)
  func `writes a command`(_ row: (name: String, command: ReaderCommand)) throws {
    let packet = try #require(Self.whole.first { $0.name == row.name && $0.fromHost })
    #expect(Hex.encode(row.command.frame) == Hex.encode(packet.bytes))
  }

  /// In the vectors, the host chooses the application (DFA204). Here the customer does.
  @Test(arguments: [false, true]) func `begins a transaction with the chip`(isRefund: Bool) throws {
    let money = Money(minorUnits: 1000, currency: try #require(Currency(code: "GBP")))
    let frame = ReaderCommand.start(
      contactless: false,
      money,
      isRefund: isRefund,
      at: ReaderTime(1_767_323_045_000)
    ).frame
    let name = "START TRANSACTION \(isRefund ? "refund" : "purchase") GBP 10.00"
    let packet = try #require(Self.whole.first { $0.name == name })
    let mine = try #require(TLV.read(frame[8..<(frame.count - 1)])?.first?.objects)
    let theirs = try #require(TLV.read(packet.bytes[8..<(packet.bytes.count - 1)])?.first?.objects)
    #expect(mine == theirs.filter { $0.tag != 0xdfa204 })
  }
}
