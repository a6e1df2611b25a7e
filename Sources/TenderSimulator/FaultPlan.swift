package import TenderEngine
package import TenderModel
import TenderSystem

struct Strike {
  /// The name of the effect in place of the answer, or on it; nil for none.
  var what: String?
  /// The number of bytes after which the answer is cut.
  var cut: Int?
  /// The delay of the answer, in milliseconds.
  var delay = 0
  /// Bytes a second.
  var rate: Int?
}

/// The requested faults, and the number of strikes of each.
///
/// Counts that another request or command needs are in the ledger: on a served simulator, and for each
/// payment. All others are only in this process.
package final class FaultPlan {
  private let faults: [PlannedFault]
  private let options: SimulatorOptions
  private let ledger: Ledger
  private let isServed: Bool
  private var counts: [String: Int] = [:]
  /// The current request; nil on sockets and devices.
  private var request: SimulatedRequest?
  /// The first point that the request came to; nil for a request that the provider does not know.
  var matched: String?
  private(set) var struck: [String] = []
  /// The delay of the answer that is being made, in milliseconds.
  private(set) var delay = 0
  /// A strike that was drawn before its request had arrived completely, with the faults that struck.
  private var early: (point: String, strike: Strike, struck: [String])?
  /// The faults that have struck anything in this process.
  private var used: Set<String> = []
  /// The faults whose count earlier requests or commands have used up.
  private var spent: Set<String> = []

  /// The faults that were asked for and have struck nothing, and whether their count was used up before.
  var unused: [(text: String, isSpent: Bool)] {
    faults.map(\.text).filter { !used.contains($0) }.map { ($0, spent.contains($0)) }
  }

  init(_ world: SimulatorWorld, _ ledger: Ledger) {
    options = world.options
    faults = options.faults
    isServed = world.isServed
    self.ledger = ledger
  }

  /// Begins with a request, or with a message, which has none.
  func begin(_ request: SimulatedRequest?) {
    self.request = request
    matched = nil
    struck = []
  }

  /// Whether a fault was requested, for any number of strikes.
  func has(_ name: String) -> Bool {
    let asked = faults.filter { "\($0.point):\($0.what)" == name }
    used.formUnion(asked.map(\.text))
    return !asked.isEmpty
  }

  /// Whether a fault at a point was requested.
  func isAbout(_ point: String) -> Bool { faults.contains { $0.point == point } }

  /// Returns the faults that strike at a point before its request has arrived completely, if one of them has
  /// this name; else nil. A fault that depends on the body strikes later.
  func strike(early point: String, _ name: String) -> Strike? {
    let possible = faults.filter { $0.fits(point, request) }
    guard possible.contains(where: { $0.what == name }),
      possible.allSatisfy({ $0.about == nil || $0.about == options.payment })
    else { return nil }
    let strike = strike(point)
    guard strike.what != name else { return strike }
    early = (point, strike, struck)
    return nil
  }

  /// Returns the faults that strike at a point this time. `content` returns the opened bytes of the request.
  func strike(_ point: String, content: () -> [UInt8] = { [] }) -> Strike {
    var strike = Strike()
    matched = matched ?? point
    if let early, early.point == point {
      self.early = nil
      struck = early.struck
      return early.strike
    }
    for fault in faults where fault.fits(point, request) {
      // A fault that comes too late for this request does not count.
      guard fault.value != nil || strike.what == nil else { continue }
      guard fault.about.map({ isAbout($0, content) }) ?? true else { continue }
      guard strikes(fault) else {
        spent.insert(fault.text)
        continue
      }
      struck.append(fault.text)
      used.insert(fault.text)
      switch fault.what {
      case "latency", "delay": strike.delay += latency(of: fault)
      case "bandwidth": strike.rate = fault.value?.lowerBound
      case "cut": strike.cut = fault.value?.lowerBound
      default: strike.what = strike.what ?? fault.what
      }
    }
    return strike
  }

  private func isAbout(_ text: String, _ content: () -> [UInt8]) -> Bool {
    if options.payment == text { return true }
    let sent = request.map { Array("\($0.path)?\($0.query)\n".utf8) + $0.body } ?? content()
    return String(decoding: sent, as: UTF8.self).contains(text)
  }

  /// Counts one more strike of a fault. Returns whether the limit was not reached before.
  private func strikes(_ fault: PlannedFault) -> Bool {
    fault.count.map { count(fault, "", upTo: $0) != nil } ?? true
  }

  private func count(_ fault: PlannedFault, _ kind: String, upTo limit: Int = .max) -> Int? {
    let key = "\(fault.text)|\(options.payment ?? "")|\(kind)"
    if isServed || options.payment != nil { return try? ledger.count("fault", key, upTo: limit) }
    let next = counts[key, default: 0] + 1
    counts[key] = next
    return next <= limit ? next : nil
  }

  /// Draws a latency from its range, by the seed if there is one.
  private func latency(of fault: PlannedFault) -> Int {
    guard let range = fault.value, range.count > 1 else { return fault.value?.lowerBound ?? 0 }
    let random: any Randomness =
      options.seed.map { seed in
        let turn = count(fault, "latency") ?? 0
        return SeededRandomness(seed: seed, label: "latency/\(fault.text)/\(turn)")
      } ?? SystemRandomness()
    return range.lowerBound + random.bytes(4).reduce(0) { $0 << 8 | Int($1) } % range.count
  }

  /// Returns the reaction to a request at a point: a fault in place of the answer, or on it.
  ///
  /// `forced` makes the answer with a status. `own` makes the answers of one service's special faults.
  package func react(
    _ point: String,
    forced: (Int) -> HTTPResponse,
    own: (String) -> HTTPResponse? = { _ in nil },
    _ body: () throws(Fault) -> HTTPResponse
  ) throws(Fault) -> HTTPReaction {
    try react(strike(point), forced: forced, own: own, body)
  }

  /// Returns the reaction to a request after a strike.
  func react(
    _ strike: Strike,
    forced: (Int) -> HTTPResponse,
    own: (String) -> HTTPResponse? = { _ in nil },
    _ body: () throws(Fault) -> HTTPResponse
  ) throws(Fault) -> HTTPReaction {
    delay = strike.delay
    var reaction = HTTPReaction(delay: strike.delay, rate: strike.rate)
    let name = strike.what ?? ""
    if let end = Self.endsBefore.first(where: { $0.name == name })?.end {
      reaction.end = end
    } else if let status = PlannedFault.status(name) {
      reaction.response = forced(status)
    } else if let answer = own(name) {
      reaction.response = answer
    } else {
      let answer = try body()
      reaction.end = Self.endsAfter.first { $0.name == name }?.end ?? .whole
      if name == "garbage" {
        reaction.response = HTTPResponse(status: 200, body: Array("<html>not JSON".utf8))
      } else if reaction.end == .whole {
        reaction.response = answer
        reaction.kept = strike.cut.flatMap { $0 < answer.body.count ? $0 : nil }
        if reaction.kept != nil { reaction.end = .cut }
      }
    }
    return reaction
  }

  /// The ends of requests that are not handled, and of requests that are.
  private static let endsBefore: [(name: String, end: HTTPReaction.End)] = [
    ("unreachable", .unreachable), ("close-before", .close), ("reset-before", .reset),
    ("reset-amid", .reset), ("silence-before", .silence),
  ]
  private static let endsAfter: [(name: String, end: HTTPReaction.End)] = [
    ("close-after", .close), ("reset-after", .reset), ("silence-after", .silence),
  ]
}
