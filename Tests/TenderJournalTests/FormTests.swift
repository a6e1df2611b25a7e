import TenderEngine
import TenderJournal
import TenderModel
import Testing

/// References that are typed in another form of the same letters.
@Suite final class FormTests: JournalFolder {
  @Test func `a reference is found in either form, with the bytes that were sent`() throws {
    let (composed, decomposed) = ("Caf\u{e9}", "Cafe\u{301}")
    let journal = try open()
    try pay(composed, journal)
    for typed in [composed, decomposed] {
      let found = try #require(try journal.payment(try Reference(typed).text))
      #expect(Array(found.reference.text.utf8).count == 5)
      let matching = try journal.payments(matching: typed, filter: PaymentFilter())
      #expect(matching.map { Array($0.reference.text.utf8).count } == [5])
    }
    #expect(try journal.payment("Cafe") == nil)
  }
}
