package import TenderEngine
package import TenderModel

/// The simulated reader within this process: no cable, no waiting for what comes at once.
package struct SimulatedDevices: DeviceExchange {
  private let simulator: InProcessSimulator

  package init(_ simulator: InProcessSimulator) { self.simulator = simulator }

  package func open(_ address: String, by deadline: Deadline) throws(Fault) -> any ByteStream {
    let count = try simulator.ledger.count()
    let reader = SimulatedReader(world: simulator.world, faults: simulator.faults, count: count)
    return ReaderStream(reader, clock: simulator.world.clock)
  }
}

/// A stream whose other end is a reader in this process.
private final class ReaderStream: ByteStream {
  private let reader: SimulatedReader
  private let clock: any Clock
  private var pending: [SimulatedReader.Reaction]
  private var isBroken = false

  init(_ reader: SimulatedReader, clock: any Clock) {
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
