import Foundation
import TenderEngine
import TenderJournal
import TenderModel
import TenderTestSupport

/// Foundation has a type of that name too.
typealias Operation = TenderEngine.Operation

extension Payment {
  /// The current attempt, which every payment of these tests has.
  var charge: Operation {
    get { attempt ?? Operation(.charge, at: 0) }
    set { try? change(newValue.sequence) { $0 = newValue } }
  }

  /// Sends the current attempt, at time 0.
  mutating func send() { charge.state = .sent(at: 0, moment: nil) }
}

extension Journal {
  /// Opens a payment with its first attempt.
  func open(_ payment: Payment) throws -> Payment { try open(payment, OpeningTerms(), .process) }

  /// Writes the changes of the current attempt.
  func update(
    _ payment: inout Payment,
    note: String = "outcome",
    _ durability: Durability = .power
  ) throws {
    try update(&payment, payment.charge.sequence, note: note, durability)
  }

  /// Changes the current attempt and writes it.
  func end(
    _ payment: inout Payment,
    _ state: Operation.State = .succeeded,
    note: String = "outcome",
    _ change: (inout Operation) -> Void = { _ in }
  ) throws {
    payment.charge.state = state
    change(&payment.charge)
    try update(&payment, note: note)
  }

  /// Opens an authorization that is held with a secret.
  func hold(_ payment: Payment, _ secret: String) throws -> Payment {
    var held = payment
    held.charge.kind = .authorize
    held = try open(held)
    try end(&held, .waiting(nil), note: "held") { $0.preparation = .secret(secret) }
    return held
  }

  /// The payment of a reference at the provider of these tests.
  func payment(_ reference: String, _ env: Env = .simulator) throws -> Payment? {
    try payment(.init(env: env, provider: ProviderName("paytheory"), reference: reference))
  }

  /// The references that match a filter, in their order.
  func references(_ filter: PaymentFilter = PaymentFilter()) throws -> [String] {
    var found: [String] = []
    try each(filter) { payment in
      found.append(payment.reference.text)
      return true
    }
    return found
  }
}

/// A separate state folder with the mark beside it, and the actions in it.
class JournalFolder {
  let root: URL
  let clock = ManualClock()

  init() throws {
    root = FileManager.default.temporaryDirectory.appending(path: "whole-\(UUID().uuidString)")
    try FileManager.default.createDirectory(
      at: root.appending(path: "state"),
      withIntermediateDirectories: true
    )
  }

  deinit { try? FileManager.default.removeItem(at: root) }

  var state: URL { root.appending(path: "state") }

  /// Opens a journal. `patience` is the wait for another writer, in milliseconds.
  func open(_ name: String = "state", patience: Int32? = nil) throws -> SQLiteJournal {
    let folder = root.appending(path: name)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    return try SQLiteJournal(
      folder: folder.path,
      redactor: Redactor(),
      isMarked: true,
      patience: patience
    )
  }

  func payment(_ reference: String = "A") -> Payment { .test(reference, at: clock.now) }

  /// Records a payment under a reference.
  @discardableResult func pay(_ reference: String, _ journal: any Journal) throws -> Payment {
    var written = try journal.open(payment(reference))
    written.send()
    try journal.update(&written, note: "sent")
    try journal.end(&written)
    return written
  }

  func code(_ body: () throws -> Void) -> String? {
    do {
      try body()
      return nil
    } catch {
      return (error as? Fault)?.code
    }
  }

  func copy(_ names: [String], from one: String, to other: String) throws {
    let (from, to) = (root.appending(path: one), root.appending(path: other))
    try FileManager.default.createDirectory(at: to, withIntermediateDirectories: true)
    for name in names {
      try? FileManager.default.removeItem(at: to.appending(path: name))
      let source = from.appending(path: name)
      guard FileManager.default.fileExists(atPath: source.path) else { continue }
      try FileManager.default.copyItem(at: source, to: to.appending(path: name))
    }
  }

  /// Whether the bytes of a text are in any of the journal's files.
  func contains(_ text: String) throws -> Bool {
    for name in Self.files {
      guard let bytes = try? Data(contentsOf: state.appending(path: name)) else { continue }
      if bytes.range(of: Data(text.utf8)) != nil { return true }
    }
    return false
  }

  static let files = ["journal.db", "journal.db-wal", "journal.db-shm"]
}
