import PayTheory
import Synchronization
import TenderEngine
import TenderModel
import TenderSimulator
import Toro

/// The gateway's MAC over a changed answer, so that the adapter reads on.
enum GatewaySeal {
  static let derivation = parameters(iterations: ToroCatalog.iterations)

  static let key = try? MessageKey(
    passphrase: SharedSecret(ToroCatalog.passphrase),
    derivation,
    id: ToroCatalog.keyID,
    version: ToroCatalog.keyVersion
  )

  /// A fast derivation.
  static let quick = parameters(iterations: 1)

  private static func parameters(iterations: Int) -> KeyDerivation {
    var derivation = KeyDerivation()
    derivation.salt = ToroCatalog.salt
    derivation.iterations = iterations
    derivation.length = ToroCatalog.keyLength
    return derivation
  }

  static let quickKey = try? MessageKey(
    passphrase: SharedSecret(ToroCatalog.passphrase),
    quick,
    id: ToroCatalog.keyID,
    version: ToroCatalog.keyVersion
  )

  static func seal(_ document: [UInt8], _ key: MessageKey?) -> [UInt8] {
    guard let key, let start = document[...].range(ofText: "</Hdr>")?.upperBound,
      let end = document[start...].range(ofText: "<SctyTrlr>")?.lowerBound,
      let from = document[end...].range(ofText: "<MAC>")?.upperBound,
      let to = document[from...].range(ofText: "</MAC>")?.lowerBound,
      let mac = try? key.mac(over: Array(document[start..<end]))
    else { return document }
    return Array(document[..<from]) + Array(Base64.encode(mac).utf8) + Array(document[to...])
  }
}

/// The connection to the simulated gateway from a client with a fast derivation.
struct QuickGateway: HTTPExchange {
  let inner: any HTTPExchange

  init(_ inner: any HTTPExchange) { self.inner = inner }

  func send(
    _ request: HTTPRequest,
    _ permit: SendPermit?,
    by deadline: Deadline
  ) throws(Fault) -> HTTPResponse {
    var asked = request
    asked.body = GatewaySeal.seal(request.body, GatewaySeal.key)
    var answer = try inner.send(asked, permit, by: deadline)
    answer.body = GatewaySeal.seal(answer.body, GatewaySeal.quickKey)
    return answer
  }
}

/// A gateway that answers every question with the input, under a MAC that fits.
final class AnsweredGateway: HTTPExchange {
  static let recorded = AdapterRun([]).recordedAnswers()

  private let inner: (any HTTPExchange)?
  private let noted: Mutex<[[UInt8]]>

  init(_ answer: [UInt8]) {
    inner = nil
    noted = Mutex([GatewaySeal.seal(answer, GatewaySeal.quickKey)])
  }

  /// Creates a gateway that passes on another one's answers, and notes them.
  init(through inner: any HTTPExchange) {
    self.inner = inner
    noted = Mutex([])
  }

  var answers: [[UInt8]] { noted.withLock { $0 } }

  func send(
    _ request: HTTPRequest,
    _ permit: SendPermit?,
    by deadline: Deadline
  ) throws(Fault) -> HTTPResponse {
    guard let inner else { return HTTPResponse(status: 200, body: answers[0]) }
    let answer = try inner.send(request, permit, by: deadline)
    noted.withLock { $0.append(answer.body) }
    return answer
  }
}

/// A reader whose packets the input changes, with a matching check byte, or repeats for ever.
final class ReaderMangler: DeviceExchange {
  /// No sale has this number of packets.
  private static let most = 50_000

  private let inner: any DeviceExchange
  private let feed: SharedFeed
  private let clock: any Clock
  private let count = Atomic(0)

  init(_ inner: any DeviceExchange, _ feed: SharedFeed, _ clock: any Clock) {
    self.inner = inner
    self.feed = feed
    self.clock = clock
  }

  /// Whether more packets were read than any sale has.
  var isEndless: Bool { count.load(ordering: .relaxed) > Self.most }

  /// Counts one packet. Throws once there are too many.
  fileprivate func step() throws(Fault) {
    guard count.add(1, ordering: .relaxed).newValue > Self.most else { return }
    throw Fault(.device, code: "device_disconnected", "it says too much")
  }

  func open(_ address: String, by deadline: Deadline) throws(Fault) -> any ByteStream {
    if feed.take({ $0.below(16) }) == 1 {
      throw Fault(.device, code: "device_connection_failed", "nobody is there")
    }
    return Stream(try inner.open(address, by: deadline), self)
  }

  private final class Stream: ByteStream {
    private let inner: any ByteStream
    private let reader: ReaderMangler
    /// The bytes that are repeated for ever, and the milliseconds between them.
    private var refrain: (bytes: [UInt8], pause: Int)?

    init(_ inner: any ByteStream, _ reader: ReaderMangler) {
      self.inner = inner
      self.reader = reader
    }

    private var feed: SharedFeed { reader.feed }

    func send(_ bytes: [UInt8]) throws(Fault) { try inner.send(bytes) }

    func receive(milliseconds: Int) throws(Fault) -> StreamEvent {
      try reader.step()
      if let refrain {
        try reader.clock.pause(milliseconds: min(refrain.pause, milliseconds))
        return refrain.pause > milliseconds ? .nothing : .bytes(refrain.bytes)
      }
      guard case .bytes(var bytes) = try inner.receive(milliseconds: milliseconds) else {
        return .nothing
      }
      switch feed.take({ $0.below(48) }) {
      case 1: return .ended
      case 2: return .nothing
      case 3: return .bytes(feed.take { Strange.change(bytes, &$0) })
      case 4, 5, 6:
        // Changes one byte of the first packet's content, and the check byte to match.
        guard bytes.count > 4, bytes.count >= Int(bytes[2]) + 4, bytes[2] > 0 else { break }
        let count = Int(bytes[2])
        bytes[3 + feed.take { $0.below(count) }] = feed.take { $0.byte() }
        bytes[3 + count] = bytes[..<(3 + count)].reduce(0, ^)
      case 7, 8: refrain = (bytes, feed.take { $0.one(of: [50, 500, 5000]) })
      case 9:
        // Unsolicited packets: CARD STATUS, a key and a notice (README, 4.3).
        let unasked: [[UInt8]] = [
          [1, 0x40, 4, 0xe6, 0, 0x90, 0, 0x33], [1, 1, 1, 5, 4], [1, 0x41, 3, 0x0d, 0x90, 0, 0xde],
        ]
        refrain = (feed.take { $0.one(of: unasked) }, feed.take { $0.one(of: [50, 500, 5000]) })
      default: break
      }
      return .bytes(bytes)
    }

    func close() { inner.close() }
  }
}

/// A socket with changed sealed messages. It opens each and seals it again, in both directions.
struct BoxMangler: SocketExchange {
  let inner: any SocketExchange
  let feed: SharedFeed

  init(_ inner: any SocketExchange, _ feed: SharedFeed) {
    self.inner = inner
    self.feed = feed
  }

  func open(
    url: String,
    fields: [HTTPRequest.Field],
    by deadline: Deadline
  ) throws(Fault) -> any MessageSocket {
    if feed.take({ $0.below(16) }) == 1 {
      throw Fault(.notSent, code: "unreachable", "nobody is there")
    }
    return Socket(try inner.open(url: url, fields: fields, by: deadline), feed)
  }

  private final class Socket: MessageSocket {
    private static let server = [UInt8](repeating: 3, count: 32)
    private static let client = [UInt8](repeating: 5, count: 32)
    private static let nonce = [UInt8](repeating: 1, count: 24)

    private let inner: any MessageSocket
    private let feed: SharedFeed
    /// The keys of the two real sides.
    private var serverKey: [UInt8] = []
    private var clientKey: [UInt8] = []

    init(_ inner: any MessageSocket, _ feed: SharedFeed) {
      self.inner = inner
      self.feed = feed
    }

    func send(_ text: String, _ permit: SendPermit?, by deadline: Deadline) throws(Fault) {
      try inner.send(towardsServer(text) ?? text, permit, by: deadline)
    }

    private func towardsServer(_ text: String) -> String? {
      guard var message = JSONReader.read(text)?.object,
        let key = message.text("publicKey").flatMap(Base64.decode),
        let box = message.text("encoded").flatMap(Base64.decode),
        let plain = BoxVectors.open(box, from: key, seed: Self.server),
        let sealed = BoxVectors.seal(plain, nonce: Self.nonce, to: serverKey, seed: Self.client)
      else { return nil }
      clientKey = key
      message["publicKey"] = .string(Base64.encode(BoxVectors.publicKey(seed: Self.client)))
      message["encoded"] = .string(Base64.encode(sealed))
      return JSONWriter.text(.object(message))
    }

    func receive(by deadline: Deadline) throws(Fault) -> SocketMessage {
      guard case .text(let text) = try inner.receive(by: deadline) else {
        return .closed(code: 1000, reason: "")
      }
      switch feed.take({ $0.below(48) }) {
      case 1: return .closed(code: 1006, reason: "gone")
      case 2: throw Fault(.providerError, code: "no_answer", "no answer")
      case 3: return .binary(feed.take { $0.chunk(16) })
      case 4:
        let bytes = Array(text.utf8)
        return .text(String(decoding: feed.take { Strange.change(bytes, &$0) }, as: UTF8.self))
      default: return .text(towardsClient(text) ?? text)
      }
    }

    private func towardsClient(_ text: String) -> String? {
      guard var message = JSONReader.read(text)?.object else { return nil }
      if var body = message["body"]?.object {
        if let key = body.text("publicKey").flatMap(Base64.decode) {
          serverKey = key
          body["publicKey"] = .string(Base64.encode(BoxVectors.publicKey(seed: Self.server)))
        }
        message["body"] = feed.take {
          $0.below(24) == 1 ? Strange.change(.object(body), &$0) : .object(body)
        }
        return JSONWriter.text(.object(message))
      }
      guard let key = message.text("public_key").flatMap(Base64.decode),
        let box = message.text("body").flatMap(Base64.decode),
        var plain = BoxVectors.open(box, from: key, seed: Self.client)
      else { return nil }
      if feed.take({ $0.below(6) }) == 1, let value = JSONReader.read(plain) {
        plain = Array(JSONWriter.text(feed.take { Strange.change(value, &$0) }).utf8)
      }
      guard let sealed = BoxVectors.seal(plain, nonce: Self.nonce, to: clientKey, seed: Self.server)
      else {
        return nil
      }
      message["public_key"] = .string(Base64.encode(BoxVectors.publicKey(seed: Self.server)))
      message["body"] = .string(Base64.encode(sealed))
      if feed.take({ $0.below(32) }) == 1 {
        return JSONWriter.text(feed.take { Strange.change(.object(message), &$0) })
      }
      return JSONWriter.text(.object(message))
    }

    func close(waiting: Bool) { inner.close(waiting: waiting) }
  }
}

/// The box under a key pair of a given seed, for published vectors alone.
private enum BoxVectors {
  /// The public key of a seed.
  static func publicKey(seed: [UInt8]) -> [UInt8] { KeyPair(seed: seed).publicKey }

  /// `nonce ‖ tag ‖ ciphertext`, as `Box.seal`.
  static func seal(
    _ text: [UInt8],
    nonce: [UInt8],
    to publicKey: [UInt8],
    seed: [UInt8]
  ) -> [UInt8]? {
    var text = text
    return Box.seal(
      Secret(consuming: &text),
      nonce: nonce,
      to: publicKey,
      from: KeyPair(seed: seed)
    )
  }

  /// The text, as `Box.open`.
  static func open(_ sealed: [UInt8], from publicKey: [UInt8], seed: [UInt8]) -> [UInt8]? {
    Box.open(sealed, from: publicKey, to: KeyPair(seed: seed))
  }
}
