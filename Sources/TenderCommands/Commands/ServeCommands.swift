internal import TenderCommandLine
internal import TenderEngine
internal import TenderModel
internal import TenderSimulator
internal import TenderSystem

extension Action {
  static let simulatorServe = Command(
    .local(.writes),
    """
    simulator serve: serve the simulated providers on loopback
    Offers the simulated providers over real HTTP and WebSocket on 127.0.0.1, with a card reader
    on a TCP port beside. It prints all that a client needs: addresses, credentials and a signing
    key. The key is made at the first start and stored in the state folder. The names are the
    variables of tender and, where they are public, of the providers' own programs. With them
    tender --env sandbox --provider NAME pays here. Other credentials are refused as the provider
    refuses them. Its first line comes when the server is ready and the --env-file is whole. With
    that file the record has no private key. --webhook sends the providers' events. Ctrl-C or SIGTERM stops the server.

    Scenario, faults and clock are for requests without a header X-Tender-Simulator. Below
    /_simulator/ are the other simulator commands over HTTP: see tender help simulator.
    $ tender simulator serve --port 8085 # serve on port 8085
    $ tender simulator serve --env-file simulator.env # then, in another shell: . ./simulator.env
    """,
    options: [Keys.port, Keys.envFile, Keys.trustKey, Keys.retain, Keys.webhook]
      + Catalogue.simulation,
    exits: [.state, .unsupported],
    bounds: .servedWorld
  ).performed(by: ServeCommands.serve)

  static let simulatorRun = Command(
    .local(.writes),
    """
    simulator run: run a command against simulated providers in a new world
    Serves the simulated providers on loopback, runs CMD, and stops them. CMD starts when the server is
    ready. Its environment has the variables of simulator serve --env-file. TENDER_SIMULATOR_URL is the
    address of the paths below /_simulator/. Each run has a new world in a new state folder, which is
    removed at the end. TENDER_STATE_DIR names the folder, so tender simulator show in CMD shows that
    world. Input and output are CMD's. One line on standard error counts what the books have.

    TENDER_ENV is simulator, also where this shell has another one. The exit status is CMD's, or 128
    plus the signal that ended it, also at --deadline. If CMD succeeded and the books
    differ from --expect, it is 18. charged and refunded are minor units of a currency; refunded counts
    refunds, voids and returned payments. unknown counts payments without an end. undelivered counts
    events of --webhook that were not answered with 2xx. When CMD ends, each event that is due is
    tried once more at most. A test that needs a repetition or a delay waits for it in CMD. A CMD
    that cannot be started is 2, as is a --keep that cannot be written.

    Signals go to CMD, and --deadline is a SIGTERM. If CMD does not end within 10 s, SIGKILL follows,
    except after Ctrl-C. When CMD has ended, the other processes of its group get SIGTERM, and SIGKILL
    10 s later. A process in another group or session, such as a daemon, goes on.
    $ tender simulator run -- tender transact --amount 5 --test-card visa # a command that pays
    $ tender simulator run --expect charged.USD=0,payments=0 -- sh -c 'exit 0' # judge the books too
    """,
    operands: [.init("-- CMD", repeats: true, completion: .program)],
    options: [Keys.webhook, Keys.world, Keys.keep, Keys.expectBooks, Keys.port, Keys.trustKey]
      + Catalogue.simulation,
    exits: [.state, .unexpected, .unsupported],
    bounds: .servedWorld
  ).performed(by: ServeCommands.run)
}

/// The simulated providers on ports of this machine.
private struct ServedWorld {
  let world: SimulatorWorld
  let server: SimulatorServer
  let reader: DeviceServer
  let port: UInt16
  let readerPort: UInt16
  /// The address of the keys of the events' signatures; nil without webhooks.
  let keySet: String?

  func text(_ address: ServedAddress) -> String {
    address.text(port: port, devicePort: readerPort)
  }

  func stop() {
    reader.stop()
    server.stop()
  }
}

/// The commands that serve the simulated providers.
struct ServeCommands: CommandWork {
  let composition: Composition

  func serve() throws(Fault) -> Int32 {
    let served = try start()
    defer { served.stop() }
    let variables = try variables(served)
    let exports = variables.map { "export \($0)=\(Self.quoted($1))\n" }.joined()
    let envFile = invocation[Keys.envFile]
    if let envFile { try Environment.write(exports, to: envFile, named: "--env-file") }
    // A file for the owner alone has the keys; a log that gets the record does not.
    let shown = variables.filter { envFile == nil || !$0.value.contains("PRIVATE KEY") }
    let fields: JSONObject = [
      "address": .string(served.text(.http)), "device": .string(served.text(.device)),
      "variables": .object(JSONObject(shown.map { .init(key: $0, value: .string($1)) })),
      "env_file": envFile?.json,
    ]
    if output.isTable { output.put(exports) } else { output.show(records.record(.server, fields)) }
    output.note("the simulated providers listen on 127.0.0.1:\(served.port); Ctrl-C stops them")
    output.note("with these variables set, tender goes there, with --env simulator or sandbox")
    while composition.signals.kind == nil {
      try? SystemClock(interruption: composition.signals).pause(milliseconds: 3_600_000)
    }
    output.note("stopped")
    return 0
  }

  func run() throws(Fault) -> Int32 {
    let expected = try BookExpectation(
      invocation.all(Keys.expectBooks),
      hasWebhooks: invocation.has(Keys.webhook)
    )
    guard let command = composition.command else {
      throw Fault(.internal, code: "internal", "simulator run has no helper")
    }
    defer { command.finish() }
    let world = try composition.servedWorld()
    let ledger = try Ledger(path: world.ledgerPath)
    if let path = invocation[Keys.world] {
      let descriptor = try Environment.openForReading(path, named: "--world")
      defer { Environment.close(descriptor) }
      try ledger.load(from: descriptor, composition.signals)
    }
    // A file that cannot be written must fail before the command runs.
    let kept = invocation[Keys.keep]
    if let kept { try ledger.save(to: kept, named: "--keep") }
    let served = try start()
    let signals = composition.signals
    let result = Result { () throws(Fault) in
      // A run in an environment for live payments is still one against the simulator.
      let own = [
        (name: "TENDER_SIMULATOR_URL", value: served.text(.http)),
        (name: "TENDER_ENV", value: Env.simulator.rawValue),
      ]
      return try command.run(with: try variables(served) + own, signals)
    }
    served.server.finishSending { signals.next() != nil }
    served.stop()
    let status = try result.get()
    if let kept { try ledger.save(to: kept, named: "--keep") }
    let totals = try InProcessSimulator(served.world, playsPayer: false, ledger).totals()
    output.tell("simulator: " + BookExpectation.text(totals))
    if let difference = expected.difference(totals) {
      guard status == 0 else {
        output.warn(difference)
        return status
      }
      throw Fault(
        .unexpected,
        code: "unexpected_books",
        difference,
        hint: "--keep FILE saves the world; see it with: tender simulator load FILE"
      )
    }
    return status
  }

  /// Starts the servers. From here on, a signal does not end this process at once.
  private func start() throws(Fault) -> ServedWorld {
    if let fault = composition.simulatorOptions.unreachable { throw .onlyInProcess(fault) }
    let port = try invocation.value(Keys.port) ?? 0
    let addresses = try invocation.all(Keys.webhook).map { text throws(Fault) in
      try EventAddress(text, among: composition.providers.simulated)
    }
    var world = try composition.servedWorld()
    world.trustedKeys = try trustedKeys()
    // An unusable ledger must fail now, not at the first request.
    _ = try Ledger(path: world.ledgerPath)
    composition.signals.hold()
    let nextCustomer = NextCustomer()
    let server = SimulatorServer(
      world,
      nextCustomer,
      retaining: try invocation.value(Keys.retain)
    )
    let chosen = try server.start(port: port)
    let reader = DeviceServer(world, nextCustomer)
    do throws(Fault) {
      // The reader's port is the one after a named port.
      let readerPort = try reader.start(port: port == 0 || port == .max ? 0 : port + 1)
      let base = ServedAddress.http.text(port: chosen, devicePort: readerPort)
      let transport = composition.eventTransport
      let keySet =
        try addresses.isEmpty
        ? nil : server.send(to: addresses, from: base) { CurlHTTP(transport) }
      let served = ServedWorld(
        world: world,
        server: server,
        reader: reader,
        port: chosen,
        readerPort: readerPort,
        keySet: keySet
      )
      let ports = ServedPorts(composition.settings)
      for port in [chosen, readerPort] { try ports.announce(port) }
      return served
    } catch {
      server.stop()
      throw error
    }
  }

  /// The variables of a client of the served simulator: those of `tender`, then those of the providers'
  /// programs.
  private func variables(
    _ served: ServedWorld
  ) throws(Fault) -> [(name: String, value: String)] {
    var variables = composition.providers.simulated.flatMap(\.variables).map {
      (name: $0.name, value: served.text($0.address))
    }
    var own: [(name: String, value: String)] = []
    for simulated in composition.providers.simulated {
      let section = try simulated.served(served.world)
      for key in try composition.module(simulated.name.text).section.keys {
        let name = "TENDER_\(simulated.name.text)_\(key.name)".uppercased()
        // A reader has an address, which comes first.
        guard let value = section[key.name], !variables.contains(where: { $0.name == name }) else {
          continue
        }
        variables.append((name, value.text ?? JSONWriter.text(value)))
      }
      own += simulated.ownVariables.compactMap { name, key in
        section.text(key).map { (name, $0) }
      }
    }
    let keySet = served.keySet.map { [(name: "TENDER_WEBHOOK_JWKS_URL", value: $0)] } ?? []
    return variables + own + keySet
  }

  /// A value in single quotes, as any shell reads it.
  private static func quoted(_ value: String) -> String {
    "'" + value.replacing("'", with: "'\\''") + "'"
  }

  /// The public keys of clients, by their ids.
  private func trustedKeys() throws(Fault) -> [String: String] {
    var keys: [String: String] = [:]
    for text in invocation.all(Keys.trustKey) {
      let parts = text.split(separator: "=", maxSplits: 1).map(String.init)
      guard parts.count == 2, keys[parts[0]] == nil else {
        throw .badValue("--trust-key", text, hint: "an id and a file, KID=FILE, each id once")
      }
      let pem = try Environment.read(parts[1], named: "--trust-key", limit: 65_536)
      if let problem = TrustedKey.problem(pem) {
        throw .badFile(
          "--trust-key: \(parts[1].quotedForMessage) \(problem)",
          hint: "openssl ec -in KEY.pem -pubout writes the public half of a key"
        )
      }
      keys[parts[0]] = String(decoding: pem, as: UTF8.self)
    }
    return keys
  }
}
