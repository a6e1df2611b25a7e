import TenderModel
import TenderOutput
import TenderWire
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
        == #"{"schema":1,"record":"payment","command":"transact","provider":"paytheory","reference":"A","#
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

  @Test(arguments: Record.Kind.allCases)
  func `has a schema for every kind of record`(_ kind: Record.Kind) {
    let schema = RecordSchema.document(kind)
    let required = schema["required"]?.array?.compactMap(\.text) ?? []
    for name in ["schema", "record", "command", "at"] { #expect(required.contains(name)) }
    for name in required { #expect(schema["properties"]?[name] != nil) }
  }
}
