internal import TenderEngine
package import TenderModel

/// The next action of an authorization flow (README, 4.3). Unknown actions are possible.
package enum NextAction: Sendable, Hashable {
  case providerSelection([Bank])
  case choice(Selection, [Choice])
  case consent(JSONObject)
  case form([FormInput])
  case redirect(String)
  case wait(String?)
  case retry([String])
  case other(String)

  /// The choices that a payer makes, as TrueLayer names them.
  package enum Selection: String, Sendable {
    case branch = "branch_selection"
    case scheme = "scheme_selection"
    case account = "user_account_selection"

    fileprivate var member: String {
      switch self {
      case .branch: "branches"
      case .scheme: "schemes"
      case .account: "user_accounts"
      }
    }
  }
}

extension NextAction {
  /// Reads `authorization_flow.actions.next`; nil if there is none.
  init?(_ value: JSON?) {
    guard let object = value?.object, let type = object.text("type") else { return nil }
    switch type {
    case "provider_selection":
      self = .providerSelection(Self.objects(object["providers"]).compactMap(Bank.init))
    case "branch_selection": self = .choice(.branch, Self.choices(object["branches"]))
    case "scheme_selection": self = .choice(.scheme, Self.choices(object["schemes"]))
    case "user_account_selection":
      self = .choice(
        .account,
        Self.objects(object["user_accounts"]).compactMap { account in
          guard let id = account.text("id") else { return nil }
          let parts = [
            account["provider"]?["display_name"]?.text,
            // The identifier is masked again, because only the last four digits of an account are shown.
            account.text("masked_account_identifier").map { "…" + $0.suffix(4) },
          ]
          return Choice(id: id, name: parts.compactMap(\.self).joined(separator: " "))
        }
      )
    case "consent": self = .consent(object["requirements"]?.object ?? [:])
    case "form": self = .form(Self.objects(object["inputs"]).compactMap(FormInput.init))
    case "redirect":
      guard let uri = object.text("uri") else { return nil }
      self = .redirect(uri)
    case "wait": self = .wait(object["display_message"]?["default"]?.text)
    case "retry": self = .retry(object["retry_options"]?.array?.compactMap(\.text) ?? [])
    default: self = .other(type)
    }
  }

  private static func objects(_ value: JSON?) -> [JSONObject] {
    value?.array?.prefix(5000).compactMap(\.object) ?? []
  }

  private static func choices(_ value: JSON?) -> [Choice] {
    objects(value).compactMap { item in
      guard let id = item.text("id") else { return nil }
      var name = item.text("display_name") ?? id
      if let fee = item["fee"]?["amount_in_minor"]?.boundedNumber, fee > 0 {
        name += " (fee \(fee) \(item["fee"]?["currency"]?.text ?? "") in minor units)"
      }
      return Choice(id: id, name: name, isRecommended: item["recommended"]?.truth ?? false)
    }
  }

  /// Whether this process answers it, instead of waiting for the payer.
  var isAnswered: Bool {
    switch self {
    case .redirect, .wait: false
    default: true
    }
  }

  /// TrueLayer's name of the action.
  var type: String {
    switch self {
    case .providerSelection: "provider_selection"
    case .choice(let selection, _): selection.rawValue
    case .consent: "consent"
    case .form: "form"
    case .redirect: "redirect"
    case .wait: "wait"
    case .retry: "retry"
    case .other(let type): type
    }
  }

  /// The `next_action` of a record.
  ///
  /// The address of a bank's page is a credential, and a list of banks is long. Both are read again each
  /// time.
  var shown: PayerAction {
    var object: JSONObject = [:]
    switch self {
    case .providerSelection(let banks):
      object["providers"] = .array(
        banks.map { bank in
          [
            "id": .string(bank.id), "display_name": .string(bank.name),
            "country_code": bank.country?.json,
            "recommended_status": bank.isHealthy ? nil : "unhealthy",
          ]
        }
      )
    case .choice(let selection, let choices):
      object[selection.member] = .array(
        choices.map { choice in
          [
            "id": .string(choice.id), "display_name": .string(choice.name),
            "recommended": choice.isRecommended ? true : nil,
          ]
        }
      )
    case .consent(let requirements): object["requirements"] = .object(requirements)
    case .form(let inputs): object["inputs"] = .array(inputs.map(\.shown))
    case .redirect(let uri): if Redirection.isUsable(uri) { object["url"] = .string(uri) }
    case .wait(let message): object["message"] = message?.json
    case .retry(let options): object["retry_options"] = .array(options.map(JSON.string))
    case .other: break
    }
    return PayerAction(type, object, isAskedAnew: true)
  }
}

/// Checks of the addresses that a payer may be sent to.
enum Redirection {
  /// Returns whether an address is encrypted or on this machine, visible ASCII, and short enough for
  /// browsers.
  static func isUsable(_ address: String) -> Bool {
    let front = address.prefix(before: "#")
    guard address.utf8.count <= 8192, address.utf8.allSatisfy({ (0x21...0x7e).contains($0) }),
      let parts = WebAddress(String(front)), ["http", "https"].contains(parts.scheme)
    else { return false }
    return parts.isEncrypted || parts.isLoopback
  }
}

extension Redactor {
  /// Exempts the address of the bank's page from redaction, because the payer needs all of it.
  func showWhole(_ address: String) { if !holdsSecret(address) { exempt(address) } }
}
