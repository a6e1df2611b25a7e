import PayTheory
import Synchronization
import TenderEngine
import TenderModel
import TenderSimulator
import TenderTestSupport
import Toro
import TrueLayer

extension FuzzTarget {
  /// Each whole adapter with its simulator, and the input between them. Its output must never contain a
  /// secret, and no answer may end the process.
  static let adapters: [FuzzTarget] = [
    FuzzTarget("paytheory", bytes: AdapterRun.seeds) { AdapterRun($0).payTheory() },
    FuzzTarget("toro-answers", bytes: AnsweredGateway.recorded) {
      AdapterRun([]).toroAnswers(of: AnsweredGateway($0))
    },
    FuzzTarget("toro-gateway", bytes: AdapterRun.seeds) { AdapterRun($0).toro(.gateway) },
    FuzzTarget("toro-later", bytes: AdapterRun.seeds) { AdapterRun($0).toro(.later) },
    FuzzTarget("toro-session", bytes: AdapterRun.seeds) { AdapterRun($0).toro(.session) },
    FuzzTarget("truelayer", bytes: AdapterRun.seeds) { AdapterRun($0).trueLayer() },
  ]
}

/// One input's run.
struct AdapterRun {
  static let card = "4000056655665556"
  /// Quiet inputs with each scenario and fault, with each command after the first, and some that change one
  /// answer.
  static let seeds: [[UInt8]] = {
    func input(_ head: [UInt8], _ change: (place: Int, value: UInt8)? = nil) -> [UInt8] {
      var bytes = head + Array(repeating: 0, count: 160 - head.count)
      if let change { bytes[change.place] = change.value }
      return bytes
    }
    var seeds = [[], input([])]
    for number in 0..<48 { seeds.append(input([1, UInt8(number)])) }
    for number in 0..<96 { seeds.append(input([2, 0, UInt8(number * 2)])) }
    for place in 3..<40 {
      for value in [UInt8(1), 4, 6] { seeds.append(input([], (place, value))) }
    }
    // Choices that change no answer, in many combinations.
    for filler in [UInt8(8), 9, 10, 11, 13, 14, 16, 17, 19, 22, 23] {
      for number in 0..<12 {
        let head = [0, 0, 0, UInt8(number % 3), UInt8(number / 3)]
        seeds.append(head + Array(repeating: filler, count: 155))
        seeds.append(head + (0..<155).map { $0 % 2 == 0 ? filler : UInt8(8 + $0 % 16) })
      }
    }
    // The later commands are read last. Any position may be the one with their number.
    for way in 0..<12 {
      seeds.append((0..<160).map { UInt8(truncatingIfNeeded: $0 < 3 ? 0 : $0 % 3 == 0 ? way : 0) })
    }
    return seeds
  }()

  let feed: SharedFeed
  let clock: JumpingClock
  let redactor = Redactor()
  let journal: any Journal

  init(_ input: [UInt8], _ journal: any Journal = MemoryJournal()) {
    feed = SharedFeed(input)
    clock = JumpingClock(feed)
    self.journal = journal
  }

  /// Takes some payments and refunds, which the journal then has.
  static func fill(_ journal: any Journal) {
    for way in [UInt8(0), 4, 6] {
      _ = AdapterRun(Array(repeating: 0, count: 8) + [way, way, way, way], journal).payTheory()
    }
  }

  private func simulator(_ scenarios: [String], _ faults: [String]) -> InProcessSimulator? {
    var options = SimulatorOptions()
    let way = feed.take { ($0.below(4), $0.below(256), $0.below(256)) }
    if way.0 == 1 {
      try? options.set(
        scenario: scenarios[way.1 % scenarios.count],
        among: [SimulatedPayTheory(), SimulatedToro(), SimulatedTrueLayer()]
      )
    }
    if way.0 == 2 {
      try? options.set(
        fault: faults[way.2 % faults.count],
        among: [SimulatedPayTheory(), SimulatedToro(), SimulatedTrueLayer()]
      )
    }
    return try? InProcessSimulator(
      SimulatorWorld(
        ledgerPath: ":memory:",
        clock: clock,
        randomness: SeededRandomness(seed: 7, label: "sim"),
        options: options,
        providers: [SimulatedPayTheory(), SimulatedToro(), SimulatedTrueLayer()]
      )
    )
  }

  private func engine(_ provider: any Provider) -> Engine {
    Engine(
      env: .simulator,
      provider: provider,
      journal: journal,
      clock: clock,
      interruption: NeverInterrupted(),
      patience: 0,
      lateWindow: feed.take { $0.one(of: [0, 5000, 60_000]) },
      digest: { $0.count < 16 ? $0 + [UInt8](repeating: 0, count: 16) : Array($0.suffix(16)) },
      announce: { _ in }
    )
  }

  /// Runs some commands after the first one, chosen by the input, but fewer than `limit`. Without a first one, at
  /// least one runs.
  private func goOn(
    _ engine: Engine,
    _ name: ProviderName,
    limit: Int = 6,
    other: () -> Void,
    _ first: (() throws -> Report)?
  ) -> String? {
    var said: [String] = []
    func note(_ body: () throws -> Report) {
      do {
        let report = try body()
        said.append(JSONWriter.text(.object(redactor.redact(report.result, foreign: true))))
        if let fault = report.fault { said.append(redactor.redact(fault).message) }
      } catch let fault as Fault {
        let shown = redactor.redact(fault)
        said.append(shown.message + (shown.hint ?? ""))
        said.append(JSONWriter.text(.object(shown.result ?? [:])))
      } catch {
        said.append("\(error)")
      }
    }
    if let first { note(first) }
    for _ in 0..<(first == nil ? 1 : 0) + feed.take({ $0.below(limit) }) {
      let known = try? journal.payment(.init(env: .simulator, provider: name, reference: "A"))
      func refund(_ amount: Int?, name: String? = nil) throws -> Report {
        try engine.refund(
          known,
          handle: "A",
          try .test(amount, known?.currency?.code ?? "USD", name: name),
          idempotencyKey: nil
        )
      }
      switch feed.take({ $0.below(12) }) {
      case 0: if let first { note(first) }
      case 1: note { try engine.confirm(known, handle: "A", amount: nil) }
      case 2: note { try engine.cancel(known, handle: "A") }
      case 3: note { try engine.lookUp("A", known: known) }
      case 4: note { try refund(300) }
      case 5: note { try refund(nil) }
      case 6: if let known { note { try engine.resume(known, finish: true, resend: false) } }
      case 7: if let known { note { try engine.resume(known, finish: true, resend: true) } }
      case 8: note { try refund(100, name: "B") }
      case 9: note { try engine.lookUp(known?.state.id ?? "pt-1", known: nil) }
      case 10: note { try engine.lookUp("A", known: known, inWordsOfAttempt: true) }
      default: other()
      }
      try? clock.pause(milliseconds: feed.take { $0.one(of: [0, 1000, 61_000, 900_000]) })
    }
    // An identifier of Toro's acquirer is kept, even if it looks like the number of another card.
    if name == ToroProvider.name { said = said.map { $0.replacing("\"\(Self.card)\"", with: "") } }
    return said.contains { $0.contains(Self.card) } ? "a card number is shown" : nil
  }

  func payTheory() -> String? {
    guard let simulator = simulator(Names.payTheory, Names.payTheoryFaults),
      let key = try? APIKey(PayTheoryCatalog.apiKey), let dollars = Currency(code: "USD"),
      let reference = try? Reference("A"), let expiration = try? Expiration("12/39"),
      let card = try? Card(
        number: SharedSecret(Self.card),
        securityCode: SharedSecret("937"),
        expiration: expiration,
        name: "Jane",
        address: Address(),
        today: YearMonth(year: 2026, month: 11)
      )
    else { return nil }
    redactor.learn(Self.card)
    redactor.learnShort(Secret("937"))
    let isTwoStep = feed.take { $0.below(3) } > 0
    var configuration = PayTheoryConfiguration(env: .simulator, key: key)
    configuration.merchantUID = PayTheoryCatalog.merchantUID
    configuration.secretKey = SharedSecret(PayTheoryCatalog.secretKey)
    configuration.twoStep = isTwoStep
    let provider = PayTheoryProvider(
      PayTheoryContext(
        configuration: configuration,
        http: Mangler(simulator, feed),
        sockets: BoxMangler(simulator, feed),
        clock: clock,
        randomness: SeededRandomness(seed: 9, label: "client"),
        redactor: redactor
      )
    )
    let engine = engine(provider)
    let way = feed.take { $0.below(7) }
    let account = try? BankAccount(
      name: "Jane",
      number: SharedSecret("0000000016"),
      kind: "SAVINGS",
      routing: "122105278"
    )
    let payer = try? CashPayer(name: "Jane", contact: "jane@example.com")
    var made = PayTheoryOrder(
      reference: reference,
      amount: Money(
        minorUnits: feed.take { $0.one(of: [1050, 1, 100_000, 9051]) },
        currency: dollars
      )
    )
    made.feeMode = way == 1 ? .service : .merchant
    made.instrument =
      way == 5
      ? nil
      : way == 2
        ? payer.map { .cash($0) } : way == 6 ? account.map { .bankAccount($0) } : .card(card)
    made.storedMethod = way == 5 ? "pt_pmt_1" : nil
    made.stopsAtConfirmation = isTwoStep && way == 3
    let order = made
    let other = {
      _ = try? engine.preview(order)
      for order in [
        nil, .placed(order), .capture(nil), .refund(RefundRequest()),
      ] as [Order?] {
        try? engine.provider.checkReady(for: order, of: nil)
      }
      let known = try? journal.payment(
        .init(env: .simulator, provider: PayTheoryProvider.name, reference: "A")
      )
      _ = PayTheoryModule().inKeyOrder(known?.attempt?.result ?? [:])
      _ = PayTheoryModule().explanations.count
      let text = feed.take { String(decoding: $0.chunk(60), as: UTF8.self) }
      _ = try? APIKey(text)
      let today = YearMonth(year: 2026, month: 11)
      for brand in TestInstruments.Brand.allCases {
        _ = try? TestInstruments.card(brand, today: today)
      }
      _ = try? TestInstruments.account(text.isEmpty ? .success : .failure)
    }
    return goOn(engine, PayTheoryProvider.name, other: other) {
      if way == 4 {
        var token = PayTheoryOrder(reference: reference, amount: order.amount)
        (token.makes, token.instrument) = (.storedMethod, .card(card))
        return try engine.execute(.placed(token))
      }
      return try engine.execute(.placed(order))
    }
  }

  func trueLayer() -> String? {
    guard let simulator = simulator(Names.bank, Names.bankFaults) else { return nil }
    let isEuro = feed.take { $0.below(3) } == 1
    guard let pounds = Currency(code: isEuro ? "EUR" : "GBP"), let reference = try? Reference("A")
    else { return nil }
    var configuration = TrueLayerConfiguration(env: .simulator)
    configuration.clientID = BankCatalog.clientID
    configuration.clientSecret = SharedSecret(BankCatalog.clientSecret)
    configuration.keyID = BankCatalog.keyID
    configuration.privateKey = SharedSecret(BankCatalog.privateKey)
    var options = FlowOptions()
    options.bank = feed.take {
      $0.one(of: ["mock-payments-gb-redirect", "mock-payments-de-embedded", nil, "x"])
    }
    options.country = feed.take { $0.one(of: [nil, "GB", "DE", "XX"]) }
    options.scheme = feed.take { $0.one(of: [nil, "faster_payments_service", "x"]) }
    options.branch = feed.take { $0.one(of: [nil, "x"]) }
    options.account = feed.take { $0.one(of: [nil, "new", "x"]) }
    options.retries = feed.take { $0.below(4) } == 1
    options.consentsToAccountData = feed.take { $0.below(4) } == 1
    options.returnURL = feed.take {
      $0.one(of: [
        nil, nil, "http://localhost:3000/callback?payment_id=x",
        "https://shop.example/?state=a#b=c",
      ])
    }
    redactor.learn("hunter2-hunter2")
    let provider = TrueLayerProvider(
      TrueLayerContext(
        configuration: configuration,
        options: options,
        http: Mangler(simulator, feed),
        redirects: feed.take { $0.below(2) } == 0 ? SimulatedPayer(clock: clock) : nil,
        guide: AnyGuide(feed),
        clock: clock,
        randomness: SeededRandomness(seed: 9, label: "client"),
        interruption: NeverInterrupted(),
        redactor: redactor
      )
    )
    var creation = Creation(reference: reference, currency: pounds)
    creation.user = ["name": "Remi Terr", "email": "remi@example.com"]
    switch feed.take({ $0.below(4) }) {
    case 0:
      creation.kind = .mandate
      creation.maximumIndividual = 5000
      creation.limits = [(period: "month", amount: 50_000, alignment: "consent")]
      fallthrough
    case 1:
      creation.beneficiaryName = "Ben Eficiary"
      creation.iban = isEuro ? "NL39ABNA8234998285" : nil
      creation.sortCode = isEuro ? nil : "56-00-29"
      creation.accountNumber = isEuro ? nil : "26207729"
    default: creation.merchantAccount = "8d5e4f3a-2b1c-4d6e-9f80-a1b2c3d4e5f6"
    }
    if creation.kind == .payment { creation.amount = Money(minorUnits: 1000, currency: pounds) }
    let engine = engine(provider)
    guard var order = try? creation.order() else { return nil }
    if feed.take({ $0.below(8) }) == 1 {
      let id = "00000000-0000-4000-8000-000000001000"
      order = AuthorizationOrder(
        reference: reference,
        kind: creation.kind,
        content: ["command": "transact", "id": .string(id)]
      )
      order.existingID = id
    }
    let other = {
      _ = try? engine.preview(order)
      _ = TrueLayerModule().explanations.count
      _ = IBAN.isValid(feed.take { String(decoding: $0.chunk(40), as: UTF8.self) })
      for order in [nil, .placed(order), .capture(nil)] as [Order?] {
        try? engine.provider.checkReady(for: order, of: nil)
      }
    }
    return goOn(engine, TrueLayerProvider.name, other: other) {
      try engine.execute(.placed(order))
    }
  }

  private func toroProvider(
    _ options: SaleOptions,
    _ gateway: any HTTPExchange,
    _ devices: any DeviceExchange
  ) -> ToroProvider {
    var configuration = ToroConfiguration(env: .simulator)
    configuration.passphrase = SharedSecret(ToroCatalog.passphrase)
    configuration.derivation = GatewaySeal.quick
    configuration.acquirerID = ToroCatalog.acquirerID
    configuration.merchantID = ToroCatalog.merchantID
    configuration.merchantName = ToroCatalog.merchantName
    configuration.merchantCategory = ToroCatalog.merchantCategory
    configuration.poiID = ToroCatalog.poiID
    configuration.recipientID = ToroCatalog.recipientID
    configuration.cardKeyVersion = ToroCatalog.cardKeyVersion
    // The shorter one is not long enough for the repetition of a message.
    configuration.timeout = feed.take { $0.one(of: [400, 1000]) }
    return ToroProvider(
      ToroContext(
        configuration: configuration,
        options: options,
        http: gateway,
        devices: devices,
        attendant: AnyAttendant(feed),
        clock: clock,
        randomness: SeededRandomness(seed: 9, label: "client"),
        interruption: NeverInterrupted(),
        redactor: redactor
      )
    )
  }

  /// Asks a gateway two questions that have the same numbers in every run.
  func toroAnswers(of gateway: any HTTPExchange) -> String? {
    let provider = toroProvider(SaleOptions(), gateway, NoDevices())
    _ = try? provider.checkGateway()
    _ = try? provider.checkTerminalManager()
    return nil
  }

  /// The answers of the simulated gateway to these questions.
  func recordedAnswers() -> [[UInt8]] {
    guard let simulator = simulator(Names.reader, Names.readerFaults) else { return [] }
    let recorder = AnsweredGateway(through: QuickGateway(simulator))
    _ = toroAnswers(of: recorder)
    return recorder.answers
  }

  /// Records a sale with the simulator, and the commands after it. Returns its payment.
  func record(_ reader: RecordedReader.Recorder, _ gateway: RecordedGateway.Recorder) -> Payment? {
    guard let simulator = simulator(Names.reader, Names.readerFaults) else { return nil }
    reader.inner = SimulatedDevices(simulator)
    gateway.inner = QuickGateway(simulator)
    _ = toro(gateway, reader, isEndless: { false }, limit: 6)
    return try? journal.payment(
      .init(env: .simulator, provider: ToroProvider.name, reference: "A")
    )
  }

  /// The part that the input changes: the gateway's answers to a sale, or to one command after it, or the reader's
  /// packets. The rest is recorded: a simulator beside them would take ten times as long.
  enum Part { case gateway, later, session }

  func toro(_ part: Part) -> String? {
    switch part {
    case .gateway, .later:
      let reader = RecordedReader(feed, clock, among: RecordedReader.shortSales)
      let mangler = Mangler(RecordedGateway(feed), feed) {
        GatewaySeal.seal($0, GatewaySeal.quickKey)
      }
      let isLater = part == .later
      if isLater, var payment = feed.take({ $0.one(of: Recordings.payments) }) {
        (payment.row, payment.version) = (0, 0)
        _ = try? journal.open(payment, OpeningTerms(), .process)
      }
      return toro(mangler, reader, isEndless: { false }, limit: 1, isLater: isLater)
    case .session:
      let reader = RecordedReader(feed, clock, among: RecordedReader.sales)
      // Most sales end where they would be authorized. The gateway has targets of its own.
      let gateway = RecordedGateway(feed, isSilent: feed.take { $0.below(8) } != 1)
      let mangled = ReaderMangler(reader, feed, clock)
      return toro(gateway, mangled, isEndless: { mangled.isEndless }, limit: 1)
    }
  }

  private func toro(
    _ gateway: any HTTPExchange,
    _ reader: any DeviceExchange,
    isEndless: () -> Bool,
    limit: Int,
    isLater: Bool = false
  ) -> String? {
    guard let pounds = Currency(code: "GBP"), let reference = try? Reference("A") else {
      return nil
    }
    var options = SaleOptions()
    if feed.take({ $0.below(3) }) == 0 { options.signatureMode = .device }
    let provider = toroProvider(options, gateway, reader)
    var order = SaleOrder(
      reference: reference,
      amount: Money(
        minorUnits: feed.take { $0.one(of: [1000, 9005, 9010, 9068, 1]) },
        currency: pounds
      )
    )
    order.isRefund = feed.take { $0.below(6) } == 1
    if feed.take({ $0.below(4) }) == 1 { order.gratuityMenu = [10, 15, 20] }
    order.captures = feed.take { $0.below(4) } != 1
    let engine = engine(provider)
    let other = {
      _ = try? engine.preview(order)
      _ = try? provider.checkReader()
      guard
        let known = try? journal.payment(
          .init(env: .simulator, provider: ToroProvider.name, reference: "A")
        ), let attempt = known.attempt
      else { return }
      _ = ToroProvider.inKeyOrder(attempt.result)
      _ = ToroProvider.explanations.count
      let receipt = attempt.result["receipt"]?.object ?? [:]
      _ = ReceiptText.text(receipt, status: known.state.status, merchant: "Shop")
      // The refund to the card, by the receipt of its sale.
      var back = order
      back.isRefund = true
      back.original = receipt
      back.originalReference = Reference(stored: "A")
      if let name = try? Reference("B") { back.reference = name }
      _ = try? engine.execute(.placed(back))
    }
    let sale = { try engine.execute(.placed(order)) }
    let problem = goOn(engine, ToroProvider.name, limit: limit, other: other, isLater ? nil : sale)
    return isEndless() ? "a sale goes on for as long as its reader says something" : problem
  }
}
