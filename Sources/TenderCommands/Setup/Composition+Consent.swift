internal import TenderCommandLine
internal import TenderEngine
internal import TenderModel
internal import TenderSystem

/// Checks of a profile's permissions, and of a person's consent.
extension Composition {
  func refuseReadOnly() throws(Fault) {
    // A dry run writes nothing. The check of a batch's line reports the fault that the line itself would
    // have.
    if invocation.has(Keys.dryRun), !isLine { return }
    if let profile = settings.readOnlyProfile { throw .readOnly(profile) }
  }

  /// Checks a live write: it needs its flag on this command line, and consent. `isAnswered`: a person already
  /// typed yes.
  func approve(
    _ env: Env,
    _ what: @autoclosure () -> String,
    isAnswered: Bool = false
  ) throws(Fault) {
    guard env == .live else { return }
    guard try invocation.value(Keys.env) == .live else {
      throw Fault(
        .refused,
        code: "live_not_named",
        "a live write needs --env live on the command line; configuration is not enough",
        hint: "add --env live"
      )
    }
    if isAnswered { return }
    try confirm("LIVE: \(what())", "a live write", code: "live_not_confirmed")
  }

  /// Asks for a typed yes, unless `--yes` is given.
  ///
  /// Throws `refused` with `code` for any other answer, or without a terminal.
  func confirm(_ question: String, _ what: String, code: String) throws(Fault) {
    if invocation.has(Keys.yes) { return }
    guard let terminal = terminal() else {
      throw Fault(
        .refused,
        code: code,
        "\(what) needs --yes or a typed yes, and there is no terminal to ask on",
        hint: "add --yes"
      )
    }
    let answer = try terminal.ask(
      "\(question)? Type yes: ",
      hidden: false,
      interruption: signals
    )
    guard answer == "yes" else { throw .notConfirmed(code) }
  }
}

extension Fault {
  static func notConfirmed(_ code: String) -> Fault {
    Fault(.refused, code: code, "not confirmed", hint: "nothing was sent or changed")
  }

  /// A command that writes, under a read-only profile.
  static func readOnly(_ profile: String) -> Fault {
    Fault(
      .refused,
      code: "read_only",
      "profile \(profile.quotedForMessage) is read-only",
      hint: "use another --profile for writes"
    )
  }
}
