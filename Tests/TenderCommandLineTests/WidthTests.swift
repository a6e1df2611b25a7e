import TenderCommandLine
import TenderModel
import TenderTestSupport
import Testing

/// The width of texts on a terminal, and the alignment of tables.
@Suite struct WidthTests {
  @Test(arguments: [
    ("", 0), ("abc", 3), ("é", 1), ("e\u{301}", 1), ("日本", 4), ("한국어", 6), ("Ａ", 2), ("ｱ", 1),
    ("👍", 2), ("🇬🇧", 2), ("👩‍👩‍👧", 2), ("❤\u{fe0f}", 2), ("❤", 1), ("a\u{200b}b", 2), ("Zürich", 6),
  ])
  func `counts columns, not characters`(_ text: String, _ columns: Int) {
    #expect(DisplayWidth.columns(text) == columns)
  }

  @Test(.enabled(if: Judge.has("unicodedata"), "python3 is not installed"))
  func `agrees with another implementation`() throws {
    let judge = try Judge("widths.py")
    var judged = 0
    for start in stride(from: 0x20, to: 0x20000, by: 0x1000) {
      let answer = try judge.ask(["from": .integer(start), "to": .integer(start + 0x1000)])
      for (name, columns) in [("wide", 2), ("narrow", 1)] {
        for code in answer[name]?.array?.compactMap(\.boundedNumber) ?? [] {
          guard let scalar = Unicode.Scalar(UInt32(code)),
            !scalar.properties.isVariationSelector,
            // Two of these letters are a flag. One alone has no meaning.
            !(0x1f1e6...0x1f1ff).contains(code),
            scalar.properties.generalCategory != .unassigned
          else { continue }
          judged += 1
          let width = DisplayWidth.columns(String(scalar))
          #expect(width == columns, "U+\(String(code, radix: 16))")
        }
      }
    }
    #expect(judged > 70_000)
  }

  @Test func `aligns columns behind wide characters`() {
    let records = [("日本", "a"), ("xy", "b"), ("👍", "c")].map { note, id in
      Record(.check, ["name": .string(note), "outcome": .string(id)])
    }
    let style = TableStyle(width: 80, isColoured: false)
    let text = Table.rows(records, columns: ["name", "outcome"], style: style)
    #expect(text == "NAME  OUTCOME\n日本  a\nxy    b\n👍    c\n")
  }

  /// Columns are left out in the given order. The last one moves below its row. No value is cut.
  @Test func `leaves columns out where a terminal is narrow`() {
    let record = Record(
      .journalEntry,
      [
        "reference": "ORDER-1042", "status": "declined", "env": "simulator",
        "note": "the account has insufficient funds",
      ]
    )
    let columns = ["reference", "status", "env", "note"]
    func rows(_ width: Int) -> String {
      Table.rows(
        [record],
        columns: columns,
        spare: ["env"],
        style: TableStyle(width: width, isColoured: false)
      )
    }
    #expect(
      rows(80) == """
        REFERENCE   STATUS    ENV        NOTE
        ORDER-1042  declined  simulator  the account has insufficient funds

        """
    )
    #expect(
      rows(60) == """
        REFERENCE   STATUS    NOTE
        ORDER-1042  declined  the account has insufficient funds

        """
    )
    #expect(
      rows(40) == """
        REFERENCE   STATUS
            NOTE
        ORDER-1042  declined
            the account has insufficient funds

        """
    )
  }

  /// An amount in minor units beside `10.50 USD` is misread by a factor of a hundred.
  @Test func `shows every sum of money with its currency`() {
    let record = Record(
      .payment,
      [
        "amount": 1050, "currency": "USD", "attempt": 2,
        "result": [
          "transaction": ["gross_amount": 1050, "fees": 60, "refunded_amount": 0, "settled": 3],
          "constraints": ["maximum_individual_amount": 5000, "currency": "JPY"],
          "refunds": [["amount_in_minor": 300, "id": "r"]],
        ],
      ]
    )
    let text = Table.text(record, style: TableStyle(width: 80, isColoured: false))
    let lines = text.split(separator: "\n").map {
      $0.split(separator: " ", omittingEmptySubsequences: true).joined(separator: " ")
    }
    #expect(
      lines == [
        "amount 10.50 USD", "currency USD", "attempt 2", "result", "transaction",
        "gross_amount 10.50 USD", "fees 0.60 USD", "refunded_amount 0.00 USD", "settled 3",
        "constraints", "maximum_individual_amount 5000 JPY", "currency JPY", "refunds",
        "- 3.00 USD r",
      ]
    )
    let summary = Record(
      .batchSummary,
      ["left": 4, "statuses": ["declined": 1], "sums": ["GBP": ["declined": 1999]]]
    )
    let sums = Table.text(summary, style: TableStyle(width: 80, isColoured: false))
    #expect(sums.contains("left          4\n") && sums.contains("    declined  19.99 GBP\n"))
    #expect(sums.contains("statuses\n  declined    1\n"))
  }
}
