internal import TenderCommandLine
internal import TenderModel
internal import TenderSystem

/// The attendant on the terminal, or a simulated one for a simulated reader.
struct Till: Attendant {
  // A sale runs on one thread, and only that thread uses the session.
  nonisolated(unsafe) private unowned let session: any Session
  private let isSimulated: Bool
  /// Whether the simulated customer refuses to sign.
  private let refuses: Bool

  init(_ session: any Session, isSimulated: Bool, refuses: Bool) {
    unsafe self.session = session
    self.isSimulated = isSimulated
    self.refuses = refuses
  }

  private var terminal: Terminal? {
    unsafe session.terminal()
  }

  var canCompare: Bool { isSimulated || terminal != nil }

  func waits(for state: String, left: Int) {
    // The pages are read only if the text is shown.
    func meaning() -> String {
      Explanation.embedded("Toro", [.state]).first { $0.code == state }?.meaning ?? state
    }
    unsafe session.waits(for: meaning(), left: left)
  }

  func signature() throws(Fault) -> [UInt8]? {
    if refuses { return nil }
    guard let answer = try ask("Customer, sign by typing your name (empty: stop): ") else {
      return isSimulated ? Array("Simulated Customer".utf8) : nil
    }
    return answer.isBlank ? nil : Array(answer.prefix(200).utf8)
  }

  func signatureMatches() throws(Fault) -> Bool {
    while true {
      guard let answer = try ask("Merchant, does the signature match the card's? yes or no: ")
      else { return isSimulated }
      switch answer.lowercased() {
      case "yes", "y": return true
      case "no", "n": return false
      default: continue
      }
    }
  }

  private func ask(_ question: String) throws(Fault) -> String? {
    guard let terminal else { return nil }
    return try unsafe terminal.ask(question, hidden: false, interruption: session.signals)
  }
}
