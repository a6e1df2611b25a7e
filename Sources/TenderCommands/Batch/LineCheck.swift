internal import TenderCommandLine
internal import TenderEngine
internal import TenderModel

/// A line of `batch --check`: all checks that need no request.
struct LineCheck: CommandWork {
  let composition: Composition

  /// Checks options, amounts, reference, profile and credentials of a line.
  ///
  /// Throws the fault that the line would end with.
  func run() throws(Fault) -> Record {
    let target: Target
    if invocation.command.work.writes {
      // The request is prepared, but nothing is sent or written.
      _ = try Action.run(composition)
      target = try composition.target()
    } else {
      _ = try WaitOptions(invocation, from: composition.clock.uptime)
      _ = try Expectation(invocation, records.pages)
      target = try composition.target()
      composition.subject.take(target)
      composition.subject.reference = invocation.text(Keys.reference) ?? invocation.operands.first
      try invocation.checkOptions(for: target.module.name)
      try composition.engine(target).provider.checkReady(for: nil, of: nil)
    }
    return records.check(
      composition.subject.reference ?? "",
      "\(invocation.command.name) by \(target.module.name.text) on \(target.env.rawValue)"
    )
  }
}

extension Composition {
  /// Facts for the check of a batch's line, besides the journal.
  struct Check {
    /// Nil if no earlier line writes to its reference. Otherwise the journal does not show the state that the
    /// line will find.
    let earlier: SeenPayments.Earlier?
    /// The other payments that the line names and that earlier lines make or change.
    let written: Set<String>
  }

  func isWrittenEarlier(_ reference: String) -> Bool { check?.written.contains(reference) == true }
}

/// The payments that a check has read so far.
struct SeenPayments {
  /// The effect of earlier lines on a reference.
  enum Earlier {
    /// They make its payment, at the named provider; nil without one.
    case makes(provider: String?)
    /// They change its payment, which the journal must have.
    case changes
  }

  /// By reference: 0 if lines only change its payment. Otherwise the position in `providers`, plus one, of the
  /// provider of the first line that makes it.
  private var begun: [String: UInt64] = [:]
  private var providers: [String?] = []
  /// 32 bits of a hash of the order, and the line, by provider and reference.
  private var payments: [String: UInt64] = [:]

  /// Adds a line. Returns the facts from earlier lines about its reference.
  ///
  /// Throws `conflict` if an earlier line has its reference for another payment.
  mutating func add(_ line: BatchLine, _ number: Int) throws(Fault) -> Earlier? {
    let place = begun[line.reference]
    if place ?? 0 == 0, line.isRunnable, line.makes {
      let provider = line.provider
      if !providers.contains(provider) { providers.append(provider) }
      begun[line.reference] = providers.firstIndex(of: provider).map { UInt64($0 + 1) }
    } else if place == nil, line.isRunnable, line.writes {
      begun[line.reference] = 0
    }
    try compare(line, number)
    return place.map { $0 == 0 ? .changes : .makes(provider: providers[Int($0) - 1]) }
  }

  /// The other payments that a line names and that earlier lines make or change.
  func written(_ line: BatchLine) -> Set<String> { line.others.filter { begun[$0] != nil } }

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
