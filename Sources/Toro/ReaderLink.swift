import TenderEngine
import TenderModel

/// A connection to a reader. It matches answers with commands.
final class ReaderLink {
  private let stream: any ByteStream
  private let watch: (@Sendable (JSONObject) -> Void)?
  private var decoder = FrameDecoder()
  private var messages: [ReaderMessage] = []
  /// Commands without an answer yet, the newest last. While a long command runs, the newest is answered
  /// first (README, 4.1).
  private var outstanding: [ReaderCommand] = []
  /// A command that is answered with an event. It stays until an acknowledgement arrives, which only some
  /// firmware sends.
  private var silent: ReaderCommand?
  /// Commands that wait until a short one is answered. Otherwise their answers could not be told apart.
  private var queue: [ReaderCommand] = []

  /// While this lock is held, no other process uses the reader.
  private var lock: (any ReferenceLock)?

  init(
    _ stream: any ByteStream,
    holding lock: (any ReferenceLock)? = nil,
    watch: (@Sendable (JSONObject) -> Void)?
  ) {
    self.stream = stream
    self.lock = lock
    self.watch = watch
  }

  /// Sends a command as soon as no short command is unanswered.
  ///
  /// Throws `deviceDisconnected`.
  func send(_ command: ReaderCommand) throws(Fault) {
    queue.append(command)
    try flush()
  }

  private func flush() throws(Fault) {
    while !queue.isEmpty, outstanding.allSatisfy(\.isLong) { try transmit(queue.removeFirst()) }
  }

  private func transmit(_ command: ReaderCommand) throws(Fault) {
    watch?(["reader": "send", "command": .string(command.name)])
    do throws(Fault) {
      try stream.send(command.frame)
    } catch {
      throw .disconnected("while it was sent \(command.name)")
    }
    if command.isSilent { silent = command } else { outstanding.append(command) }
  }

  /// Waits for the next event; nil after the time limit or a signal.
  ///
  /// Throws `deviceDisconnected` at the end of the stream, `deviceError` for invalid packets.
  func next(milliseconds: Int) throws(Fault) -> ReaderSession.Event? {
    if !messages.isEmpty { return try event(messages.removeFirst()) }
    let event: StreamEvent
    do throws(Fault) {
      event = try stream.receive(milliseconds: milliseconds)
    } catch {
      throw .disconnected("the link broke")
    }
    switch event {
    case .ended: throw .disconnected(decoder.isInside ? "in the middle of a packet" : "it hung up")
    case .nothing: return nil
    case .bytes(let bytes):
      do throws(FrameProblem) {
        messages += try decoder.receive(bytes)
      } catch {
        throw .deviceError("the reader sent \(error.text)")
      }
      return messages.isEmpty ? nil : try self.event(messages.removeFirst())
    }
  }

  private func event(_ message: ReaderMessage) throws(Fault) -> ReaderSession.Event? {
    trace(message)
    if message.isUnsolicited { return .unsolicited(message) }
    let isBare = message.body.isEmpty && message.status == 0x9000
    if let command = silent, isBare ? outstanding.last?.isLong ?? true : outstanding.isEmpty {
      silent = nil
      return .answer(command, message)
    }
    // Readers insert bare success messages (README, 4.1). A command that waits for the customer is never
    // answered so.
    if isBare, outstanding.last?.isLong ?? true { return nil }
    if outstanding.isEmpty, [0x9f22, 0x9f26].contains(message.status) { throw .busyReader }
    guard let place = place(of: message) else {
      throw .deviceError("the reader answered what it was not asked")
    }
    let command = outstanding.remove(at: place)
    try flush()
    return .answer(command, message)
  }

  /// Returns the index of the command that a message answers.
  ///
  /// It is the last one, except when an abort crossed the answer of the command that it should end.
  private func place(of message: ReaderMessage) -> Int? {
    guard let last = outstanding.indices.last else { return nil }
    guard let long = outstanding.lastIndex(where: \.isLong), long != last,
      outstanding[last] == .abort
    else { return last }
    let isOfLong = !message.body.isEmpty || message.status != 0x9000
    return isOfLong ? long : last
  }

  func close() {
    stream.close()
    lock = nil
  }

  /// Traces names, tags and sizes. No values are traced, because they can be card data.
  private func trace(_ message: ReaderMessage) {
    guard let watch else { return }
    let place = message.isUnsolicited ? nil : place(of: message)
    let template = TLV.read(message.body)?.first
    watch(
      [
        "reader": message.isUnsolicited ? "unsolicited" : "answer",
        "bytes": message.body.count.json,
        "sw": Hex.encode([UInt8(message.status >> 8), UInt8(message.status & 0xff)]).json,
        "command": place.map { outstanding[$0].name.json },
        "tags": template.map { ([$0.name] + ($0.objects ?? []).map(\.name)).json },
      ]
    )
  }
}

extension ReaderLink {
  /// Opens the reader and waits for its greeting. A USB serial reader sends none (README, 4.2).
  static func open(_ context: ToroContext) throws(Fault) -> ReaderLink {
    let configuration = context.configuration
    guard !configuration.device.isEmpty else {
      throw .toro(
        .deviceNotSelected,
        "no reader was named",
        hint: "add --device, such as tty:/dev/ttyACM0, or toro.device to the profile"
      )
    }
    var lock: (any ReferenceLock)?
    if let reserve = context.reserve {
      guard let taken = try reserve(configuration.device) else {
        throw .readerInUse(configuration.device)
      }
      lock = taken
    }
    let stream: any ByteStream
    do throws(Fault) {
      stream = try context.devices.open(
        configuration.device,
        by: Deadline(in: min(configuration.timeout, 15_000), on: context.clock)
      )
    } catch {
      guard error.kind == .device else { throw error }
      if error.cause == .deviceInUse { throw .readerInUse(configuration.device) }
      throw .toro(
        .deviceConnectionFailed,
        "no connection to the reader: \(error.message)",
        hint: "no money moved; check --device \(configuration.device)",
        reason: error.message
      )
    }
    let link = ReaderLink(stream, holding: lock, watch: context.watch)
    guard !configuration.device.hasPrefix("tty:") else { return link }
    let deadline = Deadline(in: 1500, on: context.clock)
    while deadline.remaining > 0, context.interruption.kind == nil {
      guard case .unsolicited(let message)? = try link.next(milliseconds: deadline.remaining),
        message.template.objects[tag: 0xc3] == [1]
      else { continue }
      break
    }
    return link
  }
}
