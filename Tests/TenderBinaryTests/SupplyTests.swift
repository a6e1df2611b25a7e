import Foundation
import TenderModel
import TenderTestSupport
import Testing

/// The list of a build's parts, and the way to report a harmful error.
@Suite struct SupplyTests {
  private static func text(_ path: String) throws -> String {
    try String(contentsOfFile: Project.path(path), encoding: .utf8)
  }

  private static func output(_ program: String, _ arguments: [String]) throws -> String {
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = [program] + arguments
    let output = Pipe()
    process.standardOutput = output
    try process.run()
    let said = output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    return String(decoding: said, as: UTF8.self)
  }

  /// The bill distinguishes a lowest version from a linked one, and lists everything that the loader needs.
  @Test func `tells what is linked in from what is required`() throws {
    let program = Binary.path.path
    let text = try Self.output("bash", [Project.path("Tests/Packaging/sbom.sh"), "1.2.3", program])
    let bill = try #require(JSONReader.read(text)?.object)
    #expect(bill["bomFormat"] == "CycloneDX" && bill["specVersion"] == "1.5")
    #expect(bill["metadata"]?["component"]?["version"] == "1.2.3")
    var how: [String: String] = [:]
    for part in try #require(bill["components"]?.array) {
      let properties = (part["properties"]?.array ?? []).map { pair in
        (pair["name"]?.text ?? "", pair["value"]?.text ?? "")
      }
      let facts = Dictionary(properties) { $1 }
      let name = try #require(part["name"]?.text)
      how[name] = facts["tender:how"]
      #expect((part["version"] != nil) == (facts["tender:how"] == "linked-in"), "\(name)")
      #expect(
        (facts["tender:lowest-version"] != nil) == (facts["tender:how"] == "required"),
        "\(name)"
      )
      #expect((part["licenses"]?.array?.isEmpty) == false, "\(name)")
      let address = facts["tender:debian"].map { "/\($0)" }
      #expect(part["purl"]?.text?.contains(address ?? "") == address.map { _ in true }, "\(name)")
    }
    // A release has the Swift runtime within, with the compiler's version.
    let released = try Self.output("bash", [Project.path("Tests/Packaging/sbom.sh"), "1.2.3"])
    let linked = try #require(JSONReader.read(released)?["components"]?.array?.first)
    #expect(linked["version"]?.text?.first?.isNumber == true, "\(linked)")
    let rows = try Self.text("Sources/Libraries.tsv").split(separator: "\n")
      .filter { !$0.hasPrefix("#") && $0.split(separator: "\t").count >= 8 }
    #expect(rows.count > 6)
    for row in rows { #expect(how[String(row.prefix { $0 != "\t" })] == "required", "\(row)") }
    let depends = try #require(bill["dependencies"]?.array?.first?["dependsOn"]?.array)
    #expect(Set(depends.compactMap(\.text)) == Set(how.keys))
    #if os(Linux)
    #expect(how["glibc"] == "required")
    let asked = try Self.output("objdump", ["-p", program]).split(separator: "\n")
      .filter { $0.contains("NEEDED") }
    // This build loads the Swift runtime.
    #expect(asked.contains { $0.contains("libswiftCore") })
    #expect(how["Swift standard library and runtime"] == "required")
    #endif
  }

  @Test func `says how to report an error, and invents no address`() throws {
    let policy = try Self.text(".github/SECURITY.md")
    #expect(policy.contains("The project has no address for reports yet."))
    #expect(policy.contains("in private"))
    for invented in ["@", "mailto:", "http"] { #expect(!policy.contains(invented)) }
    #expect(try Self.text("man/tender-security.7").contains("has no address for reports yet"))
  }
}
