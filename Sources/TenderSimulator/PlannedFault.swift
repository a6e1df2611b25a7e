package import TenderModel

/// A fault in the form of `--sim-fault`: `POINT:WHAT[=VALUE][*N][,for=TEXT]`.
package struct PlannedFault: Sendable, Hashable {
  /// The typed text.
  package let text: String
  /// A provider's point, or a method and a path such as `POST/v3/payments`. There, `*` is any segment.
  let point: String
  /// The name of the effect, without its value.
  let what: String
  /// A latency in milliseconds, or a number of bytes, or of bytes a second.
  let value: ClosedRange<Int>?
  /// The largest number of strikes; nil without a limit.
  let count: Int?
  /// The reference or text that a request must contain; nil for any.
  let about: String?

  private static let form = "POINT:WHAT[=VALUE][*N][,for=TEXT]; see: tender help simulator"

  /// The effects with a value, with the least value, the problem without one, and an example.
  private static let values: [String: (least: Int, problem: String, example: String)] = [
    "latency": (0, "has no latency", "latency=200ms or latency=100ms..900ms"),
    "delay": (0, "has no delay", "delay=200ms or delay=100ms..900ms"),
    "cut": (0, "has no number of bytes", "cut=100"),
    "bandwidth": (1, "has no number of bytes", "bandwidth=100"),
  ]

  /// The faults of any request over HTTP, by its method and path.
  private static let anywhere = [
    "unreachable", "close-before", "reset-before", "reset-amid", "silence-before", "close-after",
    "reset-after", "silence-after", "garbage", "cut", "latency", "bandwidth",
  ]

  /// Reads a fault that one of some providers has.
  ///
  /// Throws a `usage` fault with the problem and the possible faults.
  package init(_ text: String, among providers: [any SimulatedProvider]) throws(Fault) {
    func wrong(_ problem: String, _ hint: String = Self.form) -> Fault {
      .usage("bad_value", "--sim-fault \(text.quotedForMessage) \(problem)", hint)
    }
    self.text = text
    let head = text.prefix(before: ",")
    let condition = text.dropFirst(head.count)
    guard condition.isEmpty || condition.hasPrefix(",for=") && condition != ",for=" else {
      throw wrong("has something else than for=TEXT behind the comma")
    }
    about = condition.isEmpty ? nil : QueryText.decode(condition.dropFirst(",for=".count))
    // The path of a request can have `*` too.
    let colon = head.lastIndex(of: ":") ?? head.endIndex
    point = String(head[..<colon])
    let effect = head[colon...].dropFirst().prefix(before: "*")
    let times = head[colon...].dropFirst(effect.count + 1)
    count = Int(times.dropFirst())
    guard times.isEmpty || count.map((1...1_000_000).contains) == true else {
      throw wrong("has no count behind the *", "such as \(point):\(effect)*2")
    }
    what = String(effect.prefix(before: "="))
    let isPath = point.contains("/")
    guard !isPath || Self.isRequest(point) else {
      throw wrong(
        "matches no request",
        "a method and a path, * for any part: POST/v3/payments/*/refunds"
      )
    }
    // Several providers can have a point of this name.
    let places = providers.compactMap { [point] in $0.faults.point(point) }
    let place =
      places.first { [what] place in place.exits.contains { $0.what.prefix(before: "=") == what } }
      ?? places.first
    let known = place?.exits.map(\.what) ?? (isPath ? Self.anywhere : [])
    let isStatus = isPath && Self.status(what).map { (400...599).contains($0) } == true
    guard isStatus || known.contains(where: { [what] in $0.prefix(before: "=") == what }) else {
      throw Self.unknown(String(head), place, providers)
    }
    let given = effect.dropFirst(what.count + 1)
    guard let rule = Self.values[what] else {
      guard given.isEmpty else { throw wrong("takes no value", "leave out =\(given)") }
      value = nil
      return
    }
    value = ["latency", "delay"].contains(what) ? Self.times(given) : Int(given).map { $0...$0 }
    guard let value, (rule.least...10_000_000).contains(value.lowerBound) else {
      throw wrong(rule.problem, "such as \(point):\(rule.example)")
    }
  }

  /// The status that an effect answers with; nil for another effect.
  static func status(_ what: String) -> Int? {
    what.hasPrefix("http-") ? Int(what.dropFirst("http-".count)) : nil
  }

  /// Reads `200ms` or `100ms..900ms`.
  private static func times(_ text: Substring) -> ClosedRange<Int>? {
    let texts = text.split(separator: "..", maxSplits: 1, omittingEmptySubsequences: false)
    let times = texts.compactMap {
      try? TimeText.milliseconds(String($0), option: "latency", most: 600_000)
    }
    guard times.count == texts.count, let low = times.first, let high = times.last, low <= high
    else { return nil }
    return low...high
  }

  /// Whether a point is a method and a path without a query, in which `*` is a whole part.
  private static func isRequest(_ point: String) -> Bool {
    let parts = point.split(separator: "/", omittingEmptySubsequences: false)
    return !parts[0].isEmpty && parts[0].allSatisfy { $0.isUppercase || $0 == "*" }
      && parts.allSatisfy { $0 == "*" || !$0.contains { "*?#".contains($0) } }
  }

  /// The fault as a member of the header.
  var headerText: String {
    guard let about else { return text }
    return text.prefix(before: ",") + ",for=" + QueryText.encode(about)
  }

  private static func unknown(
    _ name: String,
    _ place: FaultTable.Point?,
    _ providers: [any SimulatedProvider]
  ) -> Fault {
    guard let place else {
      let names = providers.flatMap { $0.faults.words.map(\.name) }
      return .unknownName("--sim-fault", name, among: names)
    }
    let nearest = Suggestion.nearest(
      to: name,
      among: place.exits.map { "\(place.name):\($0.what)" }
    )
    return .usage(
      "bad_value",
      "--sim-fault: \(name.quotedForMessage) cannot happen at \(place.name)",
      (nearest.map { "did you mean \($0)? " } ?? "")
        + "see: tender simulator scenarios \(place.name):"
    )
  }

  /// Whether it can strike at a point, or at a request with a method and a path.
  func fits(_ step: String, _ request: SimulatedRequest?) -> Bool {
    guard point.contains("/"), let request else { return point == step }
    func parts(_ text: String) -> [Substring] {
      text.split(separator: "/", omittingEmptySubsequences: false)
    }
    let (asked, given) = (parts(point), parts(request.method + request.path))
    return asked.count == given.count && zip(asked, given).allSatisfy { $0 == "*" || $0 == $1 }
  }
}

extension Fault {
  static func unknownName(_ option: String, _ name: String, among: [String]) -> Fault {
    let nearest = Suggestion.nearest(to: name, among: among)
    return .usage(
      "bad_value",
      "\(option) has no \(name.quotedForMessage)",
      (nearest.map { "did you mean \($0)? " } ?? "") + "see: tender simulator scenarios"
    )
  }
}
