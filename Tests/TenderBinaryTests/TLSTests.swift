import Foundation
import TenderModel
import TenderTestSupport
import Testing

/// The tools of a TLS test.
enum TLSTools {
  static let found: (stunnel: String, openssl: String)? = {
    let find = { (names: [String]) in
      names.first { FileManager.default.isExecutableFile(atPath: $0) }
    }
    guard
      let stunnel = find(["/usr/bin/stunnel4", "/usr/bin/stunnel", "/opt/homebrew/bin/stunnel"]),
      let openssl = find(["/usr/bin/openssl", "/opt/homebrew/bin/openssl"])
    else { return nil }
    return (stunnel, openssl)
  }()
}

/// TLS by stunnel in front of `simulator serve`, with a private root. Skipped without stunnel.
@Suite(.enabled(if: TLSTools.found != nil, "stunnel4 and openssl are not installed"))
struct TLSTests {
  @Test func `tells the whole story through TLS, and nothing to a stranger`() throws {
    let tools = try #require(TLSTools.found)
    let server = try Server()
    defer { server.stop() }
    var binary = try Binary()
    defer { binary.remove() }
    let folder = binary.home.path
    func openssl(_ arguments: String...) throws {
      let process = Process()
      process.executableURL = URL(filePath: tools.openssl)
      process.arguments = arguments
      process.currentDirectoryURL = binary.home
      process.standardError = FileHandle.nullDevice
      process.standardOutput = FileHandle.nullDevice
      try process.run()
      process.waitUntilExit()
      #expect(process.terminationStatus == 0, "\(arguments)")
    }
    for name in ["root", "stranger"] {
      try openssl(
        "req",
        "-x509",
        "-newkey",
        "ec",
        "-pkeyopt",
        "ec_paramgen_curve:P-256",
        "-nodes",
        "-days",
        "2",
        "-subj",
        "/CN=\(name)",
        "-keyout",
        "\(name).key",
        "-out",
        "\(name).pem"
      )
    }
    try openssl(
      "req",
      "-newkey",
      "ec",
      "-pkeyopt",
      "ec_paramgen_curve:P-256",
      "-nodes",
      "-subj",
      "/CN=localhost",
      "-keyout",
      "server.key",
      "-out",
      "server.csr"
    )
    try "subjectAltName=DNS:localhost".write(
      toFile: folder + "/server.ext",
      atomically: true,
      encoding: .utf8
    )
    try openssl(
      "x509",
      "-req",
      "-in",
      "server.csr",
      "-CA",
      "root.pem",
      "-CAkey",
      "root.key",
      "-CAcreateserial",
      "-days",
      "2",
      "-extfile",
      "server.ext",
      "-out",
      "server.pem"
    )
    let port = try FreePort.next()
    try """
    foreground = yes
    pid =
    [tls]
    accept = 127.0.0.1:\(port)
    connect = 127.0.0.1:\(server.port)
    cert = \(folder)/server.pem
    key = \(folder)/server.key
    """.write(toFile: folder + "/stunnel.conf", atomically: true, encoding: .utf8)
    let stunnel = Process()
    stunnel.executableURL = URL(filePath: tools.stunnel)
    stunnel.arguments = [folder + "/stunnel.conf"]
    stunnel.standardError = FileHandle.nullDevice
    stunnel.standardOutput = FileHandle.nullDevice
    try stunnel.run()
    defer {
      // Its end after SIGTERM is slow while connections are open.
      kill(stunnel.processIdentifier, SIGKILL)
      stunnel.waitUntilExit()
    }
    try #require(canConnect(port))

    let pay = ["transact", "--amount", "5", "--test-card", "visa", "--json", "--reference", "X"]
    let good = server.variables(scheme: "https", port: port, host: "localhost")
    for (name, variables) in [
      ("no root", good),
      ("wrong root", good.merging(["TENDER_CA_FILE": folder + "/stranger.pem"]) { $1 }),
      (
        "wrong host name",
        server.variables(scheme: "https", port: port).merging(
          ["TENDER_CA_FILE": folder + "/root.pem"]) { $1 }
      ),
      (
        "wrong root at the socket alone",
        server.variables(scheme: "http", port: server.port).merging(
          ["TENDER_PAYTHEORY_SOCKET_URL": "wss://localhost:\(port)"]) { $1 }
      ),
    ] {
      binary.variables = variables
      let refused = try binary.run(pay)
      #expect(refused.status == 10, "\(name): \(refused.errors)")
      #expect(refused.output == "")
    }
    // The certificate is refused, and each provider's message says so.
    binary.variables = good
    let look = ["payment-status", "11111111-2222-4333-8444-555555555555", "--json"]
    let bank = try binary.run(look + ["--provider", "truelayer"])
    #expect(bank.status == 10)
    #expect(bank.errorRecord["error"]?["code"] == "tls_failed", "\(bank.errors)")
    // A folder with each certificate under the hash of its name works as well. That of a stranger does not.
    for (name, status) in [("root", Int32(0)), ("stranger", 10)] {
      let roots = folder + "/\(name).d"
      try FileManager.default.createDirectory(atPath: roots, withIntermediateDirectories: true)
      try FileManager.default.copyItem(atPath: folder + "/\(name).pem", toPath: roots + "/a.pem")
      try openssl("rehash", roots)
      binary.variables = good.merging(["TENDER_CA_FILE": roots]) { $1 }
      let answer = try binary.run("transact", "--amount", "5", "--test-card", "visa", "--json")
      #expect(answer.status == status, "\(name): \(answer.errors)")
    }
    // A user who can set a variable must not get the keys of a connection. Without a containment, nothing
    // else would prevent a library from writing them.
    let keys = ["SSLKEYLOGFILE": folder + "/keys", "TENDER_CONTAINMENT": "off"]
    binary.variables = good.merging(["TENDER_CA_FILE": folder + "/root.pem"]) { $1 }
    var watched = binary
    watched.variables.merge(keys) { $1 }
    let paid = try watched.run("transact", "--amount", "5", "--test-card", "visa")
    #expect(paid.status == 0, "\(paid.errors)")
    #expect(!FileManager.default.fileExists(atPath: folder + "/keys"))
    try Story(binary: binary).run()
  }

  /// Whether a process starts to listen on a port within some seconds.
  private func canConnect(_ port: Int) -> Bool {
    for _ in 0..<250 {
      let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
      defer { close(descriptor) }
      var address = sockaddr_in()
      address.sin_family = sa_family_t(AF_INET)
      address.sin_port = in_port_t(port).bigEndian
      address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
      let status = unsafe withUnsafePointer(to: &address) { pointer in
        unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { raw in
          unsafe connect(descriptor, raw, socklen_t(MemoryLayout<sockaddr_in>.size))
        }
      }
      if status == 0 { return true }
      // It only waits for the start of the other program.
      _ = poll(nil, 0, 20)
    }
    return false
  }
}
