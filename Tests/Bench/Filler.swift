import TenderEngine
import TenderJournal
import TenderModel
import TenderSystem

#if canImport(Darwin)
private import Darwin
#else
private import Glibc
#endif

/// Writes payments into a journal's tables, many in one transaction. Through the journal, a million would
/// take an hour.
enum Filler {
  /// Fills a new journal with `count` payments, each with its terms and a history of three lines.
  static func fill(_ folder: String, _ count: Int, _ make: (Int) throws -> Payment) throws {
    _ = unsafe mkdir(folder, 0o700)
    // This creates the tables.
    _ = try SQLiteJournal(folder: folder, redactor: Redactor())
    let database = try Database(path: folder + "/journal.db")
    // The words of ten million payments fit into no memory.
    try database.execute(
      """
      PRAGMA synchronous = OFF; PRAGMA temp_store = \(count > 1_000_000 ? "FILE" : "MEMORY");
      PRAGMA cache_size = -\(count > 1_000_000 ? 1_000_000 : 2000);
      CREATE TEMP TABLE word (text TEXT, created INTEGER, payment INTEGER); BEGIN IMMEDIATE
      """
    )
    for number in 1...count {
      try add(try make(number), number, to: database)
      // Otherwise the log becomes as large as the file.
      if number % 100_000 == 0 { try database.execute("COMMIT; BEGIN IMMEDIATE") }
    }
    try database.execute(
      """
      INSERT INTO term (text, created, payment) SELECT text, created, payment FROM word ORDER BY 1, 2, 3;
      COMMIT;
      DROP TABLE word;
      PRAGMA wal_checkpoint(TRUNCATE)
      """
    )
  }

  private static func add(_ payment: Payment, _ row: Int, to database: Database) throws {
    for operation in payment.operations {
      try insert("operation", OperationRow.values(operation), ["payment": .integer(row)], database)
    }
    try insert("payment", PaymentRow.values(payment), ["row": .integer(row)], database)
    for term in SearchTerm.all(of: payment) {
      try database.query(
        "INSERT INTO word VALUES (?, ?, ?)",
        [.text(term), .integer(payment.createdAt), .integer(row)]
      )
    }
    guard let attempt = payment.attempt else { return }
    for (place, (state, note)) in [
      ("prepared", "opened"), ("sent", "sent"), (attempt.state.name.rawValue, "outcome"),
    ].enumerated() {
      var entry = HistoryEntry(at: payment.createdAt, note: note)
      entry.operation = "\(attempt.kind.rawValue) 1"
      entry.state = state
      entry.amount = attempt.amount
      entry.status = place == 2 ? payment.state.status.rawValue : "pending"
      let line = EventRow.values(3 * row + place - 2, row, entry)
      try insert("event", line, ["link": .text("")], database)
    }
  }

  private static func insert(
    _ table: String,
    _ values: Row,
    _ others: KeyValuePairs<String, Database.Value>,
    _ database: Database
  ) throws {
    let columns = values.columns.names + others.map(\.key)
    try database.query(
      "INSERT INTO \(table) (\(columns.joined(separator: ", "))) VALUES ("
        + columns.map { _ in "?" }.joined(separator: ", ") + ")",
      values.values + others.map(\.value)
    )
  }

  /// A charge that has succeeded, at a reference.
  static func payment(
    _ reference: String,
    id: String,
    amount: Int = 1050,
    at time: Int
  ) throws -> Payment {
    var payment = prepared(reference, amount: amount, at: time)
    try payment.change(1) { charge throws(Fault) in
      try charge.move(.answer, to: .succeeded, at: time)
      charge.id = id
      charge.result = [
        "type": "PT_COMPLETE",
        "body": [
          "receipt_number": .string(id), "last_four": "1111", "created_at": "2026-11-20T12:00:00Z",
          "amount": .integer(amount), "service_fee": 0, "state": "SETTLED", "brand": "VISA",
        ],
      ]
    }
    payment.lastFour = "1111"
    payment.brand = "VISA"
    return payment
  }

  /// A charge that is not sent yet, at a reference.
  static func prepared(_ reference: String, amount: Int = 1050, at time: Int) -> Payment {
    var payment = Payment(
      key: .init(
        env: .simulator,
        provider: ProviderName("paytheory"),
        reference: Reference(stored: reference)
      ),
      kind: .payment,
      merchant: "tender-paytheorylab-661f5255",
      at: time
    )
    payment.currency = Currency(code: "USD")
    var charge = Operation(.charge, amount: amount, at: time)
    charge.content = ["command": "transact", "amount": .integer(amount), "currency": "USD"]
    payment.append(charge)
    return payment
  }
}
