import Foundation
import TenderEngine
import TenderModel
import TenderSystem
import TenderTestSupport
import Testing

/// The listener for a payer's return, visited by curl.
@Suite struct RedirectTests {
  /// Requests an address. Returns status and body.
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
    let port = try FreePort.next()
    let redirects = LoopbackRedirects(interruption: NeverInterrupted())
    let visit = try redirects.listen(at: "http://localhost:\(port)/callback")
    defer { visit.close() }
    visit.expect("payment_id", "abc")
    let base = "http://localhost:\(port)/callback"
    #expect(try Self.get(base + "?payment_id=other").status == "400")
    #expect(try Self.get("http://localhost:\(port)/favicon.ico").status == "404")
    // A foreign page whose name resolves to this machine.
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

  /// More visits than a pipe has room for, and none is awaited. The listener and its caller continue.
  @Test(.timeLimit(.minutes(1))) func `is blocked by no number of visits`() throws {
    let port = try FreePort.next()
    let redirects = LoopbackRedirects(interruption: NeverInterrupted())
    let visit = try redirects.listen(at: "http://127.0.0.1:\(port)/callback")
    defer { visit.close() }
    let client = try #require(RawClient(port: port))
    for round in 0..<660 {
      let requests = (0..<100).map { number in
        "GET /callback?payment_id=\(round * 100 + number) HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\n\r\n"
      }
      #expect(client.say(requests.joined()))
      // Answers are read, so that they do not fill the connection. One may come in two pieces. If one does
      // not come, there is no next round to wait for.
      var answers = 0
      var rest = ""
      while answers < 100 {
        let said = client.hear(until: ">", milliseconds: 10_000)
        guard !said.isEmpty else { break }
        var parts = (rest + said).components(separatedBy: "</html>")
        rest = parts.removeLast()
        answers += parts.count
      }
      try #require(answers == 100)
    }
    let base = "http://127.0.0.1:\(port)/callback?payment_id=abc"
    #expect(try Self.get(base).status == "200")
    var heard: [String] = []
    while let query = try visit.wait(milliseconds: 100) { heard.append(query) }
    #expect(heard.count == 8)
    #expect(heard.last == "payment_id=abc")
  }

  /// The waiting command continues at once, and its process may end. The page was sent before.
  @Test func `the payer reads the page, however soon the listener is closed`() throws {
    let redirects = LoopbackRedirects(interruption: NeverInterrupted())
    for _ in 0..<200 {
      let port = try FreePort.next()
      // Another test may have taken the port in between.
      guard let visit = try? redirects.listen(at: "http://127.0.0.1:\(port)/callback") else {
        continue
      }
      let client = try #require(RawClient(port: port))
      // In two pieces, because the answer is not sent in the call that accepts the visit.
      #expect(client.say("GET /callback?payment_id=abc HTTP/1.1\r\n"))
      #expect(try visit.wait(milliseconds: 2) == nil)
      #expect(client.say("Host: 127.0.0.1:\(port)\r\n\r\n"))
      #expect(try visit.wait(milliseconds: 10_000) == "payment_id=abc")
      visit.close()
      #expect(client.hear(until: "</html>", milliseconds: 10_000).contains("Thank you"))
    }
  }

  @Test func `lets the payer in beside connections that say nothing`() throws {
    let port = try FreePort.next()
    let redirects = LoopbackRedirects(interruption: NeverInterrupted())
    let visit = try redirects.listen(at: "http://127.0.0.1:\(port)/callback")
    defer { visit.close() }
    let idle = (0..<60).compactMap { number in
      let client = RawClient(port: port)
      // Some of them begin to send.
      if number % 2 == 0 { client?.say("GET /callback HTTP/1.1\r\nHost:") }
      return client
    }
    #expect(idle.count > 16)
    let base = "http://127.0.0.1:\(port)/callback?payment_id=abc"
    #expect(try Self.get("--max-time", "3", base).status == "200")
    #expect(try visit.wait(milliseconds: 10_000) == "payment_id=abc")
    withExtendedLifetime(idle) {}
  }

  @Test func `says that a port is taken, and gives it back`() throws {
    let port = try FreePort.next()
    let redirects = LoopbackRedirects(interruption: NeverInterrupted())
    let address = "http://127.0.0.1:\(port)/callback"
    let first = try redirects.listen(at: address)
    let busy = #expect(throws: Fault.self) { _ = try redirects.listen(at: address) }
    #expect(busy?.code == "port_busy")
    #expect(busy?.exitStatus == 2)
    first.close()
    // A process that another test starts holds the port until its exec. A request takes longer than that.
    for _ in 0..<50 {
      if let again = try? redirects.listen(at: address) { return again.close() }
      #expect(try Self.get(address).status == "000")
    }
    Issue.record("the port was not given back")
  }

  @Test(arguments: [
    ("http://localhost:3000/callback", true), ("http://127.0.0.1:1/x", true),
    ("http://[::1]:3000/", true), ("https://localhost:3000/callback", false),
    ("http://127.0.0.+1:3000/", false), ("http://127.0.0.0x1/", false),
    ("http://127.0.0.1:+80/", false),
    ("https://shop.example/cb", false), ("http://shop.example/cb", false), ("app://back", false),
  ])
  func `knows its own addresses`(_ address: String, _ isOwn: Bool) {
    #expect(LoopbackRedirects.isOwn(address) == isOwn)
  }
}
