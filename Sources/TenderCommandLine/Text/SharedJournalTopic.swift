internal import TenderModule

extension Topic {
  /// What an operator of a journal on PostgreSQL needs, in that order.
  static let sharedJournal: [String] = [
    "One journal for several machines, on PostgreSQL. A payment that was started on one machine is confirmed on another, support sees every till, and a "
      + "reference is charged once, however many machines try it. Every command is as before.",
    "Set up, once for each database, as the owner of the tables:",
    """
      createdb payments
      export TENDER_JOURNAL=postgres://owner@db1,db2/payments
      tender journal migrate
      tender journal grants | psql payments
      openssl rand -base64 32 > fleet.key && chmod 600 fleet.key
    """,
    "On each machine: TENDER_JOURNAL (or \"journal\" in a profile), and TENDER_JOURNAL_KEY_FILE, the same "
      + "key on all of them. What confirms a held payment is sealed under that key, which is never in the "
      + "database. Without it each machine seals under a key of its own (journal.key), and what one holds no "
      + "other can confirm (journal_key, 16). Who only looks payments up needs no key. Then: tender doctor.",
    "A password goes into ~/.pgpass, PGPASSFILE or the address, never into an option. A server that is "
      + "not on this machine is verified (sslmode=verify-full, with the roots of TENDER_CA_FILE, else the "
      + "system's), unless address, PGSSLMODE or service file say otherwise; tender doctor says so then. Of several "
      + "hosts the one that takes writes is found. PgBouncer in transaction mode may stand between.",
    "Take a file's journal over: tender journal export > old.jsonl with the old one, then tender journal "
      + "import old.jsonl with the new one. The same import again changes nothing, conflicts are named. What "
      + "confirms held payments stays behind: confirm or cancel them first.",
    "Back up: with PostgreSQL's own means (pg_dump --schema=tender, or a base backup with its log), and the "
      + "key elsewhere. What was erased from the database stays in its log, its replicas and its backups for "
      + "as long as those are kept, sealed: without the key it is unreadable. After a restore to an "
      + "earlier time the journal does not know what came later: look the payments since then up at the "
      + "provider before anybody pays again under their references.",
    "Upgrade: tender journal migrate with the new version, as the owner. Until then the new version, and after "
      + "it the old one, end in 16 and send nothing.",
    "How it works: a reference is lent to one process at a time by a row of the database, for a request's "
      + "--timeout and up to 10 s more, by the server's clock. What is about to be sent is committed together with "
      + "that time, and is not sent once the time may be over by this machine's own clock. Whoever comes "
      + "meanwhile waits, then ends in 6 and is told who has it. A process that was killed on this machine is "
      + "replaced at once; one of another machine when its time is over. Who takes over finds out first, "
      + "with the same keys. A sale at a reader has no such key, and finding out may undo it: within "
      + "\"takeover_window\" (10m), or on live at all, another machine's needs --yes.",
    "Database gone before sending: 16, nothing was sent. Gone after: the outcome is said, with its own exit "
      + "and a warning, and lies in journal.spool of that machine; its next command delivers it. A commit whose "
      + "answer is lost is looked for before anything is sent.",
    "Failover: runners wait up to --timeout (30 s at most) for the new primary, then end in 16 with nothing sent. "
      + "Nothing is lost where a standby must confirm each commit (synchronous_standby_names, and "
      + "synchronous_commit on); with an asynchronous standby a failover can forget that a payment was "
      + "sent. tender doctor says which it is.",
  ]
}
