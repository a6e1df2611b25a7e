import Foundation
import TenderEngine
import TenderJournal
import TenderModel
import TenderSystem
import TenderTestSupport
import Testing

/// Searches for payments by texts besides their columns. An index and a full read give the same result.
@Suite final class SearchTests: JournalFolder {
  private static func payment(_ reference: String, _ content: JSONObject) -> Payment {
    var payment = Payment.test(reference, at: 1_800_000_000_000)
    for member in content.members { payment.charge.content[member.key] = member.value }
    return payment
  }

  private func journals() throws -> [any Journal] {
    var journals: [any Journal] = [
      MemoryJournal(), try SQLiteJournal(folder: state.path, redactor: Redactor()),
    ]
    if PostgresCluster.isAvailable {
      let address = try PostgresCluster.shared().database()
      journals.append(try SharedWorld.journal(at: address, state.path, clock: clock))
    }
    return journals
  }

  private static func filters() -> [(PaymentFilter, Set<String>)] {
    func filter(_ change: (inout PaymentFilter) -> Void) -> PaymentFilter {
      var filter = PaymentFilter()
      change(&filter)
      return filter
    }
    let long = String(repeating: "long", count: 30)
    return [
      (filter { $0.customer = "ada" }, ["ADA"]), (filter { $0.customer = "LOVELACE" }, ["ADA"]),
      (filter { $0.customer = "Ada Lovel" }, ["ADA"]), (filter { $0.customer = "ovelace" }, []),
      (filter { $0.customer = "@example" }, ["ADA", "BEN"]),
      (filter { $0.customer = "+44 7700" }, ["BEN"]), (filter { $0.customer = "900123" }, ["BEN"]),
      (filter { $0.customer = long + "est" }, ["LONG"]), (filter { $0.customer = long + "er" }, []),
      (filter { $0.customer = "%" }, []), (filter { $0.customer = "Äneas" }, ["BEN"]),
      (filter { $0.metadata = [("table", "7")] }, ["ADA"]),
      (filter { $0.metadata = [("table", "77")] }, ["BEN"]),
      (filter { $0.metadata = [("table", "7"), ("waiter", "x")] }, []),
      (filter { $0.metadata = [("waiter", "true")] }, ["BEN"]),
      (filter { $0.members = [("account_code", "A-7")] }, ["ADA"]),
      (filter { $0.members = [("account_code", "A-")] }, []),
      (filter { $0.traceID = "trace-1" }, ["ADA"]), (filter { $0.traceID = "trace" }, []),
      (filter { $0.failure = "stolen" }, ["LONG"]), (filter { $0.failure = "card is" }, ["LONG"]),
      (filter { $0.failure = "tolen" }, []), (filter { $0.failure = "paid" }, []),
      (
        filter {
          $0.failure = "x"
          $0.failureCodes = ["43", "stolen_card"]
        }, ["LONG"]
      ), (filter { $0.handle = "*DA" }, ["ADA"]), (filter { $0.handle = "*-9" }, ["BEN"]),
      (filter { $0.handle = "A*" }, ["ADA"]), (filter { $0.handle = "pt*" }, ["BEN"]),
      (filter { $0.handle = "*N*" }, ["BEN", "LONG"]),
      (filter { $0.handle = "*" }, ["ADA", "BEN", "LONG"]),
      (filter { $0.handle = "?DA" }, []), (filter { $0.handle = "A[D]A" }, []),
      (filter { $0.handle = "pt-9" }, ["BEN"]),
      (
        filter {
          $0.customer = "example"
          $0.amount = .init(minorUnits: 900)
        }, ["BEN"]
      ),
    ]
  }

  @Test func `finds the same with an index as without`() throws {
    for journal in try journals() {
      var ada = try journal.open(
        Self.payment(
          "ADA",
          [
            "payor": ["first_name": "Ada", "last_name": "Lovelace", "email": "a.l@example.com"],
            "metadata": ["table": 7], "account_code": "A-7",
          ]
        )
      )
      try journal.end(&ada) { $0.result = ["trace_id": "trace-1", "failure_reason": "paid"] }
      var ben = try journal.open(
        Self.payment(
          "BEN",
          [
            "user": ["name": "Ben Äneas", "email": "b@example.com", "phone": "+44 7700-900123"],
            "metadata": ["table": "77", "waiter": true],
          ]
        )
      )
      try journal.end(&ben) {
        $0.id = "pt-9"
        $0.amount = 900
      }
      var long = try journal.open(
        Self.payment(
          "LONG",
          ["payer": ["name": .string(String(repeating: "long", count: 30) + "est")]]
        )
      )
      try journal.end(&long, .declined) {
        $0.fault = Fault(.declined, code: "stolen_card", "the card is stolen", hint: "")
        $0.result = ["receipt": ["actionCode": "43"]]
      }
      for (filter, expected) in Self.filters() {
        var found: Set<String> = []
        try journal.each(filter) { found.insert($0.reference.text).inserted }
        #expect(found == expected, "\(filter) in \(type(of: journal))")
        #expect(try journal.count(filter, upTo: .max) == expected.count)
      }
      #expect(try journal.verify() == [])
      // A failure may be repaired later.
      try journal.end(&long) { $0.fault = nil }
      var failed = PaymentFilter()
      failed.failure = "stolen"
      #expect(try journal.count(failed, upTo: .max) == 0)
      #expect(try journal.verify() == [])
    }
  }

  @Test(arguments: [
    ("30", ["USD": 3000, "JPY": 30, "KWD": 30_000, "CLF": 300_000]),
    ("0.3", ["USD": 30, "JPY": nil, "KWD": 300, "CLF": 3000]),
    ("0.123", ["USD": nil, "JPY": nil, "KWD": 123, "CLF": 1230]),
  ])
  func `reads an amount in each currency`(_ text: String, _ units: [String: Int?]) throws {
    let amount = try PaymentFilter.Amount(decimal: text, named: "amount")
    for (code, expected) in units { #expect(amount[Currency(code: code)] == expected, "\(code)") }
    #expect(amount[nil] == units["USD"] ?? nil)
    #expect(amount.candidates == units.values.compactMap(\.self).sorted())
  }

  @Test func `stops counting where it is told to`() throws {
    for journal in try journals() {
      for number in 0..<5 { _ = try journal.open(Self.payment("A\(number)", [:])) }
      var filter = PaymentFilter()
      #expect(try journal.count(filter, upTo: 3) == 3)
      filter.handle = "A*"
      #expect(try journal.count(filter, upTo: 3) == 3)
      #expect(try journal.count(filter, upTo: 9) == 5)
    }
  }

  @Test func `notices where the search and the rows differ`() throws {
    let journal = try SQLiteJournal(folder: state.path, redactor: Redactor())
    let content: JSONObject = ["payor": ["name": "Ada"]]
    _ = try journal.open(Self.payment("A", content))
    #expect(try journal.verify() == [])
    let database = try Database(path: state.path + "/journal.db")
    try database.execute("UPDATE term SET text = 'c:eve' WHERE text = 'c:ada'")
    #expect(try journal.verify() == ["what 'A' is searched by is not what its row says"])
    try database.execute(
      "UPDATE term SET text = 'c:ada' WHERE text = 'c:eve'; INSERT INTO term VALUES ('c:x', 1, 99)"
    )
    #expect(try journal.verify() == ["1 terms that are searched belong to no payment"])
  }

  @Test func `forgets the terms of what is pruned`() throws {
    let journal = try SQLiteJournal(folder: state.path, redactor: Redactor())
    var old = try journal.open(Self.payment("A", ["payor": ["name": "Ada"]]))
    try journal.end(&old)
    #expect(try journal.prune(before: 1_900_000_000_000, PaymentFilter()) == 1)
    let database = try Database(path: state.path + "/journal.db")
    #expect(try database.first("SELECT count(*) FROM term")?.first?.integer == 0)
  }

  /// A filter of one kind never reads all rows, except for a part inside of a word.
  @Test func `has an index for each filter`() throws {
    _ = try SQLiteJournal(folder: state.path, redactor: Redactor())
    let database = try Database(path: state.path + "/journal.db")
    var filters = Self.filters().map(\.0).filter {
      $0.handle?.hasPrefix("*") != true || $0.handle == "*DA"
    }
    for change: (inout PaymentFilter) -> Void in [
      { $0.env = .live }, { $0.provider = ProviderName("toro") }, { $0.lastFour = "1111" },
      { $0.amount = .init(minorUnits: 1) },
      { $0.amount = try? .init(decimal: "30", named: "--amount") },
      { $0.currency = Currency(code: "USD") }, { $0.since = 1 },
      { $0.until = 1 },
      { $0.statuses = [.unknown] }, { $0.isOpen = true },
      { $0.statuses = [.pending, .requiresAction] },
      { $0.statuses = [.declined] }, { $0.statuses = [.declined, .unknown] }, { $0.handle = "A" },
    ] {
      var filter = PaymentFilter()
      change(&filter)
      filters.append(filter)
    }
    for filter in filters {
      let search = SQLiteJournal.search(filter).ordered
      var plan: [String] = []
      try database.query("EXPLAIN QUERY PLAN " + search.sql, search.values) { row in
        plan.append(row.last?.text ?? "")
        return true
      }
      #expect(!plan.contains { $0.hasPrefix("SCAN") }, "\(filter): \(plan)")
      #expect(!plan.contains { $0.contains("TEMP B-TREE FOR ORDER BY") }, "\(filter): \(plan)")
    }
  }
}
