/// Somebody who could harm a payer or a merchant, and how far they get.
package struct Threat: Sendable {
  /// One thing that they can or cannot do, with the test that shows it.
  package struct Line: Sendable {
    package let text: String
    /// The name of the test; nil where nothing in this repository can show it.
    package let test: String?

    init(_ text: String, _ test: String? = nil) {
      self.text = text
      self.test = test
    }
  }

  package let who: String
  let about: String
  package let cannot: [Line]
  package let can: [Line]
}

/// The threat model, for `man 7 tender-security`.
package enum Threats {
  /// Everybody that the program is built against.
  package static let all: [Threat] = [
    Threat(
      who: "a provider, or whoever answers in its place",
      about: "It sees what a payment needs, and answers whatever it likes. TLS says who it is.",
      cannot: [
        .init(
          "be somebody without a certificate for that name: TLS is always verified",
          "tells the whole story through TLS, and nothing to a stranger"
        ),
        .init(
          "make tender show or store a secret by sending it back, in whatever encoding",
          "shows no card number that it was told"
        ),
        .init(
          "have fields shown that it does not document, or in other types",
          "shows a transaction as it is documented"
        ),
        .init(
          "steer the terminal by controls, invisible or bidirectional characters",
          "lets no provider steer the terminal"
        ),
        .init(
          "stop tender, or keep it busy, by what it sends: every parser is bounded and linear",
          "survives what a seed makes"
        ),
        .init(
          "make a rule for a form that never ends",
          "takes bounded time over any pattern"
        ),
        .init(
          "settle a payment with an answer about another one",
          "leaves a lost cancel unknown"
        ),
      ],
      can: [
        .init("lie about what became of a payment"),
        .init("learn the card or account of a payment that is sent to it"),
      ]
    ),
    Threat(
      who: "a page in the payer's browser",
      about: "While a bank payment waits, tender listens on one loopback port for the payer.",
      cannot: [
        .init(
          "complete or cancel the payment: the provider alone says what became of it",
          "lets in who belongs to the payment, and nobody else"
        ),
        .init(
          "read anything by a name of its own that leads to this machine (DNS rebinding)",
          "answers under its own names alone"
        ),
        .init("block who waits by many visits", "is blocked by no number of visits"),
        .init(
          "keep the payer out by connections that say nothing",
          "lets the payer in beside connections that say nothing"
        ),
        .init(
          "have the provider's API asked oftener than a few times more",
          "looks at the API no oftener for visits that anybody can make"
        ),
      ],
      can: [.init("make tender look at the payment three times earlier than it would")]
    ),
    Threat(
      who: "another user of this machine",
      about: "Files are checked when they are opened, by owner and mode.",
      cannot: [
        .init(
          "read a secret from a file: one that others can read is refused",
          "takes an instrument from a file that nobody else can read"
        ),
        .init(
          "change a configuration that is used",
          "takes a configuration that nobody else can write"
        ),
        .init("change or replace the journal", "keeps its state where nobody else can write"),
        .init(
          "see secrets in the arguments of a process: no option takes one",
          "stops card numbers wherever they stand"
        ),
        .init("read the memory of a running command", "shows its memory to nobody"),
        .init(
          "put a link in the place of an output or of the database",
          "follows no link in its place"
        ),
      ],
      can: [.init("see that tender runs, with which options, and references and amounts in them")]
    ),
    Threat(
      who: "a program of the same user",
      about: "The system does not separate a user's programs. What they do to files is seen later.",
      cannot: [
        .init(
          "attach to a command that runs, or have its memory in a core dump",
          "shows its memory to nobody"
        ),
        .init(
          "put an old copy of the journal back unseen, while the mark beside it is left",
          "notices an old copy, and goes on once that is accepted"
        ),
        .init(
          "plant a trigger in the journal that keeps what is erased",
          "refuses what it did not make itself"
        ),
        .init(
          "learn the keys of a connection by SSLKEYLOGFILE",
          "tells the whole story through TLS, and nothing to a stranger"
        ),
      ],
      can: [
        .init("read and change every file of the user's, the configuration's secrets among them"),
        .init("set variables, put another tender into PATH, and read what is typed"),
        .init("remove the journal together with its mark"),
      ]
    ),
    Threat(
      who: "whoever takes the process over",
      about: "By an error in tender or in a library. On Linux, once it knows what to do, a command "
        + "bounds itself: Landlock (files, and TCP ports from Linux 6.7 on) and seccomp.",
      cannot: [
        .init(
          "read files of the user's that the command has no business with, or write them",
          "reaches nothing that the command has no business with"
        ),
        .init(
          "start programs, look into other processes, or connect to other ports",
          "reaches nothing that the command has no business with"
        ),
        .init(
          "find a card once it is sealed for its provider",
          "holds a card in one place until it is sealed"
        ),
        .init(
          "find secrets in the browser that --open starts",
          "opens the browser with none of its secrets and descriptors"
        ),
      ],
      can: [
        .init("use the credentials of that command, and read and change its journal"),
        .init("read what a batch may read: any of the user's files, since a line may name one"),
        .init("reach any address behind the ports that the command needs (443, 80, 53)"),
        .init(
          "all of it on macOS, on kernels without Landlock and with TENDER_CONTAINMENT=off; "
            + "tender doctor says what is bounded"
        ),
      ]
    ),
    Threat(
      who: "root",
      about: "Nothing protects a process from root.",
      cannot: [
        .init(
          "find a card after it was sealed: it is wiped",
          "holds a card in one place until it is sealed"
        )
      ],
      can: [.init("everything else")]
    ),
  ]

  /// What the page says besides.
  static let notes = [
    "A live sale refuses readers of the simulator by what they tell of themselves, and every address "
      + "that a running tender simulator serve has printed.",
    "A card on a line of a batch, or in the simulator of this process, passes through memory that is "
      + "not wiped: --instrument-stdin, --instrument-file, --instrument-fd and the prompt do not.",
    "The program is built with read-only loader tables, all symbols bound at start, a stack "
      + "protector, and on release checked copies in its C parts; a build that lost one of them fails "
      + "(Tests/hardening.sh).",
  ]
}
