package import TenderModel

/// The simulated side of Pay Theory: token service, socket and GraphQL.
package struct SimulatedPayTheory: SimulatedProvider {
  package init() {}

  package var name: ProviderName { ProviderName("paytheory") }

  package var section: JSONObject {
    [
      "api_key": .string(PayTheoryCatalog.apiKey),
      "merchant_uid": .string(PayTheoryCatalog.merchantUID),
      "secret_key": .string(PayTheoryCatalog.secretKey),
    ]
  }

  package var variables: [(name: String, address: ServedAddress)] {
    [
      ("TENDER_PAYTHEORY_TOKEN_URL", .http), ("TENDER_PAYTHEORY_SOCKET_URL", .socket),
      ("TENDER_PAYTHEORY_GRAPHQL_URL", .http),
    ]
  }

  package func handle(
    _ request: SimulatedRequest,
    _ parts: SimulatorParts
  ) throws(Fault) -> HTTPReaction? {
    try PayTheoryHTTP(world: parts.world, ledger: parts.ledger, faults: parts.faults)
      .handle(request)
  }

  package func open(
    path: String,
    query: String,
    _ parts: SimulatorParts
  ) -> UpgradeReaction? {
    PayTheorySocket.open(
      path: path,
      query: query,
      world: parts.world,
      ledger: parts.ledger,
      faults: parts.faults
    )
  }

  package var scenarios: [Scenario] {
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
      Scenario(
        name: "barcode:paid",
        meaning: "a cash barcode is paid 5 s of the clock after it was made"
      ),
      Scenario(name: "barcode:expired", meaning: "the last day of a cash barcode is over"),
    ]
      + PayTheoryCatalog.declineCodes.map { code in
        Scenario(name: "decline:\(code.lowercased())", meaning: "payments fail with \(code)")
      }
  }

  package var faults: [SimulatedFault] {
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
      faults +=
        [
          SimulatedFault(name: "\(step):http-429", meaning: "answers 429"),
          SimulatedFault(name: "\(step):http-500", meaning: "answers 500"),
          SimulatedFault(name: "\(step):http-503", meaning: "answers 503"),
        ] + SimulatedFault.exchange(step)
    }
    for (step, what) in [
      ("reversal", "a reversal alone"), ("stored", "a payment or hold by a stored method alone"),
    ] {
      faults += SimulatedFault.exchange(step).map { fault in
        SimulatedFault(name: fault.name, meaning: "\(what): \(fault.meaning)")
      }
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
    return faults
  }
}
