/// One kind of proof, and what it printed.
struct Figure: Sendable {
  let title: String
  let body: [String]
  /// The lines as `make bench`, `make prove`, `make fuzz` or `make sanitize` printed them.
  let lines: [String]
}

/// What `make bench`, `make prove`, `make fuzz` and `make sanitize` printed, for `man 7 tender-figures`.
enum Figures {
  static let all: [Figure] = [
    Figure(
      title: "speed",
      body: [
        "make bench on a machine of two cores, every command in turn within each round: the time, how many "
          + "times the peer's, the memory, and the target. Where several settings of curl stand first, the "
          + "best of them is the peer. The journal's commands are told among a thousand and among a "
          + "million attempts with orders, answers and history. Look-ups go over HTTPS (TLS 1.3) to nginx, "
          + "which gives one published answer, on loopback or 100 ms away; the system's roots are its "
          + "bundle for curl, and the same in a folder for tender.",
        "What misses its target, and where the time goes: --version (2 million instructions; SQLite and libsodium are "
          + "loaded although it uses neither, which is in its memory too); the file, into which Swift's library is "
          + "linked; one look-up with one root, of whose time opening libcurl with its own libraries takes 5 ms; "
          + "look-ups on loopback, each of which takes 0.93 million instructions, libcurl, redaction and JSON a "
          + "sixth of them each, where curl writes bytes away unread; the batch, of which a payment with its "
          + "simulator takes 2.5 ms of processor, 37 % of that in the kernel (90 writes of pages), 9 % in SQLite and "
          + "7 % in libsodium, whatever the disk; the batch 100 ms away, beside which its simulator and the delay "
          + "take the same two cores; the export, a quarter of whose time makes records, an eighth each redacts, "
          + "writes JSON and reads the file; a part within a reference, for which an index is read from end to "
          + "end.",
      ],
      lines: [
        "curl --version                      8.41 ms    1.00x   11.64 MB",
        "tender --version                    1.95 ms    0.23x   9.02 MB    target at most 0.20x",
        "tender transact (simulator)         8.35 ms    0.99x   12.68 MB   target at most 1.20x",
        "tender payment-status (simulator)   5.48 ms    0.65x   11.85 MB",
        "tender transact, chip and PIN       17.87 ms   2.13x   19.32 MB   target at most 2.50x",
        "the journal's part of a payment: 0.54 ms (200 payments)",
        "tender batch --jobs 4, 1,000        1292.83 ms 1.00x   15.14 MB",
        "xargs -P4 tender transact, 1,000    4751.25 ms 3.68x   12.62 MB",
        "journal show, among 1,000           4.50 ms    1.00x   19.61 MB",
        "journal show, among 1,000,000       4.54 ms    1.01x   19.61 MB   target at most 2.00x",
        "the program's file                              12.46 MB          target at most 10 MB",
        "syncs of a payment, median                      2.00 syncs        target at most 2",
        "syncs of a payment, average                     2.28 syncs",
        "syncs of a held payment, median                 2.00 syncs        target at most 3",
        "syncs of its confirm, median                    2.00 syncs",
        "instructions of --version                       2.09 million",
        "instructions of a payment (simulator)           26.72 million",
        "instructions of a look-up (simulator)           10.66 million",
        "this disk                                       10427.35 syncs/s",
        "tender batch --jobs 4, 1,000                    730.90 payments/s target at least 1200  15.11 MB",
        "tender batch --jobs 64, 1,000                   533.67 payments/s   50.80 MB",
        "tender batch --jobs 4, 4 ms a sync, 1,000       200.20 payments/s   18.43 MB",
        "tender batch --jobs 64, 4 ms a sync, 1,000      347.42 payments/s target at least 1000  54.05 MB",
        "journal show ORDER-0000500                  5.89 ms   6.24 ms    1.06x   target at most 2x",
        "find --customer ada500@example.com          5.43 ms   5.41 ms    1.00x   target at most 2x",
        "find --customer lovelace500000              3.65 ms   4.07 ms    1.12x   target at most 2x",
        "find --metadata order=500                   5.44 ms   5.44 ms    1.00x   target at most 2x",
        "find --trace-id trace-500                   7.17 ms   5.98 ms    0.83x   target at most 2x",
        "find --failure stolen                       9.37 ms   9.15 ms    0.98x   target at most 2x",
        "find --amount 1234.56                       7.66 ms   7.40 ms    0.97x   target at most 2x",
        "find --last-four 0500                       6.99 ms   6.97 ms    1.00x   target at most 2x",
        "find --status unknown                       5.07 ms   5.08 ms    1.00x   target at most 2x",
        "find --status open                          5.31 ms   5.31 ms    1.00x   target at most 2x",
        "find --status returned                      5.62 ms   5.68 ms    1.01x   target at most 2x",
        "find --provider toro                        3.58 ms   3.63 ms    1.01x   target at most 2x",
        "find --env live                             3.71 ms   3.72 ms    1.00x   target at most 2x",
        "find --currency GBP                         3.69 ms   3.69 ms    1.00x   target at most 2x",
        "find ORDER-00005*                           7.46 ms   7.40 ms    0.99x   target at most 2x",
        "find *-0000500                              5.43 ms   5.48 ms    1.01x   target at most 2x",
        "find --since 2026-11-20T12:00:00Z           5.87 ms   6.56 ms    1.12x   target at most 2x",
        "find *R-0000500*                            6.28 ms   119.24 ms  18.97x  target at most 2x",
        "journal list                                6.02 ms   6.30 ms    1.05x   target at most 2x",
        "journal export                              29174/s   41.94 MB   target at least 100,000/s",
        "journal list --all -o table                 16159/s   41.94 MB   target at most 64 MB",
        "a payment during journal prune              11.97 ms  longest of 200: 31.16 ms",
        "one look-up, one root",
        "curl                                11.67 ms   1.00x   12.16 MB",
        "tender payment-status               15.05 ms   1.29x   20.33 MB   target at most 1.00x",
        "one look-up, the system's roots",
        "curl                                35.00 ms   1.00x   13.10 MB",
        "tender payment-status               16.20 ms   0.46x   20.42 MB   target at most 0.50x",
        "an answer of 4 MB of invisible characters   524.77 ms             target at most 1000 ms",
        "an answer of 4 MB of card numbers           247.42 ms             target at most 1000 ms",
        "1,000 look-ups on loopback, beside the best of four settings of curl",
        "curl --parallel-max 4 --http1.1     59.45 ms   1.16x   12.60 MB",
        "curl --parallel-max 50 --http1.1    86.32 ms   1.69x   16.55 MB",
        "curl --parallel-max 4 --http2       58.74 ms   1.15x   12.61 MB",
        "curl --parallel-max 50 --http2      51.12 ms   1.00x   14.41 MB",
        "tender payment-status -             100.95 ms  1.97x   23.19 MB   target at most 1.00x",
        "10,000 look-ups on loopback, beside the best of four settings of curl",
        "curl --parallel-max 4 --http1.1     476.47 ms  1.10x   14.17 MB",
        "curl --parallel-max 50 --http1.1    488.23 ms  1.13x   18.11 MB",
        "curl --parallel-max 4 --http2       506.24 ms  1.17x   14.15 MB",
        "curl --parallel-max 50 --http2      431.56 ms  1.00x   16.42 MB",
        "tender payment-status -             914.30 ms  2.12x   27.58 MB   target at most 1.00x",
        "1,000 look-ups, 100 ms away",
        "curl --parallel-max 50 --http2      2615.22 ms 1.00x   14.50 MB",
        "curl --parallel-max 300 --http2     994.53 ms  0.38x   34.00 MB",
        "tender payment-status - --jobs 16   6876.91 ms 2.63x   22.34 MB",
        "tender payment-status - --jobs 64   2039.02 ms 0.78x   27.49 MB",
        "tender payment-status - --jobs 256  1141.61 ms 0.44x   57.80 MB   target at most 0.50x",
        "1,000 look-ups, a process for each",
        "tender payment-status -             164.55 ms  1.00x   23.94 MB",
        "xargs -n1 curl                      11445.79 ms 69.56x  12.13 MB",
        "tender batch --jobs 4, 200, 100 ms away         17 payments/s",
        "tender batch --jobs 64, 1000, 100 ms away       177 payments/s    target at least 200",
      ]
    ),
    Figure(
      title: "a journal on PostgreSQL",
      body: [
        "make bench, on a PostgreSQL 15 of the same machine: one payment beside the same one with its journal in a file, and "
          + "beside its three statements by pgbench, on tables and with commits like its own; then batches where a "
          + "sync takes 4 ms, three commits a payment; then look-ups among a thousand and a million attempts.",
        "With one runner the journal has 90 % of what pgbench commits. With 4 and 10 the two cores are used up: they run the "
          + "runners, the simulator inside each and the server, where pgbench runs nothing beside the server. Of "
          + "one payment's further 13 ms libpq with its own libraries and the connection take most. find ORDER-00005* shows 100 "
          + "attempts and asks for the latest of each; --by reads the history of what the rest of the filter lets through.",
      ],
      lines: [
        "a payment, journal on PostgreSQL                  22.24 ms",
        "a payment, journal in a file                      9.65 ms",
        "its statements alone, by pgbench                  2.12 ms             3 commits",
        "this disk, with 4 ms a sync by pgbench, 1 client  68 payments/s",
        "batch of 1 runners, --jobs 8, 4 ms a sync         792 commits/s       90 % of pgbench's 879, target 60 %; processor 78 % used",
        "batch of 4 runners, --jobs 8, 4 ms a sync         891 commits/s       26 % of pgbench's 3348, target 60 %; processor 98 % used",
        "batch of 10 runners, --jobs 8, 4 ms a sync        864 commits/s       19 % of pgbench's 4389, target 60 %; processor 100 % used",
        "journal show ORDER-0000500                        13.79 ms            14.51 ms among 1,000,000: 105 %, target at most 200 %",
        "find --customer ada500@                           15.83 ms            16.06 ms among 1,000,000: 101 %, target at most 200 %",
        "find --last-four 0500 --amount 15.00              13.61 ms            21.02 ms among 1,000,000: 154 %, target at most 200 %",
        "find ORDER-00005*                                 39.15 ms            47.03 ms among 1,000,000: 120 %, target at most 200 %",
        "find --by till-7 --last-four 0507                 15.44 ms            53.79 ms among 1,000,000: 348 %, target at most 200 %",
      ]
    ),
    Figure(
      title: "load",
      body: [
        "make soak SECONDS=600: one simulator serve under 256 clients at once, and the memory of a batch of a "
          + "million lines that is checked (tender batch --check)."
      ],
      lines: [
        "simulator serve, 256 clients, 600 s: 121000 payments, 0 failed,",
        "  memory 93 MB after the first 1,000 and 155 MB at the end, exit 0",
        "batch --check, 1,000,000 lines: 128 s, 44 MB, target at most 64 MB",
      ]
    ),
    Figure(
      title: "kills",
      body: [
        "SIGKILL at a random moment of each command, over a simulator with its own books in its own "
          + "process; then the same command again. Undone: a Toro sale whose answer was lost is "
          + "cancelled, and said to be."
      ],
      lines: [
        "paytheory: 1000 runs, 807 killed alive, 0 undone, 1000 done once, 0 unknown",
        "  (seed 991134)",
        "toro: 1000 runs, 962 killed alive, 68 undone, 932 done once, 0 unknown",
        "  (seed 160449)",
        "truelayer: 1000 runs, 987 killed alive, 0 undone, 1000 done once, 0 unknown",
        "  (seed 767176)",
      ]
    ),
    Figure(
      title: "failovers",
      body: [
        "make prove FAILOVERS=200 CRASHES=10: while runners pay, the primary of a cluster with a synchronous standby is "
          + "killed and the standby takes over, with a list of hosts or behind PgBouncer in transaction mode; or the "
          + "only server is killed and started again. Then every line is run once more, and the books of the other "
          + "side are compared."
      ],
      lines: [
        "1600 payments through 10 crashes of the database, each once, 0 unknown",
        "6000 payments through 100 failovers, each once, 0 unknown",
        "6000 payments through 100 failovers behind PgBouncer, each once, 0 unknown",
        "1600 payments through 10 crashes behind PgBouncer, each once, 0 unknown",
      ]
    ),
    Figure(
      title: "faults",
      body: [
        "Every write, sync and send of every command fails once, in five ways: a full disk, a failing "
          + "disk, a locked database, SIGKILL, and a power cut that loses unsynced sectors by chance. "
          + "What the command says then is held against the other side's books; then the same "
          + "command again. The exits are those of the struck commands (137: killed)."
      ],
      lines: [
        "paytheory: 1180 faults at 68 calls,",
        "  first exits 356 x 0, 352 x 16, 472 x 137;",
        "  then 1180 done once, 0 undone, 0 unknown",
        "  (seed 238865)",
        "toro: 1250 faults at 94 calls,",
        "  first exits 358 x 0, 395 x 16, 497 x 137;",
        "  then 1228 done once, 22 undone, 0 unknown",
        "  (seed 755073)",
        "truelayer: 615 faults at 89 calls,",
        "  first exits 158 x 0, 54 x 9, 157 x 16, 246 x 137;",
        "  then 615 done once, 0 undone, 0 unknown",
        "  (seed 408705)",
        "batch of 12 payments, 6 at once: 42 faults of each kind at random calls,",
        "  each payment charged once, none forgotten that was shown",
      ]
    ),
    Figure(
      title: "histories",
      body: [
        "Commands at random over another side that loses answers before and after the effect, brings "
          + "effects late and twice, and answers look-ups late, wrongly or not at all. A checker holds "
          + "that at most one charge of a reference stands, that nothing is said that the books "
          + "contradict, and that nothing stays unknown that a question would have answered. Lying: one "
          + "member of an answer is missing, of another type, negative, huge, empty, doubled or another "
          + "payment's. Lagging: half of the look-ups say what was so up to 15 minutes before; behind: up to "
          + "an hour, and nothing is finished by hand."
      ],
      lines: [
        "paytheory, plain: 1000 histories, 1916 troubles, 1605 times unknown on the way, 0 contradictions",
        "  (seeds from 689673)",
        "paytheory, lying: 1000 histories, 4249 troubles, 1715 times unknown on the way, 0 contradictions",
        "  (seeds from 227143)",
        "paytheory, lagging: 1000 histories, 2366 troubles, 1724 times unknown on the way, 0 contradictions",
        "  (seeds from 546227)",
        "paytheory, behind: 1000 histories, 2569 troubles, 1859 times unknown on the way, 0 contradictions",
        "  (seeds from 393355)",
        "truelayer, creation, plain: 1000 histories, 3110 troubles, 878 times unknown on the way, 0 contradictions",
        "  (seeds from 539423)",
        "truelayer, creation, lying: 1000 histories, 6173 troubles, 1001 times unknown on the way, 0 contradictions",
        "  (seeds from 628598)",
        "truelayer, creation, lagging: 1000 histories, 3745 troubles, 838 times unknown on the way, 0 contradictions",
        "  (seeds from 872695)",
        "truelayer, creation, behind: 1000 histories, 3898 troubles, 862 times unknown on the way, 0 contradictions",
        "  (seeds from 964451)",
        "truelayer, refund, plain: 1000 histories, 1333 troubles, 454 times unknown on the way, 0 contradictions",
        "  (seeds from 491437)",
        "truelayer, refund, lying: 1000 histories, 3519 troubles, 1245 times unknown on the way, 0 contradictions",
        "  (seeds from 317467)",
        "truelayer, refund, lagging: 1000 histories, 1403 troubles, 450 times unknown on the way, 0 contradictions",
        "  (seeds from 809005)",
        "truelayer, refund, behind: 1000 histories, 1321 troubles, 423 times unknown on the way, 0 contradictions",
        "  (seeds from 513726)",
        "toro, plain: 1000 histories, 1528 troubles, 108 times unknown on the way, 0 contradictions",
        "  (seeds from 576666)",
        "toro, lying: 1000 histories, 3870 troubles, 338 times unknown on the way, 0 contradictions",
        "  (seeds from 570085)",
      ]
    ),
    Figure(
      title: "fuzzing",
      body: [
        "libFuzzer under the address sanitizer: make fuzz SECONDS=15 for the parsers, SECONDS=40 for the "
          + "adapters, each whole, with its simulator behind and the input in between (answers changed, "
          + "lost, cut, sealed and signed anew; a clock that jumps). No parser may crash, change what "
          + "it wrote, or read byte by byte what it does not read at once; no adapter may show a card. "
          + "How much of the adapters the inputs reach is counted in regions of the source."
      ],
      lines: [
        "json: 900064 executions, 662 edges, 0 crashes",
        "secretjson: 205786 executions, 666 edges, 0 crashes",
        "xml: 293272 executions, 224 edges, 0 crashes",
        "tlv: 489480 executions, 155 edges, 0 crashes",
        "reader-frames: 296213 executions, 212 edges, 0 crashes",
        "websocket: 137719 executions, 466 edges, 0 crashes",
        "handshake: 266886 executions, 317 edges, 0 crashes",
        "texts: 137185 executions, 834 edges, 0 crashes",
        "patterns: 305740 executions, 554 edges, 0 crashes",
        "arguments: 19765 executions, 1719 edges, 0 crashes",
        "redactor: 52316 executions, 842 edges, 0 crashes",
        "instruments: 216688 executions, 775 edges, 0 crashes",
        "paytheory: 5975 executions, 9055 edges, 0 crashes",
        "toro: 986 executions, 7319 edges, 0 crashes",
        "truelayer: 3057 executions, 8738 edges, 0 crashes",
        "PayTheory: 72.05% of 848 regions reached",
        "Toro: 70.01% of 1764 regions reached",
        "TrueLayer: 70.69% of 1474 regions reached",
      ]
    ),
  ]
}
