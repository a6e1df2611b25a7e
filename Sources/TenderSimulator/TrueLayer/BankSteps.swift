import TenderEngine
import TenderModel

/// The authorization flow of the simulated TrueLayer: its next step, and the effect of a submission
/// (TrueLayer/README, 4.2 to 4.5 and 10.2).
struct BankSteps {
  let bank: BankWorld

  func start(_ resource: inout BankResource, _ body: JSONObject) throws(BankProblem) {
    let given = BankCapabilities(body)
    guard [.authorizationRequired, .attemptFailed].contains(resource.status) else { throw .state }
    if given.redirects {
      guard given.returnAddress?.contains("://") == true else {
        throw .invalid("redirect.return_uri", "Value is required.")
      }
    } else if resource.kind == .mandate {
      throw .invalid("redirect", "Value is required.")
    }
    guard resource.selection.bank != nil || given.choosesBank else {
      throw .invalid("provider_selection", "Value is required.")
    }
    resource.begin(given)
    if let id = resource.selection.bank {
      guard let chosen = BankCatalog.bank(id) else {
        throw .invalid("payment_method.provider_selection.provider_id", "Unknown provider.")
      }
      let queue = try steps(chosen, resource)
      resource.flow?.queue = queue
    } else {
      resource.flow?.queue =
        given.choosesAccount ? [.userAccountSelection, .providerSelection] : [.providerSelection]
    }
    try advance(&resource)
  }

  /// Returns the remaining steps once a bank is chosen.
  private func steps(
    _ chosen: BankCatalog.Bank,
    _ resource: BankResource
  ) throws(BankProblem) -> [BankFlow.Step] {
    guard let given = resource.flow?.capabilities else { throw .state }
    let selection = resource.selection
    var steps: [BankFlow.Step] = []
    if !chosen.branches.isEmpty, selection.branch == nil { steps.append(.branchSelection) }
    if resource.kind == .payment, resource.order.choosesScheme, selection.scheme == nil {
      steps.append(.schemeSelection)
    }
    if given.takesConsent, !given.isConsentAdjacent { steps.append(.consent) }
    if resource.kind == .payment {
      guard chosen.forms.isEmpty || given.takesForms else {
        throw .invalid("form", "This provider needs inputs.")
      }
      steps += chosen.forms.indices.map { .form($0) }
    }
    let isDecoupled =
      chosen.way == .decoupled || bank.world.options.scenario == "bank:decoupled"
    steps.append(chosen.way == .embedded ? .working : isDecoupled ? .wait : .redirect)
    guard steps.last != .redirect || given.redirects else {
      throw .invalid("redirect", "This provider redirects.")
    }
    return steps
  }

  /// Shows the payer the next step of the queue.
  private func advance(_ resource: inout BankResource) throws(BankProblem) {
    guard let step = resource.flow?.queue.first else { throw .state }
    if step == .providerSelection, resource.banks.isEmpty {
      return resource.fail("provider_error", at: bank.now)
    }
    if step == .redirect { resource.flow?.session = bank.uuid() }
    resource.flow?.queue.removeFirst()
    resource.flow?.show(step, at: bank.now)
  }

  /// Accepts a submission, which must answer the payer's current step.
  func submit(
    _ action: String?,
    _ body: JSONObject,
    _ resource: inout BankResource
  ) throws(BankProblem) {
    guard resource.status == .authorizing, let step = resource.flow?.step,
      step.type.split(separator: "_").joined(separator: "-") == action
    else { throw .state }
    let chosen = resource.selection.bank.flatMap(BankCatalog.bank)
    switch step {
    case .providerSelection: try chooseBank(body, &resource)
    case .branchSelection:
      guard let id = body.text("branch_id"),
        chosen?.branches.contains(where: { $0.id == id }) == true
      else { throw .invalid("branch_id", "Unknown branch.") }
      resource.selection.branch = id
    case .schemeSelection:
      guard let id = body.text("scheme_id"), chosen?.schemes.contains(id) == true else {
        throw .invalid("scheme_id", "Unknown scheme.")
      }
      resource.selection.scheme = id
    case .userAccountSelection: try chooseAccount(body, &resource)
    case .consent:
      let given = body["captured"]?["ais"]?["scopes"]?.array?.compactMap(\.text) ?? []
      let required = chosen?.requiredScopes ?? []
      guard resource.kind == .mandate || required.allSatisfy(given.contains) else {
        throw .invalid("captured.ais.scopes", "A required scope is missing.")
      }
    case .form(let page):
      guard let chosen, chosen.forms.indices.contains(page) else { throw .state }
      let answers = body["inputs"]
      for id in chosen.forms[page] { try BankInput.check(answers?[id]?.text ?? "", id: id) }
      resource.flow?.queue.removeAll { step in
        guard case .form(let later) = step else { return false }
        return chosen.isOther(page: later, than: answers?["embedded-auth-flow-sca-select"]?.text)
      }
    case .redirect, .wait, .working, .retry: throw .state
    }
    try advance(&resource)
  }

  private func chooseBank(
    _ body: JSONObject,
    _ resource: inout BankResource
  ) throws(BankProblem) {
    guard let id = body.text("provider_id") else {
      throw .invalid("provider_id", "Value is required.")
    }
    guard let chosen = resource.banks.first(where: { $0.id == id }) else {
      throw .invalid("provider_id", "Unknown provider.")
    }
    resource.selection.bank = id
    if let branch = body.text("branch_id") {
      guard chosen.branches.contains(where: { $0.id == branch }) else {
        throw .invalid("branch_id", "Unknown branch.")
      }
      resource.selection.branch = branch
    }
    let queue = try steps(chosen, resource)
    resource.flow?.queue = queue
  }

  private func chooseAccount(
    _ body: JSONObject,
    _ resource: inout BankResource
  ) throws(BankProblem) {
    switch body.text("type") {
    case "new": break
    case "existing":
      guard body.text("user_account_id") == BankCatalog.savedAccount,
        let chosen = BankCatalog.bank(BankCatalog.savedBank)
      else { throw .invalid("user_account_id", "Unknown account.") }
      resource.selection.bank = chosen.id
      let queue = try steps(chosen, resource)
      resource.flow?.queue = queue
    default: throw .invalid("type", "Unknown value.")
    }
  }
}
