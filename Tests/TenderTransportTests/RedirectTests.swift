import Foundation
import TenderEngine
import TenderModel
import TenderTestSupport
import TenderTransport
import Testing

/// The listener that a payer comes back to, visited by curl.
@Suite struct RedirectTests {
  /// Asks an address; gives status and body.
  static func get(_ arguments: String...) throws -> (status: String, body: String) {
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments =
      ["curl", "-s", "--noproxy", "*", "--max-time", "10", "-w", "\n%{http_code}"] + arguments
    let output = Pipe()
    process.standardOutput = output
    try process.run()
    let text = String(
      decoding: output.fileHandleForReading.readDataToEndOfFile(),
      as: UTF8.self
    )
    process.waitUntilExit()
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    return (String(lines.last ?? ""), lines.dropLast().joined(separator: "\n"))
  }

  @Test func `lets in who belongs to the payment, and nobody else`() throws {
    let port = Int.random(in: 26_000..<32_000)
    let redirects = LoopbackRedirects(interruption: NeverInterrupted())
    let visit = try redirects.listen(at: "http://localhost:\(port)/callback")
    defer { visit.close() }
    visit.expect("payment_id", "abc")
    let base = "http://localhost:\(port)/callback"
    #expect(try Self.get(base + "?payment_id=other").status == "400")
    #expect(try Self.get("http://localhost:\(port)/favicon.ico").status == "404")
    // A page of somebody else's that resolves to this machine.
    #expect(try Self.get("-H", "Host: evil.example", base + "?payment_id=abc").status == "404")
    #expect(try Self.get("-d", "payment_id=abc", base).status == "404")
    #expect(try visit.wait(milliseconds: 0) == nil)
    let welcome = try Self.get(base + "?payment_id=abc&x=%3Cscript%3E")
    #expect(welcome.status == "200")
    #expect(welcome.body.contains("<h1>Thank you</h1>"))
    #expect(!welcome.body.contains("script"))
    #expect(try visit.wait(milliseconds: 10_000) == "payment_id=abc")
    #expect(try visit.wait(milliseconds: 0) == nil)
    _ = try Self.get("http://127.0.0.1:\(port)/callback?error=tl_hpp_cancel")
    #expect(try visit.wait(milliseconds: 10_000) == "error=tl_hpp_cancel")
  }

  @Test func `says that a port is taken, and gives it back`() throws {
    let port = Int.random(in: 20_000..<26_000)
    let redirects = LoopbackRedirects(interruption: NeverInterrupted())
    let address = "http://127.0.0.1:\(port)/callback"
    let first = try redirects.listen(at: address)
    let busy = #expect(throws: Fault.self) { _ = try redirects.listen(at: address) }
    #expect(busy?.code == "port_busy")
    #expect(busy?.exitStatus == 2)
    first.close()
    // A process that another test starts holds the port until it runs its own program; to ask for an
    // answer takes longer than that.
    for _ in 0..<50 {
      if let again = try? redirects.listen(at: address) { return again.close() }
      #expect(try Self.get(address).status == "000")
    }
    Issue.record("the port was not given back")
  }

  @Test(arguments: [
    ("http://localhost:3000/callback", true), ("http://127.0.0.1:1/x", true),
    ("http://[::1]:3000/", true), ("https://localhost:3000/callback", false),
    ("https://shop.example/cb", false), ("http://shop.example/cb", false), ("app://back", false),
  ])
  func `knows its own addresses`(_ address: String, _ isOwn: Bool) {
    #expect(LoopbackRedirects.isOwn(address) == isOwn)
  }
}
