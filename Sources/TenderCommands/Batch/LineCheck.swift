internal import TenderCommandLine
internal import TenderEngine
internal import TenderModel

/// A line of `batch --check`: all that can be checked without a request.
struct LineCheck: CommandWork {
  let composition: Composition

  /// Options, amounts, reference, profile and credentials of a line; the members of a `check` record.
  ///
  /// Throws what the line would end with.
  func run() throws(Fault) -> JSONObject {
    let target: Target
    if invocation.command.work.writes {
      // What it would send is put together; nothing leaves, and nothing is written.
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
  /// What the check of a batch's line knows besides the journal.
  struct Check {
    /// Whether a line before it makes or changes its payment: then the journal does not say what it will find.
    let isBegun: Bool
  }
}

/// The payments that a check has read so far.
struct SeenPayments {
  /// What the lines before say about a reference.
  struct Earlier {
    /// The provider that they name; nil where they name none.
    let provider: String?
  }

  /// By reference, the place in `providers` of the one that was named first.
  private var begun = NameTable()
  private var providers: [String?] = []
  /// By provider and reference: 32 bits of a hash of what was said, and the line.
  private var payments = NameTable()

  /// Takes a line in; returns what the lines before say about its reference.
  ///
  /// Throws `conflict` where an earlier one gives its reference to another payment.
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
