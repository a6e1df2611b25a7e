import Foundation
import TenderModel
import TenderTestSupport
import Testing

/// `conformance`: the same commands on the simulator and on a server that plays a sandbox.
@Suite struct ConformanceTests {
  private typealias Host = ServedClientTests.Host

  private static func compare(_ provider: String, _ words: [String]) throws -> Binary.Result {
    let home = try Binary()
    defer { home.remove() }
    let process = try home.start(["simulator", "serve", "--json"] + words)
    defer {
      process.0.terminate()
      process.0.waitUntilExit()
    }
    var client = try Binary()
    defer { client.remove() }
    for (name, value) in Served.variables(process.1) { client.variables[name] = value }
    client.variables["TENDER_TRUELAYER_REDIRECT_URL"] = BankStory.anyPort().last
    return try client.run(
      "conformance",
      "--env",
      "sandbox",
      "--provider",
      provider,
      "--json",
      "--sim-seed",
      "1"
    )
  }

  /// The provider, what the server is started with, and the words of the only differences of a kind.
  @Test(arguments: [
    ("paytheory", ["--sim-seed", "2"], []), ("toro", ["--sim-seed", "2"], []),
    ("truelayer", ["--sim-seed", "2"], []),
    (
      "paytheory", ["--sim-seed", "2", "--sim-scenario", "decline:insufficient_funds"],
      ["exit: simulator 0, sandbox 3", "status: simulator succeeded, sandbox declined"]
    ),
    (
      "truelayer", ["--sim-seed", "2", "--sim-fault", "bank-cancel:http-409"],
      ["POST /v3/payments/*/actions/cancel: sandbox only: status 409"]
    ),
  ])
  func `prints each difference and no other`(
    _ provider: String,
    _ words: [String],
    _ wanted: [String]
  ) throws {
    let result = try Self.compare(provider, words)
    let failed = result.records.filter { $0["outcome"] == "fail" }
    let details = failed.compactMap { $0.text("detail") }
    #expect(result.status == (wanted.isEmpty ? 0 : 14), "\(result.output) \(result.errors)")
    #expect(wanted.isEmpty == details.isEmpty, "\(details)")
    for detail in wanted { #expect(details.contains(detail), "\(details)") }
    // Members of answers with different statuses are not compared.
    let members = details.filter { $0.contains(" only: ") && !$0.contains(" only: status ") }
    #expect(provider != "truelayer" || members.isEmpty, "\(members)")
    #expect(result.records.count >= 4)
  }

  /// The key of the profile is known to the server alone.
  @Test func `uses the profile's credentials at the sandbox alone`() throws {
    let home = try Binary()
    defer { home.remove() }
    let host = try Host(home, "--sim-seed", "2")
    var client = try Binary()
    defer { client.remove() }
    let config = client.home.appending(path: "config.json")
    let section: JSON = [
      "client_id": .string(host.variables["TL_CLIENT_ID"] ?? ""),
      "client_secret_env": "SHOP_SECRET",
      "key_id": .string(host.variables["TL_SIGNING_KEY_ID"] ?? ""), "private_key_env": "SHOP_KEY",
    ]
    try JSONWriter.text(["profiles": ["shop": ["truelayer": section]]])
      .write(to: config, atomically: true, encoding: .utf8)
    client.variables = host.variables.filter { $0.key.hasSuffix("_URL") }
    client.variables["TENDER_CONFIG"] = config.path
    client.variables["TENDER_TRUELAYER_REDIRECT_URL"] = BankStory.anyPort().last
    client.variables["SHOP_SECRET"] = host.variables["TL_CLIENT_SECRET"]
    client.variables["SHOP_KEY"] = host.variables["TL_SIGNING_PRIVATE_KEY"]
    let result = try client.run(
      "conformance",
      "--env",
      "sandbox",
      "--provider",
      "truelayer",
      "--profile",
      "shop",
      "--json",
      "--sim-seed",
      "1"
    )
    #expect(result.status == 0, "\(result.output) \(result.errors)")
  }

  @Test(arguments: [["--env", "simulator"], ["--env", "live", "--provider", "paytheory"], []])
  func `compares with a sandbox alone`(_ words: [String]) throws {
    let binary = try Binary()
    defer { binary.remove() }
    #expect(try binary.run(["conformance", "--json"] + words).status == 2)
  }
}
