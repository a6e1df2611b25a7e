import Foundation
import PayTheory
import TenderEngine
import TenderModel
import TenderTestSupport
import Testing
import Toro
import TrueLayer

/// The rules of the house that a compiler does not check.
@Suite struct ArchitectureTests {
  struct Source {
    let room: String
    let file: String
    let text: String
  }

  static let sources: [Source] = {
    let root = Project.path("Sources")
    let files = FileManager.default.enumerator(atPath: root)?.compactMap { $0 as? String } ?? []
    return files.filter { $0.hasSuffix(".swift") }.map { file in
      Source(
        room: file.split(separator: "/").first.map(String.init) ?? "",
        file: file,
        text: (try? String(contentsOfFile: root + "/" + file, encoding: .utf8)) ?? ""
      )
    }
  }()

  /// Which modules of the system each room may import; the rooms are Package.swift's to say.
  static let allowed: [String: Set<String>] = [
    "TenderModel": ["CSodium", "Glibc", "Darwin", "Synchronization"],
    "TenderWire": ["FoundationEssentials", "Foundation", "CXML2"], "TenderEngine": [],
    "PayTheory": ["CSodium"], "Toro": ["CCrypto"],
    "TrueLayer": ["CCrypto", "Synchronization"],
    "TenderTransport": [
      "CCurl", "CCrypto", "CMicroHTTPD", "Glibc", "Darwin", "Synchronization",
    ],
    "TenderDatabase": ["CSQLite", "Glibc", "Darwin", "Synchronization"],
    "TenderJournal": ["CSodium", "Glibc", "Darwin", "Synchronization"],
    "TenderSimulator": [
      "CSodium", "CCrypto", "CMicroHTTPD", "Glibc", "Darwin", "Synchronization",
    ],
    "TenderOutput": ["CQREncode"], "TenderCommandLine": [],
    "tender": ["CSodium", "CSystem", "Glibc", "Darwin", "Synchronization"],
  ]

  static let rooms: Set<String> = [
    "PayTheory", "TenderCommandLine", "TenderDatabase", "TenderEngine", "TenderJournal",
    "TenderModel", "TenderOutput", "TenderSimulator", "TenderTransport", "TenderWire", "Toro",
    "TrueLayer",
  ]

  @Test func `imports only what each room may`() {
    #expect(Self.sources.count > 80)
    for source in Self.sources {
      for line in source.text.split(separator: "\n") {
        let words = line.split(separator: " ")
        guard let mark = words.firstIndex(of: "import"), mark <= 1, words.count == mark + 2 else {
          continue
        }
        let module = String(words[mark + 1])
        guard !Self.rooms.contains(module) else { continue }
        #expect(Self.allowed[source.room]?.contains(module) == true, "\(source.file): \(module)")
      }
      #expect(!source.text.contains("@_exported") && !source.text.contains("@testable"))
    }
  }

  @Test func `keeps files short`() {
    for source in Self.sources {
      let count = source.text.split(separator: "\n", omittingEmptySubsequences: false).count
      #expect(count <= 500, "\(source.file) has \(count) lines")
    }
  }

  @Test func `names no provider in the rooms that all share`() {
    let shared = ["TenderModel", "TenderWire", "TenderEngine", "TenderTransport", "TenderJournal"]
    for source in Self.sources where shared.contains(source.room) {
      for line in source.text.split(separator: "\n") where !line.contains("//") {
        for name in ["paytheory", "truelayer", "PayTheory", "TrueLayer", "toro", "Toro"] {
          #expect(!line.contains(name), "\(source.file): \(line)")
        }
      }
    }
  }

  static let pages =
    Explanation.general + PayTheoryProvider.explanations + ToroProvider.explanations
    + TrueLayerProvider.explanations

  @Test func `explains every code that is thrown`() {
    let known = Set(Self.pages.map(\.code))
    var thrown = Set<String>()
    for source in Self.sources {
      for part in source.text.components(separatedBy: "code: \"").dropFirst() {
        thrown.insert(String(part.prefix { $0 != "\"" }))
      }
    }
    #expect(thrown.count > 40)
    #expect(thrown.subtracting(known) == [])
  }

  @Test func `has one stable code for one exit status`() {
    var exits: [String: Int32] = [:]
    for page in Self.pages {
      let exit = page.kind.exitStatus
      #expect(exits[page.code] ?? exit == exit, "\(page.code)")
      exits[page.code] = exit
    }
  }

  @Test func `documents every package declaration`() {
    let kinds = ["struct", "enum", "class", "protocol", "func", "init", "static", "final"]
    for source in Self.sources where source.room != "tender" {
      let lines = source.text.split(separator: "\n", omittingEmptySubsequences: false)
      for (index, line) in lines.enumerated() {
        let words = line.split(separator: " ").map(String.init)
        guard words.first == "package", words.count > 1, index > 0,
          kinds.contains(where: { words[1].hasPrefix($0) })
        else { continue }
        // Initialisers that only store, and what a protocol or a literal demands, speak for
        // themselves.
        if words[1].hasPrefix("init") { continue }
        let above = lines[index - 1].trimmingCharacters(in: .whitespaces)
        let isWitness = source.text.contains("Provider {") || source.text.contains("Exchange {")
        let fits = above.hasPrefix("///") || above.hasPrefix("@") || isWitness
        let known = ["Clock", "Journal", "Socket", "Randomness", "Simulator", "Rules", "HTTP"]
        #expect(
          fits || known.contains { source.file.contains($0) },
          "\(source.file):\(index + 1): \(line)"
        )
      }
    }
  }

  /// The program must not pull in ICU or FoundationNetworking.
  @Test func `links none of the large libraries`() throws {
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/ldd")
    guard FileManager.default.isExecutableFile(atPath: "/usr/bin/ldd") else { return }
    process.arguments = [
      URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent()
        .appending(path: "tender").path
    ]
    let pipe = Pipe()
    process.standardOutput = pipe
    try process.run()
    let text = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    #expect(text.contains("libsodium"))
    for library in [
      "libcurl", "libmicrohttpd", "FoundationNetworking", "FoundationInternationalization",
    ] {
      #expect(!text.contains(library), "\(library)")
    }
  }
}
