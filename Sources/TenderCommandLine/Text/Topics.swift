internal import TenderModel

extension Topic {
  /// The page, at most 80 columns wide.
  package var text: String {
    var lines = ["\(name): \(summary)"]
    for paragraph in body {
      lines.append("")
      if paragraph.hasPrefix(" ") {
        lines += paragraph.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
      } else {
        lines += HelpText.wrapped(paragraph, indent: 0)
      }
    }
    return lines.joined(separator: "\n") + "\n"
  }

  /// Every topic, in the order in which help lists them.
  package static func all(_ modules: [any ProviderModule]) -> [Topic] {
    let help = modules.map(\.help)
    return help.flatMap(\.topics) + guides + [
      exitStatus, output(modules), journal, environment(modules), files(help), promises(help),
      security, containment,
      simulator(help),
    ]
  }

  /// Names in lines of at most 76 columns.
  private static func lines(_ names: [String]) -> String {
    var lines: [String] = []
    for name in names {
      if let last = lines.last, last.count + 1 + name.count <= 76 {
        lines[lines.count - 1] = last + " " + name
      } else {
        lines.append("  " + name)
      }
    }
    return lines.joined(separator: "\n")
  }

  private static let exitStatus = Topic(
    name: "exit-status",
    aliases: ["exit-codes", "exit-code", "exit", "errors", "retries"],
    summary: "one exit status for each kind of failure",
    body: [
      (["   0  what was asked for was reached, or looked up"]
        + Fault.Kind.allCases.sorted { $0.exitStatus < $1.exitStatus }.map { kind in
          let number = String(kind.exitStatus)
          return String(repeating: " ", count: 4 - number.count) + number + "  " + kind.meaning
        } + [" 141  a look-up whose reader closed the pipe"]).joined(separator: "\n"),
      "Exit 0 of transact can also be pending (ACH) or held (--hold). A script that ships goods adds --expect "
        + "succeeded, and runs again where the result is not known: the same command first looks what became of "
        + "the one before, and never charges twice.",
      script,
      "Effect comes first: once a request that can move money was sent and its effect is unknown, "
        + "the exit is 9, whatever the error is called. Then never pay again under another reference. "
        + "tender payment-status looks; the same command again finishes.",
      "A program that repeats failed commands follows error.retry.class of the record:",
      Fault.Retry.allCases.map { retry in
        let name = retry.rawValue + String(repeating: " ", count: 14 - retry.rawValue.count)
        return "  \(name)\(retry.meaning)\n                (\(retry.exits))"
      }.joined(separator: "\n"),
      "Some errors say otherwise than their exit: another command at work on the reference (6) and a journal's "
        + "server that does not answer (16) are later.",
    ]
  )

  /// Takes a payment, and ships the goods on a paid status alone.
  private static let script = """
      tender transact --reference "$ORDER" --amount "$AMOUNT" \\
        --instrument-file card.json --expect succeeded --json >"$ORDER.json"
      case $? in
        0) echo "ship $ORDER" ;;           # paid: nothing else ends so
        8|9|10|11|129|130|143) exit 75 ;;  # not known, or not sent: run it again
        *) exit 1 ;;                       # not paid in full: see .status, .error
      esac
    """

  private static func output(_ modules: [any ProviderModule]) -> Topic {
    Topic(
      name: "output",
      aliases: ["formatting", "format", "json", "jsonl", "results"],
      summary: "tables, JSON lines, and the words in results",
      body: [
        "Standard output carries only what was asked for. On a terminal it is a table, elsewhere "
          + "one JSON object a line; --output and --json choose. Amounts are whole minor units, ids "
          + "are text, times RFC 3339 in UTC; what is absent is left out. Readers ignore keys that "
          + "they do not know.",
        "An outcome is a record on standard output, whatever it is; where the exit is not 0 it "
          + "carries an error. A fault prints nothing on standard output and one line of JSON on "
          + "standard error, or at most three plain lines where output is a table. With several ids "
          + "it stands in its place on standard output.",
        "--fields id,result.body.amount prints only these. --expect declined,succeeded makes the "
          + "exit 0 where the status is one of them and 18 where it is not. tender schema prints "
          + "the JSON Schema of every record.",
      ] + modules.flatMap(words)
    )
  }

  /// The words that a provider's results use, under the document that has them.
  private static func words(_ module: any ProviderModule) -> [String] {
    let subjects: [Explanation.Subject] = [.type, .state, .member]
    let pages = module.explanations.filter { subjects.contains($0.subject) }
    let sources = pages.map(\.source).reduce(into: [String]()) { known, source in
      if !known.contains(source) { known.append(source) }
    }
    return sources.flatMap { source in
      let lines = pages.filter { $0.source == source }.flatMap { page in
        HelpText.wrapped("\(page.code): \(page.meaning)", indent: 2, hang: 4)
      }
      return ["Of \(module.name.text), by \(source):", lines.joined(separator: "\n")]
    }
  }

  private static let journal = Topic(
    name: "journal",
    aliases: ["shared-journal", "postgres", "postgresql"],
    summary: "every operation, recorded before it is sent; one for several machines",
    body: [
      "A payment is a list of operations: charge or authorize, capture, void, refund. Each is in the "
        + "journal before its request is sent, and its result is there before it is reported. tender "
        + "find and tender journal list search the payments; tender journal show shows one.",
      "After a crash, or an exit of 9, there are two ways. tender journal resume REF only looks: it asks "
        + "the provider and sends nothing that can move money. The same command again, or tender journal "
        + "resume REF --finish, finishes: it sends the request again under the same key, or undoes it. A "
        + "request without a key is sent again only by --finish, after a question.",
      "What the provider cannot tell any more is resolved by hand: tender journal resolve REF.",
      "To back it up while it is in use: tender journal backup FILE. To check it: tender journal "
        + "verify. Never copy journal.db alone: its log is part of it. A journal that is a copy, or was "
        + "put back from an older state, refuses every request that can move money (16) until tender "
        + "journal accept. On the in-process simulator it only warns. A copy has no keys of held "
        + "payments: they can be confirmed only with journal.seals beside it.",
      "tender journal prune --before 2026-01-01 deletes old payments that are final. A deleted reference "
        + "is a new one.",
      "Two journals do not know of each other: one machine, one journal, or one on PostgreSQL for several "
        + "machines. See also tender help files and tender help promises.",
    ] + sharedJournal
  )

  private static func environment(_ modules: [any ProviderModule]) -> Topic {
    Topic(
      name: "environment",
      aliases: ["variables"],
      summary: "the variables that are read",
      body: [
        lines(
          [
            "TENDER_PROVIDER", "TENDER_PROFILE", "TENDER_ENV", "TENDER_OUTPUT", "TENDER_CONFIG",
            "TENDER_STATE_DIR", "TENDER_TIMEOUT", "TENDER_NO_INPUT", "TENDER_CA_FILE",
            "TENDER_JOURNAL", "TENDER_JOURNAL_KEY_FILE", "TENDER_MARK_DIR",
          ]
            + modules.flatMap { module in
              module.section.credentials.map { "TENDER_\(module.name.text)_\($0)".uppercased() }
                + module.help.variables
            }
        ),
        "Each credential also with _FILE behind its name, for a file that holds the value; both at "
          + "once is an error. A credential that the profile gives comes before its variable. TENDER_ENV is never "
          + "enough for a live write.",
        "Every other key of a provider's section has a variable too: TENDER_, the provider and the key, "
          + "joined by _. What is not text is JSON.",
        lines(modules.flatMap(\.help.addresses)),
        "Base addresses replace the provider's scheme, host and port, for tests and proxies; not on "
          + "live. All that a command needs, or none. Plain http and ws go to loopback only.",
        "TENDER_JOURNAL is the address of a journal on PostgreSQL, for which the variables of libpq count as "
          + "well (PGPASSFILE, PGSERVICE, PGSSLMODE and the others): tender help journal.",
        "TENDER_CONTAINMENT=off, NO_COLOR, CLICOLOR_FORCE, TERM=dumb, COLUMNS, TZ, XDG_CONFIG_HOME, XDG_STATE_HOME, BROWSER, "
          + "the locale's country and the proxy variables are honoured. An option comes before the environment, that before the "
          + "profile, that before the default: see tender config show.",
      ]
    )
  }

  private static func files(_ help: [ModuleHelp]) -> Topic {
    Topic(
      name: "files",
      aliases: ["config", "configuration", "profiles"],
      summary: "configuration and state",
      body: [
        "$XDG_CONFIG_HOME/tender/config.json (~/.config) holds profiles. It is refused when it holds "
          + "a secret and others can read it; unknown keys are errors.",
        "  {\"schema\":1, \"default_profile\":\"dev\", \"profiles\":{\n"
          + (help.flatMap(\.profiles) + [
            #"    "support":{"env":"live", "mode":"read-only"}"#
          ]).joined(separator: ",\n") + "}}",
        "A profile gives each credential in one form: \"secret_key\" is the value, \"secret_key_file\" a file, "
          + "\"secret_key_env\" the name of a variable, \"secret_key_command\" an argument list such as "
          + "[\"pass\", \"show\", \"shop\"]. No shell reads the list. The program is an absolute path, or a name that is "
          + "found in PATH. No other user may be able to change it. It gets no TENDER_ variable and no terminal, and "
          + "must end within 10 s. Its output is never shown. A value such as \"$KEY\" is refused.",
        "Only the profile in use is checked. tender config check checks all of them, and tender doctor warns.",
        "$XDG_STATE_HOME/tender/ (~/.local/state) is yours alone: journal.db is the journal of every "
          + "payment (with journal.db-wal, its log), journal.lock its locks, journal.aside room for "
          + "outcomes that the journal cannot take, journal.key the key of its fingerprints, "
          + "journal.seals the keys of what held payments need to be confirmed, simulator.db the simulated "
          + "world. --state-dir moves it. Beside the folder lies a mark, "
          + ".tender.tender-mark, that records the newest line of the journal: with an older one, a copy or "
          + "none, every command that pays exits 16 until tender journal accept. TENDER_MARK_DIR, or "
          + "\"mark_dir\" in a profile, puts the mark into another folder.",
        "With a journal on PostgreSQL (\"journal\" in a profile, or TENDER_JOURNAL) the folder has journal.lock, "
          + "journal.machine, which tells this machine from others, and journal.spool, in which an outcome "
          + "waits that the database could not take. \"takeover_window\" in a profile (10m) says for how long "
          + "a sale that another machine has left is taken over only with --yes, where finding out may "
          + "undo it.",
        "\"late_window\" in a profile (60s; 5s with --env simulator over a network) says for how long "
          + "after a request its effect may still appear at the provider.",
      ]
    )
  }

  private static func promises(_ help: [ModuleHelp]) -> Topic {
    Topic(
      name: "promises",
      summary: "what is promised, and what that rests on",
      body: [
        "Once. In one journal, for one merchant, a reference is charged once, however often the "
          + "command is run, stopped, killed or cut off from power. A further charge needs "
          + "--new-attempt, which is refused while an earlier one succeeded, is pending, is held or is "
          + "unknown. A refund by the same --refund-reference is made once, and refunds are never more "
          + "than what is left. A request without a key is never sent again by itself: only tender "
          + "journal resume REF --finish does that, after showing the amount that may be moved twice.",
        "Recorded before reported. What an exit status, a record, an event or a reader's display "
          + "says is on the disk by then. A reported result is never reversed by a later check.",
        "No exit but 9 where the money may have moved. After a request has left, another exit stands "
          + "on proof: an answer that names this payment, its amount and its currency, or a refusal "
          + "that cannot follow an execution. Where merchant credentials allow it, tender asks once "
          + "before it says 9. What a look-up does not show proves nothing within the late window.",
        "Ownership. A payment is replayed and looked at only with its own merchant's credentials. "
          + "With other credentials it exits 6.",
        "A journal that knows what it has forgotten. tender notices an old copy, a damaged file, a copy "
          + "without its log, and a removed folder. Commands that pay then exit 16, before anything is sent. "
          + "Two things outside the rows of the journal tell: a mark beside the state folder, and the time "
          + "at which the journal's file was made. tender journal verify says whether there is a mark. "
          + "tender does not notice three cases, each without the mark or with its old one: an old copy "
          + "written over the journal's own files (remove them first), a folder removed together with its "
          + "mark, and a file system that keeps no such time. It does not notice a disk or a machine "
          + "that is restored as a whole. A folder removed with nothing but simulated payments in it is new.",
        ([
          "What it rests on. The disk keeps what it acknowledges as synced. The file system has "
            + "working locks (no network share). tender compares the wall clock with the machine's time since its "
            + "start. For a wait the shorter of both ages counts, for the end of a key the longer one. "
            + "tender believes an answer that names this payment, its amount and its currency. It asks twice "
            + "where the answer to a request was lost, and where an answer says that money was taken back or "
            + "refunded elsewhere. tender believes a refusal that the provider lists. It looks at the payment "
            + "before it sends such a request under another name; a provider that executes, refuses and does "
            + "not list what it did is not caught."
        ]
          + help.map(\.assumptions).filter { !$0.isEmpty }).joined(separator: " "),
        "What is not promised. Two journals do not know of each other: a reference that is used with two "
          + "journals is charged in both. A journal on PostgreSQL promises what its server does: one that "
          + "acknowledges before its standby has a commit can lose it in a failover (tender doctor says so), and "
          + "a machine that neither made the payment nor looked it up does not miss it. Nor does tender know of payments "
          + "made elsewhere under the same reference, save where a provider is asked what is left before a part is given back. "
          + "A reference that was pruned is a new one. A cash barcode, a token and a payment that "
          + "the payer has not authorized yet move no money, and may be made again after a failure. An "
          + "operation that was resolved by hand is as the operator said.",
        "How this is proven: man 7 tender-figures.",
      ]
    )
  }

  private static let security = Topic(
    name: "security",
    summary: "what is kept secret, and how",
    body: [
      "No option takes a card number, a security code, an account number, a key or a token, and "
        + "an argument that looks like a card number stops the run without being echoed. An id "
        + "that only looks like one goes behind --id.",
      "Card and account numbers, security codes, keys and tokens are in no output, journal, trace "
        + "or error, whatever a provider sends back. A card is in locked memory of its own until it is "
        + "sealed, and wiped then; nobody but root can look into the process, and there are no core "
        + "dumps.",
      "Files with secrets (--instrument-file, --form-file, --resource-token-file, ..._FILE and a "
        + "configuration with secrets) are refused when they are yours and others can read them, "
        + "or when others can write them; the state folder when others can write it. Pipes, and "
        + "files of root that you cannot change, are taken.",
      "On Linux a command bounds itself before it reads what others wrote, to what it needs: tender help "
        + "containment.",
      "TLS is always verified; TENDER_CA_FILE names a file of private roots, or a folder of them that "
        + "openssl rehash made. There is no telemetry and no update check.",
      "A live write needs --env live on that very command line, and --yes or a typed yes. A "
        + "profile with \"mode\":\"read-only\" refuses every write.",
      "Who could do what, and the test that shows it: man 7 tender-security.",
    ]
  )

  private static let containment = Topic(
    name: "containment",
    aliases: ["bounds", "sandbox"],
    summary: "what a command can still reach",
    body: [
      "On Linux a command bounds itself before it reads what others wrote. The kernel then refuses "
        + "everything else. What is open by default:",
      """
        command             files      runs  connects   listens      sockets  signals
        payment, simulated  state      none  none       none         none     own
        payment elsewhere   state      none  53 80 443  3000 *       tcp udp  own
        look-up             state      none  53 80 443  3000 *       tcp udp  own
        find, journal       state      none  none       none         none     own
        journal resume      state      none  53 80 443  3000 *       tcp udp  own
        batch               reads all  none  53 80 443  3000 *       tcp udp  own
        simulator serve     state      none  none       8085 8086 *  tcp      own
        completion          state      none  none       none         none     own
      """,
      "files: \"state\" is the state folder and its mark. Every command can also read /usr, /etc, its "
        + "configuration, and the files that options, variables and the profile name. journal backup and --junit can "
        + "write in the folder of their file. A line of a batch may name any file.",
      "ports: TCP ports, of any host. Those of the journal's server, of base addresses and proxies, of a reader and of "
        + "--redirect-url are added. In a batch they come from variables and from the profiles, not from its "
        + "lines. simulator serve is shown with --port 8085. The star is any port that the system "
        + "chooses: the kernel does not compare those.",
      "devices: /dev/null, /dev/tty, /dev/urandom, and the reader that is named.",
      "sockets: udp is for names (DNS). It can send to any host, and take what comes back. Unix sockets are open only "
        + "for a journal whose server is reached by one; then other Unix sockets with a path are open too. Pairs of "
        + "stream sockets, which libraries use within the process, are open. Bluetooth is open for a "
        + "reader that has it. Names are looked up in files and by DNS, not by other services of this machine.",
      "Always refused: starting programs, signaling other processes, reading their memory, typing into a terminal "
        + "(TIOCSTI), owner, mode, times, flags and extended attributes of files, netlink, io_uring, shared memory, message "
        + "queues and semaphores, priorities and processors, namespaces, the clock of the machine.",
      "Not bounded: hosts behind an open port, the names and sizes of files, time and memory. The program that --open "
        + "starts is not bounded; it gets one http or https address. Commands that read neither journal nor "
        + "provider are not bounded. On macOS nothing is.",
      "TCP ports need Linux 6.7. Before Linux 6.12 abstract Unix sockets are open where Unix sockets are. tender "
        + "doctor says what is bounded. TENDER_CONTAINMENT=off turns it off. With \"containment\":\"required\" in a "
        + "profile, payments end in 16 where it is off or incomplete.",
    ]
  )

  private static func simulator(_ help: [ModuleHelp]) -> Topic {
    Topic(
      name: "simulator",
      summary: "the providers inside the binary",
      body: [
        "--env simulator, the default, answers in process: no network, no account. It keeps its "
          + "payments in simulator.db, encrypts as the real protocols do, and follows what the "
          + "providers document. tender simulator scenarios lists what --sim-scenario and "
          + "--sim-fault take, each with the exit status of tender.",
        "A fault is POINT:WHAT. POINT is a step of a provider, or the method and path of a request, "
          + "in which * is any part: GET/v3/payments/*. --sim-fault may be repeated.",
        """
          part2:close-after        the charge is done, its answer is lost
          part2:close-before       the charge is not done, its answer is lost
          create:http-500*2        the first two requests answer 500
          status:http-503%50       half of the requests do, as --sim-seed draws
          create:reset-after,for=ORDER-7
                                   only where the request is about ORDER-7
          status:latency=200ms     late; 100ms..900ms is uniform, 200ms/p99=3s is
                                   log-normal: 1 % of the answers take 3 s or more
          status:bandwidth=500     500 bytes a second
          create:cut=20            the connection closes after 20 bytes of the body
        """,
        "*N counts for each reference and each text of a fault, until tender simulator reset. for=TEXT "
          + "finds the reference of a tender command, and TEXT in path, query or body. What cannot "
          + "happen at a point is refused.",
        "Programs that use tender simulator serve choose for one request with the header "
          + "X-Tender-Simulator, such as fault=create:http-500*2;for=ORDER-7. Its members are scenario, "
          + "fault (repeated for several), for (what the request is about), seed and clock "
          + "(milliseconds since 1970, or + and milliseconds ahead). One that is wrong answers 400.",
        "The simulated clock is the machine's until tender simulator advance moves it. Inside tender, "
          + "waiting for a simulated provider takes no time: it moves the clock.",
      ] + help.flatMap(\.simulation) + [
        "--sim-seed and --sim-clock make output repeat byte for byte. With sandbox and live they "
          + "are errors; behind simulator serve they travel in the header."
      ]
    )
  }
}
