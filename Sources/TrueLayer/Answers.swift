import TenderEngine
import TenderModel

/// A request that answers an action: its path and its body.
struct Submission: Sendable {
  var action: String
  var body: JSONObject
  /// Whether it can move money: a bank may pay after a consent or a form (README, 4.5).
  var isEffecting = false
}

/// Finds the answer to an action in the options, or asks the operator.
struct Answers {
  let context: TrueLayerContext
  let progress: Progress

  private var options: FlowOptions { context.options }

  /// Asks for one of several choices. `option` names the subject. Known facts are recorded before the
  /// question.
  private func choose(
    _ subject: String,
    among choices: [Choice],
    _ option: String
  ) throws(Fault) -> String {
    try progress.save()
    guard let chosen = try context.guide.choose(subject, among: choices) else {
      throw .inputMissing(option)
    }
    return chosen
  }

  /// Returns the submission for an action.
  ///
  /// Throws `pending` if an answer does not fit, or is missing and there is no terminal to ask on.
  func submission(for next: NextAction, _ resource: Resource) throws(Fault) -> Submission {
    switch next {
    case .providerSelection(let banks):
      let branch = resource.kind == .payment ? options.branch : nil
      let body: JSONObject = [
        "provider_id": .string(try bank(among: banks)), "branch_id": branch?.json,
      ]
      return Submission(action: "provider-selection", body: body)
    case .choice(.branch, let choices):
      let branch = try choice("branch", choices, options.branch)
      return Submission(action: "branch-selection", body: ["branch_id": .string(branch)])
    case .choice(.scheme, let choices):
      let scheme = try choice("scheme", choices, options.scheme)
      return Submission(action: "scheme-selection", body: ["scheme_id": .string(scheme)])
    case .choice(.account, let choices): return try account(among: choices)
    case .consent(let requirements):
      let scopes = try scopes(requirements, of: resource.kind)
      return Submission(
        action: "consent",
        body: resource.kind == .mandate ? [:] : ["captured": .object(captured(scopes))],
        isEffecting: true
      )
    case .form(let inputs):
      let consent: JSON = ["consent": ["captured": .object(captured([]))]]
      let body: JSONObject = [
        "inputs": .object(try values(inputs)),
        "adjacent": resource.wantsConsentBesideForm ? consent : nil,
      ]
      return Submission(action: "form", body: body, isEffecting: true)
    case .redirect, .wait, .retry, .other: throw .inputMissing(next.type)
    }
  }

  /// Returns an action with only the choices that an operator would be offered.
  func offered(_ next: NextAction) -> NextAction {
    guard case .providerSelection(let banks) = next else { return next }
    return .providerSelection(offered(banks).banks)
  }

  /// Returns the banks of the requested country, else of the locale's country, else all of them by country.
  ///
  /// Within a country they stay in TrueLayer's order, with the healthy ones first.
  private func offered(_ banks: [Bank]) -> (banks: [Bank], note: String?) {
    let sorted = Self.sorted(banks)
    let wanted = options.country?.uppercased()
    for country in [wanted, options.localeCountry?.uppercased()].compactMap(\.self) {
      let found = sorted.filter { $0.country?.uppercased() == country }
      guard !found.isEmpty else { continue }
      guard let wanted, wanted != country else { return (found, nil) }
      return (found, "no bank in \(wanted): showing those in \(country)")
    }
    return (sorted, wanted.map { "no bank in \($0): showing all" })
  }

  private static func sorted(_ banks: [Bank]) -> [Bank] {
    let ranked = banks.enumerated().sorted { left, right in
      let countries = (left.element.country ?? "~", right.element.country ?? "~")
      if countries.0 != countries.1 { return countries.0 < countries.1 }
      if left.element.isHealthy != right.element.isHealthy { return left.element.isHealthy }
      return left.offset < right.offset
    }
    return ranked.map(\.element)
  }

  private func bank(among banks: [Bank]) throws(Fault) -> String {
    if let wanted = options.bank {
      guard let found = banks.first(where: { $0.id == wanted }) else {
        throw .notOffered("--bank", wanted, among: banks.map(\.id))
      }
      if !found.isHealthy { context.guide.note("\(found.name) is reported as not healthy") }
      return wanted
    }
    let (offered, note) = offered(banks)
    if let note { context.guide.note(note) }
    return try choose(
      "bank",
      among: offered.map { bank in
        let name = bank.isHealthy ? bank.name : bank.name + " (not healthy)"
        return Choice(id: bank.id, name: name, aliases: bank.aliases)
      },
      "a bank (--bank)"
    )
  }

  private func choice(
    _ subject: String,
    _ choices: [Choice],
    _ wanted: String?
  ) throws(Fault) -> String {
    if let wanted {
      guard choices.contains(where: { $0.id == wanted }) else {
        throw .notOffered("--\(subject)", wanted, among: choices.map(\.id))
      }
      return wanted
    }
    // A single choice needs no question.
    if choices.count == 1 { return choices[0].id }
    return try choose(subject, among: choices, "a \(subject) (--\(subject))")
  }

  private func account(among choices: [Choice]) throws(Fault) -> Submission {
    let all = [Choice(id: "new", name: "another account")] + choices
    let chosen =
      if let wanted = options.account {
        wanted
      } else {
        try choose("account", among: all, "an account (--account)")
      }
    guard all.contains(where: { $0.id == chosen }) else {
      throw .notOffered("--account", chosen, among: all.map(\.id))
    }
    return Submission(
      action: "user-account-selection",
      body: chosen == "new"
        ? ["type": "new"] : ["type": "existing", "user_account_id": .string(chosen)]
    )
  }

  /// Returns the account data scopes that the bank requires and the payer agreed to.
  private func scopes(_ requirements: JSONObject, of kind: Payment.Kind) throws(Fault) -> [JSON] {
    let required = requirements["ais"]?["required_scopes"]?.array ?? []
    let optional = requirements["ais"]?["optional_scopes"]?.array ?? []
    guard options.consentsToAccountData else {
      guard required.isEmpty else {
        throw Fault(
          .pending,
          code: "consent_needed",
          "the bank wants to read account data as well, and --consent is pis",
          hint: "where the payer agrees: --consent pis,ais"
        )
      }
      context.guide.note(
        kind == .mandate
          ? "consent given: to this mandate"
          : "consent given: to this payment alone (--consent pis)"
      )
      return []
    }
    context.guide.note("consent given: to this payment and to reading account data")
    return required + optional
  }

  private func captured(_ scopes: [JSON]) -> JSONObject {
    ["pis": [:], "ais": scopes.isEmpty ? nil : ["scopes": .array(scopes)]]
  }

  private func values(_ inputs: [FormInput]) throws(Fault) -> JSONObject {
    var given = try context.guide.given(inputs)
    for input in inputs {
      if let value = given[input.id] {
        if let problem = input.problem(with: value) {
          throw .badForm(
            "the value for \(input.id.quotedForMessage) cannot be used: \(problem)",
            hint: "see --form and --form-file in: tender help transact"
          )
        }
      } else {
        try progress.save()
        guard let value = try context.guide.ask(input) else {
          if input.isMandatory { throw .inputMissing("a form filled in (--form, --form-file)") }
          continue
        }
        given[input.id] = value
      }
      if input.isSensitive, let value = given[input.id] { context.redactor.learn(value) }
    }
    var values: JSONObject = [:]
    for input in inputs {
      if let value = given[input.id], !value.isEmpty || input.isMandatory {
        values[input.id] = .string(value)
      }
    }
    return values
  }
}

extension Fault {
  /// A value does not fit a form, or must not be given this way.
  static func badForm(_ message: String, hint: String) -> Fault {
    Fault(.pending, code: "bad_form_value", message, hint: hint)
  }

  /// An answer is missing that only the payer or the operator can give.
  fileprivate static func inputMissing(_ what: String) -> Fault {
    Fault(
      .pending,
      code: "input_missing",
      "the bank wants \(what), and there is no terminal to ask on",
      hint: "give it, and run the same command again"
    )
  }

  fileprivate static func notOffered(
    _ option: String,
    _ value: String,
    among names: [String]
  ) -> Fault {
    let some = "one of \(names.prefix(6).joined(separator: ", "))"
    return Fault(
      .pending,
      code: "not_offered",
      "\(option) \(value.quotedForMessage) is not among the \(names.count) that are offered",
      hint: Suggestion.hint(for: value, among: names, else: some)
    )
  }
}
