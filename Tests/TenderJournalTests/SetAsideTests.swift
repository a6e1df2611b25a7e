import Foundation
import TenderDatabase
import TenderEngine
import TenderJournal
import TenderModel
import TenderTestSupport
import Testing

/// Outcomes that the database could not take: set aside, seen by all, and taken in once.
@Suite final class SetAsideTests: JournalFolder {
  /// Sends a payment and sets its outcome aside, while another has the database locked, and goes on so.
  private func setAside(_ journal: SQLiteJournal, while other: Database) throws -> Attempt {
    var written = try journal.insert(attempt("A"), .process)
    written.phase = .sent
    try journal.update(&written, note: "sent", .power)
    try other.execute("BEGIN IMMEDIATE")
    written.phase = .done
    written.status = .succeeded
    try journal.setAside(&written, note: "outcome")
    return written
  }

  @Test func `takes an outcome in later that it could not take at once`() throws {
    let path = state.appending(path: "journal.db").path
    let other = try Database(path: path)
    do {
      let journal = try open(patience: 20)
      var written = try journal.insert(attempt("A"), .process)
      written.preparation = .secret("sealed-preparation")
      written.phase = .sent
      try journal.update(&written, note: "sent", .power)
      try other.execute("BEGIN IMMEDIATE")
      written.phase = .done
      written.status = .succeeded
      written.id = "pt-1"
      written.preparation = nil
      #expect(throws: Fault.self) { try journal.update(&written, note: "outcome", .power) }
      try journal.setAside(&written, note: "outcome")
    }
    func found(_ journal: SQLiteJournal) throws -> Attempt? {
      try journal.latest(
        .init(env: .simulator, provider: ProviderName("paytheory"), reference: "A")
      )
    }
    // Others see it while the database still cannot take it.
    let early = try #require(try found(open(patience: 20)))
    #expect(early.status == .succeeded)
    #expect(early.phase == .done)
    #expect(try Database(path: path).first("SELECT phase FROM attempt")?.first?.text == "sent")
    try other.execute("ROLLBACK")
    let journal = try open()
    #expect(try Database(path: path).first("SELECT phase FROM attempt")?.first?.text == "done")
    #expect(try found(journal)?.id == "pt-1")
    #expect(try found(journal)?.preparation == nil)
    #expect(try journal.history(of: early).map(\.note) == ["opened", "sent", "outcome"])
    #expect(try journal.verify() == [])
    // Its room is free again, and what was in it is not taken in twice.
    var next = try #require(try found(journal))
    next.status = .refunded
    try journal.update(&next, note: "looked up", .power)
    #expect(try found(open())?.status == .refunded)
    let head = try FileHandle(forReadingFrom: state.appending(path: "journal.aside"))
    #expect(try head.read(upToCount: 1) == Data([0]))
  }

  /// What is text stays text, also where it is all digits: a reference, four digits of a card, an id.
  @Test func `keeps a reference of digits when its outcome is set aside`() throws {
    let other = try Database(path: state.appending(path: "journal.db").path)
    do {
      let journal = try open(patience: 20)
      var written = try journal.insert(attempt("1042"), .process)
      written.phase = .sent
      try journal.update(&written, note: "sent", .power)
      try other.execute("BEGIN IMMEDIATE")
      written.phase = .done
      written.status = .succeeded
      written.id = "77"
      written.lastFour = "0011"
      try journal.setAside(&written, note: "outcome")
    }
    func found(_ journal: SQLiteJournal) throws -> Attempt? {
      try journal.latest(
        .init(env: .simulator, provider: ProviderName("paytheory"), reference: "1042")
      )
    }
    for round in 0..<2 {
      let early = try #require(try found(open(patience: 20)), "round \(round)")
      #expect(early.status == .succeeded)
      #expect(early.reference == "1042")
      #expect(early.id == "77")
      #expect(early.lastFour == "0011")
      if round == 0 { try other.execute("ROLLBACK") }
    }
    #expect(try open().verify() == [])
  }

  /// Several open the journal at once, and one of them is faster.
  @Test func `goes on with what another has taken in`() throws {
    let journal = try open(patience: 20)
    let other = try Database(path: state.appending(path: "journal.db").path)
    var written = try setAside(journal, while: other)
    let early = try open(patience: 20)
    let own = attempt("A")
    var seen = try #require(
      try early.latest(.init(env: own.env, provider: own.provider, reference: "A"))
    )
    #expect(seen.status == .succeeded)
    try other.execute("ROLLBACK")
    _ = try open()
    // It still remembers that something waited.
    seen.status = .refunded
    try early.update(&seen, note: "looked up", .power)
    #expect(try early.history(of: seen).map(\.note) == ["opened", "sent", "outcome", "looked up"])
    written.status = .cancelled
    #expect(throws: Fault.self) { try journal.update(&written, note: "looked up", .power) }
  }

  @Test func `whoever waited for a reference sees what was set aside meanwhile`() throws {
    let early = try open(patience: 20)
    let journal = try open(patience: 20)
    let other = try Database(path: state.appending(path: "journal.db").path)
    let written = try setAside(journal, while: other)
    // Nothing more is written over it, and it is not lost to another that is set aside.
    var next = written
    next.status = .refunded
    #expect(throws: Fault.self) { try journal.update(&next, note: "looked up", .power) }
    func found(_ journal: SQLiteJournal) throws -> Attempt? {
      try journal.latest(
        .init(env: .simulator, provider: ProviderName("paytheory"), reference: "A")
      )
    }
    #expect(try found(early)?.phase == .sent)
    let lock = try early.lock(
      .init(env: .simulator, provider: ProviderName("paytheory"), reference: "A"),
      by: Deadline(in: 0, on: clock),
      interruption: NeverInterrupted()
    )
    #expect(lock != nil)
    #expect(try found(early)?.status == .succeeded)
    try other.execute("ROLLBACK")
    try journal.update(&next, note: "looked up", .power)
    #expect(try found(open())?.status == .refunded)
    #expect(try open().verify() == [])
  }

  @Test func `an old copy does not take what was set aside away`() throws {
    do {
      // Its process is gone afterwards, and holds no room any more.
      let journal = try open()
      try copy(Self.files, from: "state", to: "old")
      var written = try journal.insert(attempt("A"), .process)
      written.phase = .sent
      try journal.update(&written, note: "sent", .power)
      try copy(Self.files, from: "state", to: "new")
      written.phase = .done
      written.status = .succeeded
      try journal.setAside(&written, note: "outcome")
    }
    for name in ["old", "new"] {
      try copy(Self.files, from: name, to: "state")
      _ = try open()
    }
    let found = try open().attempts(matching: "A", filter: AttemptFilter())
    #expect(found.map(\.status) == [.succeeded])
  }

  @Test func `has room for as many at once as there are, each its own`() throws {
    let journals = try (0..<20).map { _ in try open() }
    var attempts: [Attempt] = []
    for (number, journal) in journals.enumerated() {
      var written = try journal.insert(attempt("A\(number)"), .process)
      written.phase = .sent
      try journal.update(&written, note: "sent", .power)
      attempts.append(written)
    }
    for (number, journal) in journals.enumerated() {
      attempts[number].phase = .done
      attempts[number].id = "pt-\(number)"
      try journal.setAside(&attempts[number], note: "outcome")
    }
    let journal = try open()
    for number in 0..<20 {
      let found = try journal.attempts(matching: "pt-\(number)", filter: AttemptFilter())
      #expect(found.map(\.reference.text) == ["A\(number)"])
    }
  }
}
