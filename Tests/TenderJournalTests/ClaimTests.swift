import Foundation
import TenderEngine
import TenderJournal
import TenderModel
import TenderSystem
import TenderTestSupport
import Testing

/// One thing at the provider belongs to one record, and a deleted reference stays used.
@Suite final class ClaimTests: JournalFolder {
  enum Kind: Sendable {
    case sqlite, postgres

    static let all: [Kind] = PostgresCluster.isAvailable ? [.sqlite, .postgres] : [.sqlite]
  }

  private func journal(_ kind: Kind) throws -> any Journal {
    switch kind {
    case .sqlite: try open()
    case .postgres:
      try SharedWorld.journal(at: PostgresCluster.shared().database(), state.path, clock: clock)
    }
  }

  private func payment(_ reference: String, _ env: Env, merchant: String = "m") -> Payment {
    var payment = Payment(
      key: .init(
        env: env,
        provider: ProviderName("paytheory"),
        reference: Reference(stored: reference)
      ),
      kind: .payment,
      merchant: merchant,
      at: clock.now
    )
    payment.currency = Currency(code: "USD")
    var charge = Operation(.charge, amount: 1050, at: clock.now)
    charge.content = ["command": "transact", "amount": 1050, "currency": "USD"]
    payment.append(charge)
    return payment
  }

  /// A sent payment of a reference.
  private func sent(
    _ reference: String,
    _ journal: any Journal,
    _ env: Env = .sandbox,
    merchant: String = "m"
  ) throws -> Payment {
    var written = try journal.open(payment(reference, env, merchant: merchant))
    written.send()
    try journal.update(&written, note: "sent")
    return written
  }

  /// A look shows a declined attempt as paid. The charge that it adds has the id of the attempt.
  @Test(arguments: Kind.all)
  func `two charges of one record may have one id`(_ kind: Kind) throws {
    let journal = try journal(kind)
    var payment = try sent("A", journal)
    try journal.end(&payment) { $0.id = "pt-1" }
    var charge = Operation(.charge, amount: 1050, at: clock.now)
    (charge.id, charge.source, charge.state) = ("pt-1", .lookup, .succeeded)
    payment.append(charge)
    try journal.update(&payment, note: "looked up")
    #expect(try journal.payment("A", .sandbox)?.operations.map(\.id) == ["pt-1", "pt-1"])
    #expect(try journal.payment("A", .sandbox)?.state.surplus == 1050)
  }

  @Test(arguments: Kind.all)
  func `an id belongs to one record`(_ kind: Kind) throws {
    let journal = try journal(kind)
    var first = try sent("A", journal)
    try journal.end(&first) { $0.id = "pt-1" }
    var second = try sent("B", journal)
    var claimed = second
    let fault = #expect(throws: Fault.self) {
      try journal.end(&claimed) { $0.id = "pt-1" }
    }
    #expect(fault?.code == "id_held")
    #expect(fault?.exitStatus == 6)
    #expect(fault?.message.contains("'A'") == true)
    #expect(fault?.message.contains("'B'") == true)
    #expect(try journal.payment("B", .sandbox)?.state.status == .unknown)
    // The outcome can be written without the id, and a record writes its own id again.
    try journal.end(&second, .processing)
    try journal.end(&first, .processing, note: "again") { $0.result = ["state": "again"] }
    #expect(try journal.verify() == [])
  }

  /// Another env, another merchant, a capture with the id of its hold, and a stored method are no second record.
  @Test(arguments: Kind.all)
  func `an id of another thing is free`(_ kind: Kind) throws {
    let journal = try journal(kind)
    var first = try sent("A", journal)
    try journal.end(&first) { $0.id = "1" }
    var other = try sent("B", journal, .live)
    try journal.end(&other) { $0.id = "1" }
    var merchant = try sent("C", journal, merchant: "n")
    try journal.end(&merchant) { $0.id = "1" }
    for kind in [Operation.Kind.capture, .void, .refund] {
      var added = Operation(kind, amount: 100, at: clock.now)
      (added.state, added.id) = (.succeeded, "1")
      let sequence = first.append(added)
      try journal.update(&first, sequence, note: "\(kind)", .power)
    }
    // The second refund with the id of the first one is another thing.
    var again = Operation(.refund, amount: 100, at: clock.now)
    (again.state, again.id) = (.succeeded, "1")
    var next = first
    let sequence = next.append(again)
    #expect(code { try journal.update(&next, sequence, note: "refund", .power) } == "id_held")
  }

  /// A simulator in the process may give an id again after a reset. One that is served may not.
  @Test(arguments: Kind.all)
  func `a simulator in the process may give an id twice`(_ kind: Kind) throws {
    let journal = try journal(kind)
    for reference in ["A", "B"] {
      var payment = try sent(reference, journal, .simulator)
      try journal.end(&payment) { $0.id = "pt-1" }
    }
    journal.reachesOutside()
    var first = try sent("C", journal, .simulator)
    try journal.end(&first) { $0.id = "pt-2" }
    var second = try sent("D", journal, .simulator)
    #expect(code { try journal.end(&second) { $0.id = "pt-2" } } == "id_held")
  }

  @Test(arguments: Kind.all)
  func `a person says which record has a shared id`(_ kind: Kind) throws {
    let journal = try journal(kind)
    for reference in ["A", "B"] {
      var payment = try sent(reference, journal, .simulator)
      try journal.end(&payment) { $0.id = "pt-1" }
    }
    let found = try #require(try journal.payment("B"))
    #expect(try journal.sharedID(of: found)?.holder.reference.text == "A")
    #expect(try journal.verify().count == 1)
    #expect(try journal.verify().first?.contains("pt-1") == true)
    let held = try journal.hold(found, reason: "portal", clock, NeverInterrupted())
    #expect(held.charge.id == "pt-1")
    #expect(try journal.payment("A")?.charge.id == nil)
    #expect(try journal.sharedID(of: held) == nil)
    #expect(try journal.verify() == [])
    #expect(try journal.history(of: held).last?.note == "it holds its ids: portal")
    let code = code { _ = try journal.hold(held, reason: "portal", self.clock, NeverInterrupted()) }
    #expect(code == "nothing_to_resolve")
  }

  @Test(arguments: Kind.all)
  func `an import takes no id that a record has`(_ kind: Kind) throws {
    let journal = try journal(kind)
    var first = try sent("A", journal)
    try journal.end(&first) { $0.id = "pt-1" }
    var other = payment("B", .sandbox)
    other.charge.state = .succeeded
    other.charge.id = "pt-1"
    #expect(code { _ = try journal.take(other, []) } == "id_held")
    other.charge.id = "pt-2"
    #expect(try journal.take(other, []))
    #expect(try !journal.take(other, []))
    var third = try sent("C", journal)
    #expect(code { try journal.end(&third) { $0.id = "pt-2" } } == "id_held")
  }

  /// It looks like a card number.
  @Test(arguments: Kind.all)
  func `an id is stored as the provider gave it`(_ kind: Kind) throws {
    let journal = try journal(kind)
    var first = try sent("A", journal)
    var seen = Observation(.lookup, at: 7, operation: 1, state: .succeeded)
    (seen.id, seen.providerStatus) = ("4111111111111111", "SETTLED")
    first.add(seen)
    try journal.end(&first) { $0.id = "4111111111111111" }
    #expect(try journal.payment("A", .sandbox)?.charge.id == "4111111111111111")
    let found = try journal.payments(matching: "4111111111111111", filter: PaymentFilter())
    #expect(found.map(\.reference.text) == ["A"])
    #expect(try journal.verify() == [])
  }

  @Test(arguments: Kind.all)
  func `a deleted reference stays used`(_ kind: Kind) throws {
    let journal = try journal(kind)
    for reference in ["A", "Ärger"] {
      let name = Reference(stored: reference).text
      var payment = try sent(name, journal, .simulator)
      try journal.end(&payment) { $0.id = "pt-\(name)" }
    }
    clock.advance(60_000)
    #expect(try journal.prune(before: clock.now, PaymentFilter()) == 2)
    for reference in ["A", "Ärger"] {
      let code = code { _ = try self.sent(reference, journal, .simulator) }
      #expect(code == "reference_pruned")
      let key = ReferenceKey(
        env: .simulator,
        provider: ProviderName("paytheory"),
        reference: Reference(stored: reference)
      )
      #expect(try journal.isPruned(key))
      #expect(try journal.payments(matching: reference, filter: PaymentFilter()).isEmpty)
    }
    // Another env, and another reference, are new.
    _ = try sent("A", journal, .sandbox)
    _ = try sent("B", journal, .simulator)
    #expect(try journal.verify() == [])
    for name in ["pt-A", "rger"] { #expect(try !contains(name)) }
  }

  /// Tables of an earlier version have no claims. The first of two records gets the id, and both stay readable.
  @Test func `an older file gets claims, and records that share an id stay readable`() throws {
    do {
      let journal = try open()
      for (reference, id) in [("A", "pt-1"), ("B", "pt-2"), ("C", "pt-3")] {
        var payment = try sent(reference, journal)
        try journal.end(&payment) { $0.id = id }
      }
    }
    let old = try Database(path: state.appending(path: "journal.db").path)
    // Checksums are not needed for the claims.
    try old.execute(
      """
      DROP TABLE claim; DROP TABLE pruned; PRAGMA user_version = 7;
      UPDATE operation SET id = 'pt-1' WHERE id = 'pt-2'
      """
    )
    let journal = try open()
    #expect(
      try old.all("SELECT id, payment FROM claim ORDER BY id").map { $0[1].integer } == [1, 3]
    )
    #expect(try journal.payment("A", .sandbox)?.charge.id == "pt-1")
    var next = try sent("D", journal)
    #expect(code { try journal.end(&next) { $0.id = "pt-3" } } == "id_held")
  }
}
