package import TenderModel

/// How the simulator is asked to behave: a scenario, a fault, a seed, a clock that stands still.
package struct SimulatorOptions: Sendable, Hashable {
  package var scenario: String?
  package var fault: String?
  /// How often the fault strikes; nil for every time.
  package var faultCount: Int?
  package var seed: Int?
  /// Milliseconds since 1970 at which the simulated clock stands.
  package var clock: Int?

  package init() {}

  /// The header in which the options travel to `simulator serve`.
  package static let headerName = "X-Tender-Simulator"

  /// Whether nothing is asked for.
  package var isEmpty: Bool { self == SimulatorOptions() }

  /// Takes a scenario by name.
  ///
  /// Throws a `usage` fault that suggests the nearest one.
  package mutating func set(scenario name: String) throws(Fault) {
    guard Scenario.all.contains(where: { $0.name == name }) else {
      throw .unknownName("--sim-scenario", name, among: Scenario.all.map(\.name))
    }
    scenario = name
  }

  /// Takes a fault as `NAME` or `NAME*N`.
  ///
  /// Throws a `usage` fault that suggests the nearest one.
  package mutating func set(fault text: String) throws(Fault) {
    let parts = text.split(separator: "*", omittingEmptySubsequences: false)
    let name = String(parts[0])
    guard SimulatedFault.all.contains(where: { $0.name == name }) else {
      throw .unknownName("--sim-fault", name, among: SimulatedFault.all.map(\.name))
    }
    if parts.count > 1 {
      guard parts.count == 2, let count = Int(parts[1]), (1...1_000_000).contains(count) else {
        throw Fault(
          .usage,
          code: "bad_value",
          "--sim-fault \(text.quotedForMessage) has no count behind the *",
          hint: "such as \(name)*2"
        )
      }
      faultCount = count
    }
    fault = name
  }

  /// The times at which the simulated clock can stand: from 1970, and far enough from the end of year
  /// 9999 that every deadline can be written.
  private static let clocks = 0...253_370_764_800_000

  /// The options as one header value.
  package var headerValue: String {
    var parts: [String] = []
    if let scenario { parts.append("scenario=\(scenario)") }
    if let fault { parts.append("fault=\(fault)" + (faultCount.map { "*\($0)" } ?? "")) }
    if let seed { parts.append("seed=\(seed)") }
    if let clock { parts.append("clock=\(clock)") }
    return parts.joined(separator: ";")
  }

  /// Reads a header value; what it does not know is left out.
  package init(headerValue: String) {
    for part in headerValue.split(separator: ";") {
      let pair = part.split(separator: "=", maxSplits: 1).map(String.init)
      guard pair.count == 2 else { continue }
      switch pair[0] {
      case "scenario": try? set(scenario: pair[1])
      case "fault": try? set(fault: pair[1])
      case "seed": seed = Int(pair[1])
      case "clock": clock = Int(pair[1]).flatMap { Self.clocks.contains($0) ? $0 : nil }
      default: break
      }
    }
  }
}

/// A way the simulated world can be.
package struct Scenario: Sendable, Hashable {
  package let name: String
  package let meaning: String

  /// Every scenario, in the order of its provider.
  package static let all: [Scenario] =
    [
      Scenario(name: "approve", meaning: "every payment succeeds, whatever its amount"),
      Scenario(
        name: "pending",
        meaning: "payments stay PENDING for 5 s of the clock, then succeed"
      ),
      Scenario(name: "returned", meaning: "ACH payments are RETURNED after 5 s of the clock"),
      Scenario(name: "dispute", meaning: "payments succeed and are disputed"),
      Scenario(
        name: "hold:expired",
        meaning: "a hold is too old: its session is closed (SESSION_EXPIRED), as it is 24 h of the "
          + "clock after it was made"
      ),
    ]
    + bank
    + reader
    + ToroCatalog.outcomes.map { outcome in
      Scenario(
        name: outcome.scenario,
        meaning: "card present: \(outcome.meaning); so is any amount of "
          + "\(outcome.amount) in minor units"
      )
    }
    + PayTheoryCatalog.declineCodes.map { code in
      Scenario(name: "decline:\(code.lowercased())", meaning: "payments fail with \(code)")
    }
}

extension Scenario {
  /// What the payer of a bank payment or mandate does, and what the bank makes of it.
  fileprivate static let bank: [Scenario] =
    [
      ("bank:execute", "the payer authorises and the bank pays; the default in process"),
      ("bank:reject_authorisation", "the authorisation fails (authorization_failed)"),
      ("bank:reject_execution", "the bank rejects what was authorised (provider_rejected)"),
      ("bank:cancel", "the payer cancels on the bank's page (not_authorized)"),
      ("bank:slow", "the bank takes 5 s of the clock to pay"),
      ("bank:decoupled", "the payer confirms in an app, 3 s later"),
      ("bank:expire", "the 15 minutes are over when the payer gets to the bank (expired)"),
      ("bank:abandon", "the payer never comes back"),
      ("mandate:authorise", "the payer authorises the mandate"),
      ("mandate:reject_authorisation", "the authorisation of the mandate fails"),
      ("mandate:cancel", "the payer cancels the mandate on the bank's page"),
      ("mandate:revoke", "the payer authorises the mandate, and revokes it at the bank"),
      ("mandate:expire", "the 15 minutes are over when the payer gets to the bank"),
      ("refund:failed", "refunds fail (insufficient_funds)"),
    ].map { Scenario(name: $0.0, meaning: $0.1) }
    + [
      "blocked", "canceled", "constraint_violation", "insufficient_funds",
      "internal_server_error", "invalid_account_details", "invalid_account_holder_name",
      "invalid_beneficiary_account", "invalid_credentials", "invalid_mandate_state",
      "invalid_otp", "invalid_remitter_account", "invalid_request", "invalid_sort_code",
      "mandate_revoked", "not_authorized", "payment_limit_exceeded", "provider_error",
      "provider_expired", "provider_rejected", "rejected", "scheme_unavailable",
      "unknown_error", "user_canceled_at_provider", "verification_declined",
    ].map { Scenario(name: "bank:failed:\($0)", meaning: "it fails with \($0)") }
}

extension Scenario {
  /// What the card at the reader and its customer do.
  fileprivate static let reader: [Scenario] = [
    ("card:chip_pin", "a chip and its PIN; the default"),
    ("card:online_pin", "a chip whose PIN the issuer checks"),
    ("card:chip_signature", "a chip that wants a signature"),
    ("card:tap", "a card is tapped"),
    ("card:tap_mobile", "a phone is tapped, its holder verified on it"),
    ("card:swipe", "a stripe that wants a signature"),
    ("card:swipe_pin", "a stripe that wants a PIN"),
    ("card:chip_swiped", "a chip card is swiped first, then inserted"),
    ("card:application_choice", "the customer chooses among the card's applications"),
    ("card:wrong_pin", "the PIN is right at the third try"),
    ("card:pin_bypass", "the customer enters no PIN, which the acquirer refuses"),
    ("card:pin_cancel", "the customer cancels at the PIN"),
    ("card:pin_slow", "the customer never gets to the end of the PIN"),
    ("card:customer_cancel", "the customer cancels before a card is there"),
    ("card:no_card", "nobody presents a card"),
    ("card:timeout", "the reader gives up waiting for a card"),
    ("card:card_removed", "the card is taken out too early"),
    ("card:chip_unreadable", "the chip cannot be read, so the stripe is"),
    ("card:chip_error", "the chip fails, so the stripe is read"),
    ("card:fallback", "the reader does not know the chip, so the stripe is read"),
    ("card:unsupported_card", "the reader does not take the card"),
    ("card:try_contact", "the card must be inserted instead of tapped"),
    ("card:card_declines", "the card declines by itself"),
    ("card:declines_after", "the card declines what the acquirer approved"),
    ("card:removed_after", "the card is taken out between approval and end"),
    ("card:signature_refused", "the customer stops at the signature of a stripe"),
    ("card:tip_2", "the second choice of the gratuity menu"),
    ("card:tip_3", "the third choice of the gratuity menu"),
    ("card:tip_cancel", "the customer cancels at the gratuity menu"),
    ("card:tip_timeout", "the customer chooses no gratuity"),
    ("card:no_touch", "the reader has no touch screen"),
    ("gateway:completion_required", "approved, and to be captured by a completion"),
  ].map { Scenario(name: $0.0, meaning: $0.1) }
}

/// Something that goes wrong on the way.
package struct SimulatedFault: Sendable, Hashable {
  package let name: String
  package let meaning: String

  /// What TrueLayer is asked for, in the order of a payment.
  private static let bankSteps = [
    "bank-token", "create", "start", "selection", "consent", "form", "return", "status",
    "bank-cancel", "revoke", "refund", "refunds",
  ]
  private static let bankAnswers = [
    (401, "the token is refused"), (403, "the token is for something else"), (404, "not found"),
    (409, "another request works on it"), (422, "the key was used for something else"),
    (429, "too many requests"), (500, "an error"), (502, "the bank is not available"),
  ]

  /// What happens at a reader.
  private static let readerSteps = [
    "reader-connect", "reader-setup", "reader-tip", "reader-card", "reader-choice", "reader-pin",
    "reader-finish", "reader-touch",
  ]
  private static let readerTroubles = [
    ("disconnect", "the link breaks"), ("busy", "the reader is busy (9F22)"),
    ("error", "an unlisted error (9FFF)"), ("silence", "the reader says nothing"),
    ("garbage", "bytes that are no packet"), ("bad-lrc", "a packet with a wrong checksum"),
  ]
  private static let gatewaySteps = [
    "authorisation", "completion", "cancellation", "diagnostic", "status-report",
  ]
  private static let gatewayTroubles = [
    ("empty", "does it, answers nothing"), ("garbage", "does it, answers what is not XML"),
    ("truncated", "does it, the answer is cut off"), ("bad-mac", "does it, a MAC does not fit"),
    ("no-trailer", "does it, answers without a security trailer"),
    ("wrong-exchange", "does it, answers for another exchange"),
    ("wrong-transaction", "does it, answers for another transaction"),
    ("too-much", "does it, says that more was authorised than was asked"),
    ("declined", "does it, says that an advice was declined"),
    ("silence", "does it, never answers"),
    ("close-before", "closes before it reads the message"),
    ("close-after", "does it, then closes without answer"), ("slow", "answers after 2 s"),
  ]
  /// `RejectReason1Code` (protocol note, section 2.5).
  private static let rejections = [
    "unpr", "imsg", "pars", "secu", "intp", "rcpp", "dpmg", "vers", "msgt",
  ]

  private static let cardPresent: [SimulatedFault] = {
    var faults = [
      SimulatedFault(name: "reader:no-keys", meaning: "the reader has no keys to encrypt with"),
      SimulatedFault(
        name: "reader:acknowledges",
        meaning: "the reader acknowledges CARD STATUS as well, as some firmware does"
      ),
      SimulatedFault(
        name: "reader:chatter",
        meaning: "events nobody asked for between all answers"
      ),
    ]
    for step in readerSteps {
      faults += readerTroubles.map { SimulatedFault(name: "\(step):\($0.0)", meaning: $0.1) }
    }
    for step in gatewaySteps {
      faults += gatewayTroubles.map { SimulatedFault(name: "\(step):\($0.0)", meaning: $0.1) }
      faults += [401, 404, 429, 500, 502, 503].map { status in
        SimulatedFault(name: "\(step):http-\(status)", meaning: "answers \(status)")
      }
      faults += rejections.map { reason in
        SimulatedFault(
          name: "\(step):reject-\(reason)",
          meaning: "does it not, rejects it (\(reason.uppercased()))"
        )
      }
    }
    return faults
  }()

  /// `STEP:FAULT` for every step of the protocol and everything that can happen to it.
  package static let all: [SimulatedFault] = {
    var faults = [
      SimulatedFault(name: "token:refused", meaning: "the token service answers 404"),
      SimulatedFault(
        name: "attestation:refused",
        meaning: "the host token is refused, naming attestation"
      ),
      SimulatedFault(name: "socket:refused", meaning: "the upgrade to WebSocket is answered 403"),
      SimulatedFault(name: "graphql:refused", meaning: "GraphQL answers 401"),
    ]
    for step in ["token", "graphql"] {
      faults += [
        SimulatedFault(name: "\(step):http-429", meaning: "answers 429"),
        SimulatedFault(name: "\(step):http-500", meaning: "answers 500"),
        SimulatedFault(name: "\(step):http-503", meaning: "answers 503"),
        SimulatedFault(name: "\(step):garbage", meaning: "answers what is not JSON"),
        SimulatedFault(name: "\(step):silence", meaning: "never answers"),
        SimulatedFault(name: "\(step):close-before", meaning: "closes before it reads the request"),
        SimulatedFault(name: "\(step):close-after", meaning: "does it, then closes without answer"),
        SimulatedFault(name: "\(step):slow", meaning: "answers after 2 s"),
      ]
    }
    for step in bankSteps {
      for (status, meaning) in bankAnswers {
        faults.append(
          SimulatedFault(name: "\(step):http-\(status)", meaning: "answers \(status): \(meaning)")
        )
      }
      faults += [
        SimulatedFault(name: "\(step):garbage", meaning: "does it, answers what is not JSON"),
        SimulatedFault(name: "\(step):silence", meaning: "does it, never answers"),
        SimulatedFault(name: "\(step):close-before", meaning: "closes before it reads the request"),
        SimulatedFault(name: "\(step):close-after", meaning: "does it, then closes without answer"),
        SimulatedFault(name: "\(step):slow", meaning: "answers after 2 s"),
      ]
    }
    for step in ["host-token", "part1", "part2", "cancel", "tokenize", "barcode"] {
      faults += [
        SimulatedFault(name: "\(step):close-before", meaning: "closes before it reads the message"),
        SimulatedFault(name: "\(step):close-after", meaning: "does it, then closes without answer"),
        SimulatedFault(
          name: "\(step):drop-before",
          meaning: "the connection breaks before it reads"
        ),
        SimulatedFault(name: "\(step):drop-after", meaning: "does it, then the connection breaks"),
        SimulatedFault(name: "\(step):silence", meaning: "does it, never answers"),
        SimulatedFault(name: "\(step):garbage", meaning: "does it, answers what is not JSON"),
        SimulatedFault(name: "\(step):wrong-key", meaning: "does it, answers under another key"),
        SimulatedFault(
          name: "\(step):gateway-error",
          meaning: "does it not, answers as the gateway does"
        ),
        SimulatedFault(name: "\(step):error", meaning: "does it not, answers with an error text"),
        SimulatedFault(
          name: "\(step):error-array",
          meaning: "does it not, answers with a list of errors"
        ),
        SimulatedFault(name: "\(step):slow", meaning: "answers after 2 s"),
        SimulatedFault(
          name: "\(step):echo",
          meaning: "does it not, repeats what it was sent in its error text"
        ),
      ]
    }
    for (other, what) in [
      ("receipt", "the success of another payment"), ("decline", "the decline of another payment"),
      ("amount", "another amount"),
    ] {
      faults.append(
        SimulatedFault(name: "part2:other-\(other)", meaning: "does it, answers with \(what)")
      )
    }
    faults.append(
      SimulatedFault(name: "graphql:echo", meaning: "repeats the credentials in its error text")
    )
    return faults + cardPresent
  }()
}

extension Fault {
  fileprivate static func unknownName(_ option: String, _ name: String, among: [String]) -> Fault {
    let nearest = Suggestion.nearest(to: name, among: among)
    return Fault(
      .usage,
      code: "bad_value",
      "\(option) has no \(name.quotedForMessage)",
      hint: (nearest.map { "did you mean \($0)? " } ?? "") + "see: tender simulator scenarios"
    )
  }
}
