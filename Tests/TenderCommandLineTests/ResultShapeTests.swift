import TenderCommandLine
import TenderModel
import Testing

@Suite struct ResultShapeTests {
  @Test func `turns a line into what holds where the result has that shape`() {
    let shapes = ResultShape.table(
      "type=DONE body: id amount# tags[]? metadata{}\nrefund .: is_void!"
    )
    let rules = ResultShape.schema(shapes)["allOf"]?.array ?? []
    #expect(rules.count == 2)
    #expect(rules.first?["if"]?["properties"]?["type"] == ["const": "DONE"])
    let body = rules.first?["then"]?["properties"]?["body"]
    #expect(body?["required"] == ["id", "amount", "metadata"])
    #expect(body?["properties"]?["tags"] == ["type": "array"])
    #expect(rules.last?["if"] == ["required": ["refund"]])
    #expect(rules.last?["then"]?["properties"]?["is_void"] == ["type": "boolean"])
  }

  @Test func `is declared by every provider, and by the schema of a payment`() {
    for module in catalogue.modules { #expect(!module.results.isEmpty, "\(module.name.text)") }
    let results = catalogue.modules.map {
      (provider: $0.name.text, schema: ResultShape.schema($0.results))
    }
    let document = RecordSchema.document(.payment, results: results)
    #expect(document["allOf"]?.array?.count == catalogue.modules.count)
  }
}
