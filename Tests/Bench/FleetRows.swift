import TenderEngine
import TenderJournal
import TenderModel
import TenderSystem

/// Payments as a script of `psql` that copies them into the tables of a shared journal.
enum FleetRows {
  /// The number of rows in one `COPY` of each table.
  private static let most = 10_000

  /// Writes the script to standard output: a payment for each number, made a minute after the one before.
  static func write(_ numbers: ClosedRange<Int>) {
    for first in stride(from: numbers.lowerBound, through: numbers.upperBound, by: most) {
      do {
        try block(first...min(first + most - 1, numbers.upperBound))
      } catch {
        print("\\echo the rows cannot be made: \(error)")
        return
      }
    }
  }

  private static func block(_ numbers: ClosedRange<Int>) throws {
    var (payments, operations): ([String], [String]) = ([], [])
    var (events, terms): ([String], [String]) = ([], [])
    for number in numbers {
      let payment = try payment(number)
      let by = Database.Value.text("anna@till-\(number % 100)")
      for operation in payment.operations {
        operations.append(line([.integer(number)] + OperationRow.values(operation).values))
      }
      let write = "write \(number)"
      let values = PaymentRow.values(payment).values
      payments.append(line([.integer(number)] + values + [.text(write), by, .text("bench")]))
      let entry = HistoryEntry(payment, 1, note: "outcome", by: by.text)
      events.append(line(EventRow.values(1, number, entry, write: write).values))
      for term in SearchTerm.all(of: payment) {
        terms.append(line([.text(term), .integer(payment.createdAt), .integer(number)]))
      }
    }
    copy("payment", ["row"] + PaymentRow.columns.names + ["sum", "by", "machine"], payments)
    copy("operation", ["payment"] + OperationRow.columns.names, operations)
    copy("event", EventRow.columns.names, events)
    copy("term", ["text", "created", "payment"], terms)
  }

  private static func payment(_ number: Int) throws -> Payment {
    var payment = try Filler.payment(
      "ORDER-" + padded(number, to: 7),
      id: "pt-\(number)",
      amount: 1000 + number % 90_000,
      at: 1_730_000_000_000 + number * 60_000
    )
    payment.lastFour = padded(number % 10_000, to: 4)
    try payment.change(1) { charge throws(Fault) in
      charge.content["payor"] = ["email": .string("ada\(number)@example.com")]
    }
    return payment
  }

  private static func padded(_ number: Int, to digits: Int) -> String {
    let text = String(number)
    return String(repeating: "0", count: max(0, digits - text.count)) + text
  }

  private static func copy(_ table: String, _ columns: [String], _ lines: [String]) {
    print("COPY tender.\(table) (\(columns.joined(separator: ", "))) FROM STDIN;")
    print((lines + ["\\."]).joined(separator: "\n"))
  }

  /// A row in the text format of PostgreSQL's `COPY`.
  private static func line(_ values: [Database.Value]) -> String {
    values.map { value in
      switch value {
      case .null: "\\N"
      case .integer(let number): String(number)
      case .text(let text):
        text.replacing("\\", with: "\\\\").replacing("\n", with: "\\n")
          .replacing("\t", with: "\\t")
      }
    }
    .joined(separator: "\t")
  }
}
