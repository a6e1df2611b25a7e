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
        """
        transact
        $ tender transact --provider example --amount 5 --reference EX-1 # pay by example
        """,
        options: [Keys.hold, Keys.idempotencyKey]
      ), CommandUse("confirm"), CommandUse("cancel"), CommandUse("refund"),
      CommandUse("payment-status"),
    ]
  }

  var section: ConfigurationSection {
    ConfigurationSection([.init("access_key", .secret)])
  }

  var capabilities: [Capability] { [Capability("transact", true, "pays by example")] }

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

  typealias Setup = (base: String?, key: String, timeout: Int)

  func setup(_ session: any Session, _ env: Env) throws(Fault) -> Setup {
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
    return (base, key, try session.settings.timeout())
  }

  func isRedirected(_ setup: Setup) -> Bool { setup.base != nil }

  func make(_ setup: Setup, _ wires: Wires) -> ExampleProvider {
    ExampleProvider(
      client: JSONClient(
        base: setup.base ?? "https://api.example.com",
        http: wires.exchanges.http,
        clock: wires.clock,
        timeout: setup.timeout,
        credentials: [HTTPRequest.Field("X-Example-Key", setup.key, isSecret: true)]
      )
    )
  }

  func order(_ intent: Intent, _ session: any Session, _ env: Env) throws(Fault) -> Order {
    let options = OptionReader(session.invocation, currency: "EUR")
    switch intent {
    case .changes(.confirm, let payment): return .capture(try options.part(of: payment))
    case .changes(.cancel, _): return .cancel()
    case .changes(.refund, let payment):
      return .refund(RefundRequest(amount: try options.part(of: payment)))
    case .makes(_, let reference):
      return .placed(
        ExampleOrder(
          reference: reference,
          amount: try options.amount(),
          isHold: session.invocation.has(Keys.hold)
        )
      )
    }
  }
}
