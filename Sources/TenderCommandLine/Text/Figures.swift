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
          + "times the peer's, the memory, and the target. One look-up and a thousand go over HTTPS on "
          + "loopback, where nginx gives one published answer."
      ],
      lines: [
        "curl --version                      8.55 ms    1.00x   11.66 MB",
        "tender --version                    1.95 ms    0.23x   8.93 MB    target at most 0.45x",
        "tender transact (simulator)         9.13 ms    1.07x   12.30 MB   target at most 1.20x",
        "tender payment-status (simulator)   5.37 ms    0.63x   12.00 MB",
        "tender transact, chip and PIN       18.73 ms   2.19x   19.16 MB   target at most 2.50x",
        "the journal's part of a payment: 0.47 ms (200 payments)",
        "tender batch --jobs 4, 1,000        2415.89 ms 1.00x   14.91 MB",
        "xargs -P4 tender transact, 1,000    6208.51 ms 2.57x   12.61 MB",
        "journal show, among 1,000           3.29 ms    1.00x   19.63 MB",
        "journal show, among 1,000,000       3.31 ms    1.01x   19.63 MB   target at most 2.00x",
        "curl, one payment                   10.12 ms   1.00x   12.18 MB",
        "tender payment-status ID            12.89 ms   1.27x   20.45 MB   target at most 1.25x",
        "curl --parallel -K, 1,000           84.25 ms   1.00x   16.79 MB",
        "tender payment-status -, 1,000      119.35 ms  1.42x   21.09 MB   target at most 3.00x",
        "tender payment-status -, 1,000      112.85 ms  1.00x   21.04 MB",
        "xargs -n1 curl, 1,000               11343.47 ms 100.52x 12.23 MB",
        "tender payment-status -, 10,000     1059.59 ms 9.39x   21.14 MB",
        "tender is 100.52 times as fast as xargs -n1 curl (target at least 30)",
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
