import Foundation
import TenderModel
import TenderTestSupport
import Testing

/// Many look-ups at once, over a network.
@Suite struct ManyLookUpsTests {
  private static let card = ["transact", "--amount", "10", "--test-card", "visa", "--json"]

  @Test(arguments: [[], ["--jobs", "1"], ["--jobs", "40"]])
  func `answers in the order of the ids, each with its own payment`(_ more: [String]) throws {
    let server = try Server()
    defer { server.stop() }
    var binary = try Binary()
    defer { binary.remove() }
    binary.variables = server.variables(scheme: "http", port: server.port)
    let names = (1...6).map { "M\($0)" }
    for name in names {
      let paid = try binary.run(Self.card + ["--reference", name])
      #expect(paid.status == 0, "\(paid.errors)")
    }
    let asked = (0..<60).map { $0 % 7 == 6 ? "none" : names[$0 % 7 % 6] }
    let result = try binary.run(
      ["payment-status", "-", "--json"] + more,
      input: asked.joined(separator: "\n")
    )
    #expect(result.status == 14)
    #expect(result.records.map { $0["line"]?.wholeNumber } == Array(1...60))
    let found = result.records.map { $0.text("reference") ?? $0.text("id") }
    #expect(found == asked, "\(result.errors)")
  }

  @Test func `begins no more in a second than asked for`() throws {
    let server = try Server()
    defer { server.stop() }
    var binary = try Binary()
    defer { binary.remove() }
    binary.variables = server.variables(scheme: "http", port: server.port)
    let start = ContinuousClock.now
    let words = ["payment-status", "-", "--rate", "20", "--json"]
    let result = try binary.run(words, input: (0..<11).map { "x\($0)" }.joined(separator: "\n"))
    #expect(result.records.count == 11)
    #expect(ContinuousClock.now - start >= .milliseconds(500))
  }

  /// With a rate, the first answers are shown before the last request.
  @Test func `shows answers while others are still to be asked for`() throws {
    let server = try Server()
    defer { server.stop() }
    var binary = try Binary()
    defer { binary.remove() }
    binary.variables = server.variables(scheme: "http", port: server.port)
    let ids = Pipe()
    let words = ["payment-status", "-", "--rate", "4", "--json"]
    let start = ContinuousClock.now
    let (process, output, _) = try binary.start(words, input: ids)
    ids.fileHandleForWriting.write(
      Data((0..<40).map { "x\($0)" }.joined(separator: "\n").utf8)
    )
    try ids.fileHandleForWriting.close()
    var said = ""
    while said.count(where: { $0 == "\n" }) < 3 {
      let more = output.fileHandleForReading.availableData
      guard !more.isEmpty else { break }
      said += String(decoding: more, as: UTF8.self)
    }
    // All of them take ten seconds.
    #expect(ContinuousClock.now - start < .seconds(7))
    process.terminate()
    process.waitUntilExit()
  }

  @Test(arguments: [
    ["A", "--jobs", "2"], ["A", "--rate", "2"], ["-", "--wait", "--jobs", "2"],
    ["A", "B", "--events", "--rate", "2"], ["-", "--jobs", "0"], ["-", "--rate", "0"],
  ])
  func `refuses what one look-up does not use`(_ words: [String]) throws {
    let binary = try Binary()
    defer { binary.remove() }
    let result = try binary.run(["payment-status", "--json"] + words, input: "A\nB\n")
    #expect(result.status == 2)
    #expect(result.output == "")
  }
}
