private import Synchronization
package import TenderEngine
package import TenderModel
private import Testing

/// The states that a look can show. The text is the name in a table.
package enum Sight: String, CaseIterable, Sendable {
  /// The state that the provider's books have.
  case recorded
  case pending, settled, declined, voided, returned
  /// A refund of a part, of the whole, or of a part on its way, which this journal did not make.
  case partRefunded = "part-refunded"
  case refunded
  case refunding
  case inquiry, disputed, arbitration, lost, won
  case otherDispute = "other-dispute"
  case otherAmount = "other-amount"
  case otherCurrency = "other-currency"
  /// The same currency in lower case.
  case lowerCurrency = "lower-currency"
  case otherID = "other-id"
  case otherReference = "other-reference"
  case secondCharge = "second-charge"
  /// A hold that others captured or released, or that expired.
  case captured, released, expired
  case absent
  case noAnswer = "no-answer"
  case status500 = "500"
  case status429 = "429"
  case unreadable

  /// The provider's word for a dispute; nil for any other state.
  package var dispute: String? {
    switch self {
    case .inquiry: "INQUIRY"
    case .disputed: "PENDING"
    case .arbitration: "ARBITRATION"
    case .lost: "LOST"
    case .won: "WON"
    case .otherDispute: "SOMETHING_NEW"
    default: nil
    }
  }
}

/// A command, on a payment in the state in which the command would send.
package enum RuleCommand: String, CaseIterable, Sendable {
  case refund
  case refundPart = "refund-part"
  case refundNamed = "refund-named"
  /// A cancel of a payment with money, of a hold, of a flow that waits for its payer, of a mandate.
  case cancel
  case release
  case stop
  case revoke
  case confirm
  case confirmPart = "confirm-part"
  /// The same order again, after a refusal.
  case transact
  case newAttempt = "new-attempt"
  case finishCharge = "finish-charge"
  case finishCapture = "finish-capture"
  case finishRefund = "finish-refund"

  package var start: RuleStart {
    switch self {
    case .refund, .refundPart, .refundNamed, .cancel: .paid
    case .release, .confirm, .confirmPart: .held
    case .stop: .waiting
    case .revoke: .mandate
    case .transact: .refused
    case .newAttempt: .declined
    case .finishCharge: .lostCharge
    case .finishCapture: .lostCapture
    case .finishRefund: .lostRefund
    }
  }
}

/// The state of a payment before a command.
package enum RuleStart: Sendable {
  case paid, held, waiting, mandate, refused, declined, lostCharge, lostCapture, lostRefund
}

/// A provider with its books, for the suite of Rule 1. Every payment is of 1000 minor units.
package protocol RuleWorld: AnyObject {
  var portal: Portal { get }
  var currency: String { get }
  var canLookUp: Bool { get }
  func engine() throws -> Engine
  func order(_ reference: String, _ start: RuleStart) throws -> any PlacedOrder
  func payment(_ reference: String) throws -> Payment?
  /// Makes a payment in a state. Returns false if the provider has no such state.
  func begin(_ start: RuleStart, _ reference: String) throws -> Bool
  /// Changes the answer to a look, so that it shows a state. Returns false if the provider cannot show it.
  func show(
    _ sight: Sight,
    _ start: RuleStart,
    _ look: Portal.Look,
    _ body: inout JSONObject
  ) -> Bool
}

extension RuleWorld {
  package var canLookUp: Bool { true }

  /// Makes a payment, and loses the answer to its charge, its capture, or its refund of a part, else of the whole.
  package func lose(_ start: RuleStart, _ reference: String, refunding part: Int? = nil) throws {
    let order = Order.placed(try order(reference, start))
    if start != .lostCharge { _ = try engine().execute(order) }
    portal.way = .losing
    let (engine, known) = (try engine(), try payment(reference))
    switch start {
    case .lostCapture: _ = try? engine.confirm(known, handle: reference, amount: nil)
    case .lostRefund:
      let request = try RefundRequest.test(part, currency)
      _ = try? engine.refund(known, handle: reference, request, idempotencyKey: nil)
    default: _ = try? engine.execute(order)
    }
  }
}

/// A connection that counts requests which can move money, and changes the answers to looks.
package final class Portal: HTTPExchange {
  /// A request that looks at a payment.
  package struct Look {
    package let request: HTTPRequest
    package let payment: Payment?

    /// The text of its body.
    package var text: String { String(decoding: request.body, as: UTF8.self) }
  }

  /// The end of a request that can move money.
  package enum Way: Sendable {
    case faithful
    /// It is executed, and its answer is lost. Later looks get no answer either.
    case losing
    /// It is refused, and not executed.
    case refusing(HTTPResponse)
  }

  private struct State {
    var inner: (any HTTPExchange)?
    var way = Way.faithful
    var sent = 0
    var looks = 0
    /// Whether an answer was lost.
    var hasLost = false
    /// The state to show; nil for the books'.
    var sight: Sight?
    var edit: (@Sendable (HTTPRequest, HTTPResponse) -> HTTPResponse)?
  }

  private let state = Mutex(State())
  /// Whether a request is a look at a payment.
  private let isLook: @Sendable (HTTPRequest) -> Bool
  /// Whether a look at an absent payment is answered with 404.
  private let hidesAbsent: Bool

  package init(
    hidesAbsent: Bool = true,
    isLook: @escaping @Sendable (HTTPRequest) -> Bool = { $0.method == .get }
  ) {
    self.hidesAbsent = hidesAbsent
    self.isLook = isLook
  }

  /// Puts the connection before another one.
  package func before(_ inner: any HTTPExchange) -> Portal {
    state.withLock { $0.inner = inner }
    return self
  }

  package var way: Way {
    get { state.withLock(\.way) }
    set { state.withLock { ($0.way, $0.hasLost) = (newValue, false) } }
  }

  package var sent: Int { state.withLock(\.sent) }
  package var looks: Int { state.withLock(\.looks) }

  fileprivate func show(
    _ sight: Sight?,
    _ edit: (@Sendable (HTTPRequest, HTTPResponse) -> HTTPResponse)? = nil
  ) {
    state.withLock { ($0.sight, $0.edit) = (sight, edit) }
  }

  package func send(
    _ request: HTTPRequest,
    _ permit: SendPermit?,
    by deadline: Deadline
  ) throws(Fault) -> HTTPResponse {
    let now = state.withLock { state in
      if permit != nil { state.sent += 1 } else if isLook(request) { state.looks += 1 }
      return state
    }
    guard let inner = now.inner else { throw Fault(.notSent, code: "unreachable", "no server") }
    guard permit == nil else {
      switch now.way {
      case .faithful: return try inner.send(request, permit, by: deadline)
      case .losing:
        _ = try inner.send(request, permit, by: deadline)
        state.withLock { $0.hasLost = true }
        throw Self.lost
      case .refusing(let answer):
        try permit?.use()
        return answer
      }
    }
    guard isLook(request) else { return try inner.send(request, nil, by: deadline) }
    if now.hasLost { throw Self.lost }
    switch now.sight {
    case .noAnswer?: throw Self.lost
    case .absent? where hidesAbsent:
      return HTTPResponse(status: 404, body: Array("{}".utf8))
    case .status500?: return HTTPResponse(status: 500)
    case .status429?: return HTTPResponse(status: 429)
    case .unreadable?: return HTTPResponse(status: 200, body: Array("{\"".utf8))
    default:
      let answer = try inner.send(request, nil, by: deadline)
      return now.edit?(request, answer) ?? answer
    }
  }

  private static var lost: Fault {
    Fault(.providerError, code: "no_answer", "the connection broke")
  }
}

/// Runs commands on payments while looks show every state, and compares the results with a table.
///
/// A cell is `SENT EXIT CODE, STATUS CAPTURED/REFUNDED` with what else the journal has afterwards. The same
/// command follows once more. It sends nothing, and says and leaves the same; if not, the cell has that too.
package struct RuleSuite {
  private let world: any RuleWorld
  private let command: RuleCommand

  package init(_ world: any RuleWorld, _ command: RuleCommand) {
    (self.world, self.command) = (world, command)
  }

  /// Expects that every cell is that of a table.
  package func expect(_ table: RuleTable) throws {
    let problems = try problems(table)
    #expect(problems.isEmpty, "\(problems.joined(separator: "\n"))")
  }

  private func problems(_ table: RuleTable) throws -> [String] {
    let expected = table.cells[command.rawValue] ?? [:]
    var problems = table.problems
    for sight in Sight.allCases {
      let cell = try cell(sight)
      let wanted = expected[sight.rawValue] ?? "-"
      if cell != wanted {
        problems.append(
          "\(command.rawValue) while \(sight.rawValue): \(cell)\n    in the table: \(wanted)"
        )
      }
    }
    return problems
  }

  /// Returns the result of the command in a state; `-` if the provider has or shows no such state, or if the
  /// command made no look that could show it.
  private func cell(_ sight: Sight) throws -> String {
    let reference = "R\(Sight.allCases.firstIndex(of: sight) ?? 0)"
    world.portal.show(nil)
    guard sight == .recorded || world.canLookUp, try world.begin(command.start, reference) else {
      return "-"
    }
    world.portal.way = .faithful
    // The payment is read once: the answers are about it as it was.
    let known = try world.payment(reference)
    let (showing, start) = (Showing(world), command.start)
    world.portal.show(sight) { request, answer in
      guard var body = JSONReader.read(answer.body)?.object else { return answer }
      let look = Portal.Look(request: request, payment: known)
      guard sight != .recorded else { return answer }
      if !showing.world.show(sight, start, look, &body) { showing.isShown = false }
      return HTTPResponse(
        status: answer.status,
        body: Array(JSONWriter.text(.object(body)).utf8),
        fields: answer.fields
      )
    }
    let (sent, looks) = (world.portal.sent, world.portal.looks)
    let first = try result(reference)
    let counted = world.portal.sent - sent
    let again = try result(reference)
    let more = world.portal.sent - sent - counted
    if !showing.isShown { return "-" }
    if sight != .recorded, world.portal.looks == looks { return "-" }
    let second = more > 0 || again != first ? ", then \(more) \(again)" : ""
    return "\(counted) \(first)\(second)"
  }

  /// A world that shows a state, and whether it can. One thread works on it.
  private final class Showing: @unchecked Sendable {
    let world: any RuleWorld
    var isShown = true

    init(_ world: any RuleWorld) { self.world = world }
  }

  /// Runs the command. Returns its words, and the payment afterwards.
  private func result(_ reference: String) throws -> String {
    let engine = try world.engine()
    let known = try world.payment(reference)
    let order = try world.order(reference, command.start)
    let part = try RefundRequest.test(400, world.currency)
    let named = try RefundRequest.test(400, world.currency, name: "n")
    var words: String
    do throws(Fault) {
      let report =
        switch command {
        case .refund:
          try engine.refund(known, handle: reference, RefundRequest(), idempotencyKey: nil)
        case .refundPart: try engine.refund(known, handle: reference, part, idempotencyKey: nil)
        case .refundNamed: try engine.refund(known, handle: reference, named, idempotencyKey: nil)
        case .cancel, .release, .stop, .revoke: try engine.cancel(known, handle: reference)
        case .confirm: try engine.confirm(known, handle: reference, amount: nil)
        case .confirmPart: try engine.confirm(known, handle: reference, amount: part.amount)
        case .transact: try engine.execute(.placed(order))
        case .newAttempt: try engine.execute(.placed(order), Engine.Options(newAttempt: true))
        case .finishCharge, .finishCapture, .finishRefund: try finish(engine, known)
        }
      words = report.fault.map { "\($0.exitStatus) \($0.code)" } ?? "0"
    } catch {
      words = "\(error.exitStatus) \(error.code)"
    }
    guard let state = try world.payment(reference)?.state else { return words + ", no payment" }
    words += ", \(state.status.rawValue) \(state.captured)/\(state.refunded + state.reversed)"
    let others = [
      ("refunding", state.refunding), ("released", state.released), ("returned", state.returned),
      ("elsewhere", state.elsewhere), ("surplus", state.surplus),
    ]
    for (name, amount) in others where amount > 0 { words += " \(name) \(amount)" }
    switch state.dispute {
    case .open?: words += " disputed"
    case .lost?: words += " lost"
    case nil: break
    }
    return words + (state.isUnknown ? " unknown" : "")
  }

  private func finish(_ engine: Engine, _ payment: Payment?) throws(Fault) -> Report {
    guard let payment else { throw .unknownHandle("R") }
    return try engine.resume(payment, finish: true, resend: true)
  }
}

/// The cells of a provider. A line without indentation has the commands of the lines below it. Each of these is a cell,
/// a colon, and the states that have it.
///
/// A state that the provider cannot show, or that no look of the command asks about, is left out: its cell is `-`. The
/// lines below `faults` have the codes of looks that fail, and a cell with the word FAULT stands for all of them.
package struct RuleTable: Sendable {
  package private(set) var cells: [String: [String: String]] = [:]
  package private(set) var problems: [String] = []

  package init(_ text: String) {
    var commands: [String] = []
    var faults: [(code: String, names: [String])] = []
    for line in text.split(separator: "\n").map(String.init) {
      guard line.hasPrefix(" ") else {
        commands = line.split(separator: " ").map(String.init)
        for command in commands where command != "faults" && RuleCommand(rawValue: command) == nil {
          problems.append("no command: \(command)")
        }
        continue
      }
      let parts = line.split(separator: ": ", maxSplits: 1)
      let cell = String(parts[0].drop { $0 == " " })
      let names = (parts.last ?? "").split(separator: " ").map(String.init)
      if commands == ["faults"] {
        faults.append((cell, names))
        continue
      }
      for command in commands {
        guard names == ["faults"] else {
          add(cell, command, names)
          continue
        }
        for fault in faults { add(cell.replacing("FAULT", with: fault.code), command, fault.names) }
      }
    }
  }

  private mutating func add(_ cell: String, _ command: String, _ names: [String]) {
    for name in names {
      if Sight(rawValue: name) == nil { problems.append("\(command): no state \(name)") }
      if cells[command]?[name] != nil { problems.append("\(command): \(name) is there twice") }
      cells[command, default: [:]][name] = cell
    }
  }
}
