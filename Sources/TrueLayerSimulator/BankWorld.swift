import TenderEngine
import TenderModel
import TenderSimulator
import TenderWire

/// The simulated TrueLayer's payments and mandates, how they stand at a time, and who may see them.
///
/// Members that begin with `_` are its own and never shown.
struct BankWorld {
  let world: SimulatorWorld
  let ledger: Ledger

  /// A payment or mandate.
  enum Kind: String {
    case payment, mandate

    var table: String { "bank-\(rawValue)" }
    var parameter: String { "\(rawValue)_id" }
  }

  /// Authorization takes this long at most (protocol note, section 1.3), in milliseconds.
  static let lifetime = 900_000
  /// How long a payer takes who confirms in an app.
  private static let decoupledPause = 3000

  var now: Int { world.now }
  var time: String { microseconds(now) }

  /// RFC 3339 with microseconds, as the real ones are.
  func microseconds(_ milliseconds: Int) -> String {
    let precise = Timestamp.text(milliseconds).dropLast()
    let fraction = String((milliseconds % 1000 + 1000) % 1000 + 1000).dropFirst()
    return precise + ".\(fraction)000Z"
  }

  func uuid() -> String { world.randomness.uuid().lowercased() }

  /// The resource of an id as it stands now; what time has done to it is done first.
  ///
  /// `isAwaited` says that somebody looks: a payer whom a scenario plays acts then, and never in the
  /// middle of a write.
  func find(_ kind: Kind, _ id: String, isAwaited: Bool = false) throws(Fault) -> JSONObject? {
    var found = try ledger.find(kind.table, id)
    if found == nil, let made = wellKnown(kind, id) {
      try save(kind, made)
      found = made
    }
    guard var resource = found else { return nil }
    if age(&resource, kind, isAwaited: isAwaited) { try save(kind, resource) }
    return resource
  }

  func save(_ kind: Kind, _ resource: JSONObject) throws(Fault) {
    guard let id = resource.text("id") else { return }
    try ledger.put(kind.table, id, resource, reference: resource["metadata"]?["reference"]?.text)
  }

  /// What exists without anybody having made it: `00000000-0000-4000-8000-` and an amount in minor
  /// units awaits its payer, so that a flow can be tried with an id and a token alone.
  private func wellKnown(_ kind: Kind, _ id: String) -> JSONObject? {
    let prefix = "00000000-0000-4000-8000-"
    guard id.hasPrefix(prefix), id.utf8.count == 36, let amount = Int(id.dropFirst(prefix.count)),
      amount > 0
    else { return nil }
    let payee: JSON = [
      "type": "external_account", "account_holder_name": "Ben Eficiary", "reference": "demo",
      "account_identifier": [
        "type": "sort_code_account_number", "sort_code": "560029", "account_number": "26207729",
      ],
    ]
    let selection: JSON = ["type": "user_selected"]
    if kind == .mandate {
      return fresh(
        [
          "type": "sweeping", "currency": "GBP", "beneficiary": payee,
          "reference": .string(Self.reference(of: id)),
          "provider_selection": selection,
          "constraints": [
            "maximum_individual_amount": .integer(amount),
            "periodic_limits": [
              "month": ["maximum_amount": .integer(amount * 10), "period_alignment": "consent"]
            ],
          ],
        ],
        id: id
      )
    }
    return fresh(
      [
        "amount_in_minor": .integer(amount), "currency": "GBP",
        "payment_method": [
          "type": "bank_transfer", "provider_selection": selection, "beneficiary": payee,
        ],
      ],
      id: id
    )
  }

  /// The statement reference that a mandate gets where none is given.
  static func reference(of id: String) -> String {
    String(id.filter { $0 != "-" }.prefix(18)).uppercased()
  }

  /// A new resource that waits for its payer.
  func fresh(_ members: JSONObject, id: String) -> JSONObject {
    var resource: JSONObject = ["id": .string(id)]
    for member in members.members { resource[member.key] = member.value }
    if resource["user"] == nil { resource["user"] = ["id": .string(uuid())] }
    resource["created_at"] = .string(time)
    resource["status"] = "authorization_required"
    resource["_created"] = .integer(now)
    return resource
  }

  /// Lets time pass for a resource: what was due happens, what was never authorized expires.
  ///
  /// True where anything changed.
  private func age(_ resource: inout JSONObject, _ kind: Kind, isAwaited: Bool) -> Bool {
    let before = resource
    let created = resource["_created"]?.boundedNumber ?? now
    let isOpen = ["authorization_required", "authorizing"].contains(resource.text("status"))
    if isOpen, now - created >= Self.lifetime {
      fail(&resource, "expired")
      return true
    }
    if isAwaited { playPayer(&resource, kind) }
    happen(&resource)
    return resource != before
  }

  /// Does what is due by now.
  private func happen(_ resource: inout JSONObject) {
    while let due = resource["_due"]?.array?.first?.object, let at = due["at"]?.boundedNumber,
      at <= now
    {
      resource["_due"] = .array(Array(resource["_due"]?.array?.dropFirst() ?? []))
      enter(due.text("status") ?? "", &resource, at: at, reason: due.text("reason"))
    }
  }

  /// Moves a resource to a status, with what comes with it.
  private func enter(
    _ status: String,
    _ resource: inout JSONObject,
    at time: Int,
    reason: String?
  ) {
    switch status {
    case "failed": return fail(&resource, reason ?? "unknown_error", at: time)
    case "revoked":
      resource["revoked_at"] = .string(microseconds(time))
      resource["revocation_source"] = "provider"
    default: resource["\(status)_at"] = .string(microseconds(time))
    }
    resource["status"] = .string(status)
    freeze(&resource)
    let isPayment = resource["payment_method"] != nil
    if isPayment, status == "authorized" {
      var method = resource["payment_method"]?.object ?? [:]
      var selection = method["provider_selection"]?.object ?? [:]
      if selection["scheme_id"] == nil {
        let bank = selection.text("provider_id").flatMap(BankCatalog.bank)
        selection["scheme_id"] = .string(bank?.schemes.last ?? "faster_payments_service")
      }
      method["provider_selection"] = .object(selection)
      resource["payment_method"] = .object(method)
    }
    if isPayment, status == "executed" || status == "settled" {
      var source = Self.payer
      if status == "settled" { source["id"] = .string(uuid()) }
      resource["payment_source"] = .object(source)
    }
    if !isPayment, status == "authorized" {
      resource["remitter"] = [
        "account_holder_name": "Remi Terr",
        "account_identifier": Self.payer["account_identifiers"]?.array?.first ?? [:],
      ]
    }
  }

  private static let payer: JSONObject = [
    "account_holder_name": "Remi Terr",
    "account_identifiers": [
      [
        "type": "sort_code_account_number", "sort_code": "500000", "account_number": "12345601",
      ]
    ],
  ]

  func fail(_ resource: inout JSONObject, _ reason: String, at time: Int? = nil) {
    let stage = resource.text("status") ?? "authorizing"
    let retries =
      resource["payment_method"]?["retry"] != nil && resource["_configuration"]?["retry"] != nil
      && reason == "authorization_failed"
    resource["failed_at"] = .string(microseconds(time ?? now))
    resource["failure_stage"] = .string(stage)
    resource["failure_reason"] = .string(reason)
    resource["status"] = retries ? "attempt_failed" : "failed"
    resource["_due"] = nil
    if retries {
      show(["type": "retry", "retry_options": ["restart"]], in: &resource)
    } else {
      freeze(&resource)
    }
  }

  /// What a finished flow leaves: its configuration.
  private func freeze(_ resource: inout JSONObject) {
    resource["authorization_flow"] = resource["_configuration"].map { ["configuration": $0] }
    resource["_queue"] = nil
  }

  /// Puts an action in front of the payer.
  func show(_ next: JSON, in resource: inout JSONObject) {
    var flow: JSONObject = ["actions": ["next": next]]
    flow["configuration"] = resource["_configuration"]
    resource["authorization_flow"] = .object(flow)
    resource["_shown"] = .integer(now)
  }

  func next(_ resource: JSONObject) -> JSONObject? {
    resource["authorization_flow"]?["actions"]?["next"]?.object
  }

  /// What the payer does at the bank, by the documented names of the mock bank (note, section 6.1).
  func act(_ action: String, on resource: inout JSONObject, _ kind: Kind, delay: Int = 0) {
    guard resource.text("status") == "authorizing" else { return }
    switch action {
    case "RejectAuthorisation": return fail(&resource, "authorization_failed")
    case "Cancel": return fail(&resource, "not_authorized")
    case "Revoke":
      schedule(["authorized", "revoked"], on: &resource)
    case "Authorise" where kind == .mandate: schedule(["authorized"], on: &resource)
    case "RejectExecution":
      schedule(["authorized"], on: &resource)
      append("failed", at: now + delay, reason: "provider_rejected", to: &resource)
    default:
      schedule(["authorized"], on: &resource)
      append("executed", at: now + delay, to: &resource)
      let payee = resource["payment_method"]?["beneficiary"]?["type"]?.text
      if payee == "merchant_account" { append("settled", at: now + delay, to: &resource) }
    }
    happen(&resource)
  }

  private func schedule(_ statuses: [String], on resource: inout JSONObject) {
    for status in statuses { append(status, at: now, to: &resource) }
  }

  private func append(
    _ status: String,
    at time: Int,
    reason: String? = nil,
    to resource: inout JSONObject
  ) {
    var due: JSONObject = ["status": .string(status), "at": .integer(time)]
    due["reason"] = reason.map(JSON.string)
    resource["_due"] = .array((resource["_due"]?.array ?? []) + [.object(due)])
  }

  /// The payer as the scenario plays them; under `serve` only where one is named.
  private func playPayer(_ resource: inout JSONObject, _ kind: Kind) {
    if resource["_embedded"] == true, resource.text("status") == "authorizing" {
      resource["_embedded"] = nil
      return play(world.options.scenario ?? "bank:execute", &resource, kind)
    }
    let named = world.options.scenario.flatMap { name in
      name.hasPrefix("bank:") || name.hasPrefix("mandate:") ? name : nil
    }
    guard named != nil || resource["_abandoned"] != true else { return }
    guard resource.text("status") == "authorizing",
      let scenario = named ?? (world.playsPayer ? "bank:execute" : nil),
      let shown = resource["_shown"]?.boundedNumber
    else { return }
    let isWaiting: Bool
    switch next(resource)?.text("type") {
    case "redirect": isWaiting = false
    case "wait": isWaiting = true
    default: return
    }
    guard !isWaiting || now - shown >= Self.decoupledPause else { return }
    play(scenario, &resource, kind)
  }

  /// Does what a scenario says the payer does.
  func play(_ scenario: String, _ resource: inout JSONObject, _ kind: Kind) {
    let parts = scenario.split(separator: ":", maxSplits: 1).map(String.init)
    guard parts.count == 2, parts[0] == "bank" || parts[0] == "mandate" && kind == .mandate else {
      return act(kind == .mandate ? "Authorise" : "Execute", on: &resource, kind)
    }
    switch parts[1] {
    case "reject_authorisation": act("RejectAuthorisation", on: &resource, kind)
    case "reject_execution": act("RejectExecution", on: &resource, kind)
    case "cancel": act("Cancel", on: &resource, kind)
    case "revoke": act("Revoke", on: &resource, kind)
    case "slow": act("Execute", on: &resource, kind, delay: 5000)
    case "expire": fail(&resource, "expired")
    // A later look without a scenario finds them gone still.
    case "abandon": resource["_abandoned"] = true
    case let reason where reason.hasPrefix("failed:"):
      fail(&resource, String(reason.dropFirst("failed:".count)))
    default: act(kind == .mandate ? "Authorise" : "Execute", on: &resource, kind)
    }
  }

  /// A resource as its reader may see it: some members are for the client alone (note, section 2.3).
  func shown(_ resource: JSONObject, toClient: Bool) -> JSONObject {
    // The published schema wants these two of whoever asks (OpenAPI, `PaymentSettled`,
    // `GetVRPMandateCommonWithUserDetails`).
    let isMandate = resource["payment_method"] == nil
    let isSettled = resource.text("status") == "settled"
    let own = [
      "created_at", "executed_at", "settled_at", "failed_at", "authorized_at", "remitter",
    ].filter { !(isMandate && $0 == "created_at") && !(isSettled && $0 == "executed_at") }
    var shown = JSONObject(
      resource.members.filter { member in
        !member.key.hasPrefix("_") && (toClient || !own.contains(member.key))
      }
    )
    if !toClient, resource.text("status") == "settled" { shown["payment_source"] = nil }
    return shown
  }
}
