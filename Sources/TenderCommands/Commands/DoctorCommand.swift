internal import TenderCommandLine
internal import TenderEngine
internal import TenderJournal
internal import TenderModel
internal import TenderSystem

extension Action {
  static let doctor = Command(
    .local(.writes),
    """
    doctor: check that all parts for a payment are ready
    Checks configuration, files, libraries and the provider's credentials. It prints a record for
    each check and exits with the status of the first failure. Nothing that it does can move money.
    $ tender doctor # configuration, files and libraries
    """,
    options: Catalogue.simulation,
    exits: [
      .auth, .rejected, .notSent, .providerError, .device, .state, .interrupted, .terminated,
      .hungUp,
    ],
    bounds: .chosenProviders
  ).performed(by: DoctorCommand.run)
}

/// `doctor`: one record for each condition of a payment.
struct DoctorCommand: CommandWork {
  let composition: Composition
  private let reach = Reach()

  func run() throws(Fault) -> Int32 {
    let target = try composition.target()
    composition.subject.take(target)
    try invocation.checkOptions(for: target.module.name)
    try composition.checkSimulation(of: target.module.name)
    composition.signals.hold()
    composition.reach = reach
    var exit: Int32 = 0
    for check in checks(target) {
      var fields: JSONObject = ["name": .string(check.name)]
      do throws(Fault) {
        let detail = try check.run()
        let advice = check.advice()
        fields["outcome"] = advice == nil ? "ok" : "warn"
        fields["detail"] = .string(([detail] + (try hosts())).joined(separator: "; "))
        fields["remedy"] = advice?.json
      } catch {
        if error.kind.isStop { throw error }
        if exit == 0 { exit = error.exitStatus }
        fields["outcome"] = "fail"
        fields["detail"] = .string(error.message)
        fields["remedy"] = remedy(error)?.json
        fields["result"] = error.result?.json
        fields["error"] = .object(error.record)
      }
      show(fields)
    }
    return output.exit(exit)
  }

  /// Shows a check as a record, or on lines that fit a narrow terminal.
  private func show(_ fields: JSONObject) {
    guard output.isTable, output.showsAll else {
      return output.show(records.record(.check, fields))
    }
    let outcomes = ["ok": "ok    ", "warn": "warn  "]
    let outcome = fields.text("outcome").flatMap { outcomes[$0] } ?? "FAIL  "
    var lines = [outcome + (fields.text("name") ?? "")]
    lines += (fields.text("detail") ?? "").split(separator: "; ").map { "      \($0)" }
    if let remedy = fields.text("remedy") { lines.append("      do: \(remedy)") }
    output.put(output.redactor.redact(lines.joined(separator: "\n")) + "\n")
  }

  private func remedy(_ fault: Fault) -> String? {
    guard fault.kind == .notSent else { return composition.text(fault.hint, fault.next) }
    return "check network, names (DNS), proxy variables and TENDER_CA_FILE; nothing was sent"
  }

  /// Returns the hosts that a check asked, with their answers and the difference between their clocks and
  /// this machine's.
  ///
  /// Throws `usage` if a clock differs too much.
  private func hosts() throws(Fault) -> [String] {
    var words: [String] = []
    // One line for each host: the last of several answers.
    let answers = Dictionary(reach.take().map { ($0.host, $0) }) { $1 }
    for answer in answers.values.sorted(by: { $0.host < $1.host }) {
      let clock =
        switch answer.skew {
        case nil: "without a date"
        case let skew? where skew > 1: "clock \(skew) s ahead"
        case let skew? where skew < -1: "clock \(-skew) s behind"
        default: "clock right"
        }
      let security = answer.host.hasPrefix("https://") ? ", TLS verified" : ""
      words.append("\(answer.host) in \(answer.milliseconds) ms\(security), \(clock)")
      if let skew = answer.skew, abs(skew) > Reach.tolerance {
        throw .clockWrong(skew, from: answer.host)
      }
    }
    return words + (words.isEmpty ? [] : proxy)
  }

  /// The proxy of the requests, without its credentials.
  private var proxy: [String] {
    let names = ["https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"]
    return names.first { composition.environment[$0] != nil }.map { ["proxy set by \($0)"] } ?? []
  }

  private func checks(_ target: Target) -> [Check] {
    let composition = composition
    let common = [
      Check(
        "config",
        advice: { self.unusableProfiles },
        run: { () throws(Fault) in
          let config = composition.settings.config
          return Environment.exists(config.path)
            ? "\(config.path): \(config.profiles.count) profiles"
            : "there is no file, which is fine"
        }
      ),
      Check("state") { () throws(Fault) in
        let folder = try composition.settings.stateFolder().text
        try composition.useFolder(folder)
        guard composition.settings.journal() == nil else {
          return "\(folder): the locks of the journal"
        }
        let journal = try composition.journal()
        if let loss = try journal.loss() { throw loss.fault }
        let count = try journal.count(PaymentFilter(), upTo: Int.max)
        let facts = [
          "\(folder): \(count) \(count == 1 ? "payment" : "payments") in the journal",
          journal.markProblem.map { "a loss of the journal will not be noticed: \($0)" },
        ]
        return facts.compactMap(\.self).joined(separator: "; ")
      },
      Check("disk") { () throws(Fault) in
        let folder = try composition.settings.stateFolder().text
        guard let free = Environment.freeBytes(at: folder) else {
          return "the free space is not known"
        }
        guard free >= Self.enough else {
          throw .state(
            "state_unusable",
            "\(free >> 10) KiB are free at \(folder)",
            "make room, or move the state with --state-dir"
          )
        }
        return "\(free >> 20) MiB are free"
      },
      Check("libraries") { () throws(Fault) in try Libraries.open() },
      Check(
        "containment",
        advice: { composition.containment.advice },
        run: { composition.containment.text }
      ),
    ]
    return common + sharedJournal() + target.module.checks(composition, target.env)
  }

  /// The errors of profiles in the configuration, used or not; nil without errors.
  private var unusableProfiles: String? {
    let settings = composition.settings
    let problems = settings.config.profiles.keys.sorted().compactMap { name -> String? in
      do throws(Fault) {
        try settings.config.checkWhole(name, settings.modules, composition.environment)
        return nil
      } catch {
        return error.message
      }
    }
    return problems.isEmpty
      ? nil : "before these profiles are used, mend: " + problems.joined(separator: "; ")
  }

  /// The checks of a shared journal: whether it answers, the rights of this user, and the possible losses of
  /// a failover.
  private func sharedJournal() -> [Check] {
    let composition = composition
    guard let address = composition.settings.journal()?.text else { return [] }
    // It is asked once. If it does not answer, the first check reports that, and the others are left out.
    let asked = Result { () throws(Fault) in
      let folder = try composition.settings.stateFolder().text
      return try composition.sharedJournal(address, folder, isReading: true).facts()
    }
    func later(
      _ name: String,
      _ run: @escaping (SharedJournal.Facts) throws(Fault) -> String
    ) -> Check {
      Check(name) { () throws(Fault) in
        guard let facts = try? asked.get() else {
          return "not checked: the journal does not answer"
        }
        return try run(facts)
      }
    }
    return [
      Check("journal") { () throws(Fault) in
        let facts = try asked.get()
        return "\(facts.place): \(facts.server), \(facts.payments) payments"
          + (facts.isStandby ? ", a standby: it is read from here, and takes no payments" : "")
          + facts.notes.map { "; " + $0 }.joined()
      },
      later("journal-rights") { facts throws(Fault) in try facts.rights() },
      Check("journal-key") { () throws(Fault) in
        let key = try composition.fleetKey()
        return key.map { "the fleet's key is \($0.name)" }
          ?? "TENDER_JOURNAL_KEY_FILE is not set: no other machine can confirm a payment held here"
      },
      later("journal-tls") { facts throws(Fault) in try facts.security() },
      later("journal-clock") { facts throws(Fault) in try facts.clock() },
      later("journal-failover") { facts throws(Fault) in try facts.failover() },
    ]
  }

  /// The space for some thousand payments in the journal, in bytes.
  private static let enough = 16 << 20
}

extension Fault {
  /// This machine's clock differs from another one by some seconds.
  fileprivate static func clockWrong(_ skew: Int, from other: String) -> Fault {
    .usage(
      "clock_wrong",
      "this machine's clock is \(abs(skew)) s \(skew > 0 ? "ahead of" : "behind") \(other)",
      "set it, such as by: timedatectl set-ntp true"
    )
  }
}

extension SharedJournal.Facts {
  fileprivate func rights() throws(Fault) -> String {
    guard !missing.isEmpty else { return "all that a runner needs" }
    guard mayWrite else { return "look-ups and lists alone" }
    throw .state(
      "journal_denied",
      "no payment can be taken: this user lacks \(missing.joined(separator: ", "))",
      "grant it, as the tables' owner: tender journal grants | psql …"
    )
  }

  fileprivate func security() throws(Fault) -> String {
    guard usesTLS else {
      let isHere = place.hasPrefix("/") || isLoopback
      return isHere ? "no TLS, on this machine" : "NO TLS: sslmode is \(sslMode)"
    }
    return sslMode == "verify-full"
      ? "TLS, verified" : "TLS, NOT verified: sslmode is \(sslMode)"
  }

  /// The difference between this machine's clock and the server's.
  fileprivate func clock() throws(Fault) -> String {
    let off = abs(skew) - precision
    guard off > Reach.tolerance * 1000 else {
      return "this machine's clock is the server's, give or take \(precision) ms"
    }
    throw .clockWrong(skew / 1000, from: "the journal's server")
  }

  /// The possible losses of a failover of its servers.
  fileprivate func failover() throws(Fault) -> String {
    guard synchronousCommit != "off" else {
      throw .state(
        "journal_unsafe",
        "synchronous_commit is off: a crash of the server can lose that a payment was sent",
        "ALTER ROLE … SET synchronous_commit = on"
      )
    }
    guard !standbys.isEmpty, synchronousCommit != "local" else {
      return
        "no standby has to confirm a commit: a failover to one can lose that a payment was sent"
    }
    let words =
      "\(standbys) must confirm each commit (synchronous_commit \(synchronousCommit))"
    guard replicas == 0, !isStandby else { return words }
    throw .state(
      "journal_unsafe",
      "\(words), and none is connected that does: no payment can be taken",
      "start a standby that is named there, or change synchronous_standby_names"
    )
  }
}
