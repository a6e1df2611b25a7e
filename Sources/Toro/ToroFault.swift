import TenderEngine
package import TenderModel

/// The documented errors of Toro's SDK (README, 6.1).
package enum ToroError: String, Sendable, CaseIterable {
  case customerCancelled, operatorCancelled
  case deviceConnectionFailed, deviceNotSelected, deviceDisconnected, deviceError, deviceBusy
  case deviceUpdateFailed, deviceNotSupported, closeBluetoothConnectionFailed
  case unsupportedCard, cardReadError, magSwipeError
  case transactionAlreadyStarted, transactionAborted, transactionTimeout, transactionError
  case acceptorRejected, terminalManagerRejected
  case gatewayUnavailable, badGatewayResponse, malformedResponse

  /// The kind of fault, which determines the exit status (README, 6.1).
  package var kind: Fault.Kind {
    switch self {
    case .customerCancelled, .operatorCancelled, .transactionAborted: .cancelled
    case .deviceConnectionFailed, .deviceNotSelected, .deviceDisconnected, .deviceError,
      .deviceBusy, .deviceUpdateFailed, .deviceNotSupported, .closeBluetoothConnectionFailed,
      .unsupportedCard, .cardReadError, .magSwipeError, .transactionError:
      .device
    case .transactionAlreadyStarted: .conflict
    case .transactionTimeout: .expired
    case .acceptorRejected, .terminalManagerRejected: .rejected
    case .gatewayUnavailable, .badGatewayResponse, .malformedResponse: .providerError
    }
  }

  /// The error code in snake case, for `tender explain`.
  package var code: String {
    var code = ""
    for letter in rawValue {
      if letter.isUppercase { code.append("_") }
      code.append(contentsOf: letter.lowercased())
    }
    return code
  }

  /// The final state of a transaction with this error.
  var state: TransactionState { kind == .cancelled ? .cancelled : .failed }

  /// The side that cancelled, with the documented names of `CancellationType`.
  var cancellationType: String? {
    switch self {
    case .customerCancelled: "customer"
    case .operatorCancelled: "attendant"
    default: nil
    }
  }

  /// Returns the result of a transaction that ended with this error.
  func result(_ reason: String? = nil, receipt: JSONObject? = nil) -> JSONObject {
    [
      "state": state.rawValue.json, "error": rawValue.json,
      "cancellationType": cancellationType?.json, "reason": reason?.json, "receipt": receipt?.json,
    ]
  }
}

/// The documented states of a transaction (README, 2).
package enum TransactionState: String, Sendable, CaseIterable {
  case ready, connectingToDevice, awaitingGratuity, awaitingCard, awaitingSignature
  case awaitingPinEntry, awaitingApplicationSelection, authorising, completed, cancelled, failed
}

extension Fault {
  /// Creates a fault for a documented error.
  ///
  /// The codes of `ToroError` have their pages in `Pages.txt`.
  static func toro(
    _ error: ToroError,
    _ message: String,
    hint: String? = nil,
    reason: String? = nil,
    cause: Cause? = nil
  ) -> Fault {
    let code = error.code
    return Fault(
      error.kind,
      code: code,
      cause: cause,
      message,
      hint: hint,
      result: error.result(reason)
    )
  }

  /// The connection to the reader was lost.
  static func disconnected(_ when: String) -> Fault {
    .toro(
      .deviceDisconnected,
      "the reader is gone: \(when)",
      hint: "no money moved; check power and link, then run the same command again"
    )
  }

  static var busyReader: Fault {
    .toro(
      .deviceBusy,
      "the reader is busy",
      hint: "no money moved; wait until it is free, then run the same command again"
    )
  }

  /// Another sale uses the reader.
  static func readerInUse(_ device: String) -> Fault {
    .toro(
      .transactionAlreadyStarted,
      "another transaction is under way on \(device.quotedForMessage)",
      hint: "wait until it ends or cancel it by its reference; then run the same command again"
    )
  }

  /// The reader sent something unexpected, and the sale cannot continue.
  static func deviceError(_ why: String) -> Fault {
    .toro(.deviceError, why, hint: "no money moved; run the same command again", reason: why)
  }
}
