import TenderCommandLine
import Testing

/// The QR code on a terminal.
@Suite struct QRCodeTests {
  @Test func `has three finder patterns in a quiet zone`() throws {
    let text = try #require(QRCode.text(for: "HELLO", width: 80, isColoured: false))
    let lines = text.split(separator: "\n").map(Array.init)
    // Version 1 has 21 modules (ISO/IEC 18004, section 5.3), the zone 4 on each side.
    #expect(lines.count == 15)
    #expect(lines.allSatisfy { $0.count == 29 })
    func isDark(_ row: Int, _ column: Int) -> Bool {
      let cell = lines[row / 2][column]
      return row % 2 == 0 ? cell == " " || cell == "▄" : cell == " " || cell == "▀"
    }
    // Seven by seven modules: a dark ring, a light ring, three by three dark.
    for (top, left) in [(4, 4), (4, 18), (18, 4)] {
      for row in 0..<7 {
        for column in 0..<7 {
          let ring = min(row, column, 6 - row, 6 - column)
          #expect(
            isDark(top + row, left + column) == (ring != 1),
            "\(top) \(left) \(row) \(column)"
          )
        }
      }
    }
    for index in 0..<29 {
      for edge in 0..<4 {
        #expect(!isDark(edge, index) && !isDark(index, edge) && !isDark(index, 28 - edge))
      }
    }
  }

  @Test func `is left out where it would not fit`() {
    #expect(QRCode.text(for: "HELLO", width: 28, isColoured: false) == nil)
    #expect(
      QRCode.text(for: String(repeating: "a", count: 2001), width: 500, isColoured: false) == nil
    )
  }
}
