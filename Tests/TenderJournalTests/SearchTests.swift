import Foundation
import TenderDatabase
import TenderEngine
import TenderJournal
import TenderModel
import TenderTestSupport
import Testing

/// What an attempt is found by besides its columns: the same whether it is indexed or read.
@Suite final class SearchTests: JournalFolder {
  private static func attempt(_ reference: String, _ content: JSONObject) -> Attempt {
    var attempt = Attempt.payment(reference, number: 1, at: 1_800_000_000_000)
    attempt.content = content
    return attempt
  }

  private func journals() throws -> [any Journal] {
    [
      MemoryJournal(), try SQLiteJournal(folder: state.path, redactor: Redactor()),
    ]
  }

  private static func filters() -> [(AttemptFilter, Set<String>)] {
    func filter(_ change: (inout AttemptFilter) -> Void) -> AttemptFilter {
      var filter = AttemptFilter()
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
          $0.amount = 900
        }, ["BEN"]
      ),
    ]
  }

  @Test func `finds the same with an index as without`() throws {
    for journal in try journals() {
      var ada = try journal.insert(
        Self.attempt(
          "ADA",
          [
            "payor": ["first_name": "Ada", "last_name": "Lovelace", "email": "a.l@example.com"],
            "metadata": ["table": 7], "account_code": "A-7",
          ]
        ),
        .process
      )
      ada.result = ["trace_id": "trace-1", "failure_reason": "paid"]
      try journal.update(&ada, note: "x", .process)
      var ben = try journal.insert(
        Self.attempt(
          "BEN",
          [
            "user": ["name": "Ben Äneas", "email": "b@example.com", "phone": "+44 7700-900123"],
            "metadata": ["table": "77", "waiter": true],
          ]
        ),
        .process
      )
      ben.id = "pt-9"
      ben.amount = 900
      try journal.update(&ben, note: "x", .process)
      var long = try journal.insert(
        Self.attempt(
          "LONG",
          ["payer": ["name": .string(String(repeating: "long", count: 30) + "est")]]
        ),
        .process
      )
      long.fault = Fault(.declined, code: "stolen_card", "the card is stolen", hint: "")
      long.result = ["receipt": ["actionCode": "43"]]
      try journal.update(&long, note: "x", .process)
      for (filter, expected) in Self.filters() {
        var found: Set<String> = []
        try journal.each(filter) { found.insert($0.reference.text).inserted }
        #expect(found == expected, "\(filter) in \(type(of: journal))")
        #expect(try journal.count(filter, upTo: .max) == expected.count)
      }
      if let journal = journal as? SQLiteJournal { #expect(try journal.verify() == []) }
      // What failed may be mended later.
      long.fault = nil
      try journal.update(&long, note: "x", .process)
      var failed = AttemptFilter()
      failed.failure = "stolen"
      #expect(try journal.count(failed, upTo: .max) == 0)
      if let journal = journal as? SQLiteJournal { #expect(try journal.verify() == []) }
    }
  }

  @Test func `stops counting where it is told to`() throws {
    for journal in try journals() {
      for number in 0..<5 { _ = try journal.insert(Self.attempt("A\(number)", [:]), .process) }
      var filter = AttemptFilter()
      #expect(try journal.count(filter, upTo: 3) == 3)
      filter.handle = "A*"
      #expect(try journal.count(filter, upTo: 3) == 3)
      #expect(try journal.count(filter, upTo: 9) == 5)
    }
  }

  @Test func `notices where the search and the rows differ`() throws {
    let journal = try SQLiteJournal(folder: state.path, redactor: Redactor())
    let content: JSONObject = ["payor": ["name": "Ada"]]
    _ = try journal.insert(Self.attempt("A", content), .process)
    #expect(try journal.verify() == [])
    let database = try Database(path: state.path + "/journal.db")
    try database.execute("UPDATE term SET text = 'c:eve' WHERE text = 'c:ada'")
    #expect(try journal.verify() == ["what 'A' is searched by is not what its row says"])
    try database.execute(
      "UPDATE term SET text = 'c:ada' WHERE text = 'c:eve'; INSERT INTO term VALUES ('c:x', 1, 99)"
    )
    #expect(try journal.verify() == ["1 terms that are searched belong to no attempt"])
  }

  @Test func `forgets the terms of what is pruned`() throws {
    let journal = try SQLiteJournal(folder: state.path, redactor: Redactor())
    var old = try journal.insert(Self.attempt("A", ["payor": ["name": "Ada"]]), .process)
    old.phase = .done
    old.status = .succeeded
    try journal.update(&old, note: "x", .process)
    #expect(try journal.prune(before: 1_900_000_000_000, AttemptFilter()) == 1)
    let database = try Database(path: state.path + "/journal.db")
    #expect(try database.first("SELECT count(*) FROM term")?.first?.integer == 0)
  }

  /// A filter of one kind never reads all rows, but where a part is within a word.
  @Test func `has an index for each filter`() throws {
    _ = try SQLiteJournal(folder: state.path, redactor: Redactor())
    let database = try Database(path: state.path + "/journal.db")
    var filters = Self.filters().map(\.0).filter {
      $0.handle?.hasPrefix("*") != true || $0.handle == "*DA"
    }
    for change: (inout AttemptFilter) -> Void in [
      { $0.env = .live }, { $0.provider = ProviderName("toro") }, { $0.lastFour = "1111" },
      { $0.amount = 1 }, { $0.currency = Currency(code: "USD") }, { $0.since = 1 },
      { $0.until = 1 },
      { $0.statuses = [.unknown] }, { $0.isOpen = true },
      { $0.statuses = [.pending, .requiresAction] },
      { $0.statuses = [.declined] }, { $0.statuses = [.declined, .unknown] }, { $0.handle = "A" },
    ] {
      var filter = AttemptFilter()
      change(&filter)
      filters.append(filter)
    }
    for filter in filters {
      let (sql, values, _, _) = SQLiteJournal.selection(filter)
      var plan: [String] = []
      try database.query("EXPLAIN QUERY PLAN " + sql, values) { row in
        plan.append(row.last?.text ?? "")
        return true
      }
      #expect(!plan.contains { $0.hasPrefix("SCAN") }, "\(filter): \(plan)")
      #expect(!plan.contains { $0.contains("TEMP B-TREE FOR ORDER BY") }, "\(filter): \(plan)")
    }
  }
}
