import Foundation
import TenderTestSupport
import Testing

#if canImport(Darwin)
private import Darwin
#else
private import Glibc
#endif

/// Peers that never stop, never begin, or send false data. Memory, time and signals are checked from outside.
///
/// `TENDER_HOSTILE=all` runs every case. `TENDER_HOSTILE=TEXT|TEXT` runs those with one of the texts in the
/// name.
@Suite struct HostilePeerTests {
  static let chosen: [HostileCase] = {
    let all =
      HostileCase.http + HostileCase.sockets + HostileCase.readers + HostileCase.databases
      + HostileCase.browsers
    guard let text = ProcessInfo.processInfo.environment["TENDER_HOSTILE"] else {
      return all.filter(\.isSample)
    }
    let parts = text.split(separator: "|")
    return text == "all"
      ? all : all.filter { row in parts.contains { row.testDescription.contains($0) } }
  }()

  @Test(arguments: chosen) func `is borne`(_ row: HostileCase) throws {
    let wrong = try row.judge()
    #expect(wrong.isEmpty, "\(wrong.joined(separator: "\n"))")
  }

  /// A provider's words are printed without what they name as secrets, in each form of output.
  @Test(arguments: ["table", "json", "raw"])
  func `prints no secret that a provider names`(_ form: String) throws {
    let id = "00000000-0000-4000-8000-000000001999"
    let answer =
      #"{"id":"\#(id)","amount_in_minor":1000,"currency":"GBP","status":"failed","#
      + #""created_at":"2026-11-26T20:00:00Z","failure_stage":"password=hunter2hunter2","#
      + #""failure_reason":"Bearer hunter2hunter2","user":{"id":"u"},"metadata":{},"#
      + #""payment_method":{"type":"bank_transfer"}}"#
    let peer = try HostilePeer(at: 0) { wire in
      repeat { wire.answer(answer, for: 0) } while wire.hear() != nil
    }
    defer { peer.stop() }
    var binary = try Binary()
    defer { binary.remove() }
    binary.variables["TENDER_TRUELAYER_API_URL"] = "http://127.0.0.1:\(peer.port)"
    binary.variables["TENDER_TRUELAYER_RESOURCE_TOKEN"] = "x"
    let fields = form == "raw" ? ["--fields", "amount,result.failure_reason,provider_status"] : []
    let result = try binary.run(
      ["payment-status", "--provider", "truelayer", id, "-o", form] + fields
    )
    #expect(result.output.contains("10.00") || result.output.contains("1000"), "\(result.errors)")
    #expect(result.output.contains("[redacted]"), "\(result.output)")
    #expect(!(result.output + result.errors).contains("hunter2"), "\(result.output)")
  }

  /// A stop ends the wait for the journal. The batch ended because of it, not because of the journal.
  @Test(arguments: [(SIGTERM, 143), (SIGINT, 130), (nil, 8)] as [(Int32?, Int32)])
  func `a batch whose journal is silent ends as its stop does`(
    _ signal: Int32?,
    _ exit: Int32
  ) throws {
    let peer = try HostilePeer(at: 0) { $0.hush() }
    defer { peer.stop() }
    var binary = try Binary()
    defer { binary.remove() }
    binary.variables["TENDER_JOURNAL"] =
      "postgres://tender:p@127.0.0.1:\(peer.port)/tender?sslmode=disable"
    let line = #"{"command":"transact","amount":"5","test_card":"visa","reference":"A"}"#
    let file = try Works.write([line], binary)
    let words =
      ["batch", file, "--json", "--timeout", "20s"] + (signal == nil ? ["--deadline", "1s"] : [])
    let end = try HostileRun(binary: binary, words: words).run(
      atMost: 10_000,
      signal: signal,
      isReady: { peer.awaitAct($0) }
    )
    #expect(end.exit == exit, "\(end.said)")
  }
}
