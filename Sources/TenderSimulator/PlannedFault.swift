private import Platform
package import TenderModel

/// A fault in the form of `--sim-fault`: `POINT:WHAT[=VALUE][+K][*N][%P][,for=TEXT]`.
package struct PlannedFault: Sendable, Hashable {
  /// The typed text, with the names of this version.
  package let text: String
  /// A provider's point, or a method and a path such as `POST/v3/payments`. There, `*` is any segment.
  let point: String
  /// The name of the effect, without its value.
  let what: String
  let value: Value?
  /// The number of matches that it spares first.
  let spared: Int
  /// The largest number of strikes; nil without a limit.
  let count: Int?
  /// The probability of a strike, in percent; nil for always.
  let percent: Int?
  /// The reference or text that a request must contain; nil for any.
  let about: String?

  enum Value: Hashable, Sendable {
    /// A number of bytes, or of bytes a second.
    case number(Int)
    case latency(Latency)
  }

  enum Latency: Hashable, Sendable {
    case fixed(Int)
    case uniform(ClosedRange<Int>)
    /// Log-normal: half of the answers are later than the median, one of a hundred is later than `p99`.
    case logNormal(median: Int, p99: Int)

    /// Reads `200ms`, `100ms..900ms` or `200ms/p99=3s`.
    init?(_ text: String) {
      func time(_ text: Substring) -> Int? {
        try? TimeText.milliseconds(String(text), option: "latency", most: 600_000)
      }
      if let mark = text.firstRange(of: "..") {
        guard let low = time(text[..<mark.lowerBound]), let high = time(text[mark.upperBound...]),
          low <= high
        else { return nil }
        self = .uniform(low...high)
      } else if let mark = text.firstRange(of: "/p99=") {
        guard let median = time(text[..<mark.lowerBound]),
          let tail = time(text[mark.upperBound...]), median < tail
        else { return nil }
        self = .logNormal(median: median, p99: tail)
      } else {
        guard let fixed = time(text[...]) else { return nil }
        self = .fixed(fixed)
      }
    }

    /// Returns a latency from two random numbers from 0 to 1.
    func drawn(_ first: Double, _ second: Double) -> Int {
      switch self {
      case .fixed(let time): return time
      case .uniform(let range):
        return range.lowerBound + Int(first * Double(range.upperBound - range.lowerBound) + 0.5)
      case .logNormal(let median, let tail):
        // Box and Muller; 2.3263 standard deviations are the 99th percentile.
        let normal = sqrt(-2 * log(max(first, 1e-12))) * cos(2 * Double.pi * second)
        let sigma = log(Double(tail) / Double(median)) / 2.3263
        return Int(min(Double(median) * exp(sigma * normal), 600_000))
      }
    }
  }

  /// Reads a fault that one of some providers has.
  ///
  /// Throws a `usage` fault with the problem and the possible faults.
  package init(_ text: String, among providers: [any SimulatedProvider]) throws(Fault) {
    func wrong(_ problem: String, _ hint: String) -> Fault {
      .usage(
        "bad_value",
        "--sim-fault \(text.quotedForMessage) \(problem)",
        hint
      )
    }
    let grammar = "POINT:WHAT[=VALUE][+K][*N][%P][,for=TEXT]; see: tender help simulator"
    let parts = text.split(separator: ",", maxSplits: 1, omittingEmptySubsequences: false)
    var head = parts[0]
    if parts.count > 1 {
      guard parts[1].hasPrefix("for="), parts[1].count > 4 else {
        throw wrong("has something else than for=TEXT behind the comma", grammar)
      }
      about = QueryText.decode(parts[1].dropFirst(4))
    } else {
      about = nil
    }
    guard let colon = head.lastIndex(of: ":") else {
      throw Self.unknown(String(head), text, providers)
    }
    var numbers: [Character: Int] = [:]
    while let mark = head[colon...].lastIndex(where: { "*%+".contains($0) }) {
      let most = head[mark] == "%" ? 100 : 1_000_000
      guard numbers[head[mark]] == nil, let number = Int(head[head.index(after: mark)...]),
        (1...most).contains(number)
      else {
        let name =
          (head[mark] == "%" ? "percentage" : "count") + " behind the \(head[mark])"
        let example = "\(head[..<mark])\(head[mark])\(most == 100 ? 50 : 2)"
        throw wrong("has no \(name)", "such as \(example)")
      }
      numbers[head[mark]] = number
      head = head[..<mark]
    }
    count = numbers["*"]
    spared = numbers["+"] ?? 0
    percent = numbers["%"]
    point = String(head[..<colon])
    let typed = String(head[head.index(after: colon)...])
    let isPath = point.contains("/")
    guard !isPath || Self.isRequest(point) else {
      throw wrong(
        "matches no request",
        "a method and a path, * for any part: POST/v3/payments/*/refunds"
      )
    }
    let place = providers.lazy.compactMap { [point] in $0.faults.point(point) }.first
    let known = place?.exits.map(\.what) ?? (isPath ? Self.anywhere : [])
    guard isPath || place != nil else { throw Self.unknown(String(head), text, providers) }
    let name = known.contains(typed) ? typed : FaultTable.oldNames[typed] ?? typed
    let what = String(name.prefix(before: "="))
    self.what = what
    let given = name.contains("=") ? String(name.dropFirst(what.count + 1)) : nil
    let status = what.hasPrefix("http-") ? Int(what.dropFirst("http-".count)) : nil
    let isStatus = isPath && status.map { (400...599).contains($0) } == true
    guard isStatus || known.contains(where: { $0.prefix(before: "=") == what }) else {
      throw Self.unknown(String(head), text, providers)
    }
    switch (what, given) {
    case ("latency", let given):
      guard let latency = given.flatMap(Latency.init) else {
        throw wrong("has no latency", "latency=200ms, latency=100ms..900ms or latency=200ms/p99=3s")
      }
      value = .latency(latency)
    case ("cut", let given), ("bandwidth", let given):
      let least = what == "cut" ? 0 : 1
      guard let number = given.flatMap({ Int($0) }), (least...10_000_000).contains(number) else {
        throw wrong("has no number of bytes", "such as \(point):\(what)=100")
      }
      value = .number(number)
    case (_, nil): value = nil
    default: throw wrong("takes no value", "leave out =\(given ?? "")")
    }
    self.text = "\(point):\(name)" + text.dropFirst(head.count)
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

  /// The faults of any request over HTTP, by its method and path.
  private static let anywhere = [
    "unreachable", "close-before", "reset-before", "reset-amid", "silence-before", "close-after",
    "reset-after", "silence-after", "garbage", "cut", "latency", "bandwidth",
  ]

  private static func unknown(
    _ name: String,
    _ text: String,
    _ providers: [any SimulatedProvider]
  ) -> Fault {
    let point = String(name.prefix(before: ":"))
    for table in providers.map(\.faults) {
      guard let place = table.point(point) else { continue }
      let all = place.exits.map { "\(point):\($0.what)" }
      let nearest = Suggestion.nearest(to: name, among: all)
      return .usage(
        "bad_value",
        "--sim-fault: \(name.quotedForMessage) cannot happen at \(point)",
        (nearest.map { "did you mean \($0)? " } ?? "")
          + "see: tender simulator scenarios \(point):"
      )
    }
    return .unknownName(
      "--sim-fault",
      name,
      among: providers.flatMap { $0.faults.words.map(\.name) }
    )
  }

  /// Whether it can strike at a point, or at a request with a method and a path.
  func fits(_ step: String, _ request: SimulatedRequest?) -> Bool {
    guard point.contains("/"), let request else { return point == step }
    let asked = point.split(separator: "/", omittingEmptySubsequences: false)
    let given = "\(request.method)\(request.path)".split(
      separator: "/",
      omittingEmptySubsequences: false
    )
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
