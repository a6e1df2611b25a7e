/// One kind of proof, and what it printed.
struct Figure: Sendable {
  let title: String
  let body: [String]
  /// The lines as `make prove` printed them.
  let lines: [String]
}

/// What `make prove` printed, for `man 7 tender-figures`.
enum Figures {
  static let all: [Figure] = [
    Figure(
      title: "kills",
      body: [
        "SIGKILL at a random moment of each command, over a simulator with its own books in its own "
          + "process; then the same command again. Undone: a Toro sale whose answer was lost is "
          + "cancelled, and said to be."
      ],
      lines: [
        "paytheory: 1000 runs, 887 killed alive, 0 undone, 1000 done once, 0 unknown",
        "  (seed 289412)",
        "toro: 1000 runs, 975 killed alive, 42 undone, 958 done once, 0 unknown",
        "  (seed 776914)",
        "truelayer: 1000 runs, 898 killed alive, 0 undone, 1000 done once, 0 unknown",
        "  (seed 571193)",
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
        "paytheory: 980 faults at 74 calls,",
        "  first exits 282 x 0, 312 x 16, 386 x 137;",
        "  then 980 done once, 0 undone, 0 unknown",
        "  (seed 969600)",
        "toro: 735 faults at 71 calls,",
        "  first exits 231 x 0, 211 x 16, 293 x 137;",
        "  then 720 done once, 15 undone, 0 unknown",
        "  (seed 327981)",
        "truelayer: 645 faults at 94 calls,",
        "  first exits 73 x 0, 146 x 9, 169 x 16, 257 x 137;",
        "  then 645 done once, 0 undone, 0 unknown",
        "  (seed 832439)",
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
        "paytheory: 1000 histories, 1169 troubles, 774 times unknown on the way, 0 contradictions",
        "  (seeds from 584910)",
        "toro: 1000 histories, 1787 troubles, 89 times unknown on the way, 0 contradictions",
        "  (seeds from 489756)",
        "truelayer, creation: 1000 histories, 3017 troubles, 816 times unknown on the way, 0 contradictions",
        "  (seeds from 571780)",
        "truelayer, refund: 1000 histories, 1792 troubles, 160 times unknown on the way, 0 contradictions",
        "  (seeds from 140595)",
      ]
    ),
  ]
}
