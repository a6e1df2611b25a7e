import Foundation
import TenderModel
import TenderTestSupport
import Testing

/// The tools of a test with a real browser.
enum BrowserTools {
  static let found: (driver: String, curl: String)? = {
    let find = { (names: [String]) in
      names.first { FileManager.default.isExecutableFile(atPath: $0) }
    }
    guard let driver = find(["/usr/bin/chromedriver", "/opt/homebrew/bin/chromedriver"]),
      find(["/usr/bin/chromium", "/usr/bin/google-chrome"]) != nil,
      let curl = find(["/usr/bin/curl"])
    else { return nil }
    return (driver, curl)
  }()
}

/// A headless browser, driven over WebDriver (W3C WebDriver, section 6).
private final class Browser {
  private var process = Process()
  private let curl: String
  private var base = ""
  private var session = ""
  /// The folder of its files.
  private let folder: URL

  init(_ tools: (driver: String, curl: String), in folder: URL) throws {
    self.folder = folder
    curl = tools.curl
    // Another process may take the port first. Then another port is tried.
    for _ in 0..<3 {
      let port = try FreePort.next()
      base = "http://127.0.0.1:\(port)"
      process = Process()
      process.executableURL = URL(filePath: tools.driver)
      process.arguments = ["--port=\(port)"]
      process.environment = ["HOME": folder.path, "PATH": "/usr/bin:/bin"]
      process.standardOutput = FileHandle.nullDevice
      process.standardError = FileHandle.nullDevice
      try process.run()
      // curl retries each second until the port is open.
      if try send("GET", "/status", patience: "10")["ready"] == true { break }
      process.terminate()
    }
    let options: JSON = [
      "args": [
        "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
        "--window-size=390,844", .string("--user-data-dir=\(folder.path)/browser"),
      ]
    ]
    let answer = try send(
      "POST",
      "/session",
      [
        "capabilities": [
          "alwaysMatch": [
            "goog:chromeOptions": options,
            // The browser waits for a page that is loading.
            "timeouts": ["implicit": 10_000],
          ]
        ]
      ]
    )
    session = try #require(answer["sessionId"]?.text)
  }

  @discardableResult
  private func send(
    _ method: String,
    _ path: String,
    _ body: JSON = [:],
    patience: String = "0"
  ) throws -> JSON {
    let process = Process()
    process.executableURL = URL(filePath: curl)
    process.arguments = [
      "-s", "--max-time", "20", "--retry", patience, "--retry-delay", "1", "--retry-connrefused",
      "-X", method, "-H",
      "Content-Type: application/json",
      base + path,
    ]
    if method == "POST" { process.arguments?.append(contentsOf: ["-d", JSONWriter.text(body)]) }
    let output = Pipe()
    process.standardOutput = output
    try process.run()
    let data = output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    return JSONReader.read([UInt8](data))?["value"] ?? .null
  }

  func open(_ address: String) throws {
    try send("POST", "/session/\(session)/url", ["url": .string(address)])
  }

  private func find(_ selector: String) throws -> String {
    let found = try send(
      "POST",
      "/session/\(session)/element",
      ["using": "css selector", "value": .string(selector)]
    )
    return try #require(found.object?.members.first?.value.text, "\(selector): \(found)")
  }

  func click(_ selector: String) throws {
    try send("POST", "/session/\(session)/element/\(find(selector))/click")
  }

  func type(_ text: String, into selector: String) throws {
    let element = try find(selector)
    try send("POST", "/session/\(session)/element/\(element)/clear")
    try send("POST", "/session/\(session)/element/\(element)/value", ["text": .string(text)])
  }

  func text(_ selector: String) throws -> String {
    try send("GET", "/session/\(session)/element/\(find(selector))/text").text ?? ""
  }

  /// Whether an element with this text appears, now or soon. Pages come one after the other.
  func shows(_ element: String, _ text: String) throws -> Bool {
    let found = try send(
      "POST",
      "/session/\(session)/element",
      ["using": "xpath", "value": .string("//\(element)[contains(., '\(text)')]")]
    )
    guard found["error"] == nil else {
      print("not there: \(element) \(text), \(found["error"]?.text ?? ""), at \(try address())")
      return false
    }
    return true
  }

  func address() throws -> String { try send("GET", "/session/\(session)/url").text ?? "" }

  func quit() {
    _ = try? send("DELETE", "/session/\(session)")
    // It ignores SIGTERM.
    _ = try? send("GET", "/shutdown")
    process.waitUntilExit()
  }
}

/// A payer with a real browser, from the bank's page back to the waiting program. Skipped without Chromium.
@Suite(
  .enabled(if: BrowserTools.found != nil, "chromium, chromium-driver and curl are not installed")
)
struct BrowserTests {
  /// Starts a payment, lets `visit` act as the payer, and returns the program's output.
  private func pay(_ visit: (Browser, String) throws -> Void) throws -> (Int32, JSONObject) {
    let tools = try #require(BrowserTools.found)
    let server = try Server()
    defer { server.stop() }
    var binary = try Binary()
    defer { binary.remove() }
    binary.variables = server.variables(scheme: "http", port: server.port)
    let port = try FreePort.next()
    let (process, output, _) = try binary.start(
      ["transact", "--provider", "truelayer", "--amount", "12.34", "--reference", "WEB-1"]
        + BankStory.payee + BankStory.payer + BankStory.bank
        + ["--redirect-url", "http://localhost:\(port)/callback", "--events", "--json"]
        + ["--no-input", "--interval", "30s"]
    )
    defer { if process.isRunning { process.terminate() } }
    var text = ""
    var address: String?
    while address == nil {
      let more = output.fileHandleForReading.availableData
      guard !more.isEmpty else { break }
      text += String(decoding: more, as: UTF8.self)
      address =
        text.split(separator: "\n").compactMap { JSONReader.read(String($0)) }
        .compactMap { $0["next_action"]?["url"]?.text }.first
    }
    let browser = try Browser(tools, in: binary.home)
    do {
      defer { browser.quit() }
      try visit(browser, try #require(address))
    }
    text += String(
      decoding: output.fileHandleForReading.readDataToEndOfFile(),
      as: UTF8.self
    )
    process.waitUntilExit()
    let last = text.split(separator: "\n").last.flatMap { JSONReader.read(String($0))?.object }
    return (process.terminationStatus, last ?? [:])
  }

  @Test func `logs in, authorises, lands at the merchant, and the payment is executed`() throws {
    let (status, record) = try pay { browser, address in
      try browser.open(address)
      #expect(try browser.shows("h1", "Log in"))
      #expect(try browser.text("dl").contains("12.34 GBP"))
      #expect(try browser.text("dl").contains("Ben Eficiary"))
      try browser.type("nobody", into: "#username")
      try browser.click("form[action^='/login'] button")
      #expect(try browser.shows("p[@id='problem']", "nobody"))
      try browser.type("test_executed", into: "#username")
      try browser.click("form[action^='/login'] button")
      #expect(try browser.shows("h1", "Authorise the payment"))
      try browser.click("button[value=Authorise]")
      #expect(try browser.shows("h1", "Thank you"))
      #expect(try browser.address().contains("/callback?payment_id="))
    }
    #expect(status == 0)
    #expect(record["result"]?["state"] == "executed")
  }

  @Test func `rejects, and the payment is declined`() throws {
    let (status, record) = try pay { browser, address in
      try browser.open(address)
      try browser.click("form[action^='/login'] button")
      try browser.click("button[value=Reject]")
      #expect(try browser.shows("h1", "Thank you"))
      // The bank's page is closed for ever.
      try browser.open(address)
      #expect(try browser.shows("h1", "Nothing to do"))
    }
    #expect(status == 3)
    #expect(record["result"]?["error"] == "authorizationFailed")
  }
}
