import Foundation
import TenderModel
import TenderTestSupport
import Testing

/// `doctor` really asks: a host that cannot be reached, or refuses the credentials, is not ok.
@Suite struct DoctorTests {
  private func check(_ result: Binary.Result, _ name: String) throws -> JSONObject {
    try #require(result.records.first { $0.text("name") == name }, "\(result.output)")
  }

  @Test(arguments: [
    ("paytheory", ["paytheory token service", "paytheory graphql"]),
    ("truelayer", ["truelayer api"]), ("toro", ["toro gateway", "toro terminal manager"]),
  ])
  func `says which host answered, and fails where none does`(
    _ provider: String,
    _ names: [String]
  ) throws {
    let server = try Server()
    var binary = try Binary()
    defer { binary.remove() }
    binary.variables = server.announced
    let words = ["doctor", "--provider", provider, "--json"]
    let reached = try binary.run(words)
    #expect(reached.status == 0, "\(reached.output)")
    for name in ["config", "state", "disk", "libraries"] {
      #expect(try check(reached, name)["outcome"] == "ok")
    }
    for name in names {
      let found = try check(reached, name)
      #expect(found["outcome"] == "ok")
      let detail = try #require(found.text("detail"))
      #expect(detail.contains("http://127.0.0.1:\(server.port) in "))
      #expect(detail.hasSuffix(" ms, clock right"))
    }
    #expect(server.terminate() == 0)
    let lost = try binary.run(words)
    #expect(lost.status == (provider == "toro" ? 19 : 10), "\(lost.output)")
    for name in names {
      let found = try check(lost, name)
      #expect(found["outcome"] == "fail")
      #expect(found.text("remedy")?.isEmpty == false)
      #expect(found["error"]?["effect"] == "none")
    }
    #expect(try binary.run("journal", "list", "--json").records.isEmpty)
  }

  @Test(arguments: [(-120, "120 s ahead of"), (120, "120 s behind"), (20, nil)])
  func `compares clocks`(_ off: Int, _ says: String?) throws {
    let judge = try Judge("wrong_clock.py", String(off))
    let port = try #require(try judge.ask([:])["port"]?.wholeNumber)
    var binary = try Binary()
    defer { binary.remove() }
    binary.variables = [
      "TENDER_PAYTHEORY_TOKEN_URL": "http://127.0.0.1:\(port)",
      "TENDER_PAYTHEORY_SOCKET_URL": "ws://127.0.0.1:\(port)",
      "TENDER_PAYTHEORY_GRAPHQL_URL": "http://127.0.0.1:\(port)",
    ]
    let result = try binary.run("doctor", "--json")
    let found = try check(result, "paytheory token service")
    if let says {
      #expect(result.status == 2)
      #expect(found["error"]?["code"] == "clock_wrong")
      let message = found["error"]?["message"]?.text ?? ""
      let other = says.replacing("120", with: "119")
      let third = says.replacing("120", with: "121")
      #expect([says, other, third].contains { message.contains($0) }, "\(message)")
    } else {
      #expect(result.status == 0)
      #expect(found.text("detail")?.contains(" s behind") == true)
    }
  }

  @Test func `cuts nothing on a narrow terminal`() throws {
    let binary = try Binary()
    defer { binary.remove() }
    let shown = try binary.run("doctor", "-o", "table").output
    #expect(
      shown.contains("ok    paytheory graphql\n      it answers, and takes the credentials\n")
    )
    let own = shown.split(separator: "\n").filter { !$0.contains(binary.home.path) }
    #expect(own.allSatisfy { $0.count <= 80 })
  }
}
