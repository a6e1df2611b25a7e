import Foundation
import TenderEngine
import TenderModel
import TenderSystem
import TenderTestSupport
import Testing

/// Addresses of devices, and a serial line that carries every byte as it is.
@Suite struct DeviceTests {
  static let addresses: [(text: String, address: DeviceAddress?)] = [
    ("tcp://127.0.0.1:6543", .network(host: "127.0.0.1", port: 6543)),
    ("tcp://reader.local", .network(host: "reader.local", port: 6543)),
    ("tcp://[::1]:7000", .network(host: "::1", port: 7000)),
    ("tcp://[::1]", .network(host: "::1", port: 6543)),
    ("tty:/dev/ttyACM0", .terminal("/dev/ttyACM0")),
    (
      "bluetooth:00:11:22:aA:bB:cC", .bluetooth([0, 0x11, 0x22, 0xaa, 0xbb, 0xcc], channel: 1)
    ),
    ("bluetooth:00:11:22:33:44:55/3", .bluetooth([0, 0x11, 0x22, 0x33, 0x44, 0x55], channel: 3)),
    ("tcp://", nil), ("tcp://:6543", nil), ("tcp://a:0", nil), ("tcp://a:65536", nil),
    ("tcp://a b:1", nil), ("tcp://a/b:1", nil), ("tty:ttyACM0", nil), ("tty:", nil),
    ("bluetooth:00:11:22:33:44", nil), ("bluetooth:00:11:22:33:44:55/0", nil),
    ("bluetooth:00:11:22:33:44:55/31", nil), ("bluetooth:00:11:22:33:44:5g", nil),
    ("usb:1", nil), ("", nil), ("simulator", nil),
  ]

  @Test(arguments: addresses)
  func `reads an address`(_ row: (text: String, address: DeviceAddress?)) {
    #expect(DeviceAddress(row.text) == row.address)
  }

  private func connect(_ address: String) throws(Fault) -> any ByteStream {
    try Devices(interruption: NeverInterrupted())
      .open(address, by: Deadline(in: 2000, on: ManualClock()))
  }

  @Test func `carries every byte over a serial line`() throws {
    let (descriptor, path) = try #require(PseudoTerminal.open())
    defer { close(descriptor) }
    let stream = try connect("tty:\(path)")
    // Control characters, line ends, and bytes that a terminal would read as a signal.
    let bytes = (0...255).map { UInt8($0) }
    try stream.send(bytes)
    var heard: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 512)
    while heard.count < bytes.count {
      let count = unsafe read(descriptor, &buffer, buffer.count)
      guard count > 0 else { break }
      heard += buffer.prefix(count)
    }
    #expect(heard == bytes)
    #expect(unsafe write(descriptor, bytes, bytes.count) == bytes.count)
    var said: [UInt8] = []
    while said.count < bytes.count,
      case .bytes(let more) = try stream.receive(milliseconds: 2000)
    { said += more }
    #expect(said == bytes)
    #expect(try stream.receive(milliseconds: 1) == .nothing)
    stream.close()
  }

  @Test func `keeps a serial line to itself until it is closed`() throws {
    let (descriptor, path) = try #require(PseudoTerminal.open())
    defer { close(descriptor) }
    let first = try connect("tty:\(path)")
    let fault = #expect(throws: Fault.self) { try connect("tty:\(path)") }
    #expect(fault?.cause == .deviceInUse)
    #expect(fault?.kind == .device)
    first.close()
    // A process that another test starts holds the line until its exec. That takes no longer than some other
    // processes.
    for _ in 0..<50 {
      if let again = try? connect("tty:\(path)") { return again.close() }
      let other = Process()
      other.executableURL = URL(filePath: "/bin/true")
      try other.run()
      other.waitUntilExit()
    }
    Issue.record("the line was not given back")
  }

  @Test(arguments: ["tcp://127.0.0.1:1", "tty:/dev/null", "tty:/nowhere"])
  func `says that nothing is there`(_ address: String) {
    do throws(Fault) {
      _ = try connect(address)
      Issue.record("opens \(address)")
    } catch {
      #expect(error.kind == .device && error.effect == .none)
    }
  }
}
