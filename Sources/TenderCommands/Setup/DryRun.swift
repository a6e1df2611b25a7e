internal import TenderEngine
internal import TenderModel

/// The transport of a dry run. It sends nothing.
struct Unreachable: HTTPExchange, SocketExchange, DeviceExchange {
  func send(
    _ request: HTTPRequest,
    _ permit: SendPermit?,
    by deadline: Deadline
  ) throws(Fault) -> HTTPResponse {
    throw .dryRun
  }

  func open(_ address: String, by deadline: Deadline) throws(Fault) -> any ByteStream {
    throw .dryRun
  }

  func open(
    url: String,
    fields: [HTTPRequest.Field],
    by deadline: Deadline
  ) throws(Fault) -> any MessageSocket {
    throw .dryRun
  }
}

/// The journal of a dry run if there is no journal yet. It is empty, and cannot be written.
struct EmptyJournal: Journal {
  func lock(
    _ key: ReferenceKey,
    opening first: Opening?,
    by deadline: Deadline,
    interruption: any Interruption
  ) throws(Fault) -> (any ReferenceLock)? { throw .dryRun }

  func payment(_ key: ReferenceKey) throws(Fault) -> Payment? { nil }

  func each(_ filter: PaymentFilter, _ body: (Payment) -> Bool) throws(Fault) {}

  func extent() throws(Fault) -> (attempts: Int, oldest: Int?) { (0, nil) }

  func open(
    _ payment: Payment,
    _ terms: OpeningTerms,
    _ durability: Durability
  ) throws(Fault) -> Payment { throw .dryRun }

  func update(
    _ payment: inout Payment,
    _ sequence: Int,
    note: String,
    _ durability: Durability
  ) throws(Fault) { throw .dryRun }

  func reachesOutside(_ env: Env) {}

  func fingerprints(of content: JSONObject, instrument: String?) throws(Fault) -> JSONObject { [:] }

  func setStop(_ key: ReferenceKey, isRequested: Bool) throws(Fault) { throw .dryRun }

  func isStopRequested(_ key: ReferenceKey) -> Bool { false }

  func prune(_ filter: PaymentFilter) throws(Fault) -> Int { throw .dryRun }

  func history(of payment: Payment) throws(Fault) -> [HistoryEntry] { [] }

  func loss() throws(Fault) -> JournalLoss? { nil }

  func worker(_ key: ReferenceKey) -> String? { nil }

  var window: SendWindow? { nil }

  func isPruned(_ key: ReferenceKey) throws(Fault) -> Bool { false }

  func count(_ filter: PaymentFilter, upTo limit: Int) throws(Fault) -> Int { 0 }

  func totals(_ filter: PaymentFilter, by keys: Set<Total.Key>) throws(Fault) -> [Total] { [] }

  func verify() throws(Fault) -> [String] { [] }

  func backUp(to path: String) throws(Fault) { throw .dryRun }

  func accept(reason: String, at time: Int) throws(Fault) { throw .dryRun }

  var markProblem: String? { nil }

  func take(_ payment: Payment, _ history: [HistoryEntry]) throws(Fault) -> Bool { throw .dryRun }
}

extension Fault {
  fileprivate static var dryRun: Fault {
    Fault(.internal, code: "internal", "a dry run tried to do something")
  }
}
