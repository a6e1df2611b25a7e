internal import TenderCommandLine
internal import TenderEngine
internal import TenderModel
internal import TenderModule
internal import TenderSystem

/// `journal prune`.
extension JournalCommands {
  func prune() throws(Fault) -> Int32 {
    guard let before = try time(Keys.before)?.lowerBound else {
      throw .missingOption(
        "journal prune needs --before",
        hint: "such as --before 2026-01-01: what changed last before that day is forgotten"
      )
    }
    let filter = try filter()
    let journal = try composition.journal()
    func tell(_ count: Int, _ what: String) {
      output.tell("\(count) \(count == 1 ? "attempt" : "attempts") \(what)")
    }
    if invocation.has(Keys.dryRun) {
      tell(try journal.prunable(before: before, filter), "would be forgotten")
      return 0
    }
    let writes = WriteCommands(composition: composition)
    try writes.refuseReadOnly()
    if filter.env == nil || filter.env == .live {
      var live = filter
      live.env = .live
      // Whoever pays again with a forgotten reference pays twice.
      let count = try journal.prunable(before: before, live)
      if count > 0 { try writes.approve(.live, "forget \(count) attempts") }
    }
    composition.signals.hold()
    tell(try journal.prune(before: before, filter), "forgotten")
    return 0
  }
}
