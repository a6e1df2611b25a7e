extension Action {
  /// Every command, in the order in which help lists them. Each is made on demand.
  static let all: [@Sendable () -> Action] = [
    { transact }, { confirm }, { cancel }, { refund }, { tokenize }, { paymentStatus },
    { mandateStatus }, { batch }, { find }, { totals }, { journalList }, { journalShow },
    { journalResume }, { journalExport }, { journalImport }, { journalMigrate }, { journalGrants },
    { journalPrune }, { journalVerify }, { journalBackup }, { journalResolve }, { journalAccept },
    { providers }, { explain }, { doctor }, { conformance }, { simulatorServe }, { simulatorRun },
    { simulatorShow }, { simulatorRequests }, { simulatorAdvance }, { simulatorSave },
    { simulatorLoad },
    { simulatorReset }, { simulatorScenarios }, { configShow }, { configCheck },
    { schema }, { completion },
  ]
}
