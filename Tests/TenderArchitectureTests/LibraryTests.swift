import Foundation
import TenderTestSupport
import Testing

/// One table lists the libraries. The checks at their opening match the table.
@Suite struct LibraryTests {
  private struct Row {
    let name: String
    let lowest: String
  }

  private static let rows: [Row] = {
    let text =
      (try? String(contentsOfFile: Project.path("Sources/Libraries.tsv"), encoding: .utf8)) ?? ""
    return text.split(separator: "\n").filter { !$0.hasPrefix("#") }.compactMap { line in
      let parts = line.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
      guard parts.count == 8 else { return nil }
      return Row(name: parts[0], lowest: parts[1])
    }
  }()

  @Test func `checks the lowest version of each opened library`() throws {
    let shims = [
      "libcurl": "CCurl", "OpenSSL": "CCrypto", "libxml2": "CXML2", "libmicrohttpd": "CMicroHTTPD",
      "libqrencode": "CQREncode", "libpq": "CPostgres", "libsodium": "CSodium", "SQLite": "CSQLite",
    ]
    #expect(Set(Self.rows.map(\.name)) == Set(shims.keys))
    for row in Self.rows {
      let shim = try #require(shims[row.name])
      let text = try String(
        contentsOfFile: Project.path("Sources/CLibraries/\(shim).c"),
        encoding: .utf8
      )
      let opening = text.split(separator: "LIBRARY(", maxSplits: 1).last?.prefix(40) ?? ""
      #expect(opening.contains("\", \"\(row.lowest)\", \""), "\(row.name)")
    }
  }
}
