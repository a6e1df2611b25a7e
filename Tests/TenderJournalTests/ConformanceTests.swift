import Foundation
import TenderEngine
import TenderJournal
import TenderModel
import TenderTestSupport
import Testing

/// What every journal must do, whatever it is made of.
@Suite final class ConformanceTests {
  enum Kind: Sendable {
    case memory, sqlite, postgres

    /// Those that this machine has.
    static let all: [Kind] =
      PostgresCluster.isAvailable ? [.memory, .sqlite, .postgres] : [.memory, .sqlite]
  }

  let folder: URL
  let clock = ManualClock()
  let provider = ProviderName("paytheory")

  init() throws {
    folder = FileManager.default.temporaryDirectory.appending(path: "journal-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(at: folder) }

  func journal(_ kind: Kind) throws -> any Journal {
    switch kind {
    case .memory: MemoryJournal()
    case .sqlite: try SQLiteJournal(folder: folder.path, redactor: Redactor())
    case .postgres: try SharedWorld.journal(at: PostgresCluster.shared().database(), folder.path)
    }
  }

  func attempt(_ reference: String = "A", number: Int = 1) -> Attempt {
    .payment(reference, number: number, at: clock.now)
  }

  @Test(arguments: Kind.all)
  func `gives back what was written, by reference and by id`(_ kind: Kind) throws {
    let journal = try journal(kind)
    var written = try journal.insert(attempt(), .process)
    #expect(written.row > 0)
    #expect(written.version == 1)
    written.id = "pt-1"
    written.sentMoment = clock.moment
    written.phase = .sent
    try journal.update(&written, note: "sent", .power)
    #expect(written.version == 2)
    let latest = try journal.latest(.init(env: .simulator, provider: provider, reference: "A"))
    let found = try #require(latest)
    #expect(found.version == 2)
    #expect(found.phase == .sent)
    #expect(found.sentMoment == clock.moment)
    for handle in ["A", "pt-1"] {
      #expect(
        try journal.attempts(matching: handle, filter: AttemptFilter()).map(\.row) == [found.row]
      )
    }
    #expect(try journal.attempts(matching: "B", filter: AttemptFilter()).isEmpty)
    #expect(try journal.latest(.init(env: .live, provider: provider, reference: "A")) == nil)
    #expect(try journal.history(of: found).map(\.note) == ["opened", "sent"])
    #expect(try journal.history(of: found).map(\.status) == ["pending", "unknown"])
    var filter = AttemptFilter()
    filter.statuses = [.unknown]
    var rows: [Int] = []
    try journal.each(filter) { attempt in
      rows.append(attempt.row)
      return true
    }
    #expect(rows == [found.row])
  }

  /// Each phase with each status, with something left to do or not: what is found and what is counted is
  /// what the filter lets through.
  @Test(arguments: Kind.all)
  func `finds and counts by status`(_ kind: Kind) throws {
    let journal = try journal(kind)
    var all: [Attempt] = []
    for phase in [Attempt.Phase.prepared, .sent, .done] {
      for status in Status.allCases {
        for action in [nil, PayerAction("retry")] {
          var written = try journal.insert(attempt("A\(all.count)"), .process)
          written.phase = phase
          written.status = status
          written.nextAction = action
          try journal.update(&written, note: "x", .process)
          all.append(written)
        }
      }
    }
    for statuses in [[], [.unknown], [.pending, .unknown]] + Status.allCases.map({ [$0] }) {
      for isOpen in [false, true] {
        var filter = AttemptFilter()
        filter.statuses = Set(statuses)
        filter.isOpen = isOpen
        let expected = all.filter { attempt in
          statuses.isEmpty && !isOpen || statuses.contains(attempt.shownStatus)
            || isOpen && !(attempt.shownStatus.isFinal && attempt.nextAction == nil)
        }
        #expect(try journal.count(filter, upTo: .max) == expected.count, "\(statuses) \(isOpen)")
        var rows: [Int] = []
        try journal.each(filter) {
          rows.append($0.row)
          return true
        }
        #expect(rows == expected.map(\.row).reversed(), "\(statuses) \(isOpen)")
      }
    }
  }

  @Test(arguments: Kind.all)
  func `takes one attempt for each number of a reference`(_ kind: Kind) throws {
    let journal = try journal(kind)
    _ = try journal.insert(attempt(), .process)
    #expect(throws: Fault.self) { try journal.insert(attempt(), .process) }
    _ = try journal.insert(attempt(number: 2), .process)
    let latest = try journal.latest(.init(env: .simulator, provider: provider, reference: "A"))
    #expect(latest?.number == 2)
    #expect(try journal.count() == 2)
  }

  /// An export has the newest first: what is taken over is found in the order of its numbers.
  @Test(arguments: Kind.all.filter { $0 != .memory })
  func `gives the newest attempt first, whenever it was taken over`(_ kind: Kind) throws {
    let journal = try journal(kind)
    for number in [2, 1] { #expect(try journal.take(attempt(number: number), [])) }
    let found = try journal.attempts(matching: "A", filter: AttemptFilter())
    #expect(found.map(\.number) == [2, 1])
  }

  @Test(arguments: Kind.all)
  func `refuses a write from an older version, and leaves the newer one`(_ kind: Kind) throws {
    let journal = try journal(kind)
    let first = try journal.insert(attempt(), .process)
    var mine = first
    var others = first
    others.status = .succeeded
    others.phase = .done
    try journal.update(&others, note: "outcome", .power)
    for durability in [Durability.process, .power] {
      mine.phase = .sent
      let fault = #expect(throws: Fault.self) {
        try journal.update(&mine, note: "sent", durability)
      }
      #expect(fault?.code == "journal_conflict")
      #expect(mine.version == 1)
    }
    let latest = try journal.latest(.init(env: .simulator, provider: provider, reference: "A"))
    #expect(latest?.status == .succeeded)
    #expect(try journal.history(of: others).map(\.note) == ["opened", "outcome"])
  }

  @Test(arguments: Kind.all)
  func `sets aside what was sent, and nothing else`(_ kind: Kind) throws {
    let journal = try journal(kind)
    var written = try journal.insert(attempt(), .process)
    var early = written
    #expect(throws: Fault.self) { try journal.setAside(&early, note: "outcome") }
    written.phase = .sent
    try journal.update(&written, note: "sent", .power)
    written.phase = .done
    written.status = .succeeded
    written.result = ["state": "completed"]
    try journal.setAside(&written, note: "outcome")
    let latest = try journal.latest(.init(env: .simulator, provider: provider, reference: "A"))
    #expect(latest?.status == .succeeded)
    #expect(latest?.phase == .done)
    #expect(latest?.result == ["state": "completed"])
  }

  @Test(arguments: Kind.all)
  func `locks a reference for one at a time`(_ kind: Kind) throws {
    let journal = try journal(kind)
    func take(_ reference: String) throws -> (any AttemptLock)? {
      try journal.lock(
        .init(env: .simulator, provider: provider, reference: reference),
        by: Deadline(in: 0, on: clock),
        interruption: NeverInterrupted()
      )
    }
    var first = try take("A")
    #expect(first != nil)
    #expect(try take("A") == nil)
    #expect(try take("B") != nil)
    first = nil
    #expect(try take("A") != nil)
  }

  @Test(arguments: Kind.all)
  func `carries a wish to stop until it is taken back`(_ kind: Kind) throws {
    let journal = try journal(kind)
    let asks = {
      journal.isStopRequested(.init(env: .live, provider: self.provider, reference: "A"))
    }
    #expect(!asks())
    try journal.requestStop(.init(env: .live, provider: provider, reference: "A"))
    #expect(asks())
    #expect(!journal.isStopRequested(.init(env: .sandbox, provider: provider, reference: "A")))
    journal.forgetStop(.init(env: .live, provider: provider, reference: "A"))
    #expect(!asks())
  }

  @Test(arguments: Kind.all)
  func `forgets what is old and of no use, whole references at a time`(_ kind: Kind) throws {
    let journal = try journal(kind)
    func write(_ reference: String, _ change: (inout Attempt) -> Void) throws {
      var written = try journal.insert(attempt(reference), .process)
      written.phase = .done
      written.status = .succeeded
      written.updatedAt = 1000
      change(&written)
      try journal.update(&written, note: "outcome", .power)
    }
    try write("old") { _ in }
    try write("young") { $0.updatedAt = 3000 }
    try write("unknown") { $0.phase = .sent }
    try write("held") { $0.status = .requiresConfirmation }
    try write("mandate") {
      $0.kind = .mandate
      $0.status = .authorized
    }
    #expect(try journal.prunable(before: 2000, AttemptFilter()) == 1)
    #expect(try journal.prune(before: 2000, AttemptFilter()) == 1)
    var left: [String] = []
    try journal.each(AttemptFilter()) { attempt in
      left.append(attempt.reference.text)
      return true
    }
    #expect(left.sorted() == ["held", "mandate", "unknown", "young"])
  }
}
