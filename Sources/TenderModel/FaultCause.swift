extension Fault {
  /// What a fault comes from, where something is decided by it.
  ///
  /// Texts are for people; nothing branches on one. The names are the codes of the contract.
  package enum Cause: String, Sendable {
    /// Another command wrote the same attempt first.
    case changedMeanwhile = "journal_conflict"
    case cardNumberInArgument = "card_number_on_command_line"
    case cardNumberInInput = "card_number_on_standard_input"
    case connectionClosed = "connection_closed"
    case credentialsMissing = "credentials_missing"
    /// Another request works on the same payment (TrueLayer).
    case genericConflict = "generic_conflict"
    /// Another process works on the same reference.
    case inProgress = "in_progress"
    /// Another machine has taken a reference over.
    case leaseLost = "lease_lost"
    case noFields = "no_fields"
    case noInstrument = "no_instrument"
    case sessionExpired = "session_expired"
    case tlsFailed = "tls_failed"
    case tokenRefused = "invalid_token"
  }

  /// What it comes from; nil where nothing is decided by that.
  package var cause: Cause? { Cause(rawValue: code) }
}
