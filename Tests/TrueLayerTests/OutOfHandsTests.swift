import TenderEngine
import TenderModel
import TenderTestSupport
import Testing
import TrueLayer

/// The bank continues a payment by itself. A command that stops looking must not report that no money moved.
@Suite struct OutOfHandsTests {
  /// A signal after every answer was given.
  struct Afterwards: Interruption {
    let stub: StubHTTP
    let signal: Fault.Kind?

    var kind: Fault.Kind? { stub.left == 0 ? signal : nil }
    var descriptor: Int32? { nil }

    func acknowledge() {}
  }

  static let path = "/v3/payments/\(WireTests.id)"

  static func authorizing(_ next: String) -> String {
    #"{"status":"authorizing","authorization_flow":{"actions":{"next":\#(next)}}}"#
  }

  static let form = authorizing(
    #"{"type":"form","inputs":[{"type":"text","id":"otp","mandatory":true,"#
      + #""display_text":{"key":"k","default":"Code"}}]}"#
  )
  static let wait = authorizing(#"{"type":"wait"}"#)
  static let redirect = authorizing(#"{"type":"redirect","uri":"https://bank.example/pay"}"#)

  /// The reasons that end the run after a form was accepted.
  enum End: CaseIterable {
    case signal, refused, unreadable, unknownStatus

    var steps: [StubHTTP.Step] {
      switch self {
      case .signal: []
      case .refused: [.init("GET", path, 403, #"{"title":"Forbidden"}"#)]
      case .unreadable: [.init("GET", path, 400, #"{"title":"Bad Request"}"#)]
      case .unknownStatus: [.init("GET", path, 200, #"{"status":"on_its_way"}"#)]
      }
    }
  }

  @Test(arguments: End.allCases)
  func `an accepted form leaves nobody to say that nothing moved`(_ end: End) throws {
    let stub = StubHTTP(
      [
        .init("GET", Self.path, 200, Self.form),
        .init("POST", Self.path + "/authorization-flow/actions/form", 200, Self.wait),
      ] + end.steps
    )
    let world = try World(form: ["otp": "123456"])
    let stopped = Afterwards(stub: stub, signal: end == .signal ? .terminated : nil)
    let engine = world.engine(over: stub, interruption: stopped) { _, configuration in
      configuration.resourceToken = SharedSecret("resource-token")
    }
    let fault = #expect(throws: Fault.self) {
      try engine.pay(try world.existing(WireTests.id))
    }
    #expect(stub.left == 0)
    #expect(fault?.effect == .unknown)
    #expect(fault?.exitStatus == 9)
    #expect(
      fault?.advice
        == "do not make another payment; to look only: tender journal resume \(WireTests.id); to go on "
        + "with the charge, which its payer authorizes: tender journal resume \(WireTests.id) --finish"
    )
    let left = try #require(try world.latest(WireTests.id))
    #expect(left.state.status == .unknown)
    #expect(left.state.isFinal == false)
    // The same command finds the result, and no longer reports the fault.
    let settled = StubHTTP.Step("GET", Self.path, 200, WireTests.whole("settled"))
    let later = StubHTTP([settled, settled])
    let report = try world.engine(over: later) { _, configuration in
      configuration.resourceToken = SharedSecret("resource-token")
    }.pay(try world.existing(WireTests.id))
    #expect(report.status == .succeeded)
    #expect(report.fault == nil)
  }

  /// What a look shows after a form was refused.
  enum Sight: CaseIterable {
    case paid, unchanged, refused

    var steps: [StubHTTP.Step] {
      switch self {
      case .paid: [.init("GET", path, 200, WireTests.whole("settled"))]
      case .unchanged: [.init("GET", path, 200, form)]
      case .refused: [.init("GET", path, 403, #"{"title":"Forbidden"}"#)]
      }
    }
  }

  @Test(arguments: [(400, "invalid-parameters"), (403, "forbidden")], Sight.allCases)
  func `a refused form counts once a look still shows it`(
    _ refusal: (status: Int, type: String),
    _ sight: Sight
  ) throws {
    let problem =
      #"{"type":"https://docs.truelayer.com/docs/error-types#\#(refusal.type)","title":"No"}"#
    let form = Self.path + "/authorization-flow/actions/form"
    let stub = StubHTTP(
      [.init("GET", Self.path, 200, Self.form), .init("POST", form, refusal.status, problem)]
        + sight.steps
    )
    let world = try World(form: ["otp": "123456"])
    let engine = world.engine(over: stub) { _, configuration in
      configuration.resourceToken = SharedSecret("resource-token")
    }
    let order = try world.existing(WireTests.id)
    guard sight != .paid else {
      #expect(try engine.pay(order).status == .succeeded)
      return #expect(stub.left == 0)
    }
    let fault = #expect(throws: Fault.self) { try engine.pay(order) }
    #expect(stub.left == 0)
    #expect(fault?.exitStatus == (sight == .refused ? 9 : refusal.status == 400 ? 7 : 4))
    let left = try #require(try world.latest(WireTests.id))
    #expect(left.state.isFinal == false)
    #expect(left.state.isUnknown == (sight == .refused))
  }

  @Test func `an unknown payment that still waits for its payer waits again after a look`() throws {
    let stub = StubHTTP([
      .init("GET", Self.path, 200, Self.form),
      .init("POST", Self.path + "/authorization-flow/actions/form", 200, Self.wait),
      .init("GET", Self.path, 403, #"{"title":"No"}"#),
    ])
    let world = try World(form: ["otp": "123456"])
    func engine(_ stub: StubHTTP) -> Engine {
      world.engine(over: stub) { _, configuration in
        configuration.resourceToken = SharedSecret("resource-token")
      }
    }
    let fault = #expect(throws: Fault.self) {
      try engine(stub).pay(try world.existing(WireTests.id))
    }
    #expect(fault?.exitStatus == 9)
    let waits = StubHTTP.Step("GET", Self.path, 200, Self.wait)
    let known = try #require(try world.latest(WireTests.id))
    #expect(known.state.status == .unknown)
    let seen = try engine(StubHTTP([waits, waits])).resume(known, finish: false, resend: false)
    #expect(seen.status == .pending)
    #expect(try world.latest(WireTests.id)?.unknowns.isEmpty == true)
  }

  @Test func `a cancel that comes too late records that the payment was executed`() throws {
    let world = try World()
    func engine(_ steps: [StubHTTP.Step]) -> Engine {
      world.engine(over: StubHTTP(steps)) { _, configuration in
        configuration.resourceToken = SharedSecret("resource-token")
      }
    }
    let started = engine([.init("GET", Self.path, 200, Self.redirect)])
    _ = try started.pay(try world.existing(WireTests.id))
    let known = try world.latest(WireTests.id)
    #expect(known?.state.status == .requiresAction)
    let executed = StubHTTP.Step("GET", Self.path, 200, WireTests.whole("executed"))
    let refused = StubHTTP.Step(
      "POST",
      Self.path + "/actions/cancel",
      409,
      #"{"title":"Invalid State","status":409}"#
    )
    let fault = #expect(throws: Fault.self) {
      try engine([refused, executed, executed, executed]).cancel(known, handle: WireTests.id)
    }
    #expect(fault?.code == "nothing_to_cancel")
    #expect(fault?.hint == "TrueLayer cannot refund a payment to an external account")
    #expect(try world.latest(WireTests.id)?.state.status == .succeeded)
  }

  @Test func `a signal while the payer is awaited says what was seen last`() throws {
    let stub = StubHTTP([.init("GET", Self.path, 200, Self.redirect)])
    let world = try World()
    let engine = world.engine(
      over: stub,
      listens: true,
      interruption: Afterwards(stub: stub, signal: .terminated)
    ) { _, configuration in configuration.resourceToken = SharedSecret("resource-token") }
    let fault = #expect(throws: Fault.self) {
      try engine.pay(try world.existing(WireTests.id))
    }
    #expect(fault?.exitStatus == 143)
    #expect(
      fault?.message
        == "stopped by a signal while it waits for the payer: the payer can still authorize it"
    )
    #expect(try world.latest(WireTests.id)?.state.status == .requiresAction)
  }
}
