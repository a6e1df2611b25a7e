package import TenderEngine
package import TenderModel

/// The simulated device within this process: no cable, no waiting for what comes at once.
package struct SimulatedDevices: DeviceExchange {
  private let simulator: InProcessSimulator

  package init(_ simulator: InProcessSimulator) { self.simulator = simulator }

  package func open(_ address: String, by deadline: Deadline) throws(Fault) -> any ByteStream {
    guard let device = try simulator.device() else { throw .gone }
    return DeviceLink(device, clock: simulator.world.clock)
  }
}

/// A stream whose other end is a reader in this process.
private final class DeviceLink: ByteStream {
  private let reader: any DeviceSession
  private let clock: any Clock
  private var pending: [DeviceReaction]
  private var isBroken = false

  init(_ reader: any DeviceSession, clock: any Clock) {
    self.reader = reader
    self.clock = clock
    pending = reader.greet()
  }

  func send(_ bytes: [UInt8]) throws(Fault) {
    guard !isBroken else { throw .gone }
    pending += reader.receive(bytes)
  }

  func receive(milliseconds: Int) throws(Fault) -> StreamEvent {
    if !pending.isEmpty {
      switch pending.removeFirst() {
      case .send(let bytes): return .bytes(bytes)
      case .drop: isBroken = true
      }
    }
    guard !isBroken else { return .ended }
    // A signal ends the wait, which is no failure of the link's.
    try? clock.pause(milliseconds: milliseconds)
    return .nothing
  }

  func close() { isBroken = true }
}

extension Fault {
  fileprivate static var gone: Fault {
    Fault(.device, code: "device_disconnected", "the simulated reader is gone")
  }
}
