internal import TenderCommandLine
internal import TenderEngine
internal import TenderModel

/// A line of `batch --check`: all checks that need no request.
struct LineCheck: CommandWork {
  let composition: Composition

  /// Checks options, amounts, reference, profile and credentials of a line. Returns the members of a `check`
  /// record.
  ///
  /// Throws the fault that the line would end with.
  func run() throws(Fault) -> JSONObject {
    let target: Target
    if invocation.command.work.writes {
      // The request is prepared, but nothing is sent or written.
      composition.output.collect = { _ in }
      _ = try Action.run(composition)
      target = try composition.target()
    } else {
      _ = try WaitOptions(invocation, from: composition.clock.uptime)
      _ = try Expectation(invocation)
      target = try composition.target()
      composition.subject.take(target)
      composition.subject.reference = invocation.text(Keys.reference) ?? invocation.operands.first
      try composition.engine(target).provider.checkReady(for: nil, of: nil)
    }
    return [
      "name": .string(composition.subject.reference ?? ""), "outcome": "ok",
      "detail": .string(
        "\(invocation.command.name) by \(target.module.name.text) on \(target.env.rawValue)"
      ),
    ]
  }
}

extension Composition {
  /// Facts for the check of a batch's line, besides the journal.
  struct Check {
    /// Whether an earlier line makes or changes its payment. Then the journal does not show the state that
    /// the line will find.
    let isBegun: Bool
  }
}

/// The payments that a check has read so far.
struct SeenPayments {
  /// Facts from earlier lines about a reference.
  struct Earlier {
    /// The provider that they name; nil without one.
    let provider: String?
  }

  /// The position in `providers` of the provider named first, by reference.
  private var begun = NameTable()
  private var providers: [String?] = []
  /// 32 bits of a hash of the order, and the line, by provider and reference.
  private var payments = NameTable()

  /// Adds a line. Returns the facts from earlier lines about its reference.
  ///
  /// Throws `conflict` if an earlier line has its reference for another payment.
  mutating func add(_ line: BatchLine, _ number: Int) throws(Fault) -> Earlier? {
    var earlier: Earlier?
    if let place = begun[line.reference] {
      earlier = Earlier(provider: providers[Int(place)])
    } else if line.writes {
      let provider = line.provider
      if !providers.contains(provider) { providers.append(provider) }
      begun[line.reference] = providers.firstIndex(of: provider).map(UInt64.init)
    }
    try compare(line, number)
    return earlier
  }

  private mutating func compare(_ line: BatchLine, _ number: Int) throws(Fault) {
    guard let payment = line.payment else { return }
    let text = UInt64(truncatingIfNeeded: payment.text.hashValue) >> 32
    guard let earlier = payments[payment.name] else {
      payments[payment.name] = text << 32 | UInt64(UInt32(clamping: number))
      return
    }
    guard earlier >> 32 != text else { return }
    throw .conflict(
      "reference_reused",
      "line \(earlier & 0xffff_ffff) gives \(line.reference.quotedForMessage) to another payment",
      "a reference is charged once: choose another"
    )
  }
}
