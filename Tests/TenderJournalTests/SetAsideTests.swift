import Foundation
import TenderEngine
import TenderJournal
import TenderModel
import TenderSystem
import TenderTestSupport
import Testing

/// Outcomes that the database could not store: set aside, visible to all, and added once.
@Suite final class SetAsideTests: JournalFolder {
  /// Sends a payment and sets its outcome aside, while another process has the database locked.
  private func setAside(_ journal: SQLiteJournal, while other: Database) throws -> Payment {
    var written = try journal.open(payment())
    written.send()
    try journal.update(&written, note: "sent")
    try other.execute("BEGIN IMMEDIATE")
    written.charge.state = .succeeded
    try journal.setAside(&written, 1, note: "outcome")
    return written
  }

  @Test func `takes an outcome in later that it could not take at once`() throws {
    let path = state.appending(path: "journal.db").path
    let other = try Database(path: path)
    do {
      let journal = try open(patience: 20)
      var written = try journal.open(payment())
      written.charge.preparation = .secret("sealed-preparation")
      written.send()
      try journal.update(&written, note: "sent")
      try other.execute("BEGIN IMMEDIATE")
      written.charge.state = .succeeded
      written.charge.id = "pt-1"
      written.charge.preparation = nil
      var seen = Observation(.lookup, at: 7, operation: 1, state: .succeeded)
      seen.providerStatus = "SETTLED"
      written.add(seen)
      #expect(throws: Fault.self) { try journal.update(&written) }
      try journal.setAside(&written, 1, note: "outcome")
    }
    // Others see it while the database still cannot take it.
    let early = try #require(try open(patience: 20).payment("A"))
    #expect(early.state.status == .succeeded)
    #expect(early.changed.isEmpty)
    #expect(try Database(path: path).first("SELECT state FROM operation")?.first?.text == "sent")
    try other.execute("ROLLBACK")
    let journal = try open()
    #expect(
      try Database(path: path).first("SELECT state FROM operation")?.first?.text == "succeeded"
    )
    let found = try #require(try journal.payment("A"))
    #expect(found.charge.id == "pt-1")
    #expect(found.charge.preparation == nil)
    #expect(found.observed.providerStatus == "SETTLED")
    #expect(try journal.history(of: early).map(\.note) == ["opened", "sent", "outcome"])
    #expect(try journal.verify() == [])
    // Its room is free again, and its outcome is not added twice.
    var next = found
    try journal.end(&next, .returned, note: "looked up")
    #expect(try open().payment("A")?.state.status == .returned)
    let head = try FileHandle(forReadingFrom: state.appending(path: "journal.aside"))
    #expect(try head.read(upToCount: 1) == Data([0]))
  }

  /// A text stays a text, even if it is all digits: a reference, four digits of a card, an id.
  @Test func `keeps a reference of digits when its outcome is set aside`() throws {
    let other = try Database(path: state.appending(path: "journal.db").path)
    do {
      let journal = try open(patience: 20)
      var written = try journal.open(payment("1042"))
      written.send()
      try journal.update(&written, note: "sent")
      try other.execute("BEGIN IMMEDIATE")
      written.charge.state = .succeeded
      written.charge.id = "77"
      written.lastFour = "0011"
      try journal.setAside(&written, 1, note: "outcome")
    }
    for round in 0..<2 {
      let early = try #require(try open(patience: 20).payment("1042"), "round \(round)")
      #expect(early.state.status == .succeeded)
      #expect(early.reference == "1042")
      #expect(early.charge.id == "77")
      #expect(early.lastFour == "0011")
      if round == 0 { try other.execute("ROLLBACK") }
    }
    #expect(try open().verify() == [])
  }

  /// Two outcomes of one payment. One is about an operation that the database never had.
  @Test func `takes in what was set aside twice`() throws {
    let other = try Database(path: state.appending(path: "journal.db").path)
    do {
      let journal = try open(patience: 20)
      var written = try setAside(journal, while: other)
      var undo = Operation(.void, amount: 1050, at: clock.now)
      undo.state = .succeeded
      let sequence = written.append(undo)
      try journal.setAside(&written, sequence, note: "undone")
      #expect(try open(patience: 20).payment("A")?.state.status == .cancelled)
      try other.execute("ROLLBACK")
    }
    let found = try #require(try open().payment("A"))
    #expect(found.operations.map(\.kind) == [.charge, .void])
    #expect(found.operations.allSatisfy { $0.row > 0 })
    #expect(found.state.status == .cancelled)
    // Both are one write.
    #expect(found.version == 3)
    #expect(try open().history(of: found).map(\.operation) == ["charge 1", "charge 1", "void 1"])
    #expect(try open().verify() == [])
  }

  /// Its entry has only the refund, which was begun after the payment.
  @Test func `takes the outcome of a later operation in`() throws {
    let path = state.appending(path: "journal.db").path
    let other = try Database(path: path)
    do {
      let journal = try open(patience: 20)
      var written = try pay("A", journal)
      clock.advance(60_000)
      let refund = written.append(Operation(.refund, amount: 100, at: clock.now))
      written = try journal.open(written)
      try written.change(refund) { $0.state = .sent(.init(at: 0, moment: nil)) }
      try journal.update(&written, refund, note: "sent", .power)
      try other.execute("BEGIN IMMEDIATE")
      try written.change(refund) { $0.state = .succeeded }
      try journal.setAside(&written, refund, note: "outcome")
    }
    #expect(try open(patience: 20).payment("A")?.state.status == .partiallyRefunded)
    try other.execute("ROLLBACK")
    let found = try #require(try open().payment("A"))
    #expect(found.state.status == .partiallyRefunded)
    #expect(try open().history(of: found).last?.note == "outcome")
    let stored = try Database(path: path).first("SELECT state FROM operation WHERE sequence = 2")
    #expect(stored == [.text("succeeded")])
    #expect(try open().verify() == [])
  }

  /// Several processes open the journal at once, and one of them is faster.
  @Test func `goes on with what another has taken in`() throws {
    let journal = try open(patience: 20)
    let other = try Database(path: state.appending(path: "journal.db").path)
    var written = try setAside(journal, while: other)
    let early = try open(patience: 20)
    var seen = try #require(try early.payment("A"))
    #expect(seen.state.status == .succeeded)
    try other.execute("ROLLBACK")
    _ = try open()
    // It still remembers that something waited.
    try early.end(&seen, .returned, note: "looked up")
    #expect(try early.history(of: seen).map(\.note) == ["opened", "sent", "outcome", "looked up"])
    #expect(throws: Fault.self) { try journal.end(&written, .returned, note: "looked up") }
  }

  @Test func `the next at a reference sees what was set aside meanwhile`() throws {
    let early = try open(patience: 20)
    let journal = try open(patience: 20)
    let other = try Database(path: state.appending(path: "journal.db").path)
    let written = try setAside(journal, while: other)
    // No other write replaces it, and another outcome that is set aside does not remove it.
    var next = written
    next.charge.state = .returned
    #expect(throws: Fault.self) { try journal.update(&next, note: "looked up") }
    #expect(try early.payment("A")?.state.status == .unknown)
    let lock = try early.lock(
      .init(env: .simulator, provider: ProviderName("paytheory"), reference: "A"),
      by: Deadline(in: 0, on: clock),
      interruption: NeverInterrupted()
    )
    #expect(lock != nil)
    #expect(try early.payment("A")?.state.status == .succeeded)
    try other.execute("ROLLBACK")
    try journal.update(&next, note: "looked up")
    #expect(try open().payment("A")?.state.status == .returned)
    #expect(try open().verify() == [])
  }

  @Test func `an old copy does not take what was set aside away`() throws {
    do {
      // Its process is gone, and no longer holds the room.
      let journal = try open()
      try copy(Self.files, from: "state", to: "old")
      var written = try journal.open(payment())
      written.send()
      try journal.update(&written, note: "sent")
      try copy(Self.files, from: "state", to: "new")
      written.charge.state = .succeeded
      try journal.setAside(&written, 1, note: "outcome")
    }
    for name in ["old", "new"] {
      try copy(Self.files, from: name, to: "state")
      _ = try open()
    }
    #expect(try open().payment("A")?.state.status == .succeeded)
  }

  @Test func `has room for as many at once as there are, each its own`() throws {
    let journals = try (0..<20).map { _ in try open() }
    var payments: [Payment] = []
    for (number, journal) in journals.enumerated() {
      var written = try journal.open(payment("A\(number)"))
      written.send()
      try journal.update(&written, note: "sent")
      payments.append(written)
    }
    for (number, journal) in journals.enumerated() {
      payments[number].charge.state = .succeeded
      payments[number].charge.id = "pt-\(number)"
      try journal.setAside(&payments[number], 1, note: "outcome")
    }
    let journal = try open()
    for number in 0..<20 {
      let found = try journal.payments(matching: "pt-\(number)", filter: PaymentFilter())
      #expect(found.map(\.reference.text) == ["A\(number)"])
    }
  }
}
