private import Platform
private import Synchronization
internal import TenderCommandLine
internal import TenderEngine
internal import TenderModel
internal import TenderSystem

extension Invocation {
  /// The form of output that `--json` or `--output` asks for; nil without either.
  var format: String? { has(Keys.json) ? "jsonl" : self[Keys.output] }
}

/// Prints records and faults in the chosen form, everything redacted.
final class Output {
  let isTable: Bool
  private let style: TableStyle
  private let fields: [String]
  let isQuiet: Bool
  let isVerbose: Bool
  /// Whether only the values of the chosen fields are printed.
  private let isRaw: Bool
  /// The columns of a CSV file; nil for any other format.
  private let csv: [String]?
  private var hasCSVHead = false
  private var hasWarnedOfNothing = false
  let redactor: Redactor
  /// The limits of a wait for a slow reader; nil to wait for ever.
  private(set) var patience: Console.Patience?
  /// Returns the kind of the signal that stops the command; nil without one.
  private let stop: () -> Fault.Kind?
  /// Whether the reader of standard output is gone.
  private(set) var isBroken = false
  private var isReaderGone = false
  /// The kind of the signal that ended a wait for a slow reader.
  private var stopped: Fault.Kind?
  private var hasStateLine = false
  private var lastState = ""
  /// Whether the line of the state stays while records are printed, as in a batch.
  var keepsState = false
  private let isTerminal = Console.isTerminal(1)
  private let isDumb: Bool

  init(
    _ settings: Settings,
    _ redactor: Redactor,
    stop: @escaping () -> Fault.Kind?
  ) throws(Fault) {
    self.stop = stop
    patience = Console.Patience { stop() != nil }
    let (invocation, environment) = (settings.invocation, settings.environment)
    let profile = settings.profile.text("output")
    isTable = Self.isTable(of: invocation, environment, profile: profile)
    if invocation.has(Keys.json), let output = invocation[Keys.output],
      !["jsonl", "json"].contains(output)
    {
      throw .exclusive("--json and --output \(output)")
    }
    if let text = environment["TENDER_OUTPUT"], !["auto", "table", "jsonl", "json"].contains(text) {
      throw .badValue("TENDER_OUTPUT", text, hint: "it is one of auto, table, jsonl, json")
    }
    let fields = (invocation[Keys.fields] ?? "").split(separator: ",").map(String.init)
    if fields.isEmpty, invocation.has(Keys.fields) {
      throw .badValue("--fields", invocation[Keys.fields] ?? "", hint: "such as --fields id,status")
    }
    try FieldChoice.check(fields)
    self.fields = fields
    isRaw = invocation.format == "raw"
    let isCSV = invocation.format == "csv"
    guard !isCSV || !invocation.command.csv.isEmpty else {
      throw .badOptions(
        "tender \(invocation.command.name) has no --output csv",
        hint: "use --output jsonl; find, journal list, totals, batch and payment-status have csv"
      )
    }
    csv = isCSV ? (fields.isEmpty ? invocation.command.csv : fields) : nil
    guard !isRaw || !fields.isEmpty else {
      throw .missingOption(
        "--output raw needs --fields",
        hint: "such as --fields id --output raw"
      )
    }
    guard !invocation.has(Keys.quiet) || !invocation.has(Keys.verbose) else {
      throw .exclusive("--quiet and --verbose")
    }
    isQuiet = invocation.has(Keys.quiet)
    isVerbose = invocation.has(Keys.verbose)
    command = invocation.command.name
    isDumb = environment["TERM"] == nil || environment["TERM"] == "dumb"
    self.redactor = redactor
    style = TableStyle(
      width: environment["COLUMNS"].flatMap(Self.width) ?? Console.terminalWidth ?? Int.max,
      isColoured: Self.isColoured(invocation[Keys.color], environment, descriptor: 1),
      localTime: { [zone] in
        zone.isUsed.withLock { $0 = true }
        return Timestamp.read($0).flatMap(LocalTime.text)
      }
    )
  }

  /// Whether a local time was printed.
  private final class ZoneUse: Sendable { let isUsed = Mutex(false) }

  private let zone = ZoneUse()
  private var hasWarnedOfZone = false

  /// Warns once if local times are UTC, because the time zone does not exist.
  func warnOfZone() {
    guard !hasWarnedOfZone else { return }
    hasWarnedOfZone = true
    if let zone = LocalTime.unknownZone {
      warn("TZ: there is no time zone \(zone.quotedForMessage); days and times are UTC")
    }
  }

  /// A width in columns; nil for a value that no terminal has.
  private static func width(_ text: String) -> Int? {
    Int(text).flatMap { (1...10_000).contains($0) ? $0 : nil }
  }

  /// Whether the output is a table: as requested, else on terminals.
  static func isTable(option: String?, _ environment: Environment, profile: String? = nil) -> Bool {
    switch option ?? environment["TENDER_OUTPUT"] ?? profile {
    case "table": true
    case "jsonl", "json", "csv", "raw": false
    default: Console.isTerminal(1)
    }
  }

  /// Whether the output of a command is a table. If a program has standard output, its kind says nothing, and the
  /// rest is for people.
  static func isTable(
    of invocation: Invocation,
    _ environment: Environment,
    profile: String? = nil
  ) -> Bool {
    let usual = invocation.command.runsProgram ? "table" : nil
    return isTable(option: invocation.format, environment, profile: profile ?? usual)
  }

  static func isColoured(_ option: String?, _ environment: Environment, descriptor: Int32) -> Bool {
    switch option {
    case "always": return true
    case "never": return false
    default: break
    }
    if environment["NO_COLOR"] != nil { return false }
    if let force = environment["CLICOLOR_FORCE"], force != "0" { return true }
    return environment["TERM"] != "dumb" && Console.isTerminal(descriptor)
  }

  private let command: String
  /// The time of notes, in milliseconds since 1970.
  var now: () -> Int = { SystemClock(interruption: NeverInterrupted()).now }

  /// The width of the terminal, in columns. Without a terminal, there is no limit.
  var width: Int { style.width }

  /// Whether a table may draw bars: on a terminal.
  var drawsBars: Bool { isTable && isTerminal && fields.isEmpty }

  var showsAll: Bool { fields.isEmpty }

  /// Receives records instead of standard output. A line of a batch has no separate output.
  var collect: ((Record) -> Void)?

  /// Prints a redacted record of a batch: a line, and in a table a short one.
  ///
  /// In a table, `verdict` shows whether the line had its expected result.
  func stream(_ record: Record, verdict: String?) {
    guard isTable else { return put(line(record)) }
    let fields = record.fields
    let status = fields.text("status") ?? fields["error"]?["code"]?.text ?? fields.text("outcome")
    let money = fields["amount"]?.boundedNumber.flatMap { amount in
      fields.text("currency").flatMap(Currency.init(code:))
        .map { Money(minorUnits: amount, currency: $0).text }
    }
    let parts = [
      fields["line"]?.wholeNumber.map { String($0) }, verdict,
      fields.text("reference") ?? fields.text("name"),
      status.map { fields["replayed"] == true ? "\($0) (replayed)" : $0 }, money,
      fields.text("id") ?? fields.text("detail"),
      fields["error"]?["explanation"]?.text ?? fields["error"]?["message"]?.text,
    ]
    putLine(parts)
  }

  /// Prints one record on standard output.
  ///
  /// `hidden` members are left out of a table.
  func show(_ record: Record, hidden: Set<String> = ["command", "idempotency_key"]) {
    if let collect { return collect(redacted(record)) }
    let text =
      isTable
      ? Table.text(redacted(record), style: style, fields: fields, hidden: hidden)
      : redactedLine(record)
    put(text)
  }

  /// Prints records as JSON lines, many at a time, because no reader waits for a single one.
  func showLines<Problem: Error>(
    _ each: ((Record) -> Void) throws(Problem) -> Void
  ) throws(Problem) {
    var text = ""
    try each { record in
      text += redactedLine(record)
      guard text.utf8.count > 16_384 else { return }
      put(text)
      text = ""
    }
    put(text)
  }

  /// Returns the line of a redacted record. A line of JSON without secrets is made only once.
  private func redactedLine(_ record: Record) -> String {
    if csv == nil, !isRaw {
      let line = line(record)
      if redactor.isClean(line) { return line }
    }
    return line(redacted(record))
  }

  private func line(_ record: Record) -> String {
    if let csv { return row(record, csv) }
    if isRaw, !hasWarnedOfNothing, RecordLine.values(record, fields).allSatisfy({ $0 == "\t" }) {
      hasWarnedOfNothing = true
      warn("a record has no \(fields.joined(separator: ", "))")
    }
    return (isRaw ? RecordLine.values(record, fields) : RecordLine.text(record, fields: fields))
      + "\n"
  }

  /// Returns a row of a CSV file, after the head if it is the first.
  ///
  /// A record that is not a row, such as the summary of a batch, goes to standard error as JSON.
  private func row(_ record: Record, _ columns: [String]) -> String {
    switch record.kind {
    case .payment, .mandate, .token, .journalEntry, .total, .error: break
    default:
      Console.write(RecordLine.text(record) + "\n", to: 2, patience)
      return ""
    }
    return head(columns) + RecordCSV.row(record, columns)
  }

  /// Returns the head of a CSV file, once.
  private func head(_ columns: [String]) -> String {
    defer { hasCSVHead = true }
    return hasCSVHead ? "" : RecordCSV.head(columns)
  }

  /// Prints many records: rows under a head, or a line each.
  ///
  /// On a narrow terminal, columns are left out in the order of `spare`.
  func show(
    _ records: [Record],
    columns: [String],
    spare: [String] = [],
    dear: [String] = []
  ) {
    guard isTable else {
      for record in records { show(record) }
      return
    }
    showRows(columns: columns, spare: spare, dear: dear) { body in records.forEach(body) }
  }

  /// Returns the number of columns of the terminal that a table leaves for one more.
  func room(beside columns: [String], of records: [Record]) -> Int {
    var rows = TableRows(columns: columns, style: style)
    for record in records { rows.measure(redacted(rows.shown(of: record))) }
    return style.width - rows.width - 2
  }

  /// Prints rows under a head.
  ///
  /// `each` passes all records: once if they fit into memory, else twice, to be measured and to be shown.
  func showRows<Problem: Error>(
    columns: [String],
    spare: [String],
    dear: [String],
    _ each: ((Record) -> Void) throws(Problem) -> Void
  ) throws(Problem) {
    var rows = TableRows(columns: fields.isEmpty ? columns : fields, style: style)
    var kept: [Record]? = []
    try each { record in
      let shown = redacted(rows.shown(of: record))
      rows.measure(shown)
      if kept?.count == Self.mostKept { kept = nil }
      kept?.append(shown)
    }
    rows.settle(spare: fields.isEmpty ? spare : [], dear: fields.isEmpty ? dear : [])
    var text = rows.head
    func add(_ shown: Record) {
      text += rows.text(shown)
      guard text.utf8.count > 16_384 else { return }
      put(text)
      text = ""
    }
    if let kept {
      kept.forEach(add)
    } else {
      try each { add(redacted(rows.shown(of: $0))) }
    }
    put(text)
    if !rows.leftOut.isEmpty {
      note("no room for \(rows.leftOut.joined(separator: ", ")); --fields chooses columns")
    }
  }

  /// The number of rows of a table that are stored in memory: about 4 MB.
  private static let mostKept = 5_000

  /// Prints an event. If its reader does not read within some milliseconds, the event is lost, and the reader
  /// gets no more output.
  func show(event record: Record, within limit: Int?) {
    patience?.limit = limit ?? 30_000
    defer { patience?.limit = nil }
    guard isTable, fields.isEmpty else { return show(record) }
    // One line, with the facts that the payer needs.
    let shown = redacted(record).fields
    let parts = [
      shown.text("at"), shown.text("provider"), shown.text("state"),
      shown["next_action"]?["type"]?.text, shown["next_action"]?["url"]?.text,
    ]
    putLine(parts)
  }

  /// Prints a request of the simulator as it arrives: in a table one line.
  func show(exchange record: Record) {
    guard isTable, fields.isEmpty else { return show(record) }
    let shown = redacted(record).fields
    let parts = [
      shown["number"]?.wholeNumber.map { String($0) }, shown.text("method"), shown.text("path"),
      shown.text("matched") ?? "unmatched", shown["status"]?.wholeNumber.map { String($0) },
      shown.text("fault"), shown.text("end"),
    ]
    putLine(parts)
  }

  /// Shows a state on one line of the terminal. It replaces the state before.
  func showState(_ state: String) {
    guard !isQuiet, hasStateLine || Console.isTerminal(2) else { return }
    lastState = state
    if isDumb {
      Console.write("\(state)\n", to: 2, patience)
    } else {
      Console.write("\r\u{1b}[K\(state)", to: 2, patience)
      hasStateLine = true
    }
  }

  /// Shows the awaited event on that line, with the remaining time. If lines cannot change, it is shown once.
  func showWaiting(_ what: String, seconds: Int) {
    let left =
      seconds < 60
      ? "\(seconds) s"
      : "\(seconds / 60):" + (seconds % 60 < 10 ? "0" : "") + "\(seconds % 60)"
    let text = isDumb ? what : "\(what) · \(left) left"
    if text != lastState { showState(text) }
  }

  /// Removes that line before anything else is shown.
  func clearState() {
    guard hasStateLine else { return }
    hasStateLine = false
    Console.write("\r\u{1b}[K", to: 2, patience)
  }

  private func putLine(_ parts: [String?]) {
    put(Printable.text(parts.compactMap(\.self).joined(separator: "  ")) + "\n")
  }

  /// Prints text unchanged on standard output.
  func put(_ text: String) {
    // Outside of a terminal, the state line does not disturb the output. On a terminal, it is shown again
    // below.
    let state = keepsState && hasStateLine ? lastState : nil
    if !keepsState || isTerminal { clearState() }
    defer { if let state, isTerminal { showState(state) } }
    if zone.isUsed.withLock({ $0 }) { warnOfZone() }
    guard !isBroken, !Console.write(text, to: 1, patience) else { return }
    isBroken = true
    let error = errno
    isReaderGone = error == EPIPE
    if error == EAGAIN { stopped = stop() }
    if stopped != nil {
      warn("stopped by a signal: nothing reads the standard output")
    } else if !isReaderGone {
      warn("standard output cannot be written: \(unsafe String(cString: strerror(error)))")
    }
  }

  /// Returns the exit status of a look-up, or that of lost output.
  func exit(_ status: Int32) -> Int32 {
    if let csv { put(head(csv)) }
    guard isBroken else { return status }
    return isReaderGone ? 141 : (stopped ?? .state).exitStatus
  }

  /// Prints a note for people on standard error. With JSON output, it is left out.
  func note(_ text: String) { if isTable || isVerbose { tell(text) } }

  /// Prints a note on standard error that scripts may need too, unless `--quiet` is given.
  func tell(_ text: String) { if !isQuiet { speak(text, "note") } }

  /// Prints on standard error: plain lines on a terminal and beside a table, else JSON lines.
  private func speak(_ text: String, _ level: String) {
    clearState()
    let redacted = redactor.redact(text)
    guard !isTable, !Console.isTerminal(2) else {
      Console.write("tender: \(Printable.text(redacted))\n", to: 2, patience)
      return
    }
    let record = Record(
      .note,
      [
        "command": .string(command), "level": .string(level), "text": .string(redacted),
        "at": .string(Timestamp.text(now())),
      ]
    )
    Console.write(RecordLine.text(record) + "\n", to: 2, patience)
  }

  /// Prints text unchanged on standard error, beside a table.
  func say(_ text: String) { if isTable { Console.write(text, to: 2, patience) } }

  /// Prints a warning on standard error. It is never left out.
  func warn(_ text: String) { speak(text, "warning") }

  /// The members that a provider wrote.
  private static let foreign = [
    "result", "error", "reversal", "next_action", "details", "provider_status",
  ]

  /// Returns a record without secrets.
  func redacted(_ record: Record) -> Record {
    var shown = record
    for member in record.fields.members {
      let isForeign = Self.foreign.contains(member.key)
      shown.fields[member.key] = redactor.redact(member.value, foreign: isForeign)
    }
    return shown
  }

  /// Prints a fault on standard error: one JSON line, or at most three plain lines. Without `patience`, it waits
  /// for a slow reader for ever.
  static func fail(
    _ fault: Fault,
    record: Record,
    isTable: Bool,
    reads: Bool,
    redactor: Redactor,
    environment: Environment,
    _ patience: Console.Patience?
  ) {
    var shown = redactor.redact(fault)
    shown.message = redactor.redact(shown.message, foreign: true)
    if isTable {
      let isColoured = isColoured(nil, environment, descriptor: 2)
      Console.write(FaultText.text(shown, isColoured: isColoured, reads: reads), to: 2, patience)
    } else {
      var line = record
      line.fields = redactor.redact(record.fields)
      line.fields["error"] = .object(shown.record)
      if let result = shown.result { line.fields["result"] = .object(result) }
      Console.write(RecordLine.text(line) + "\n", to: 2, patience)
    }
  }
}
