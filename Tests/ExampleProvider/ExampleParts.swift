package import TenderEngine
package import TenderModel
package import TenderSimulator

/// The parts of the provider, for tests in one process.
package enum ExampleParts {
  package static var simulated: any SimulatedProvider { SimulatedExample() }

  package static func provider(over http: any HTTPExchange, _ clock: any Clock) -> any Provider {
    let key = SimulatedExample().section.text("access_key") ?? ""
    return ExampleProvider(
      client: JSONClient(
        base: "https://api.example.com",
        http: http,
        clock: clock,
        timeout: 3000,
        credentials: [HTTPRequest.Field("X-Example-Key", key, isSecret: true)]
      )
    )
  }

  package static func order(
    _ reference: Reference,
    _ amount: Money,
    isHold: Bool
  ) -> any PlacedOrder {
    ExampleOrder(reference: reference, amount: amount, isHold: isHold)
  }
}
