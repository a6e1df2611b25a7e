import Foundation
import TenderCommandLine
import TenderCommands
import TenderEngine
import TenderModel
import TenderTestSupport
import Testing

/// `man/` matches the catalogue, except for two pages. `make generate` writes it.
@Suite struct GeneratedFilesTests {
  /// The pages that are written by hand.
  private static let byHand = ["tender-figures.7", "tender-security.7"]

  @Test func `the pages by hand are of this version`() throws {
    for file in Self.byHand {
      let head = try Project.text("man/" + file).prefix { $0 != "\n" }
      #expect(head.contains("\"tender \(Catalogue.version)\""), "\(head)")
    }
  }

  @Test func `is as the catalogue makes it`() throws {
    let (path, files) = (Project.path("man"), Self.manual)
    if ProcessInfo.processInfo.environment["TENDER_RECORD"] == "1" {
      for file in try FileManager.default.contentsOfDirectory(atPath: path)
      where !Self.byHand.contains(file) {
        try FileManager.default.removeItem(atPath: path + "/" + file)
      }
      for (file, text) in files {
        try text.write(toFile: path + "/" + file, atomically: true, encoding: .utf8)
      }
    }
    let committed = try FileManager.default.contentsOfDirectory(atPath: path)
      .filter { !Self.byHand.contains($0) }
    #expect(committed.sorted() == files.map(\.file).sorted())
    for (file, text) in files {
      let found = try String(contentsOfFile: path + "/" + file, encoding: .utf8)
      // Two whole pages would hide the advice.
      let isSame = found == text
      #expect(isSame, "man/\(file) is out of date; run: make generate")
    }
  }

  @Test(.enabled(if: shell("bash") != nil, "bash is not installed"))
  func `parses in bash`() throws { try parse("bash", "tender.bash") }

  @Test(.enabled(if: shell("zsh") != nil, "zsh is not installed"))
  func `parses in zsh`() throws { try parse("zsh", "_tender") }

  @Test(.enabled(if: shell("fish") != nil, "fish is not installed"))
  func `parses in fish`() throws { try parse("fish", "tender.fish") }

  /// The strictest checker of manual pages gives no warning.
  @Test(.enabled(if: shell("mandoc") != nil, "mandoc is not installed"))
  func `is correct roff`() throws {
    let pages =
      try Self.manual + Self.byHand.map { ($0, try Project.text("man/" + $0)) }
    for (file, text) in pages {
      let process = Process()
      let (input, output) = (Pipe(), Pipe())
      process.executableURL = URL(filePath: try #require(Self.shell("mandoc")))
      process.arguments = ["-T", "lint", "-W", "warning"]
      process.standardInput = input
      process.standardOutput = output
      process.standardError = output
      try process.run()
      // A page is larger than a pipe, so it is read and written at the same time.
      let writer = Thread { [input] in
        try? input.fileHandleForWriting.write(contentsOf: Data(text.utf8))
        try? input.fileHandleForWriting.close()
      }
      writer.start()
      let said = try output.fileHandleForReading.readToEnd() ?? Data()
      process.waitUntilExit()
      #expect(String(decoding: said, as: UTF8.self).isEmpty, "\(file)")
    }
  }

  static let manual = ManPage(catalogue: catalogue, errors: Explanation.general).all

  private static func shell(_ name: String) -> String? {
    ["/bin/", "/usr/bin/"].map { $0 + name }.first {
      FileManager.default.isExecutableFile(atPath: $0)
    }
  }

  private func parse(_ shell: String, _ file: String) throws {
    let process = Process()
    process.executableURL = URL(filePath: try #require(Self.shell(shell)))
    process.arguments = ["-n", Project.path("completions/" + file)]
    try process.run()
    process.waitUntilExit()
    #expect(process.terminationStatus == 0)
  }
}
