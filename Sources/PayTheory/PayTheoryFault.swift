import TenderEngine
package import TenderModel

/// Pay Theory's documented error types, by the beginning of the `FailureResponse` type (README, 8.1).
extension Fault {
  /// The token could not be fetched: it was refused (4), unreachable (10), or had no readable answer (11).
  static func noToken(
    _ why: String,
    _ kind: Kind = .providerError,
    code: String = "no_token_unavailable",
    hint: String = "this request moved no money; try again later"
  ) -> Fault {
    Fault(
      kind,
      code: code,
      "no token from Pay Theory: \(why)",
      hint: hint,
      result: ["type": "NO_TOKEN: No pt-token found"]
    )
  }

  /// The socket answered with an error, or with something unreadable.
  static func socketError(
    _ why: String,
    _ kind: Kind = .providerError,
    code: String = "socket_error",
    text: String? = nil
  ) -> Fault {
    // The text is cut to the length of a sentence.
    let text = text.map { String($0.unicodeScalars.prefix(2000)) }
    return Fault(
      kind,
      code: code,
      "Pay Theory's socket: \(why)",
      hint: "this request moved no money; try again later",
      // The spelling is the SDK's own.
      result: ["type": .string("SOCKET_ERROR: \(text ?? "An unknown socket error occured")")]
    )
  }

  static var sessionExpired: Fault {
    Fault(
      .expired,
      code: "session_expired",
      cause: .sessionExpired,
      "Pay Theory ended the session",
      hint: "no money moved; run the same command again",
      result: ["type": "SESSION_EXPIRED: Socket session has expired"]
    )
  }

  /// The session or the authorization of a hold has expired.
  static var holdExpired: Fault {
    Fault(
      .expired,
      code: "hold_expired",
      "Pay Theory no longer holds the payment; nothing was captured",
      result: sessionExpired.result
    )
  }

  static var barcodeExpired: Fault {
    Fault(
      .expired,
      code: "barcode_expired",
      "the cash barcode has expired and was not paid"
    )
  }

  /// The app is not attested. We refuse stage `paytheory` ourselves; the provider may refuse others.
  static func invalidApp(_ why: String) -> Fault {
    Fault(
      .auth,
      code: "invalid_app",
      why,
      hint: "only an attested mobile app can; a stored method works: --token PAYMENT_METHOD_ID",
      result: ["type": "INVALID_APP: App Attestation Failed"]
    )
  }

  static func missingMerchant(_ what: String) -> Fault {
    Fault(
      .auth,
      code: "credentials_missing",
      cause: .credentialsMissing,
      "\(what) needs merchant credentials, and TENDER_PAYTHEORY_MERCHANT_UID and "
        + "TENDER_PAYTHEORY_SECRET_KEY are not set",
      hint: "set both, or the same with _FILE behind them for files that hold the values"
    )
  }

  /// A cash payment has no payment method to store.
  package static var cashToken: Fault {
    Fault(
      .usage,
      code: "no_fields",
      cause: .noFields,
      "cash cannot be tokenized",
      hint: "a card or a bank account can",
      result: Fault.noFields("tokenize").result
    )
  }

  /// The command has no usable instrument. The text is the documented one.
  static func noFields(_ verb: String) -> Fault {
    Fault(
      .usage,
      code: "no_fields",
      cause: .noFields,
      "no valid payment fields to \(verb)",
      hint: "see: tender help instruments",
      result: [
        "type": .string(
          "NO_FIELDS: No Visible and Valid PayTheory Fields to "
            + (verb == "tokenize" ? "Tokenize" : "Transact")
        )
      ]
    )
  }
}
