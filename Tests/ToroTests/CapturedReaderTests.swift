import Foundation
import TenderEngine
import TenderModel
import TenderTestSupport
import Testing
import Toro

/// A reader built from public logs and Miura's SDK, packet by packet (`Vectors/mpi.json`). It shares nothing
/// with this project's simulator.
///
/// CARD STATUS has no separate answer: the log has two commands, one success and the event.
private final class CapturedReader: ByteStream, DeviceExchange, @unchecked Sendable {
  // Unchecked: a test works on one thread.
  /// Whether, and where, this firmware acknowledges CARD STATUS.
  enum Acknowledgement: CaseIterable { case none, before, after, late }

  let acknowledgement: Acknowledgement
  let hasCardAlready: Bool
  let pieces: Int
  private(set) var commands: [String] = []
  private var pending: [UInt8] = []
  /// The bytes that arrive after the next command was answered.
  private var late: [UInt8] = []

  init(_ acknowledgement: Acknowledgement, hasCardAlready: Bool, pieces: Int) {
    self.acknowledgement = acknowledgement
    self.hasCardAlready = hasCardAlready
    self.pieces = pieces
  }

  private static func bytes(_ hex: String) -> [UInt8] { Hex.decode(hex) ?? [] }

  static let success = bytes("010002900093")
  static let cardIn = bytes("014008E10448020300900075")
  static let noCard = bytes("014008E10448020000900076")
  static let greeting = bytes("01401AE616C30101C41144657669636520706F7765726564206F6E90006A")
  static let hasKeys = bytes("010009E105DFAE01010690000B")
  private static let reset = bytes(
    "010035E1319F1E083132333435363738EF12DF0D084D3030302D4D5049DF7F04312D3730EF10DF0D074D3030302D"
      + "4F53DF7F03372D37900081"
  )
  private static let abilities = bytes(
    "010050E14CED10DF0D09536D61727463617264DF7F0131ED12DF0D0B436F6E746163746C657373DF7F0131ED13DF0D"
      + "07446973706C6179DF7F06313238783634ED0FDF0D084B6579626F617264DF7F013190007B"
  )
  private static let insertedDuringTap = bytes("0100029F43DF")
  private static let approved = bytes(
    "010022E31E9F2608FEDCBA98765432109F270140950580800080009B02F8008A0230309000FF"
  )

  func open(_ address: String, by deadline: Deadline) throws(Fault) -> any ByteStream {
    pending = Self.greeting
    return self
  }

  func send(_ bytes: [UInt8]) throws(Fault) {
    let hex = Hex.encode(bytes).uppercased()
    commands.append(String(hex.dropFirst(6).prefix(8)))
    let behind = late
    late = []
    pending += answer(to: String(hex.dropFirst(6).prefix(4)), Array(bytes.dropFirst(3)))
    pending += behind
  }

  private func answer(to name: String, _ command: [UInt8]) -> [UInt8] {
    switch name {
    case "D000": return Self.reset
    case "D002": return Self.abilities
    case "EEE0": return Self.hasKeys
    case "D060":
      let event = command[2] == 0 ? [] : hasCardAlready ? Self.cardIn : Self.noCard
      switch acknowledgement {
      case .none: return event
      case .before: return Self.success + event
      case .after: return event + Self.success
      case .late:
        late = Self.success
        return event
      }
    case "DEC1": return Self.cardIn + Self.insertedDuringTap
    case "DED1": return (try? ScriptedReader.online()) ?? []
    case "DED2": return Self.approved
    default: return Self.success
    }
  }

  func receive(milliseconds: Int) throws(Fault) -> StreamEvent {
    guard !pending.isEmpty else { return .nothing }
    let part = pending.prefix(pieces)
    pending.removeFirst(part.count)
    return .bytes(Array(part))
  }

  func close() {}
}

/// Runs every sale on the captured reader, and compares the simulated reader with the captures.
@Suite struct CapturedReaderTests {
  fileprivate static let cases = CapturedReader.Acknowledgement.allCases.flatMap {
    acknowledgement in
    [false, true].flatMap { hasCardAlready in
      [1, 2, 3, 7, 64, Int.max].map { (acknowledgement, hasCardAlready, $0) }
    }
  }

  @Test(arguments: cases)
  private func `sells on a reader as the captures show it`(
    _ acknowledgement: CapturedReader.Acknowledgement,
    _ hasCardAlready: Bool,
    _ pieces: Int
  ) throws {
    let reader = CapturedReader(
      acknowledgement,
      hasCardAlready: hasCardAlready,
      pieces: pieces
    )
    let world = try ToroWorld()
    let report = try world.engine(devices: reader).sell(world.sale())
    #expect(report.status == .succeeded)
    #expect(report.receipt.text("terminalSerialNumber") == "12345678")
    #expect(report.receipt["gratuityAmount"] == 0)
    #expect(try world.ledger().captured == 1)
    let tap = hasCardAlready ? [] : ["DEC10000"]
    #expect(
      reader.commands == ["D0000000", "D0020000", "EEE00000", "D0100000", "D0600F00"] + tap + [
        "DED10000", "DED20000", "D2010001", "D0600000",
      ]
    )
  }

  /// Sends bytes to the simulated reader and returns its answer. Both are from a log or Toro/README, 4.
  private func converse(
    _ world: ToroWorld,
    fault: String? = nil,
    _ command: String
  ) throws -> String {
    var device: (any DeviceExchange)?
    _ = try world.provider(fault: fault, simulated: { simulated in device = simulated })
    let stream = try #require(device).open("simulator", by: Deadline(in: 1000, on: world.clock))
    func take() throws -> [UInt8] {
      var all: [UInt8] = []
      while case .bytes(let bytes) = try stream.receive(milliseconds: 1) { all += bytes }
      return all
    }
    #expect(try take() == CapturedReader.greeting)
    try stream.send(try #require(Hex.decode(command)))
    return Hex.encode(try take()).uppercased()
  }

  @Test func `the simulated reader answers CARD STATUS as the captured one does`() throws {
    let world = try ToroWorld()
    let event = "014008E10448020000900076"
    #expect(try converse(world, "010004D0600D00B8") == event)
    #expect(
      try converse(world, fault: "reader:acknowledges", "010004D0600D00B8") == "010002900093"
        + event
    )
    // Two commands, one success and one event.
    #expect(
      try converse(world, "010004D0610100B5" + "010004D0600D00B8") == "010002900093" + event
    )
    #expect(try converse(world, "010004D0600000B5") == "")
  }

  @Test func `the simulated reader answers with the data of the note`() throws {
    let world = try ToroWorld()
    #expect(try converse(world, "010004EEE000000B") == "010009E105DFAE01010690000B")
    // 1,800,000,000,000 ms is 2027-01-15T08:00:00Z.
    let clock = try converse(world, "010004D0100000C5")
    #expect(clock.hasPrefix("01000FE10B9A032701159F21030800009000"))
    let configuration = try converse(world, "010004D0010000D4")
    // Chained, as in the log: the first packet has 254 bytes and announces more.
    #expect(configuration.hasPrefix("0101FEE182"))
    #expect(configuration.contains("ED15DF0D0B41525143444F4C2E434647DF7F04312E3236"))
    #expect(try converse(world, "010004DB000000DE").contains("DFAF03"))
    #expect(
      try converse(
        world,
        "01000D00A4000008" + "7369676E2E706E67"
          + check(
            "01000D00A4000008" + "7369676E2E706E67"
          )
      ) == "0100029F2AB6"
    )
  }

  /// Returns a packet with its check byte: the exclusive or of all bytes before it.
  private func check(_ hex: String) throws -> String {
    Hex.encode([try #require(Hex.decode(hex)).reduce(0, ^)]).uppercased()
  }

  @Test func `a clock that was set is told, and a date that is none refused`() throws {
    let world = try ToroWorld()
    let set = "010012D01000000DE00B9A032601029F210303040536"
    #expect(
      try converse(world, set + "010004D0100000C5")
        == "010002900093" + "01000FE10B9A032601029F2103030405900077"
    )
    let bad = "010012D01000000DE00B9A032601AA9F2103030405"
    #expect(try converse(world, bad + check(bad)) == "0100029F21BD")
  }

  @Test func `takes a signature on the reader with Miura's own tags`() throws {
    let world = try ToroWorld()
    let watched = WatchedReader()
    let engine = try world.engine(
      scenario: "card:chip_signature",
      change: { options, _ in options.signatureMode = .device },
      watching: { watched.around($0) }
    )
    let report = try engine.sell(world.sale())
    #expect(report.status == .succeeded)
    let picture = try #require(report.receipt.text("signatureBase64").flatMap { Base64.decode($0) })
    #expect(picture.starts(with: [0x89, 0x50, 0x4e, 0x47]))
    #expect(picture.suffix(8).prefix(4) == Array("IEND".utf8)[...])
    let sent = watched.sent.map { Hex.encode($0).uppercased() }
    let areas = [
      "000300200138" + "00A305", "000000C70040" + "002904", "007F00C70040" + "002904",
      "010000C70040" + "002904",
    ].map { "DFAF0109" + $0 }.joined()
    #expect(sent.contains { $0.contains("DB010000" + "36" + "E034" + areas) })
    // The name has no extension, and nothing follows it.
    #expect(sent.contains { $0.hasPrefix("010009DB040000" + "04" + "7369676E") && $0.count == 26 })
    #expect(sent.contains { $0.contains("00A40000" + "08" + "7369676E2E706E67") })
    // The read has as many bytes as the file.
    let size = String(picture.count, radix: 16, uppercase: true)
    #expect(sent.contains { $0.contains("00B00000" + size) })
  }

  @Test func `a reader that another sale has is transactionAlreadyStarted`() throws {
    let world = try ToroWorld()
    let engine = try world.engine(reserve: { _ throws(Fault) in nil })
    let fault = #expect(throws: Fault.self) {
      try engine.sell(world.sale())
    }
    #expect(fault?.exitStatus == 6)
    #expect(fault?.code == "transaction_already_started")
    #expect(fault?.result?.text("error") == "transactionAlreadyStarted")
    #expect(fault?.effect == Fault.Effect.none)
    #expect(world.wire.requests.isEmpty)
    // Nothing was sent: the reference is free.
    let again = try world.engine().sell(world.sale())
    #expect(again.status == .succeeded)
  }

  @Test func `what the acquirer says to the cardholder is shown and told`() throws {
    let world = try ToroWorld()
    let watched = WatchedReader()
    let engine = try world.engine(watching: { watched.around($0) })
    let report = try engine.sell(world.sale("A", 9001))
    #expect(report.status == .declined)
    #expect(
      report.result["actions"] == [
        [
          "ActnTp": "RFRL",
          "MsgToPres": ["MsgDstn": "CDSP", "Frmt": "TEXT", "MsgCntt": "Please call your bank"],
        ]
      ]
    )
    let shown = Array("Declined\nPlease call your bank".utf8)
    #expect(watched.sent.contains { Hex.encode($0).contains(Hex.encode(shown)) })
    let again = try engine.sell(world.sale("A", 9001))
    #expect(again.replayed == true)
    #expect(again.result["actions"] == report.result["actions"])
  }
}

/// A reader that records the commands it receives.
final class WatchedReader: @unchecked Sendable {
  // Unchecked: a test works on one thread.
  fileprivate(set) var sent: [[UInt8]] = []

  func around(_ devices: any DeviceExchange) -> any DeviceExchange {
    Exchange(inner: devices, watched: self)
  }

  private struct Exchange: DeviceExchange {
    let inner: any DeviceExchange
    let watched: WatchedReader

    func open(_ address: String, by deadline: Deadline) throws(Fault) -> any ByteStream {
      Stream(inner: try inner.open(address, by: deadline), watched: watched)
    }
  }

  private final class Stream: ByteStream {
    private let inner: any ByteStream
    private let watched: WatchedReader

    init(inner: any ByteStream, watched: WatchedReader) {
      self.inner = inner
      self.watched = watched
    }

    func send(_ bytes: [UInt8]) throws(Fault) {
      watched.sent.append(bytes)
      try inner.send(bytes)
    }

    func receive(milliseconds: Int) throws(Fault) -> StreamEvent {
      try inner.receive(milliseconds: milliseconds)
    }

    func close() { inner.close() }
  }
}
