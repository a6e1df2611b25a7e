import Foundation
import TenderTestSupport
import Testing

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
}
