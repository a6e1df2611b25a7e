import TenderCommandLine
import TenderEngine
import TenderModel
import Testing

@Suite struct OutputTests {
  static let record = Record(
    .payment,
    [
      "command": "transact", "provider": "paytheory", "reference": "A", "status": "succeeded",
      "amount": 1050, "currency": "USD",
      "result": ["type": "PT_COMPLETE", "body": ["state": "SUCCEEDED", "brand": "VISA"]],
    ]
  )

  @Test func `prints one line in the record's order`() {
    #expect(
      RecordLine.text(Self.record)
        == #"{"schema":2,"record":"payment","command":"transact","provider":"paytheory","reference":"A","#
        + #""status":"succeeded","amount":1050,"currency":"USD","result":{"type":"PT_COMPLETE","#
        + #""body":{"state":"SUCCEEDED","brand":"VISA"}}}"#
    )
  }

  @Test func `chooses fields, nested as in the record`() throws {
    #expect(
      RecordLine.text(Self.record, fields: ["result.body.brand", "status"])
        == #"{"status":"succeeded","result":{"body":{"brand":"VISA"}}}"#
    )
    #expect(RecordLine.text(Self.record, fields: ["result.none"]) == "{}")
    let fault = #expect(throws: Fault.self) { try FieldChoice.check(["stauts"]) }
    #expect(fault?.hint == "did you mean status?")
  }

  /// A quote and a combining mark are one Character, but a shell and a spreadsheet read bytes.
  @Test func `quotes for shells and spreadsheets, whatever mark follows`() {
    #expect("a'\u{301};b".shellQuoted == "'a'\\''\u{301};b'")
    let record = Record(
      .payment,
      ["reference": "\"\u{301},x", "id": "=\u{301}1", "brand": "a,\u{301}"]
    )
    #expect(
      RecordCSV.row(record, ["reference", "id", "brand"])
        == "\"\"\"\u{301},x\",'=\u{301}1,\"a,\u{301}\"\r\n"
    )
  }

  @Test(arguments: "=+-@＝＋－＠")
  func `a spreadsheet takes no text for a formula`(_ sign: Character) {
    #expect(RecordCSV.row(Record(.payment, ["id": .string("\(sign)1")]), ["id"]) == "'\(sign)1\r\n")
  }

  @Test func `prints a table without colour where none is wanted`() {
    let style = TableStyle(width: 80, isColoured: false)
    #expect(
      Table.text(Self.record, style: style) == """
        provider   paytheory
        reference  A
        status     succeeded
        amount     10.50 USD
        currency   USD
        result
          type     PT_COMPLETE
          body
            state  SUCCEEDED
            brand  VISA

        """
    )
    #expect(
      Table.rows([Self.record], columns: ["reference", "amount"], style: style) == """
        REFERENCE  AMOUNT
        A          10.50 USD

        """
    )
  }

  @Test func `lets no provider steer the terminal`() {
    let evil = Record(.payment, ["status": "\u{1b}[2J\u{202e}x\u{7}\n"])
    let text = Table.text(evil, style: TableStyle(width: 80, isColoured: false))
    #expect(text == "status  ?[2J?x??\n")
  }

  @Test func `says what is known about the money in three lines at most`() {
    let fault = Fault(
      .unknown,
      effect: .unknown,
      code: "outcome_unknown",
      "no answer",
      hint: "wait"
    )
    #expect(
      FaultText.text(fault, isColoured: false) == """
        tender: no answer
          wait
          the money may have moved; exit 9 (outcome_unknown); see: tender explain outcome_unknown

        """
    )
  }

  @Test func `prints members in the schema's order, however they were put together`() {
    var fields = JSONObject([])
    for name in ["at", "operations", "captured_amount", "status", "command"] {
      fields[name] = .string(name)
    }
    let line = RecordLine.text(Record(.payment, fields))
    #expect(
      line == #"{"schema":2,"record":"payment","command":"command","status":"status","#
        + #""captured_amount":"captured_amount","operations":"operations","at":"at"}"#
    )
  }

  @Test func `numbers operations in a table by their place`() {
    var record = Self.record
    record.fields["operations"] = [
      ["kind": "charge", "number": 1, "amount": 1050],
      ["kind": "refund", "number": 1, "amount": 300],
    ]
    let text = Table.text(record, style: TableStyle(width: 80, isColoured: false))
    #expect(
      text.contains("operations\n  1         charge  10.50 USD\n  2         refund  3.00 USD\n"),
      "\(text)"
    )
  }

  @Test func `describes the entries of operations and history, and results by their provider`() {
    let shape: JSON = ["type": "object"]
    let schema = RecordSchema.document(.journalEntry, results: [("toro", shape)])
    for name in ["kind", "number", "name", "amount", "status", "id", "key", "at"] {
      #expect(schema["properties"]?["operations"]?["items"]?["properties"]?[name] != nil)
    }
    #expect(schema["properties"]?["history"]?["items"]?["required"] == ["at", "status", "note"])
    #expect(schema["allOf"]?.array?.first?["then"]?["properties"]?["result"] == shape)
    #expect(schema["properties"]?["schema"] == ["const": 2])
  }

  @Test(arguments: Record.Kind.allCases)
  func `has a schema for every kind of record`(_ kind: Record.Kind) {
    let schema = RecordSchema.document(kind)
    let required = schema["required"]?.array?.compactMap(\.text) ?? []
    for name in ["schema", "record", "command", "at"] { #expect(required.contains(name)) }
    for name in required { #expect(schema["properties"]?[name] != nil) }
  }
}
