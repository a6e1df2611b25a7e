internal import TenderCommandLine
internal import TenderEngine
internal import TenderModel
internal import TenderSystem

/// `journal prune`.
extension JournalCommands {
  func prune() throws(Fault) -> Int32 {
    guard let before = try time(Keys.before)?.lowerBound else {
      throw .missingOption(
        "journal prune needs --before",
        hint: "such as --before 2026-01-01: payments last changed before that day are deleted"
      )
    }
    let filter = try filter()
    let journal = try composition.journal()
    func tell(_ count: Int, _ what: String) {
      output.tell("\(count) \(count == 1 ? "payment" : "payments") \(what)")
    }
    if invocation.has(Keys.dryRun) {
      tell(try journal.prunable(before: before, filter), "would be deleted")
      return 0
    }
    let writes = WriteCommands(composition: composition)
    try writes.refuseReadOnly()
    // What was paid today would be paid again.
    let recent = composition.clock.now - 24 * 60 * 60_000
    if before > recent {
      let count =
        try journal.prunable(before: before, filter)
        - (try journal.prunable(before: recent, filter))
      if count > 0 {
        try writes.confirm(
          "delete \(count) payments of the last 24 hours (the same commands would pay again)",
          "deleting payments of the last 24 hours",
          code: "prune_not_confirmed"
        )
      }
    }
    if filter.env == nil || filter.env == .live {
      var live = filter
      live.env = .live
      // The same command pays again under a deleted reference.
      let count = try journal.prunable(before: before, live)
      if count > 0 { try writes.approve(.live, "delete \(count) payments") }
    }
    composition.signals.hold()
    tell(try journal.prune(before: before, filter), "deleted")
    return 0
  }
}
