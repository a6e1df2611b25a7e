internal import TenderEngine
internal import TenderModel
internal import TenderSystem

/// Records the exchange: addresses without queries, sizes, and only the two members of a body that name a
/// message.
///
/// Nothing else is recorded, so no secret can be in it.
final class Trace: Sendable {
  private let descriptor: Int32
  private let clock: any Clock
  private let interruption: any Interruption

  /// Opens the trace. A slow reader is waited for until `interruption`.
  init(path: String, clock: any Clock, _ interruption: any Interruption) throws(Fault) {
    self.interruption = interruption
    descriptor = try Environment.openForAppending(path, named: "--trace")
    self.clock = clock
    write(["note": "redacted: no header values, no bodies but their action and type"])
  }

  func write(_ members: JSONObject) {
    var line: JSONObject = ["at": .string(Timestamp.preciseText(clock.now))]
    for member in members.members { line[member.key] = member.value }
    let patience = Console.Patience { [interruption] in interruption.kind != nil }
    Console.write(JSONWriter.text(.object(line)) + "\n", to: descriptor, patience)
  }

  static func withoutQuery(_ url: String) -> String {
    String(url.prefix { $0 != "?" })
  }

  /// Returns the path of an address, with a star for each part that looks like an id.
  static func pathWithoutIDs(_ url: String) -> String {
    let path = WebAddress(url).map { $0.target.prefix { $0 != "?" } } ?? "/"
    return path.split(separator: "/", omittingEmptySubsequences: false).map { part in
      part.count > 8 && part.contains(where: \.isNumber) ? "*" : String(part)
    }.joined(separator: "/")
  }

  /// Runs `body`. A fault of it is recorded, too.
  func watching<Result>(_ body: () throws(Fault) -> Result) throws(Fault) -> Result {
    do throws(Fault) {
      return try body()
    } catch {
      write(["failed": .string(error.code), "effect": .string(error.effect.rawValue)])
      throw error
    }
  }
}

struct TracedHTTP: HTTPExchange {
  let inner: any HTTPExchange
  let trace: Trace

  func send(
    _ request: HTTPRequest,
    _ permit: SendPermit?,
    by deadline: Deadline
  ) throws(Fault) -> HTTPResponse {
    trace.write([
      "http": .string(request.method.rawValue), "url": .string(Trace.withoutQuery(request.url)),
      "headers": .array(request.fields.map { .string($0.name) }),
      "bytes": .integer(request.body.count), "effecting": .bool(permit != nil),
    ])
    let answer = try trace.watching { () throws(Fault) in
      try inner.send(request, permit, by: deadline)
    }
    trace.write(["status": .integer(answer.status), "bytes": .integer(answer.body.count)])
    return answer
  }
}

struct TracedSockets: SocketExchange {
  let inner: any SocketExchange
  let trace: Trace

  func open(
    url: String,
    fields: [HTTPRequest.Field],
    by deadline: Deadline
  ) throws(Fault) -> any MessageSocket {
    trace.write(["socket": "open", "url": .string(Trace.withoutQuery(url))])
    return try trace.watching { () throws(Fault) in
      TracedSocket(try inner.open(url: url, fields: fields, by: deadline), trace)
    }
  }
}

private final class TracedSocket: MessageSocket {
  private let inner: any MessageSocket
  private let trace: Trace

  init(_ inner: any MessageSocket, _ trace: Trace) {
    self.inner = inner
    self.trace = trace
  }

  private static let known: Set<String> = [
    "host:hostToken", "host:transfer_part1", "host:transfer_part2", "host:cancel_transfer",
    "host:tokenize", "host:barcode", "host_token", "transfer_confirmation", "transfer_complete",
    "tokenize_complete", "barcode_complete", "error", "cancel",
  ]

  private func name(_ text: String) -> JSON {
    let message = JSONReader.read(text)
    guard let name = (message?["action"] ?? message?["type"])?.text else { return "none" }
    // Any other text comes from the server, and may contain anything.
    return Self.known.contains(name) ? .string(name) : "other"
  }

  func send(_ text: String, _ permit: SendPermit?, by deadline: Deadline) throws(Fault) {
    trace.write(["socket": "send", "action": name(text), "bytes": .integer(text.utf8.count)])
    try trace.watching { () throws(Fault) in try inner.send(text, permit, by: deadline) }
  }

  func receive(by deadline: Deadline) throws(Fault) -> SocketMessage {
    let message = try trace.watching { () throws(Fault) in try inner.receive(by: deadline) }
    switch message {
    case .text(let text):
      trace.write(["socket": "receive", "type": name(text), "bytes": .integer(text.utf8.count)])
    case .binary(let bytes):
      trace.write(["socket": "receive", "type": "binary", "bytes": .integer(bytes.count)])
    case .closed(let code, _):
      trace.write(["socket": "closed", "code": .integer(code ?? 1005)])
    }
    return message
  }

  var isOpen: Bool { inner.isOpen }

  func close(waiting: Bool) { inner.close(waiting: waiting) }
}
