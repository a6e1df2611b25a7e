import TenderModel
import TenderTestSupport
import Testing

@Suite struct ShapeTests {
  private static let shape: Shape = .object([
    "id": .text(8), "last_four": .lastFour, "amount": .number, "ok": .truth, "list": .list(.word),
    "inner": .object(["a": .word]), "own": .own,
  ])

  @Test func `shows what is documented, and nothing else`() {
    let value: JSONObject = [
      "id": "p-1", "last_four": "1234", "amount": 5, "ok": true, "list": ["a", 1, "b"],
      "inner": ["a": "x", "b": "y"], "own": ["anything": [1, .null]], "extra": "e",
    ]
    #expect(
      Self.shape.filtered(value) == [
        "id": "p-1", "last_four": "1234", "amount": 5, "ok": true, "list": ["a", "b"],
        "inner": ["a": "x"], "own": ["anything": [1, .null]],
      ]
    )
  }

  @Test(
    arguments: [
      ("id", "much too long"), ("id", 5), ("id", ["p"]), ("last_four", "4000056655665556"),
      ("last_four", "12a4"), ("last_four", 1234), ("amount", "five"), ("amount", .number("5.5")),
      ("ok", "true"), ("list", "a"), ("inner", ["a"]), ("inner", "a"),
    ] as [(String, JSON)]
  )
  func `leaves out what has another type`(_ name: String, _ value: JSON) {
    #expect(Self.shape.filtered([name: value]) == [:])
  }

  @Test(arguments: ["5", 5] as [JSON])
  func `takes a number that is spelled`(_ value: JSON) {
    #expect(Self.shape.filtered(["amount": value]) == ["amount": value])
  }
}
