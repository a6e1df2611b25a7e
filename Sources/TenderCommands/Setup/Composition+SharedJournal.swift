internal import TenderCommandLine
internal import TenderEngine
internal import TenderJournal
internal import TenderModel
internal import TenderSystem

/// The journal of a fleet, and the consent for taking over another machine's work.
extension Composition {
  /// Opens a shared journal. Throws `usage` for an invalid address or key, and `state` for files that cannot
  /// be used.
  func sharedJournal(
    _ text: String,
    _ folder: String,
    isReading: Bool,
    usesFiles: Bool = true
  ) throws(Fault) -> SharedJournal {
    guard let address = PostgresAddress(text) else { throw .badAddress(text, "") }
    for password in address.passwords + [environment["PGPASSWORD"]].compactMap(\.self) {
      redactor.learn(password)
    }
    do throws(Fault) {
      if usesFiles {
        try useFolder(folder)
        try shared.useMarks(settings.markFolder(), environment)
      }
    } catch {
      // A look-up uses the folder only to remember the server, so it continues without it.
      guard isReading else { throw error }
    }
    let by = Environment.userAndMachine
    var wanted = SharedJournal.Settings(address: address, folder: folder, by: by)
    wanted.markFolder = settings.markFolder()
    wanted.roots = journalRoots
    wanted.key = try fleetKey()
    wanted.timeout = try settings.timeout()
    wanted.isReading = isReading
    wanted.usesFiles = usesFiles
    wanted.variable = { [environment] in environment[$0] }
    if !isReading, usesFiles, !SharedJournal.wasUsed(in: folder) {
      // An address that cannot be reached must not count as a used journal.
      var first = wanted
      first.isReading = true
      do throws(Fault) {
        try open(first).reach()
      } catch {
        // Any other fault came from a server. It is reported when the journal is used.
        if error.cause == .journalUnreachable { throw error }
      }
    }
    return try open(wanted)
  }

  private func open(_ wanted: SharedJournal.Settings) throws(Fault) -> SharedJournal {
    try SharedJournal(
      wanted,
      redactor: redactor,
      clock: SystemClock(interruption: signals),
      interruption: signals
    )
  }

  /// The root certificates of `TENDER_CA_FILE`, else those that libpq finds by itself, else the system's.
  private var journalRoots: String? {
    if let file = environment["TENDER_CA_FILE"] { return file }
    if let home = environment["HOME"], Environment.exists(home + "/.postgresql/root.crt") {
      return nil
    }
    return [
      "/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt",
      "/etc/ssl/ca-bundle.pem", "/etc/ssl/cert.pem",
    ]
    .first(where: Environment.exists)
  }

  /// Reads the key of `TENDER_JOURNAL_KEY_FILE`.
  ///
  /// Throws `usage` for a file that is too short, or that other users can read.
  func fleetKey() throws(Fault) -> JournalKey? {
    let name = "TENDER_JOURNAL_KEY_FILE"
    guard let path = environment[name] else { return nil }
    var bytes = try Environment.read(
      path,
      named: name,
      rule: .ownersAlone,
      limit: 4096,
      isText: false
    )
    guard let key = JournalKey(consuming: &bytes) else {
      throw .usage(
        "bad_credential",
        "\(name): \(path.quotedForMessage) is too short for a key",
        "at least \(JournalKey.least) bytes, such as by: openssl rand -base64 32"
      )
    }
    return key
  }

  /// Asks before a sale that another machine left is undone.
  ///
  /// Throws `refused` if that is not confirmed.
  func approveTakeover(of payment: Payment) throws(Fault) {
    let age = clock.now - payment.updatedAt
    let window = try settings.takeoverWindow()
    guard payment.env == .live || age < window else { return }
    let worker = payment.writer ?? "another machine"
    try confirm(
      "take \(payment.reference) over, on which \(worker) worked \(max(0, age) / 1000) s ago: "
        + "this may undo it",
      "taking over what \(worker) has left",
      code: "takeover_not_confirmed"
    )
  }
}

extension Fault {
  /// The payments of this state folder are in a shared journal, and the command names none.
  static func elsewhere(_ folder: String) -> Fault {
    Fault(
      .state,
      code: "journal_elsewhere",
      "payments from \(folder) are in a shared journal, and its address is not set; nothing was sent",
      hint:
        "set TENDER_JOURNAL, or \"journal\" in the profile; for a journal in a file use another "
        + "--state-dir"
    )
  }
}
