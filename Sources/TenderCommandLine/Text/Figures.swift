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
        "What misses its target: one look-up with one root, of whose time opening libcurl with its own "
          + "libraries takes 5 ms; look-ups on loopback, each of which takes 0.93 million instructions, "
          + "libcurl, redaction and JSON a sixth of them each, where curl writes bytes away unread; a part "
          + "within a reference, for which an index is read from end to end.",
      ],
      lines: [
        "curl --version                      8.40 ms    1.00x   11.75 MB",
        "tender --version                    2.11 ms    0.25x   9.12 MB    target at most 0.45x",
        "tender transact (simulator)         9.89 ms    1.18x   12.13 MB   target at most 1.20x",
        "tender payment-status (simulator)   5.75 ms    0.68x   11.37 MB",
        "tender transact, chip and PIN       18.45 ms   2.20x   18.91 MB   target at most 2.50x",
        "the journal's part of a payment: 0.50 ms (200 payments)",
        "tender batch --jobs 4, 1,000        1886.76 ms 1.00x   15.44 MB",
        "xargs -P4 tender transact, 1,000    5741.72 ms 3.04x   12.91 MB",
        "journal show, among 1,000           3.26 ms    1.00x   20.10 MB",
        "journal show, among 1,000,000       3.24 ms    0.99x   20.10 MB   target at most 2.00x",
        "journal show ORDER-0000500                  9.09 ms   10.24 ms   1.13x   target at most 2x",
        "find --customer ada500@example.com          7.43 ms   7.40 ms    1.00x   target at most 2x",
        "find --customer lovelace500000              5.80 ms   5.59 ms    0.97x   target at most 2x",
        "find --metadata order=500                   6.52 ms   6.58 ms    1.01x   target at most 2x",
        "find --trace-id trace-500                   8.91 ms   8.84 ms    0.99x   target at most 2x",
        "find --failure stolen                       7.97 ms   8.35 ms    1.05x   target at most 2x",
        "find --amount 1234.56                       7.99 ms   8.27 ms    1.04x   target at most 2x",
        "find --last-four 0500                       6.06 ms   6.06 ms    1.00x   target at most 2x",
        "find --status unknown                       4.13 ms   4.17 ms    1.01x   target at most 2x",
        "find --status open                          5.69 ms   5.75 ms    1.01x   target at most 2x",
        "find --status returned                      8.39 ms   8.32 ms    0.99x   target at most 2x",
        "find --provider toro                        5.38 ms   5.51 ms    1.02x   target at most 2x",
        "find --env live                             5.40 ms   5.41 ms    1.00x   target at most 2x",
        "find --currency GBP                         4.01 ms   3.98 ms    0.99x   target at most 2x",
        "find ORDER-00005*                           9.56 ms   12.76 ms   1.33x   target at most 2x",
        "find *-0000500                              6.19 ms   6.15 ms    0.99x   target at most 2x",
        "find --since 2026-11-20T12:00:00Z           7.63 ms   7.95 ms    1.04x   target at most 2x",
        "find *R-0000500*                            7.11 ms   127.74 ms  17.96x  target at most 2x",
        "journal list                                6.98 ms   7.06 ms    1.01x   target at most 2x",
        "one look-up, one root",
        "curl                                11.45 ms   1.00x   12.21 MB",
        "tender payment-status               14.53 ms   1.27x   20.46 MB   target at most 1.00x",
        "one look-up, the system's roots",
        "curl                                29.84 ms   1.00x   13.14 MB",
        "tender payment-status               14.91 ms   0.50x   20.44 MB   target at most 0.50x",
        "1,000 look-ups on loopback, beside the best of four settings of curl",
        "curl --parallel-max 4 --http1.1     53.37 ms   1.02x   12.66 MB",
        "curl --parallel-max 50 --http1.1    85.47 ms   1.63x   16.73 MB",
        "curl --parallel-max 4 --http2       56.48 ms   1.08x   12.61 MB",
        "curl --parallel-max 50 --http2      52.41 ms   1.00x   14.52 MB",
        "tender payment-status -             100.35 ms  1.91x   22.67 MB   target at most 1.00x",
        "10,000 look-ups on loopback, beside the best of four settings of curl",
        "curl --parallel-max 4 --http1.1     411.20 ms  1.00x   14.29 MB",
        "curl --parallel-max 50 --http1.1    424.95 ms  1.04x   18.16 MB",
        "curl --parallel-max 4 --http2       423.99 ms  1.04x   14.15 MB",
        "curl --parallel-max 50 --http2      409.33 ms  1.00x   17.24 MB",
        "tender payment-status -             766.85 ms  1.87x   23.49 MB   target at most 1.00x",
        "1,000 look-ups, 100 ms away",
        "curl --parallel-max 50 --http2      2700.22 ms 1.00x   14.57 MB",
        "curl --parallel-max 300 --http2     981.51 ms  0.36x   33.44 MB",
        "tender payment-status - --jobs 16   6855.67 ms 2.54x   22.23 MB",
        "tender payment-status - --jobs 64   2008.03 ms 0.74x   27.43 MB",
        "tender payment-status - --jobs 256  1160.90 ms 0.43x   57.73 MB   target at most 0.50x",
        "1,000 look-ups, a process for each",
        "tender payment-status -             150.27 ms  1.00x   21.91 MB",
        "xargs -n1 curl                      9759.63 ms 64.95x  12.21 MB",
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
        "paytheory: 1000 runs, 744 killed alive, 0 undone, 1000 done once, 0 unknown",
        "  (seed 608132)",
        "toro: 1000 runs, 705 killed alive, 126 undone, 874 done once, 0 unknown",
        "  (seed 450221)",
        "truelayer: 1000 runs, 964 killed alive, 0 undone, 1000 done once, 0 unknown",
        "  (seed 709161)",
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
        "paytheory: 1235 faults at 74 calls,",
        "  first exits 390 x 0, 365 x 16, 480 x 137;",
        "  then 1235 done once, 0 undone, 0 unknown",
        "  (seed 318908)",
        "toro: 1180 faults at 89 calls,",
        "  first exits 358 x 0, 353 x 16, 469 x 137;",
        "  then 1130 done once, 50 undone, 0 unknown",
        "  (seed 55261)",
        "truelayer: 645 faults at 94 calls,",
        "  first exits 96 x 0, 142 x 9, 150 x 16, 257 x 137;",
        "  then 645 done once, 0 undone, 0 unknown",
        "  (seed 137545)",
      ]
    ),
    Figure(
      title: "histories",
      body: [
        "Commands at random over another side that loses answers before and after the effect, brings "
          + "effects late and twice, and answers look-ups late, wrongly or not at all. A checker holds "
          + "that at most one charge of a reference stands, that nothing is said that the books "
          + "contradict, and that nothing stays unknown that a question would have answered."
      ],
      lines: [
        "paytheory: 1000 histories, 1149 troubles, 758 times unknown on the way, 0 contradictions",
        "  (seeds from 811607)",
        "toro: 1000 histories, 1792 troubles, 87 times unknown on the way, 0 contradictions",
        "  (seeds from 97550)",
        "truelayer, creation: 1000 histories, 3239 troubles, 880 times unknown on the way, 0 contradictions",
        "  (seeds from 830174)",
        "truelayer, refund: 1000 histories, 1812 troubles, 133 times unknown on the way, 0 contradictions",
        "  (seeds from 316116)",
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
