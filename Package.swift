// swift-tools-version: 6.3

import PackageDescription

/// For every line of Swift.
let strict: [SwiftSetting] = [
  .treatAllWarnings(as: .error),
  .treatWarning("ExplicitSendable", as: .error),
  .strictMemorySafety(),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("ImmutableWeakCaptures"),
  .enableUpcomingFeature("InferIsolatedConformances"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
]

/// `make test` asks for a quick build: the release's, in which the compiler optimizes the workhorses alone.
let isQuick = Context.environment["TENDER_QUICK_BUILD"] != nil
/// For the rooms: does not import the library that searches text by Characters. `ByteSearch` searches bytes.
let bytewise: [SwiftSetting] = [
  .unsafeFlags(["-Xfrontend", "-disable-implicit-string-processing-module-import"])
]

/// The C library, by one name on both systems (`import Platform`).
let platform: [SwiftSetting] = [
  .unsafeFlags(["-module-alias", "Platform=Darwin"], .when(platforms: [.macOS])),
  .unsafeFlags(["-module-alias", "Platform=Glibc"], .when(platforms: [.linux])),
]

let rules = strict + (isQuick ? [.unsafeFlags(["-Onone"])] : [])

#if arch(x86_64)
let branchProtection = ["-fcf-protection=full"]
#elseif arch(arm64)
let branchProtection = ["-mbranch-protection=standard"]
#else
let branchProtection: [String] = []
#endif

/// For every line of C: what overflows a buffer or a stack ends the program.
let hardened: [CSetting] = [
  .unsafeFlags(
    ["-fstack-protector-strong", "-fstack-clash-protection"] + branchProtection,
    .when(platforms: [.linux])
  ),
  .define("_FORTIFY_SOURCE", to: "2", .when(platforms: [.linux], configuration: .release)),
]

/// For every program: the tables of the loader are read-only before it begins.
let hardenedLinking: [LinkerSetting] = [
  .unsafeFlags(
    ["relro", "now", "noexecstack"].flatMap { ["-Xlinker", "-z", "-Xlinker", $0] },
    .when(platforms: [.linux])
  )
]

/// A room, and everything it may import.
func room(
  _ name: String,
  _ settings: [SwiftSetting] = rules,
  documents: [String] = [],
  needs: Target.Dependency...
) -> Target {
  .target(
    name: name,
    dependencies: needs,
    exclude: documents,
    swiftSettings: settings + bytewise + platform
  )
}

/// For rooms in which no command spends its time: small rather than fast.
let small = rules + (isQuick ? [] : [.unsafeFlags(["-Osize"], .when(configuration: .release))])

/// A room that every test works through, byte by byte: optimized in a quick build too.
func workhorse(
  _ name: String,
  documents: [String] = [],
  needs: Target.Dependency...
) -> Target {
  .target(
    name: name,
    dependencies: needs,
    exclude: documents,
    swiftSettings: strict + bytewise + platform
      + (isQuick ? [.unsafeFlags(["-O"], .when(configuration: .debug))] : [])
  )
}

/// A provider's room: its adapter, and the module by which the program knows it.
func provider(
  _ name: String,
  _ settings: [SwiftSetting] = small,
  needs: Target.Dependency...
)
  -> Target
{
  let rooms: [Target.Dependency] = [
    "TenderCommandLine", "TenderEngine", "TenderModel", "TenderSystem",
  ]
  return .target(
    name: name,
    dependencies: rooms + needs,
    exclude: ["Pages.txt", "README.md"],
    swiftSettings: settings + bytewise
  )
}

/// The tests of one room, which see what the room shows the package and no more.
func tests(of name: String, needs: Target.Dependency...) -> Target {
  .testTarget(
    name: "\(name)Tests",
    dependencies: [.target(name: name), "TenderTestSupport"] + needs,
    swiftSettings: rules
  )
}

let package = Package(
  name: "tender",
  products: [
    .executable(name: "tender", targets: ["tender"]),
    // Loaded before the program by the tests of its failures, and installed nowhere.
    .library(name: "tender-faults", type: .dynamic, targets: ["TenderFaults"]),
  ],
  targets: [
    // Thin C over the kernel, and over system libraries, which are opened on first use.
    .target(name: "CLibraries", cSettings: hardened),

    workhorse("TenderModel", documents: ["Countries.txt"], needs: "CLibraries"),
    room("TenderEngine", documents: ["Pages.txt", "README.md"], needs: "TenderModel"),
    workhorse(
      "TenderSystem",
      needs: "TenderEngine",
      "TenderModel",
      "CLibraries"
    ),
    room(
      "TenderJournal",
      documents: ["Tables.sql", "Shared/Grants.sql", "Shared/Tables.sql"],
      needs: "TenderEngine",
      "TenderModel",
      "TenderSystem",
      "CLibraries"
    ),
    room(
      "TenderCommandLine",
      documents: ["Pages.txt", "Output/Records.txt"],
      needs: "TenderEngine",
      "TenderModel",
      "TenderSystem",
      "CLibraries"
    ),
    provider("PayTheory", rules, needs: "CLibraries"),
    provider("TrueLayer", needs: "CLibraries"),
    provider("Toro", needs: "CLibraries"),
    workhorse(
      "TenderSimulator",
      documents: [
        "PayTheory/Schema.graphql", "Toro/Codes.txt", "Toro/Elements.txt", "Toro/Types.txt",
        "TrueLayer/Requests.txt",
      ],
      needs: "TenderEngine",
      "TenderModel",
      "TenderSystem",
      "CLibraries"
    ),
    room(
      "TenderCommands",
      small,
      needs: "PayTheory",
      "TenderCommandLine",
      "TenderEngine",
      "TenderJournal",
      "TenderModel",
      "TenderSimulator",
      "TenderSystem",
      "Toro",
      "TrueLayer",
      "CLibraries"
    ),
    .executableTarget(
      name: "tender",
      dependencies: ["TenderCommands", "TenderSystem"],
      swiftSettings: rules + platform,
      linkerSettings: hardenedLinking
    ),

    .target(
      name: "TenderTestSupport",
      dependencies: ["TenderEngine", "TenderModel", "TenderSimulator"],
      path: "Tests/TenderTestSupport",
      swiftSettings: rules
    ),
    .target(name: "TenderFaults", path: "Tests/Faults"),
    .target(name: "TenderSchemas", path: "Tests/Schemas"),
    .executableTarget(
      name: "tender-with-example",
      dependencies: [
        "TenderCommands", "TenderEngine", "TenderModel", "TenderCommandLine", "TenderSimulator",
        "TenderSystem",
      ],
      path: "Tests/ExampleProvider",
      exclude: ["PROTOCOL.md"],
      swiftSettings: rules
    ),
    .target(
      name: "TenderFuzz",
      dependencies: [
        "PayTheory", "TenderCommandLine", "TenderCommands", "TenderEngine", "TenderJournal",
        "TenderModel", "TenderSimulator", "TenderTestSupport", "TenderSystem", "Toro", "TrueLayer",
      ],
      path: "Tests/Fuzz/Targets",
      swiftSettings: rules
    ),
    .executableTarget(
      name: "tender-fuzz",
      dependencies: ["TenderFuzz"],
      path: "Tests/Fuzz/Runner",
      swiftSettings: rules
    ),
    .testTarget(
      name: "TenderFuzzTests",
      dependencies: ["TenderFuzz", "TenderTestSupport"],
      swiftSettings: rules
    ),
    .executableTarget(
      name: "websocket-echo",
      dependencies: ["TenderEngine", "TenderModel", "TenderSystem"],
      path: "Tests/WebSocketEcho",
      exclude: ["conformance.sh"],
      swiftSettings: rules
    ),
    // Starts the measured programs. The kernel counts the memory of the starting process as theirs.
    .executableTarget(name: "tender-launch", path: "Tests/Bench/Launch"),
    .executableTarget(
      name: "tender-bench",
      dependencies: ["TenderSystem", "TenderEngine", "TenderJournal", "TenderModel"],
      path: "Tests/Bench",
      exclude: ["Launch", "bank.sh", "delay.py", "far.sh", "fleet.sh", "quick.sh", "soak.sh"],
      swiftSettings: rules
    ),
    tests(of: "TenderModel", needs: "TenderSystem"),
    tests(of: "TenderEngine", needs: "TenderModel"),
    .testTarget(
      name: "PayTheoryTests",
      dependencies: [
        "PayTheory", "TenderSimulator", "TenderEngine", "TenderJournal", "TenderModel",
        "TenderTestSupport",
      ],
      exclude: ["Schema"],
      swiftSettings: rules
    ),
    .testTarget(
      name: "TrueLayerTests",
      dependencies: [
        "CLibraries", "TenderEngine", "TenderJournal", "TenderModel", "TenderSimulator",
        "TenderTestSupport", "TrueLayer",
      ],
      exclude: ["Answers", "Schema"],
      swiftSettings: rules
    ),
    .testTarget(
      name: "ToroTests",
      dependencies: [
        "CLibraries", "TenderEngine", "TenderJournal", "TenderModel", "TenderSchemas",
        "TenderSimulator", "TenderTestSupport", "Toro",
      ],
      exclude: ["Vectors"],
      swiftSettings: rules
    ),
    tests(of: "TenderSystem", needs: "TenderEngine", "TenderModel"),
    .testTarget(
      name: "TenderJournalTests",
      dependencies: [
        "TenderSystem", "TenderEngine", "TenderJournal", "TenderModel", "TenderTestSupport",
      ],
      exclude: ["Fixtures"],
      swiftSettings: rules
    ),
    tests(of: "TenderSimulator", needs: "TenderEngine", "TenderModel"),
    tests(
      of: "TenderCommandLine",
      needs: "TenderCommands",
      "TenderEngine",
      "TenderModel",
      "TenderSystem"
    ),
    .testTarget(
      name: "TenderBinaryTests",
      dependencies: [
        "CLibraries", "tender", "tender-with-example", "TenderCommandLine", "TenderCommands",
        "TenderEngine", "TenderSystem", "TenderModel", "TenderSimulator", "TenderTestSupport",
        "TrueLayer",
      ],
      exclude: ["Screens"],
      swiftSettings: rules
    ),
    .testTarget(
      name: "TenderArchitectureTests",
      dependencies: [
        "TenderCommandLine", "TenderCommands", "TenderEngine", "TenderModel", "TenderTestSupport",
        "tender",
      ],
      swiftSettings: rules
    ),
  ],
  swiftLanguageModes: [.v6]
)
