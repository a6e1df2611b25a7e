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
func room(_ name: String, _ settings: [SwiftSetting] = rules, needs: Target.Dependency...) -> Target
{
  .target(name: name, dependencies: needs, swiftSettings: settings)
}

/// For rooms in which no command spends its time: small rather than fast.
let small = rules + (isQuick ? [] : [.unsafeFlags(["-Osize"], .when(configuration: .release))])

/// A room that every test works through, byte by byte: optimized in a quick build too.
func workhorse(_ name: String, needs: Target.Dependency...) -> Target {
  .target(name: name, dependencies: needs, swiftSettings: strict)
}

/// A provider's room: its adapter, and the module by which the program knows it.
func provider(
  _ name: String,
  _ settings: [SwiftSetting] = small,
  needs: Target.Dependency...
) -> Target {
  let rooms: [Target.Dependency] = [
    "TenderEngine", "TenderModel", "TenderModule", "TenderSystem", "TenderWire",
  ]
  return .target(name: name, dependencies: rooms + needs, swiftSettings: settings)
}

/// The other side of a provider, as the simulator plays it.
func simulated(_ name: String, needs: Target.Dependency...) -> Target {
  let rooms: [Target.Dependency] = ["TenderEngine", "TenderModel", "TenderSimulator", "TenderWire"]
  return .target(name: name + "Simulator", dependencies: rooms + needs, swiftSettings: small)
}

/// A system library that every command needs: linked, and loaded at start.
func linked(_ name: String, pkgConfig: String, apt: String, brew: String) -> Target {
  .systemLibrary(name: name, pkgConfig: pkgConfig, providers: [.apt([apt]), .brew([brew])])
}

/// A system library that few commands need: a thin C shim that opens it on first use.
func opened(_ name: String) -> Target {
  .target(name: name, dependencies: ["CSystem"], cSettings: hardened)
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
    linked("CSodium", pkgConfig: "libsodium", apt: "libsodium-dev", brew: "libsodium"),
    linked("CSQLite", pkgConfig: "sqlite3", apt: "libsqlite3-dev", brew: "sqlite"),
    .target(name: "CSystem", cSettings: hardened),
    opened("CCurl"),
    opened("CCrypto"),
    opened("CXML2"),
    opened("CMicroHTTPD"),
    opened("CQREncode"),
    opened("CPostgres"),

    workhorse("TenderModel", needs: "CSodium"),
    workhorse("TenderWire", needs: "TenderModel", "CXML2"),
    room("TenderEngine", needs: "TenderModel"),
    room("TenderModule", needs: "TenderEngine", "TenderModel", "TenderSystem", "TenderWire"),
    provider("PayTheory", rules, needs: "CSodium"),
    provider("TrueLayer", needs: "CCrypto"),
    provider("Toro", needs: "CCrypto"),
    room(
      "TenderTransport",
      small,
      needs: "TenderEngine",
      "TenderModel",
      "TenderWire",
      "CCrypto",
      "CCurl",
      "CMicroHTTPD"
    ),
    workhorse("TenderDatabase", needs: "TenderModel", "CSQLite"),
    room(
      "TenderJournal",
      needs: "TenderDatabase",
      "TenderEngine",
      "TenderModel",
      "TenderWire",
      "CSodium",
      "CSystem"
    ),
    room(
      "TenderSharedJournal",
      small,
      needs: "TenderDatabase",
      "TenderEngine",
      "TenderJournal",
      "TenderModel",
      "TenderWire",
      "CPostgres",
      "CSodium"
    ),
    workhorse(
      "TenderSimulator",
      needs: "TenderDatabase",
      "TenderEngine",
      "TenderModel",
      "TenderWire",
      "CCrypto",
      "CMicroHTTPD",
      "CSodium"
    ),
    simulated("PayTheory", needs: "CSodium"),
    simulated("TrueLayer", needs: "CCrypto", "CSodium"),
    simulated("Toro", needs: "CCrypto"),
    workhorse(
      "TenderSystem",
      needs: "TenderEngine",
      "TenderModel",
      "TenderWire",
      "CSodium",
      "CSystem"
    ),
    room("TenderOutput", small, needs: "TenderModel", "TenderWire", "CQREncode"),
    room("TenderCommandLine", needs: "TenderModel", "TenderModule"),
    room(
      "TenderCommands",
      small,
      needs: "PayTheory",
      "TenderCommandLine",
      "TenderEngine",
      "TenderJournal",
      "TenderModel",
      "TenderModule",
      "TenderOutput",
      "TenderSharedJournal",
      "TenderSimulator",
      "TenderSystem",
      "TenderTransport",
      "TenderWire",
      "Toro",
      "TrueLayer",
      "PayTheorySimulator",
      "ToroSimulator",
      "TrueLayerSimulator",
      "CSystem"
    ),
    .executableTarget(
      name: "tender",
      dependencies: ["TenderCommands", "TenderSystem"],
      swiftSettings: rules,
      linkerSettings: hardenedLinking
    ),

    .target(
      name: "TenderTestSupport",
      dependencies: ["TenderEngine", "TenderModel", "TenderWire"],
      path: "Tests/TenderTestSupport",
      swiftSettings: rules
    ),
    .target(name: "TenderFaults", path: "Tests/Faults"),
    .executableTarget(
      name: "tender-with-example",
      dependencies: [
        "TenderCommands", "TenderEngine", "TenderModel", "TenderModule", "TenderSimulator",
        "TenderSystem", "TenderWire",
      ],
      path: "Tests/ExampleProvider",
      exclude: ["PROTOCOL.md"],
      swiftSettings: rules
    ),
    .target(
      name: "TenderFuzz",
      dependencies: [
        "PayTheory", "TenderCommandLine", "TenderCommands", "TenderEngine", "TenderModel",
        "TenderModule",
        "TenderSimulator", "TenderTestSupport", "TenderTransport", "TenderWire", "Toro",
        "TrueLayer",
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
      dependencies: ["TenderEngine", "TenderModel", "TenderTransport", "TenderWire"],
      path: "Tests/WebSocketEcho",
      exclude: ["conformance.sh"],
      swiftSettings: rules
    ),
    .executableTarget(
      name: "tender-bench",
      dependencies: [
        "TenderDatabase", "TenderEngine", "TenderJournal", "TenderModel",
      ],
      path: "Tests/Bench",
      exclude: ["bank.sh", "delay.py", "far.sh", "fleet.sh", "soak.sh"],
      swiftSettings: rules
    ),
    tests(of: "TenderModel"),
    tests(of: "TenderWire", needs: "TenderSystem"),
    tests(of: "TenderEngine", needs: "TenderModel"),
    .testTarget(
      name: "PayTheoryTests",
      dependencies: [
        "PayTheory", "PayTheorySimulator", "TenderEngine", "TenderJournal", "TenderModel",
        "TenderSimulator", "TenderTestSupport", "TenderWire",
      ],
      exclude: ["Schema"],
      swiftSettings: rules
    ),
    .testTarget(
      name: "TrueLayerTests",
      dependencies: [
        "CCrypto", "TenderEngine", "TenderJournal", "TenderModel", "TenderSimulator",
        "TenderTestSupport", "TenderWire", "TrueLayer", "TrueLayerSimulator",
      ],
      exclude: ["Answers", "Schema"],
      swiftSettings: rules
    ),
    .testTarget(
      name: "ToroTests",
      dependencies: [
        "CCrypto", "CXML2", "TenderEngine", "TenderJournal", "TenderModel", "TenderSimulator",
        "TenderTestSupport", "TenderWire", "Toro", "ToroSimulator",
      ],
      exclude: ["Vectors"],
      swiftSettings: rules
    ),
    tests(of: "TenderTransport", needs: "TenderEngine", "TenderModel", "TenderWire"),
    .testTarget(
      name: "TenderJournalTests",
      dependencies: [
        "TenderDatabase", "TenderEngine", "TenderJournal", "TenderModel", "TenderSharedJournal",
        "TenderSystem", "TenderTestSupport", "TenderWire",
      ],
      exclude: ["Fixtures"],
      swiftSettings: rules
    ),
    tests(
      of: "TenderSimulator",
      needs: "PayTheorySimulator",
      "ToroSimulator",
      "TrueLayerSimulator",
      "TenderEngine",
      "TenderModel",
      "TenderWire"
    ),
    tests(of: "TenderOutput", needs: "TenderModel", "TenderWire"),
    tests(
      of: "TenderCommandLine",
      needs: "TenderCommands",
      "TenderEngine",
      "TenderModel",
      "TenderModule",
      "TenderOutput"
    ),
    .testTarget(
      name: "TenderBinaryTests",
      dependencies: [
        "CSystem", "tender", "tender-with-example", "TenderCommandLine", "TenderCommands",
        "TenderDatabase", "TenderModel",
        "TenderModule", "TenderSimulator", "TenderTestSupport", "TenderWire", "PayTheorySimulator",
        "ToroSimulator", "TrueLayerSimulator",
      ],
      exclude: ["Screens"],
      swiftSettings: rules
    ),
    .testTarget(
      name: "TenderArchitectureTests",
      dependencies: [
        "TenderCommandLine", "TenderCommands", "TenderEngine", "TenderModel", "TenderModule",
        "TenderTestSupport", "tender",
      ],
      swiftSettings: rules
    ),
  ],
  swiftLanguageModes: [.v6]
)
