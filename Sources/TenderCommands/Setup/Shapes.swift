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

  private let known = Mutex<[Exchange]>([])

  var all: [Exchange] { known.withLock { $0 } }

  /// Adds a question and what came of it.
  func add(_ question: String, _ answer: Set<String>) {
    known.withLock { $0.append(Exchange(question: question, answer: answer)) }
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

/// An HTTP exchange whose answers are described.
struct ShapedHTTP: HTTPExchange {
  let inner: any HTTPExchange
  let shapes: Shapes

  func send(
    _ request: HTTPRequest,
    _ permit: SendPermit?,
    by deadline: Deadline
  ) throws(Fault) -> HTTPResponse {
    let question = "\(request.method.rawValue) \(Trace.pathWithoutIDs(request.url))"
    do throws(Fault) {
      let answer = try inner.send(request, permit, by: deadline)
      shapes.add(
        question,
        Shapes.members(JSONReader.read(answer.body)).union(["status \(answer.status)"])
      )
      return answer
    } catch {
      shapes.add(question, ["failed: \(error.code)"])
      throw error
    }
  }
}

struct ShapedSockets: SocketExchange {
  let inner: any SocketExchange
  let shapes: Shapes

  func open(
    url: String,
    fields: [HTTPRequest.Field],
    by deadline: Deadline
  ) throws(Fault) -> any MessageSocket {
    ShapedSocket(try inner.open(url: url, fields: fields, by: deadline), shapes)
  }
}

private final class ShapedSocket: MessageSocket {
  private let inner: any MessageSocket
  private let shapes: Shapes
  private var action = ""

  init(_ inner: any MessageSocket, _ shapes: Shapes) {
    self.inner = inner
    self.shapes = shapes
  }

  func send(_ text: String, _ permit: SendPermit?, by deadline: Deadline) throws(Fault) {
    action = JSONReader.read(text)?["action"]?.text ?? ""
    try inner.send(text, permit, by: deadline)
  }

  func receive(by deadline: Deadline) throws(Fault) -> SocketMessage {
    let message = try inner.receive(by: deadline)
    if case .text(let text) = message {
      let body = JSONReader.read(text)
      shapes.add(action, Shapes.members(body).union(["type \(body?["type"]?.text ?? "none")"]))
    }
    return message
  }

  var isOpen: Bool { inner.isOpen }

  func close(waiting: Bool) { inner.close(waiting: waiting) }
}
