import TenderCommandLine
import TenderEngine
import TenderModel

/// The provider, as the program knows it.
struct ExampleModule: ProviderModule {
  var name: ProviderName { ExampleProvider.name }
  var currency: String { "EUR" }

  var options: [any OptionKey] { [] }

  var uses: [CommandUse] {
    [
      CommandUse(
        "transact",
        options: [Keys.hold, Keys.idempotencyKey],
        examples: [
          .init("tender transact --provider example --amount 5 --reference EX-1", "pay by example")
        ]
      ), CommandUse("confirm"), CommandUse("cancel"), CommandUse("refund"),
      CommandUse("payment-status"),
    ]
  }

  var section: ConfigurationSection {
    ConfigurationSection([.init("access_key", .credential(isSecret: true))])
  }

  var capabilities: [Capability] { [Capability("transact", "pays by example")] }

  var explanations: [Explanation] {
    [
      Explanation(
        "example_code",
        .rejected,
        provider: "EXAMPLE",
        "an example of a code",
        "nothing to do"
      )
    ]
  }

  func make(_ session: any Session, _ env: Env, for need: Need) throws(Fault) -> any Provider {
    let own = ProviderSettings(session, name, env)
    let base = try own.base("api_url", ["http", "https"])
    guard let key = try own.credential("access_key") else {
      throw Fault(
        .auth,
        code: "credentials_missing",
        cause: .credentialsMissing,
        "\(own.variable("access_key")) is not set"
      )
    }
    session.redactor.learn(key)
    return ExampleProvider(
      client: JSONClient(
        base: base ?? "https://api.example.com",
        http: try session.exchanges(inProcess: env == .simulator && base == nil).http,
        clock: session.clock,
        timeout: try session.settings.timeout(),
        credentials: [HTTPRequest.Field("X-Example-Key", key, isSecret: true)]
      )
    )
  }

  func plan(_ session: any Session, _ env: Env) throws(Fault) -> OrderPlan {
    let amount = try OptionReader(session.invocation, currency: "EUR").amount()
    let holds = session.invocation.has(Keys.hold)
    return OrderPlan(need: .attempt) { reference throws(Fault) in
      var order = PaymentOrder(reference: reference, amount: amount)
      order.stopsAtConfirmation = holds
      return .payment(order)
    }
  }

  func laterPlan(
    _ session: any Session,
    _ payment: Payment?,
    _ change: Command.Change
  ) throws(Fault) -> LaterPlan {
    let part = try OptionReader(session.invocation, currency: "EUR").part(of: payment)
    return switch change {
    case .confirm: LaterPlan(.capture(part), need: .held)
    case .cancel: LaterPlan(.cancel(), need: .held)
    case .refund: LaterPlan(.refund(RefundRequest(amount: part, name: nil)), need: .held)
    }
  }
}
