import Foundation
import TenderModel
import TenderTestSupport
import Testing

/// The tarball and the CI templates, as their users run them. `make packages-test` tries the release's own.
@Suite struct PackagingTests {
  /// An empty home with the tarball of this build, the README's batch, and the job of a template.
  private struct Job {
    let home: URL
    let tarball: String
    var sum = ""

    init() throws {
      home = try Binary().home
      let made = try Self.run(
        ["Tests/Packaging/tarball.sh", Binary.path.path, "1.2.3", home.path + "/made"],
        in: Project.path(""),
        ["HOME": home.path, "PATH": ProcessInfo.processInfo.environment["PATH"] ?? ""]
      )
      try #require(made.status == 0, "\(made)")
      tarball = String(made.output.split(separator: "\n").last ?? "")
      sum = String(try run(["sha256sum", tarball]).output.dropLast())
      let batch = Project.path("Tests/Packaging/smoke.jsonl")
      try FileManager.default.copyItem(atPath: batch, toPath: home.path + "/smoke.jsonl")
    }

    func remove() { try? FileManager.default.removeItem(at: home) }

    static func run(
      _ words: [String],
      in folder: String,
      _ variables: [String: String]
    ) throws -> Binary.Result {
      let process = Process()
      process.executableURL = URL(filePath: "/usr/bin/env")
      process.arguments = words
      process.environment = variables
      process.currentDirectoryURL = URL(filePath: folder)
      let output = Pipe()
      process.standardOutput = output
      process.standardError = output
      process.standardInput = FileHandle.nullDevice
      try process.run()
      let said = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
      process.waitUntilExit()
      return .init(status: process.terminationStatus, output: said, errors: "")
    }

    /// Runs words as a CI job in the home: nothing of this environment is there.
    func run(_ words: [String]) throws -> Binary.Result {
      try Self.run(
        words,
        in: home.path,
        [
          "HOME": home.path, "PATH": "/usr/bin:/bin", "TMPDIR": home.path,
          "TENDER_TARBALL": tarball, "TENDER_SHA256": sum, "TENDER_BATCH": "smoke.jsonl",
          "TENDER_REPORT": "tender.xml",
          // A runner's, which must not matter.
          "TENDER_ENV": "sandbox", "TENDER_JOURNAL": "postgresql://shop@127.0.0.1:1/shop",
        ]
      )
    }

    var report: String? { try? String(contentsOfFile: home.path + "/tender.xml", encoding: .utf8) }
  }

  /// The commands of a template: the lines that are indented below one that ends with `|`.
  private static func commands(of template: String) throws -> String {
    let text = try String(
      contentsOfFile: Project.path(".ci/templates/\(template)"),
      encoding: .utf8
    )
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
      .drop { !$0.hasSuffix("|") }.dropFirst()
    let indent = try #require(lines.first).prefix { $0 == " " }
    return lines.prefix { $0.hasPrefix(indent) }.map { $0.dropFirst(indent.count) + "\n" }.joined()
  }

  @Test func `both templates run the same commands`() throws {
    let commands = try Self.commands(of: "gitlab.yml")
    #expect(try commands == Self.commands(of: "github-action.yml"))
    #expect(commands.contains("--junit \"$TENDER_REPORT\""))
  }

  @Test(.timeLimit(.minutes(1))) func `a job goes from nothing to a green report`() throws {
    let job = try Job()
    defer { job.remove() }
    let made = try job.run(["sh", "-c", Self.commands(of: "gitlab.yml")])
    #expect(made.status == 0, "\(made.output)")
    #expect(job.report?.contains("tests=\"4\" failures=\"0\"") == true, "\(job.report ?? "none")")
    #expect(try !job.run(["ls", "-A"]).output.contains("tmp."))
  }

  @Test(.timeLimit(.minutes(1))) func `a job fails on another tarball, and on a failed line`()
    throws
  {
    var job = try Job()
    defer { job.remove() }
    let commands = try Self.commands(of: "gitlab.yml")
    let batch = job.home.path + "/smoke.jsonl"
    let line =
      #"{"command":"transact","reference":"X","amount":"5","test_card":"visa","expect":"declined"}"#
    try (line + "\n").write(toFile: batch, atomically: true, encoding: .utf8)
    #expect(try job.run(["sh", "-c", commands]).status != 0)
    #expect(job.report?.contains("tests=\"1\" failures=\"1\"") == true, "\(job.report ?? "none")")
    try FileManager.default.removeItem(atPath: job.home.path + "/tender.xml")
    job.sum = String(repeating: "0", count: 64)
    let refused = try job.run(["sh", "-c", commands])
    #expect(refused.status != 0 && refused.output.contains("FAILED"), "\(refused.output)")
    #expect(job.report == nil)
  }

  /// As an administrator does, with another folder than `/usr/local`, over an earlier version.
  @Test func `the installer puts program, pages and completions below its prefix`() throws {
    let job = try Job()
    defer { job.remove() }
    let name = URL(filePath: job.tarball).lastPathComponent
    let folder = String(name.dropLast(".tar.gz".count))
    #expect(try job.run(["tar", "-xzf", job.tarball]).status == 0)
    // From another folder, through a link, with a careless umask. The second one replaces the first.
    let install = [
      "sh", "-c", "umask $0; ln -sf \(folder)/install.sh there.sh; PREFIX=there ./there.sh",
    ]
    for umask in ["077", "000"] {
      let made = try job.run(install + [umask])
      #expect(made.status == 0, "\(made.output)")
      let rights = try job.run([
        "sh", "-c", "stat -c %a there/bin there/bin/tender there/share/man/man1/*",
      ])
      #expect(rights.output.hasPrefix("755\n755\n644\n"), "\(rights.output)")
    }
    // A program that cannot be replaced is a failure, and leaves nothing.
    let refused = try job.run([
      "sh", "-c", "mkdir -p full/bin/tender/x && PREFIX=full ./there.sh && ls",
    ])
    #expect(refused.status != 0, "\(refused.output)")
    #expect(try job.run(["sh", "-c", "ls -A full/bin"]).output == "tender\n")
    let installed = try job.run(["sh", "-c", "cd there && find . -type f -perm -u=x && ls share/*"])
    #expect(installed.output.hasPrefix("./bin/tender\n"), "\(installed.output)")
    for part in ["man1", "completions", "site-functions", "vendor_completions.d", "tender"] {
      #expect(installed.output.contains(part), "\(part)")
    }
    let all = try job.run(["tar", "-tvzf", job.tarball]).output.split(separator: "\n")
    let strange = all.filter {
      !$0.contains(" 0/0 ") || $0.first == "d" && !$0.contains("rwxr-xr-x")
    }
    #expect(strange.isEmpty)
  }

  @Test(.enabled(if: FileManager.default.fileExists(atPath: "/usr/bin/dpkg-deb"), "no dpkg-deb"))
  func `the Debian package leaves rights alone, and names what it needs`() throws {
    let home = try Binary().home
    defer { try? FileManager.default.removeItem(at: home) }
    // Compressed in a hurry.
    let variables = ProcessInfo.processInfo.environment
      .merging(["DPKG_DEB_COMPRESSOR_LEVEL": "1"]) { $1 }
    func run(_ words: String...) throws -> String {
      let result = try Job.run(words, in: Project.path(""), variables)
      #expect(result.status == 0, "\(words): \(result.output)")
      return result.output
    }
    let made = try run("Tests/Packaging/deb.sh", Binary.path.path, "1.2.3", home.path + "/made")
    let package = String(made.split(separator: "\n").last ?? "")
    let files = try run("dpkg-deb", "-c", package).split(separator: "\n")
    #expect(files.first?.hasPrefix("drwxr-xr-x root/root") == true && files[0].hasSuffix(" ./"))
    #expect(files.allSatisfy { $0.contains(" root/root ") })
    let script = #". Tests/Packaging/common.sh; lowest_glibc "$0""#
    let lowest = try run("bash", "-c", script, Binary.path.path).split(separator: "\n")[0]
    let depends = try run("dpkg-deb", "-f", package, "Depends")
    #expect(depends.hasPrefix("libc6 (>= \(lowest)), libsodium23 (>= "), "\(depends)")
    #expect(try run("dpkg-deb", "-f", package, "Version") == "1.2.3\n")
    _ = try run("dpkg-deb", "-e", package, home.path + "/control")
    _ = try run("dpkg-deb", "-x", package, home.path + "/root")
    _ = try run(
      "sh",
      "-c",
      #"cd "$0/root" && md5sum --check --strict --quiet ../control/md5sums"#,
      home.path
    )
  }

  @Test func `version --verbose names the libraries, and the build where that is known`() throws {
    let binary = try Binary()
    defer { binary.remove() }
    let record = try binary.run("version", "-v", "--json").record
    let libraries = record["libraries"]?.object
    for name in ["libsodium", "SQLite", "libcurl", "libcrypto", "libxml2", "libmicrohttpd"] {
      #expect(libraries?.text(name)?.contains(".") == true, "\(name)")
    }
    // Only a finished build has them.
    #expect(record["commit"] == nil && record["compiler"] == nil)
    let table = try binary.run("version", "--verbose", "--output", "table").output
    #expect(table.contains("\nlibcurl \(libraries?.text("libcurl") ?? "")\n"), "\(table)")
    #expect(try binary.run("version", "--json").record["libraries"] == nil)
  }

  /// The section that a finished build is marked in.
  @Test(.enabled(if: FileManager.default.fileExists(atPath: Project.path(".git")), "no commits"))
  func `a finished build knows its commit and compiler`() throws {
    var binary = try Binary()
    defer { binary.remove() }
    let copy = Binary.products.appending(path: "tender-stamped-\(UUID().uuidString)")
    try FileManager.default.copyItem(at: Binary.path, to: copy)
    defer { try? FileManager.default.removeItem(at: copy) }
    let stamped = try Job.run(
      ["Tests/Packaging/stamp.sh", copy.path],
      in: Project.path(""),
      ProcessInfo.processInfo.environment
    )
    #expect(stamped.status == 0, "\(stamped.output)")
    binary.program = copy.path
    let record = try binary.run("version", "-v", "--json").record
    #expect(record.text("commit")?.prefix(40).allSatisfy(\.isHexDigit) == true, "\(record)")
    #expect(record.text("compiler")?.hasPrefix("Swift version ") == true, "\(record)")
  }
}
