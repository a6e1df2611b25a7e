extension Topic {
  /// What an operator of a journal on PostgreSQL needs, in that order.
  static let sharedJournal: [String] = [
    "One journal for several machines, on PostgreSQL. A payment that was started on one machine is confirmed on another, support sees every till, and a "
      + "reference is charged once, however many machines try it. Every command is as before.",
    "Set up, once for each database. The owner of the tables needs CREATEROLE, or an administrator runs "
      + "journal grants and CREATE ROLE. journal grants may be run again:",
    """
      export TENDER_JOURNAL=postgres://owner@db1,db2/payments
      psql postgres://owner@db1,db2/postgres -c 'CREATE DATABASE payments'
      tender journal migrate
      tender journal grants | psql -v ON_ERROR_STOP=1 "$TENDER_JOURNAL"
      psql "$TENDER_JOURNAL" -c "CREATE ROLE till3 LOGIN IN ROLE tender_runner"
      openssl rand -base64 32 > fleet.key && chmod 600 fleet.key
    """,
    "Roles: tender_runner pays, confirms, cancels and looks up; tender_support looks up alone; "
      + "tender_auditor reads what happened and by whom. \"by\" is the database's user, a slash, and the user and "
      + "host of the machine. The server writes the part before the slash, and none for the tables' owner. A runner "
      + "can change no reference and no line of the history. It can make a payment look failed, which is then "
      + "charged again. migrate and prune are for the owner. After an upgrade of all machines, run journal grants again.",
    "On each machine: the address, best as \"journal\" in a profile, which cron and sudo see too, else as "
      + "TENDER_JOURNAL; and TENDER_JOURNAL_KEY_FILE, the same key on all of them. A state folder that paid with a "
      + "shared journal pays with no other: without the address its payments end in 16 "
      + "(journal_elsewhere). What confirms a held payment is sealed under that key, which is never in the "
      + "database. Without it each machine seals under a key of its own (journal.key), and what one holds no "
      + "other can confirm or cancel (journal_key, 16). A lost key is lost with what was held under it; a "
      + "new one goes to all machines once nothing is held. Who only looks payments up needs no key. Then: tender doctor.",
    "A password (psql: \\password till3) goes into ~/.pgpass, PGPASSFILE or the address, never into an option. A server that is "
      + "not on this machine is verified (sslmode=verify-full, with the roots of TENDER_CA_FILE, else the "
      + "system's), unless address, PGSSLMODE or service file say otherwise; tender doctor says so then. Of several "
      + "hosts the one that takes writes is found. PgBouncer in transaction mode may stand between.",
    "Try it: tender simulator serve on one machine shares its simulator; otherwise each state folder has a "
      + "simulated provider of its own, which knows nothing of another's payments.",
    "Take a file's journal over, in this order: stop what pays with it; look at what is unknown (tender journal "
      + "resume --all); confirm or cancel what is held, since what confirms it stays behind; tender journal export > "
      + "old.jsonl with the old journal; tender journal import old.jsonl with the new one; set the address "
      + "everywhere. The same import again changes nothing, conflicts are named.",
    "Back up: with PostgreSQL's own means (pg_dump --schema=tender, or a base backup with its log), and the "
      + "key elsewhere. What was erased from the database stays in its log, its replicas and its backups for "
      + "as long as those are kept, sealed: without the key it is unreadable. A new cluster needs the roles "
      + "first (tender journal grants). Before a restore to an earlier time, stop the runners: the journal does "
      + "not know what came later and would charge it again. Find those payments at the provider (tender find "
      + "--online --since …) before anybody pays under their references. A machine that knows an outcome which "
      + "the database lost refuses its reference (journal_forgot): use another, once the payment was looked up.",
    "Upgrade: stop the runners, install the new version everywhere, tender journal migrate as the owner, tender "
      + "doctor, start. A version that does not fit the tables ends in 16 and sends nothing.",
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
      + "sent. tender doctor says which it is. Afterwards: tender journal resume --all looks at what is unknown.",
  ]
}
