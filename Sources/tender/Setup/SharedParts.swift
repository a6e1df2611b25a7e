internal import TenderEngine
internal import TenderJournal
internal import TenderModel
internal import TenderSimulator
internal import TenderSystem
internal import TrueLayer

/// What the lines of a batch that one thread runs have in common: open files and connections.
final class SharedParts {
  var journals: [String: SQLiteJournal] = [:]
  var networks: [String: (http: any HTTPExchange, sockets: any SocketExchange)] = [:]
  var simulators: [String: InProcessSimulator] = [:]
  private var folders: Set<String> = []
  let tokens: AccessTokens
  let reader: Turn?
  /// Whether many attempts are written, and what is erased is taken out of the files for several.
  let isBatch: Bool

  /// `tokens` and `reader` are shared by all threads.
  init(tokens: AccessTokens = AccessTokens(), reader: Turn? = nil, isBatch: Bool = false) {
    self.tokens = tokens
    self.reader = reader
    self.isBatch = isBatch
  }

  /// Makes a state folder where there is none, and checks it, once.
  ///
  /// Throws `state` with what mends it.
  func useFolder(_ path: String) throws(Fault) {
    guard !folders.contains(path) else { return }
    try Environment.makeFolder(path)
    try FileGuard.checkState(path)
    folders.insert(path)
  }

  /// Takes out of the journals' files what is to be gone for good.
  func finishErasing() { for journal in journals.values { try? journal.finishErasing() } }
}
