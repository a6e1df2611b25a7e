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

  /// Returns the path of an address, with a star for each part that looks like an id.
  static func pathWithoutIDs(_ url: String) -> String {
    let path = WebAddress(url).map { $0.target.prefix(before: "?") } ?? "/"
    return path.split(separator: "/", omittingEmptySubsequences: false).map { part in
      part.count > 8 && part.contains(where: \.isNumber) ? "*" : String(part)
    }.joined(separator: "/")
  }

  func observe(_ step: ExchangeStep) {
    switch step {
    case .asks(let request, let isEffecting):
      write([
        "http": .string(request.method.rawValue), "url": .string(Self.withoutQuery(request.url)),
        "headers": .array(request.fields.map { .string($0.name) }),
        "bytes": .integer(request.body.count), "effecting": .bool(isEffecting),
      ])
    case .answered(_, let answer, _):
      write(["status": .integer(answer.status), "bytes": .integer(answer.body.count)])
    case .opens(let url): write(["socket": "open", "url": .string(Self.withoutQuery(url))])
    case .sends(let text):
      write(["socket": "send", "action": Self.name(text), "bytes": .integer(text.utf8.count)])
    case .received(.text(let text)):
      write(["socket": "receive", "type": Self.name(text), "bytes": .integer(text.utf8.count)])
    case .received(.binary(let bytes)):
      write(["socket": "receive", "type": "binary", "bytes": .integer(bytes.count)])
    case .received(.closed(let code, _)):
      write(["socket": "closed", "code": .integer(code ?? 1005)])
    case .failed(_, let fault):
      write(["failed": .string(fault.code), "effect": .string(fault.effect.rawValue)])
    }
  }

  private static func withoutQuery(_ url: String) -> String { String(url.prefix(before: "?")) }

  private static let known: Set<String> = [
    "host:hostToken", "host:transfer_part1", "host:transfer_part2", "host:cancel_transfer",
    "host:tokenize", "host:barcode", "host_token", "transfer_confirmation", "transfer_complete",
    "tokenize_complete", "barcode_complete", "error", "cancel",
  ]

  private static func name(_ text: String) -> JSON {
    let message = JSONReader.read(text)
    guard let name = (message?["action"] ?? message?["type"])?.text else { return "none" }
    // Any other text comes from the server, and may contain anything.
    return known.contains(name) ? .string(name) : "other"
  }
}
