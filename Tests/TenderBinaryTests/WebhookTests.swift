import Foundation
import Synchronization
import TenderModel
import TenderTestSupport
import Testing
import TrueLayer

#if canImport(Darwin)
private import Darwin
#else
private import Glibc
#endif

/// `--webhook` of a served simulator, with a receiver on this machine.
@Suite struct WebhookTests {
  /// A receiver of events. It answers with the statuses in their order, then with 200; 0 is no answer at all.
  private final class Receiver: Sendable {
    struct Request: Sendable {
      let target: String
      let fields: [(name: String, value: String)]
      let body: [UInt8]

      var json: JSON? { JSONReader.read(body) }
      var event: SignedEvent { SignedEvent(target: target, fields: fields, body: body) }
    }

    private let listener: LocalListener
    private let requests = Mutex<[Request]>([])
    private let statuses: Mutex<[Int]>
    /// Has a byte for each request.
    private let pipe = Pipe()
    var port: Int { listener.port }

    init(_ statuses: [Int] = []) throws {
      listener = try LocalListener()
      self.statuses = Mutex(statuses)
      Thread.detachNewThread { [self] in
        while true {
          let connection = listener.accept()
          guard connection >= 0 else { return }
          Thread.detachNewThread { [self] in serve(connection) }
        }
      }
    }

    deinit { listener.stop() }

    private func serve(_ connection: Int32) {
      defer { close(connection) }
      var bytes: [UInt8] = []
      var buffer = [UInt8](repeating: 0, count: 65_536)
      while true {
        let count = unsafe recv(connection, &buffer, buffer.count, 0)
        guard count > 0 else { return }
        bytes += buffer.prefix(count)
        guard let request = Self.read(bytes) else { continue }
        bytes = []
        requests.withLock { $0.append(request) }
        let status = statuses.withLock { $0.isEmpty ? 200 : $0.removeFirst() }
        pipe.fileHandleForWriting.write(Data([1]))
        guard status > 0 else { continue }
        let answer = Array("HTTP/1.1 \(status) -\r\nContent-Length: 0\r\n\r\n".utf8)
        _ = unsafe send(connection, answer, answer.count, Int32(MSG_NOSIGNAL))
      }
    }

    private static func read(_ bytes: [UInt8]) -> Request? {
      let text = String(decoding: bytes, as: UTF8.self)
      let parts = text.components(separatedBy: "\r\n\r\n")
      guard parts.count > 1 else { return nil }
      let lines = parts[0].components(separatedBy: "\r\n")
      let fields = lines.dropFirst().map { line in
        let halves = line.split(separator: ":", maxSplits: 1).map(String.init)
        return (name: halves[0], value: halves[1].trimmingCharacters(in: .whitespaces))
      }
      let length = fields.first { $0.name.lowercased() == "content-length" }.flatMap {
        Int($0.value)
      }
      let body = Array(bytes.dropFirst(parts[0].utf8.count + 4))
      guard body.count >= length ?? 0 else { return nil }
      let target = lines[0].split(separator: " ").dropFirst().first.map(String.init) ?? ""
      return Request(target: target, fields: fields, body: body)
    }

    /// Returns the first requests, once there are so many.
    func received(_ count: Int) -> [Request] {
      while requests.withLock({ $0.count }) < count {
        _ = pipe.fileHandleForReading.readData(ofLength: 1)
      }
      return requests.withLock { $0 }
    }

    var received: [Request] { requests.withLock { $0 } }
  }

  /// A served simulator that sends to a receiver.
  private final class Host {
    let home: Binary
    let process: Process
    var client: Binary
    private let address: String

    init(_ receiver: Receiver, _ path: String = "/hooks", _ options: [String] = []) throws {
      home = try Binary()
      client = try Binary()
      let url = "http://127.0.0.1:\(receiver.port)\(path)"
      let output: Pipe
      (process, output, _) = try home.start(
        ["simulator", "serve", "--json", "--sim-scenario", "bank:execute", "--webhook", url]
          + options
      )
      client.variables = Served.variables(output)
      address = client.variables["TENDER_WEBHOOK_JWKS_URL"] ?? ""
    }

    deinit {
      process.terminate()
      process.waitUntilExit()
      home.remove()
      client.remove()
    }

    /// Returns the answer to a GET.
    func get(_ path: String) throws -> JSON? {
      let base = try #require(WebAddress(address))
      let http = try #require(RawClient(port: base.port ?? 0))
      http.say("GET \(path) HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
      let answer = http.hear(until: "\u{0}")
      return answer.components(separatedBy: "\r\n\r\n").dropFirst().first.flatMap {
        JSONReader.read($0)
      }
    }

    func keys() throws -> KeySet {
      let base = try #require(WebAddress(address))
      #expect(base.target == "/.well-known/jwks")
      let set = try #require(try get(base.target))
      return try #require(KeySet(Array(JSONWriter.text(set).utf8)))
    }

    /// What the server has sent.
    func deliveries() throws -> [JSON] {
      (try get("/_simulator/events")?.array ?? []).flatMap { $0["deliveries"]?.array ?? [] }
    }

    func pay(_ provider: String, _ reference: String) throws {
      let words =
        provider == "truelayer"
        ? ["--amount", "10", "--interval", "100ms"] + BankStory.payee + BankStory.payer
          + BankStory.bank + BankStory.anyPort() : ["--amount", "10.50", "--test-card", "visa"]
      let paid = try client.run(
        ["transact", "--provider", provider, "--env", "sandbox", "--json", "--no-input"]
          + ["--reference", reference] + words
      )
      #expect(paid.status == 0, "\(paid)")
    }
  }

  @Test func `sends a bank's events, signed over the path without its query`() throws {
    let receiver = try Receiver()
    let host = try Host(receiver, "/hooks?secret=1")
    try host.pay("truelayer", "A")
    let requests = receiver.received(1)
    let keys = try host.keys()
    for request in requests {
      #expect(request.target == "/hooks?secret=1")
      let event = request.event
      let signature = try EventSignature(try #require(event.field("Tl-Signature")))
      let key = try #require(keys.keys[signature.keyID])
      #expect(try signature.verify(event, key: key) == "the path")
      #expect(signature.keySet == host.client.variables["TENDER_WEBHOOK_JWKS_URL"])
      #expect(event.field("content-type") == "application/json")
      let head = event.field("Tl-Signature")?.components(separatedBy: "..").first ?? ""
      let header = String(decoding: Base64.decodeURL(head) ?? [], as: UTF8.self)
      #expect(
        header
          == #"{"alg":"ES512","kid":"\#(signature.keyID)","tl_version":"2","#
          + #""tl_headers":"x-tl-webhook-timestamp","jku":"\#(signature.keySet)"}"#
      )
      var other = event
      other.body.append(32)
      #expect(throws: EventSignature.Refusal.self) { try signature.verify(other, key: key) }
    }
    let types = requests.compactMap { $0.json?["type"]?.text }
    #expect(types.contains("payment_executed"), "\(types)")
  }

  @Test func `sends the events of cards without a signature, each in one attempt`() throws {
    let receiver = try Receiver()
    let host = try Host(receiver)
    try host.pay("paytheory", "A")
    let published = try #require(try host.get("/_simulator/events")?.array)
    let requests = receiver.received(published.count)
    #expect(
      requests.map { String(decoding: $0.body, as: UTF8.self) }
        == published.map { $0["body"]?.text }
    )
    #expect(requests.allSatisfy { $0.event.field("Tl-Signature") == nil })
    // The last answer is written down a moment after it was given.
    var sent: [JSON] = []
    repeat { sent = try host.deliveries() } while sent.contains { $0["attempts"] == 0 }
    #expect(sent.count == published.count)
    #expect(sent.allSatisfy { $0["status"] == 200 && $0["attempts"] == 1 }, "\(sent)")
  }

  @Test func `sends to the addresses of one provider, and to several`() throws {
    let (all, one) = (try Receiver(), try Receiver())
    let host = try Host(all, "/", ["--webhook", "truelayer=http://localhost:\(one.port)"])
    try host.pay("paytheory", "A")
    try host.pay("truelayer", "B")
    let own = one.received(1)
    #expect(own.allSatisfy { $0.json?["event_id"] != nil && $0.target == "/" })
    #expect(all.received(own.count + 1).contains { $0.json?["event_id"] == nil })
  }

  @Test(arguments: [[500], [302, 404], [503]])
  func `tries again until an answer is 2xx`(_ statuses: [Int]) throws {
    let receiver = try Receiver(statuses)
    let host = try Host(receiver)
    try host.pay("truelayer", "A")
    let requests = receiver.received(statuses.count + 1)
    let first = requests.first?.body
    var sent: [JSON] = []
    repeat { sent = try host.deliveries() } while !sent.contains { $0["status"] == 200 }
    #expect(requests.count { $0.body == first } >= 1)
    #expect(sent.compactMap { $0["attempts"]?.wholeNumber }.reduce(0, +) >= statuses.count + 1)
  }

  // Faults.

  @Test(arguments: ["duplicate", "drop", "reorder", "bad-signature", "delay=300ms"])
  func `plays the faults of events`(_ fault: String) throws {
    let receiver = try Receiver()
    let host = try Host(receiver, "/hooks", ["--sim-fault", "event:\(fault)*1"])
    try host.pay("truelayer", "A")
    try host.pay("truelayer", "B")
    let published = try #require(try host.get("/_simulator/events")?.array).count
    #expect(published > 1)
    let expected = published + (fault == "duplicate" ? 1 : fault == "drop" ? -1 : 0)
    let requests = receiver.received(expected)
    let bodies = requests.map(\.body)
    let first = try #require(try host.get("/_simulator/events")?.array?.first?["body"]?.text)
    let times = bodies.count { $0 == Array(first.utf8) }
    #expect(times == (fault == "duplicate" ? 2 : fault == "drop" ? 0 : 1))
    if fault == "reorder" { #expect(bodies.first != Array(first.utf8)) }
    let keys = try host.keys()
    let wrong = try requests.count { request in
      let signature = try EventSignature(request.event.field("Tl-Signature") ?? "")
      let key = try #require(keys.keys[signature.keyID])
      return (try? signature.verify(request.event, key: key)) == nil
    }
    #expect(wrong == (fault == "bad-signature" ? 1 : 0))
  }

  // A run.

  @Test func `counts what was delivered, and what was not`() throws {
    var binary = try Binary()
    defer { binary.remove() }
    binary.variables["PATH"] = "\(Binary.products.path):/usr/bin:/bin"
    binary.variables["TMPDIR"] = binary.home.path
    let receiver = try Receiver()
    let pay = ["--", "tender", "transact", "--amount", "5", "--test-card", "visa", "--json"]
    func run(_ port: Int, _ expected: String) throws -> Binary.Result {
      try binary.run(
        ["simulator", "run", "--webhook", "http://127.0.0.1:\(port)/h", "--expect", expected] + pay
      )
    }
    let done = try run(receiver.port, "undelivered=0,payments=1")
    #expect(done.status == 0, "\(done)")
    let count = receiver.received.count
    #expect(count > 0)
    #expect(done.errors.contains("\(count) event\(count == 1 ? "" : "s") delivered, 0 refused"))
    let closed = try run(9, "undelivered=0")
    #expect(closed.status == 18, "\(closed)")
    #expect(closed.errors.contains("0 events delivered, \(count) undelivered"), "\(closed.errors)")
  }

  @Test(arguments: [
    ("toro=http://127.0.0.1:9", 15), ("ftp://127.0.0.1:9", 2), ("127.0.0.1:9", 2), ("", 2),
    ("nobody=http://127.0.0.1:9", 2), ("http://a@127.0.0.1:9", 2), ("ws://127.0.0.1:9", 2),
  ])
  func `refuses an address that it cannot send to`(_ address: String, _ status: Int32) throws {
    let binary = try Binary()
    defer { binary.remove() }
    for words in [["serve"], ["run"]] {
      let refused = try binary.run(
        ["simulator"] + words + ["--webhook", address] + (words == ["run"] ? ["--", "true"] : [])
      )
      #expect(refused.status == status, "\(refused)")
    }
  }

  /// Each event of a pair comes in the place of the other.
  @Test func `reorders every pair of events`() throws {
    let receiver = try Receiver()
    let host = try Host(receiver, "/hooks", ["--sim-fault", "event:reorder"])
    for reference in ["A", "B"] { try host.pay("paytheory", reference) }
    let published = try #require(try host.get("/_simulator/events")?.array)
      .compactMap { $0["body"]?.text }
    let bodies = receiver.received(published.count)
      .map { String(decoding: $0.body, as: UTF8.self) }
    #expect(bodies.sorted() == published.sorted())
    let moved = zip(bodies, published).count { $0 != $1 }
    #expect(moved >= published.count - 1, "\(bodies)\n\(published)")
  }

  /// The receiver takes its time; Ctrl-C does not wait for it, and the status is still that of the command.
  @Test func `a run ends at a signal though a receiver does not answer`() throws {
    let receiver = try Receiver([0, 0, 0, 0, 0, 0])
    var binary = try Binary()
    defer { binary.remove() }
    binary.variables["PATH"] = "\(Binary.products.path):/usr/bin:/bin"
    binary.variables["TMPDIR"] = binary.home.path
    let script =
      "tender transact --provider paytheory --test-card visa --amount 5 --reference A --quiet --json >/dev/null"
    let (process, _, errors) = try binary.start(
      ["simulator", "run", "--webhook", "http://127.0.0.1:\(receiver.port)/", "--", "sh", "-c"]
        + [script]
    )
    _ = receiver.received(1)
    let start = ContinuousClock.now
    // A signal before the command's end is the command's, so it is sent until one is the run's own.
    while process.isRunning, ContinuousClock.now - start < .seconds(20) {
      kill(process.processIdentifier, SIGHUP)
      _ = poll(nil, 0, 500)
    }
    process.waitUntilExit()
    #expect(ContinuousClock.now - start < .seconds(8))
    let said = String(decoding: errors.fileHandleForReading.availableData, as: UTF8.self)
    #expect(said.contains("undelivered"), "\(said)")
  }
}
