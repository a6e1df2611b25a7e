internal import Synchronization
internal import TenderEngine
internal import TenderModel

/// The shapes of the answers that a command received: statuses, and names and types of members, without values.
final class Shapes: Sendable {
  /// One exchange: what was asked, and the lines that describe the answer.
  struct Exchange: Sendable {
    let question: String
    var answer: Set<String>
  }

  /// The exchanges so far, and the action of the last message on the socket.
  private let known = Mutex((all: [Exchange](), action: ""))

  var all: [Exchange] { known.withLock(\.all) }

  func observe(_ step: ExchangeStep) {
    switch step {
    case .answered(let request, let answer, _):
      let members = Self.members(JSONReader.read(answer.body))
      add(Self.question(request), members.union(["status \(answer.status)"]))
    case .failed(let request?, let fault): add(Self.question(request), ["failed: \(fault.code)"])
    case .sends(let text):
      known.withLock { $0.action = JSONReader.read(text)?["action"]?.text ?? "" }
    case .received(.text(let text)):
      let body = JSONReader.read(text)
      let type = "type \(body?["type"]?.text ?? "none")"
      add(known.withLock(\.action), Self.members(body).union([type]))
    case .asks, .opens, .received, .failed: break
    }
  }

  private func add(_ question: String, _ answer: Set<String>) {
    known.withLock { $0.all.append(Exchange(question: question, answer: answer)) }
  }

  private static func question(_ request: HTTPRequest) -> String {
    "\(request.method.rawValue) \(Trace.pathWithoutIDs(request.url))"
  }

  /// The members of a body with their types, such as `user.id: text`.
  static func members(_ body: JSON?, _ place: String = "") -> Set<String> {
    switch body {
    case .object(let object):
      object.members.reduce(into: []) { found, member in
        found.formUnion(
          members(member.value, place.isEmpty ? member.key : "\(place).\(member.key)")
        )
      }
    case .array(let elements):
      elements.reduce(into: ["\(place): list"]) { $0.formUnion(members($1, place + "[]")) }
    case .string: ["\(place): text"]
    case .integer, .number: ["\(place): number"]
    case .bool: ["\(place): true or false"]
    case .null: ["\(place): null"]
    case nil: []
    }
  }
}
