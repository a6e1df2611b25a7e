import Foundation
import TenderCommandLine
import TenderCommands
import TenderEngine
import TenderModel
import TenderTestSupport
import Testing

/// Rules of the project that the compiler does not check.
@Suite struct ArchitectureTests {
  struct Source {
    let room: String
    let file: String
    let text: String

    /// The room, or its part with a separate folder.
    var part: String { file.split(separator: "/").dropLast().prefix(2).joined(separator: "/") }
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

  /// The modules of the system that each room may import. A provider's room needs no line.
  static let allowed: [String: Set<String>] = [
    "TenderModel": [
      "CLibraries", "FoundationEssentials", "Foundation", "Platform", "Synchronization",
    ],
    "TenderEngine": ["Synchronization"],
    "TenderSystem": ["CLibraries", "Platform", "Synchronization"],
    "TenderJournal": ["CLibraries", "Platform", "Synchronization"],
    "TenderCommandLine": ["CLibraries", "Synchronization"],
    "TenderSimulator": ["CLibraries", "Platform", "Synchronization"],
    "TenderCommands": ["CLibraries", "Platform", "Synchronization"],
    "tender": ["Platform"],
  ]

  static let rooms = Set(sources.map(\.room))

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
        let allowed = Self.allowed[source.room] ?? ["CLibraries", "Synchronization"]
        #expect(allowed.contains(module), "\(source.file): \(module)")
      }
      #expect(!source.text.contains("@_exported") && !source.text.contains("@testable"))
    }
  }

  /// Files that import `TenderModel` call the methods of `ByteSearch`. No room imports the library that searches by
  /// Characters (`Package.swift`).
  @Test func `splits and searches text by its bytes`() throws {
    // A literal in the loop would be parsed for each line.
    let search = /\.(split\(separator: |(first|last)Index\(of: |contains\()"/
    let comparison = /\.(prefix|split|firstIndex|lastIndex)[ (][^"{]*\{ !?\$0 [!=]= "/
    let separator = /whereSeparator: \\\.is(White|New)/
    for source in Self.sources {
      let isByBytes = source.room == "TenderModel" || source.text.contains("import TenderModel\n")
      for line in source.text.split(separator: "\n") {
        #expect(isByBytes || !line.contains(search), "\(source.file): \(line)")
        let compares = line.contains(comparison) && !line.contains("unicodeScalars")
        #expect(!compares, "\(source.file): \(line)")
        #expect(!line.contains(separator), "\(source.file): \(line)")
      }
    }
    let manifest = try String(contentsOfFile: Project.path("Package.swift"), encoding: .utf8)
    #expect(manifest.contains("-disable-implicit-string-processing-module-import"))
  }

  @Test func `names no provider in the rooms that all share`() {
    let list = "TenderCommands/Providers.swift"
    let own: Set<Substring> = ["PayTheory", "Toro", "TrueLayer"]
    let name = /pay[ -]?theory|true[ -]?layer|\btoro/.ignoresCase()
    for source in Self.sources
    where own.isDisjoint(with: source.file.split(separator: "/")) && source.file != list {
      // The regular expression is slow, and few lines need it.
      for line in source.text.split(separator: "\n")
      where ["heory", "HEORY", "ayer", "AYER", "oro", "ORO"].contains(where: line.contains) {
        #expect(!line.contains(name), "\(source.file): \(line)")
      }
    }
  }

  static let pages =
    Explanation.general + Providers().modules.flatMap(\.explanations)

  @Test func `explains every code that is thrown`() {
    let known = Set(Self.pages.filter { $0.kind != nil }.map(\.code))
    var thrown = Set<String>()
    for source in Self.sources {
      for match in source.text.matches(of: /(?:code: |\busage\(\s*)"([^"]*)"/) {
        thrown.insert(String(match.1))
      }
    }
    #expect(thrown.count > 40)
    #expect(thrown.subtracting(known) == [])
  }

  @Test func `has one stable code for one exit status`() {
    var exits: [String: Int32] = [:]
    for page in Self.pages {
      guard let exit = page.kind?.exitStatus else { continue }
      #expect(exits[page.code] ?? exit == exit, "\(page.code)")
      exits[page.code] = exit
    }
  }

  @Test func `decides by causes and flows, not by texts and casts`() {
    for source in Self.sources {
      // The regular expressions are slow, and few lines need them.
      for line in source.text.split(separator: "\n")
      where line.contains(".code") || line.contains(" any ") || line.contains(".hint ") {
        // A hint is for people.
        let isHint = line.contains(/\.hint\)* [!=]= [^n]/)
        #expect(!isHint, "\(source.file): \(line)")
        let isCode =
          line.contains(/(switch .*|contains\(.*)(rror|ault)\??\.code\b/)
          || line.contains(/(rror|ault)\??\.code\b\)* [!=]= |[!=]= [\w.?]*(rror|ault)\??\.code\b/)
        // Looking up the page of a code is not a decision by that code.
        #expect(!isCode || line.contains("page.code"), "\(source.file): \(line)")
        let isCast = line.contains(/(as[?!]|is) any [A-Z]/)
        #expect(!isCast, "\(source.file): \(line)")
      }
    }
  }

  /// The functions that a protocol of this project requires.
  static let demanded: Set<String> = {
    var names = Set<String>()
    for source in sources {
      var isInside = false
      for line in source.text.split(separator: "\n") {
        if line.hasPrefix("}") { isInside = false }
        if line.contains("protocol "), line.hasSuffix("{") { isInside = true }
        let text = line.drop { $0 == " " }
        guard isInside, text.hasPrefix("func ") else { continue }
        names.insert(String(text.dropFirst(5).prefix { $0 != "(" && $0 != "<" }))
      }
    }
    return names
  }()

  static let parts = Set(sources.map(\.part))

  /// Folders whose files can be read one after the other: their types do not depend on each other in a
  /// circle.
  ///
  /// Folders with mainly protocols are left out: a module names its session, and that its settings.
  @Test(
    arguments: parts.filter { !$0.hasPrefix("TenderSimulator") && $0 != "TenderCommandLine/Module" }
      .sorted()
  )
  func `has no circle of files`(_ part: String) throws {
    let files = Self.sources.filter { $0.part == part }
    let declaration = try Regex(
      #"(?m)^(?:package )?(?:final )?(?:struct|class|enum|protocol) (\w+)"#
    )
    let comment = try Regex(#"//.*|"(?:\\.|[^"\\])*""#)
    var home: [String: Int] = [:]
    for (index, file) in files.enumerated() {
      for match in file.text.matches(of: declaration) {
        home[String(match[1].substring ?? "")] = index
      }
    }
    let needs = try files.enumerated().map { index, file in
      let words = file.text.replacing(comment, with: "").matches(of: try Regex(#"\w+"#))
      return Set(words.compactMap { home[String($0[0].substring ?? "")] }).subtracting([index])
    }
    // A file that needs only files that were read can be read. At the end, none is left.
    var left = Set(files.indices)
    while let next = left.first(where: { needs[$0].isDisjoint(with: left) }) { left.remove(next) }
    #expect(left.isEmpty, "\(left.map { files[$0].file }.sorted())")
  }

  @Test func `documents every package declaration`() {
    #expect(Self.demanded.count > 30)
    let kinds = ["struct", "enum", "class", "protocol", "func", "init", "static", "final"]
    for source in Self.sources where !["tender", "TenderCommands"].contains(source.room) {
      let lines = source.text.split(separator: "\n", omittingEmptySubsequences: false)
      for (index, line) in lines.enumerated() {
        let words = line.split(separator: " ").map(String.init)
        guard words.first == "package", words.count > 1, index > 0,
          kinds.contains(where: { words[1].hasPrefix($0) })
        else { continue }
        // Initializers that only store values, and requirements of a protocol or a literal, explain
        // themselves.
        if words[1].hasPrefix("init") { continue }
        // The definition of an option already has the sentence of its help.
        if words[1...].contains(where: { $0.hasPrefix("Key<") || $0.hasPrefix("MoneyKey(") }) {
          continue
        }
        let above = lines[index - 1].trimmingCharacters(in: .whitespaces)
        let name = words.drop { $0 != "func" }.dropFirst().first?.prefix { $0 != "(" && $0 != "<" }
        // A requirement is documented in its protocol.
        let isDemanded = name.map { Self.demanded.contains(String($0)) } ?? false
        #expect(
          above.hasPrefix("///") || above.hasPrefix("@") || isDemanded,
          "\(source.file):\(index + 1): \(line)"
        )
      }
    }
  }

  /// The program must not load ICU or FoundationNetworking.
  @Test(
    .enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/ldd"), "there is no ldd")
  )
  func `links none of the large libraries`() throws {
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/ldd")
    process.arguments = [
      URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent()
        .appending(path: "tender").path
    ]
    let pipe = Pipe()
    process.standardOutput = pipe
    try process.run()
    let text = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    #expect(text.contains("libc.so"))
    for library in [
      "libsodium", "libsqlite3", "libcurl", "libmicrohttpd", "FoundationNetworking",
      "FoundationInternationalization",
    ] {
      #expect(!text.contains(library), "\(library)")
    }
  }
}
