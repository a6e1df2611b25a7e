internal import TenderCommandLine
internal import TenderEngine
internal import TenderModel
internal import TenderSystem

/// The payments that a command is about, by its options.
extension JournalCommands {
  /// What the options of a command let through.
  ///
  /// Throws `usage`.
  func filter() throws(Fault) -> PaymentFilter {
    var filter = PaymentFilter()
    filter.env = try invocation.value(Keys.env)
    filter.provider = invocation[Keys.provider].map(ProviderName.init)
    filter.statuses = Set(invocation.all(Keys.status).compactMap(Status.init(rawValue:)))
    filter.isOpen = invocation.all(Keys.status).contains("open")
    filter.lastFour = try invocation.value(Keys.lastFour)
    let read = OptionReader(invocation, currency: "USD")
    filter.amount = try read.money(Keys.amount)?.minorUnits
    if invocation.has(Keys.currency) { filter.currency = try read.currencyValue() }
    filter.by = invocation[Keys.by]
    filter.since = try time(Keys.since)?.lowerBound
    filter.until = try time(Keys.until)?.upperBound
    if let since = filter.since, let until = filter.until, since > until {
      throw .badOptions(
        "--since is after --until",
        hint: "exchange them"
      )
    }
    return filter
  }

  /// The moments that an option names, in the local zone.
  ///
  /// Throws `usage`.
  func time(_ key: Key<TimeExpression>) throws(Fault) -> ClosedRange<Int>? {
    guard let expression = try invocation.value(key) else { return nil }
    guard let range = LocalTime.range(of: expression, now: composition.clock.now) else {
      throw .badValue(
        "--" + key.option.name,
        invocation.text(key) ?? "",
        hint: "the local time zone has no such time"
      )
    }
    return range
  }
}
