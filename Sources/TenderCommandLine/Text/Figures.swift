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
        "paytheory: 1000 runs, 911 killed alive, 0 undone, 1000 done once, 0 unknown",
        "  (seed 477380)",
        "toro: 1000 runs, 647 killed alive, 116 undone, 884 done once, 0 unknown",
        "  (seed 443018)",
        "truelayer: 1000 runs, 969 killed alive, 0 undone, 1000 done once, 0 unknown",
        "  (seed 627288)",
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
        "  first exits 202 x 0, 59 x 9, 330 x 16, 389 x 137;",
        "  then 980 done once, 0 undone, 0 unknown",
        "  (seed 920463)",
        "toro: 735 faults at 71 calls,",
        "  first exits 125 x 0, 33 x 9, 284 x 16, 293 x 137;",
        "  then 717 done once, 18 undone, 0 unknown",
        "  (seed 633912)",
        "truelayer: 645 faults at 94 calls,",
        "  first exits 73 x 0, 161 x 9, 155 x 16, 256 x 137;",
        "  then 645 done once, 0 undone, 0 unknown",
        "  (seed 202925)",
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
        "paytheory: 1000 histories, 1077 troubles, 735 times unknown on the way, 0 contradictions",
        "  (seeds from 199482)",
        "toro: 1000 histories, 1785 troubles, 84 times unknown on the way, 0 contradictions",
        "  (seeds from 385001)",
        "truelayer, creation: 1000 histories, 3076 troubles, 852 times unknown on the way, 0 contradictions",
        "  (seeds from 359207)",
        "truelayer, refund: 1000 histories, 1827 troubles, 133 times unknown on the way, 0 contradictions",
        "  (seeds from 498063)",
      ]
    ),
  ]
}
