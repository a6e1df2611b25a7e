import Synchronization
import TenderEngine
import TenderModel
import TenderTestSupport

/// One input, shared by all parts of a run.
final class SharedFeed: Sendable {
  private let feed: Mutex<Feed>

  init(_ bytes: [UInt8]) { feed = Mutex(Feed(bytes)) }

  func take<Result: Sendable>(_ body: (inout Feed) -> Result) -> Result {
    feed.withLock { body(&$0) }
  }
}

/// Unexpected values.
enum Strange {
  static let values: [JSON] = [
    .null, true, false, 0, -1, .integer(.max), .integer(.min), .number("1e400"), .number("0.1"), "",
    " ", "\u{0}", "succeeded", "SUCCEEDED", "FAILURE", "executed", "failed", "authorizing",
    "4000056655665556", .string(String(repeating: "x", count: 5000)), [], [:], [[]], ["a"],
    ["a": "b"],
    "https://bank.example/", "javascript:alert(1)", "../../etc", "2026-11-21T00:00:00Z", "-5",
    "1050",
    "redirect", "wait", "form", "select", "text", "authorization_required", "settled", "revoked",
    "insufficient_funds", "USD", "EUR",
  ]

  /// The value with one of its parts replaced, removed, or doubled.
  static func change(_ value: JSON, _ feed: inout Feed) -> JSON {
    var left = feed.below(max(1, count(value)))
    let way = feed.below(4)
    let strange = feed.one(of: values)
    return change(value, &left, way, strange) ?? .null
  }

  private static func count(_ value: JSON) -> Int {
    switch value {
    case .array(let elements): 1 + elements.reduce(0) { $0 + count($1) }
    case .object(let object): 1 + object.members.reduce(0) { $0 + count($1.value) }
    default: 1
    }
  }

  /// Nil removes the part.
  private static func change(_ value: JSON, _ left: inout Int, _ way: Int, _ strange: JSON) -> JSON?
  {
    defer { left -= 1 }
    if left == 0 {
      switch way {
      case 0: return nil
      case 1: return [value, value]
      default: return strange
      }
    }
    switch value {
    case .array(let elements):
      var shown: [JSON] = []
      for element in elements {
        left -= 1
        if let changed = change(element, &left, way, strange) { shown.append(changed) }
      }
      return .array(shown)
    case .object(let object):
      var members: [JSONObject.Member] = []
      for member in object.members {
        left -= 1
        guard let changed = change(member.value, &left, way, strange) else { continue }
        members.append(JSONObject.Member(key: member.key, value: changed))
      }
      return .object(JSONObject(members))
    default: return value
    }
  }

  /// A text with a few of its bytes changed, cut, or grown.
  static func change(_ bytes: [UInt8], _ feed: inout Feed) -> [UInt8] {
    var bytes = bytes
    switch feed.below(4) {
    case 0: return Array(bytes.prefix(feed.below(max(1, bytes.count))))
    case 1: return feed.chunk(400)
    case 2: return bytes + Array(repeating: feed.byte(), count: feed.below(20_000))
    default:
      guard !bytes.isEmpty else { return bytes }
      for _ in 0...feed.below(4) { bytes[feed.below(bytes.count)] = feed.byte() }
      return bytes
    }
  }
}

/// The connection to a provider. The input decides the change of each answer.
final class Mangler: HTTPExchange {
  private let inner: any HTTPExchange
  private let feed: SharedFeed
  /// Makes a changed answer look authentic to its reader.
  private let seal: @Sendable ([UInt8]) -> [UInt8]

  init(
    _ inner: any HTTPExchange,
    _ feed: SharedFeed,
    seal: @escaping @Sendable ([UInt8]) -> [UInt8] = { $0 }
  ) {
    self.inner = inner
    self.feed = feed
    self.seal = seal
  }

  func send(
    _ request: HTTPRequest,
    _ permit: SendPermit?,
    by deadline: Deadline
  ) throws(Fault) -> HTTPResponse {
    let way = feed.take { $0.below(48) }
    if way == 1 { throw Fault(.notSent, code: "unreachable", "nobody is there") }
    var response = try inner.send(request, permit, by: deadline)
    switch way {
    case 2: throw Fault(.providerError, code: "no_answer", "no answer")
    case 3:
      response.status = feed.take {
        $0.one(of: [200, 201, 202, 204, 301, 400, 401, 403, 404, 409, 422, 429, 500, 503, 0, 999])
      }
    case 4, 5, 6:
      if let value = JSONReader.read(response.body) {
        response.body = Array(JSONWriter.text(feed.take { Strange.change(value, &$0) }).utf8)
      } else {
        let body = response.body
        response.body = seal(feed.take { XMLText.change(body, &$0) })
      }
    case 7:
      let body = response.body
      response.body = feed.take { Strange.change(body, &$0) }
    default: break
    }
    return response
  }
}

/// The parts of XML that changing needs.
enum XMLText {
  private static let words = [
    "", "0", "-1", "99999999999999999999", "APPR", "DECL", "PART", "TECH", "SUSP", "USD", "0.00",
    "1e9",
    "2026-11-21T00:00:00Z", "&lt;", "4000056655665556", "00", "91", "MQ==", "0102", "OTHN",
  ]

  /// A document with the text between two of its tags replaced, or with an element removed.
  static func change(_ bytes: [UInt8], _ feed: inout Feed) -> [UInt8] {
    var places: [Range<Int>] = []
    var start: Int?
    for (index, byte) in bytes.enumerated() {
      if byte == UInt8(ascii: ">") { start = index + 1 }
      if byte == UInt8(ascii: "<"), let from = start, index > from { places.append(from..<index) }
    }
    guard !places.isEmpty else { return bytes }
    let place = places[feed.below(places.count)]
    return Array(bytes[..<place.lowerBound]) + Array(feed.one(of: words).utf8)
      + Array(bytes[place.upperBound...])
  }
}

/// A clock with jumps from the input. Every wait on it ends.
final class JumpingClock: Clock {
  private struct State {
    var now = 1_800_000_000_000
    var uptime = 1_000_000
  }

  private let state = Mutex(State())
  private let feed: SharedFeed

  init(_ feed: SharedFeed) { self.feed = feed }

  var now: Int {
    let jump = feed.take { $0.byte() }
    return state.withLock { state in
      switch jump {
      case 250: state.now += 86_400_000 * 400
      case 251: state.now -= 86_400_000 * 400
      case 252: state.now = Timestamp.range.upperBound - 86_400_000_000
      case 253: state.now = 0
      default: break
      }
      state.now = Timestamp.clamped(state.now)
      return state.now
    }
  }

  var uptime: Int {
    state.withLock { state in
      state.uptime += 1
      return state.uptime
    }
  }

  var moment: Moment { Moment(boot: "boot", milliseconds: uptime) }

  func pause(milliseconds: Int) throws(Fault) {
    state.withLock { state in
      state.now += milliseconds
      state.uptime += milliseconds
    }
  }
}
