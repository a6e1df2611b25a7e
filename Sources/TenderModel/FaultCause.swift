extension Fault {
  /// What a fault comes from, where something is decided by it: codes and messages are for people.
  package enum Cause: Sendable {
    /// Another command wrote the same attempt first.
    case changedMeanwhile
    case cardNumberInArgument
    case cardNumberInInput
    case connectionClosed
    case credentialsMissing
    /// Another process has the device.
    case deviceInUse
    /// Another request works on the same payment, or its state forbids it.
    case genericConflict
    /// Another process works on the same reference.
    case inProgress
    /// Another machine has taken a reference over.
    case leaseLost
    /// The server of a shared journal does not answer, or does not confirm.
    case journalUnreachable
    case noFields
    case noInstrument
    /// There is no authorization to capture.
    case nothingHeld
    /// The provider refused, which proves nothing by itself of what it did before.
    case refused
    case sessionExpired
    case tlsFailed
    case tokenRefused
    /// What is captured can only be refunded.
    case tooLateToCancel
    /// An answer that says neither yes nor no.
    case unclear
  }
}
