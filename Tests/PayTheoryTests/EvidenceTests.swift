import Foundation
import PayTheory
import Synchronization
import TenderEngine
import TenderJournal
import TenderModel
import TenderSimulator
import TenderTestSupport
import Testing

/// Answers that lag, or are about something else, decide nothing.
@Suite struct EvidenceTests {
  /// Changes the answers to requests whose text contains a word.
  final class Liar: HTTPExchange {
    private let inner: any HTTPExchange
    private let words: [String]
    private let change: @Sendable (JSONObject) -> JSONObject

    init(
      _ inner: any HTTPExchange,
      to words: String...,
      change: @escaping @Sendable (JSONObject) -> JSONObject
    ) {
      self.inner = inner
      self.words = words
      self.change = change
    }

    func send(
      _ request: HTTPRequest,
      _ permit: SendPermit?,
      by deadline: Deadline
    ) throws(Fault) -> HTTPResponse {
      var response = try inner.send(request, permit, by: deadline)
      let body = String(decoding: request.body, as: UTF8.self)
      guard words.contains(where: body.contains),
        let answer = JSONReader.read(response.body)?.object,
        let data = answer["data"]?.object
      else { return response }
      response.body = Array(JSONWriter.text(["data": .object(change(data))]).utf8)
      return response
    }
  }

  private func exit(_ body: () throws -> Report) -> Int32 {
    do { return try body().fault?.exitStatus ?? 0 } catch {
      return (error as? Fault)?.exitStatus ?? -1
    }
  }

  /// While look-ups lag, the first refund is not taken for the second one of the same amount, which was lost.
  @Test(arguments: [0, 60_000, 16 * 60_000])
  func `a refund that was lost is not found in an earlier one`(_ lag: Int) throws {
    let world = try World()
    let parts = PartTests()
    let payment = try parts.paid(world)
    let stale = try world.engine().lookUp("A", known: payment).result["transaction"] ?? .null
    let old = JSONWriter.text(["data": ["transactions": ["items": .array([stale])]]])
    #expect(try parts.refund(world, 300, name: "one").status == .partiallyRefunded)
    let lost = exit {
      try parts.refund(world, 300, name: "two") { inner in
        let loser = PartTests.Loser(inner, .before)
        loser.stale.withLock { $0 = HTTPResponse(status: 200, body: Array(old.utf8)) }
        return loser
      }
    }
    #expect(lost == 9)
    world.clock.advance(lag)
    #expect(exit { try parts.refund(world, 300, name: "two") } == 9)
    #expect(try world.latest()?.state.refunded == 300)
    #expect(try world.latest()?.state.isUnknown == true)
    #expect(try world.books().refunded == 300)
  }

  /// A second refund, sent while the look-up before it lagged, is found once look-ups are up to date.
  @Test func `a refund that was made is found after a lag`() throws {
    let world = try World()
    let parts = PartTests()
    let payment = try parts.paid(world)
    let stale = try world.engine().lookUp("A", known: payment).result["transaction"] ?? .null
    let old = JSONWriter.text(["data": ["transactions": ["items": .array([stale])]]])
    #expect(try parts.refund(world, 200, name: "one").status == .partiallyRefunded)
    let lost = exit {
      try parts.refund(world, nil) { inner in
        let loser = PartTests.Loser(inner, .after)
        loser.stale.withLock { $0 = HTTPResponse(status: 200, body: Array(old.utf8)) }
        return loser
      }
    }
    #expect(lost == 9)
    #expect(try parts.refund(world, nil).status == .refunded)
    #expect(try world.books().refunded == 1000)
  }

  /// A declined transaction has the same parent and amount, but is not a replacement.
  @Test func `a declined transaction is not what a void put in the place of the first`() throws {
    let world = try World()
    let parts = PartTests()
    let first = try #require(try parts.paid(world, byBank: true).state.id)
    #expect(
      try parts.refund(world, 300) { inner in
        Liar(PartTests.Loser(inner, .after), to: "parent_id: {") { $0 }
      }.status == .partiallyRefunded
    )
    let second = try #require(try world.latest()?.state.id)
    #expect(second != first)
    let lied = try parts.refund(world, 200, name: "more") { inner in
      Liar(PartTests.Loser(inner, .after), to: second) { data in
        var data = data
        guard var items = data["transactions"]?["items"]?.array,
          var declined = items.first?.object, declined.text("parent_id") == second
        else { return data }
        declined["transaction_id"] = "pt-declined"
        declined["status"] = "FAILED"
        items.insert(.object(declined), at: 0)
        data["transactions"] = ["items": .array(items)]
        return data
      }
    }
    #expect(lied.status == .partiallyRefunded)
    let third = try #require(try world.latest()?.state.id)
    #expect(![first, second, "pt-declined"].contains(third))
    #expect(try parts.refund(world, nil).status == .refunded)
    #expect(try world.books().left == 0)
  }

  /// The answer to a reversal names the transaction that the reversal of another payment made.
  @Test func `an answer that names another payment's refund decides nothing`() throws {
    let world = try World()
    let parts = PartTests()
    try parts.paid(world)
    let other = try world.engine().pay(world.order("B", amount: 1000))
    #expect(other.status == .succeeded)
    let made = try world.engine().refund(try world.latest("B"), 300)
    let id = try #require(made.operation?.id)
    let status = exit {
      try parts.refund(world, 300) { inner in
        Liar(inner, to: "createReversal") { data in
          var data = data
          data["createReversal"] = ["is_void": false, "transaction_id": .string(id)]
          return data
        }
      }
    }
    // The look-up of the payment itself decides.
    #expect(status == 0)
    let known = try #require(try world.latest())
    #expect(known.state.status == .partiallyRefunded)
    #expect(known.reversals.first?.id != id)
    #expect(try world.books().refunded == 300)
  }

  /// If the merchant pays the fee, the payer pays exactly the amount. Another amount is another payment.
  @Test(arguments: [900, 1100, -1100, 0])
  func `a service fee that was not ordered hides no other amount`(_ gross: Int) throws {
    let world = try World()
    let order = try world.storedOrder("A", amount: 1000)
    let status = exit {
      try world.engine(exchange: { inner in
        Liar(inner, to: "createTransaction") { data in
          var data = data
          guard var made = data["createTransaction"]?.object else { return data }
          made["gross_amount"] = .integer(gross)
          made["fee_mode"] = "SERVICE_FEE"
          made["fees"] = .integer(gross - 1000)
          data["createTransaction"] = .object(made)
          return data
        }
      }).pay(order)
    }
    // The following look-up returns the real state.
    #expect(status == 0)
    #expect(try world.latest()?.state.captured == 1000)
  }

  /// A new transaction in an impossible state decides nothing. The following look-up returns the real state.
  @Test(arguments: ["VOIDED", "RETURNED", "REFUNDED", "CANCELED", "ERROR", ""])
  func `an answer in a state that no new payment has decides nothing`(_ state: String) throws {
    let world = try World()
    let order = try world.storedOrder("A", amount: 1000)
    let report = try world.engine(exchange: { inner in
      Liar(inner, to: "createTransaction") { data in
        var data = data
        guard var made = data["createTransaction"]?.object else { return data }
        made["status"] = .string(state)
        data["createTransaction"] = .object(made)
        return data
      }
    }).pay(order)
    #expect(report.status == .succeeded)
    #expect(try world.latest()?.state.captured == 1000)
  }

  /// Refuses a document after it was executed.
  private struct Denier: HTTPExchange {
    let inner: any HTTPExchange

    func send(
      _ request: HTTPRequest,
      _ permit: SendPermit?,
      by deadline: Deadline
    ) throws(Fault) -> HTTPResponse {
      let response = try inner.send(request, permit, by: deadline)
      guard permit != nil else { return response }
      let refusal: JSON = ["errors": [["message": "Cannot query field 'x' on type 'Mutation'."]]]
      return HTTPResponse(status: response.status, body: Array(JSONWriter.text(refusal).utf8))
    }
  }

  @Test func `a refusal of what a look shows is none`() throws {
    let world = try World()
    let parts = PartTests()
    try parts.paid(world)
    #expect(try parts.refund(world, 400) { Denier(inner: $0) }.status == .partiallyRefunded)
    #expect(try parts.refund(world, 400).replayed == true)
    #expect(try world.books().refunded == 400)
    let order = try world.storedOrder("S", amount: 1000)
    let paid = try world.engine(exchange: { Denier(inner: $0) }).pay(order)
    #expect(paid.status == .succeeded)
    #expect(try world.charges("S") == 1)
  }

  /// Then the payment has no id, or that of its authorization.
  @Test(arguments: [false, true])
  func `a payment that was resolved by hand is refunded`(_ holds: Bool) throws {
    let world = try World()
    let order = try world.storedOrder("A", amount: 1000, confirmation: holds)
    func lost() throws -> Engine {
      try world.engine(fault: "stored:close-after", exchange: { Deaf(inner: $0) })
    }
    if holds {
      #expect(try world.engine().pay(order).status == .requiresConfirmation)
      #expect(exit { try lost().confirm(world.latest(), handle: "A", amount: nil) } == 9)
    } else {
      #expect(exit { try lost().pay(order) } == 9)
    }
    _ = try world.journal.resolve(
      try #require(try world.latest()),
      operation: nil,
      as: .succeeded,
      reason: "in the portal",
      world.clock,
      NeverInterrupted()
    )
    #expect(try world.engine().refund(world.latest()).status == .refunded)
    #expect(try world.books().refunded == 1000)
  }

  @Test func `a lost charge is resolved as failed once it can no longer appear`() throws {
    let world = try World()
    let order = try world.storedOrder("A", amount: 1000)
    let engine = try world.engine(fault: "stored:close-before", exchange: { Deaf(inner: $0) })
    #expect(exit { try engine.pay(order) } == 9)
    func resolve(_ status: Status) throws(Fault) -> Payment {
      guard let lost = try? world.latest() else { throw .unknownHandle("A") }
      return try world.journal.resolve(
        lost,
        operation: nil,
        as: status,
        reason: "in the portal",
        lateWindow: PayTheoryProvider.traits.lateWindow,
        world.clock,
        NeverInterrupted()
      )
    }
    world.clock.advance(PayTheoryProvider.traits.lateWindow - 1)
    let early = #expect(throws: Fault.self) { try resolve(.failed) }
    #expect(early?.code == "may_still_appear")
    #expect(try world.latest()?.phase == .sent)
    world.clock.advance(1)
    #expect(try resolve(.failed).state.status == .failed)
  }

  /// Another program may have charged the same method under the same reference.
  @Test func `an older transaction with the same reference is not the lost one`() throws {
    let world = try World()
    let order = try world.storedOrder("A", amount: 1000)
    let folder = world.folder.path + "/other"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    let other = try SQLiteJournal(folder: folder, redactor: Redactor())
    _ = try world.engine(over: other).pay(order)
    world.clock.advance(2 * 60_000)
    let engine = try world.engine(fault: "stored:close-before", exchange: { Deaf(inner: $0) })
    #expect(exit { try engine.pay(order) } == 9)
    let look = #expect(throws: Fault.self) {
      try world.engine().resume(try #require(try world.latest()), finish: false, resend: false)
    }
    #expect(look?.exitStatus == 9)
    #expect(look?.message.contains("cannot be told") == true, "\(look?.message ?? "")")
    #expect(try world.latest()?.phase == .sent)
  }

  /// Another transaction is not refunded in the place of the payment's own, which a look does not show, or shows
  /// with another reference or amount.
  @Test(arguments: ["transactions", "reference", "gross_amount"])
  func `a payment whose own transaction is not shown is not refunded`(_ member: String) throws {
    let world = try World()
    let parts = PartTests()
    let id = try #require(try parts.paid(world).state.id)
    let status = exit {
      try parts.refund(world, 400) { inner in
        Liar(inner, to: id, #"\"A\""#) {
          member == "transactions" ? [member: ["items": []]] : Self.foreign($0, member)
        }
      }
    }
    // It can be shown later: a look-up lags. Another reference or amount is a conflict.
    #expect(status == (member == "transactions" ? 11 : 6))
    #expect(try world.books().refunded == 0)
    #expect(try world.latest()?.state.isUnknown == false)
  }

  /// The receipt of an earlier attempt names that attempt, and what is seen of it stops another one.
  @Test func `an earlier attempt is looked up by its receipt`() throws {
    let world = try World()
    let declining = "decline:do_not_honor"
    for isNew in [false, true] {
      let paid = try world.engine(scenario: declining).pay(world.order(), newAttempt: isNew)
      #expect(paid.status == .declined)
    }
    let ids = try #require(try world.latest()).attempts.compactMap(\.id)
    let first = try #require(ids.first)
    let looking = try world.engine(exchange: { inner in
      Liar(inner, to: first, #"\"A\""#) { data in
        let made = data["transactions"]?["items"]?.array?.compactMap(\.object)
        guard var made = made?.first(where: { $0.text("transaction_id") == first }) else {
          return data
        }
        made["status"] = "SUCCEEDED"
        return ["transactions": ["items": [.object(made)]]]
      }
    })
    let seen = try looking.lookUp(first, known: try world.latest())
    #expect(seen.id == first && seen.attemptNumber == 1 && seen.providerStatus == "SUCCEEDED")
    #expect(seen.note?.contains("as paid now (\(first))") == true, "\(seen.note ?? "")")
    let newest = try world.engine().lookUp("A", known: try world.latest())
    #expect(newest.id == ids.last && newest.attemptNumber == 2)
    let refused = #expect(throws: Fault.self) {
      try world.engine().pay(world.order(), newAttempt: true)
    }
    #expect(refused?.code == "attempt_paid")
    #expect(try world.latest()?.attempts.count == 2)
    #expect(try world.journal.verify() == [])
  }

  @Test(arguments: ["merchant_uid", "payment_method"])
  func `an answer about another merchant or stored method decides nothing`(_ member: String) throws
  {
    let world = try World()
    let order = try world.storedOrder("A", amount: 1000)
    let status = exit {
      try world.engine(exchange: { inner in
        Liar(Liar(inner, to: "createTransaction") { Self.foreign($0, member) }, to: "transactions(")
        {
          Self.foreign($0, member)
        }
      }).pay(order)
    }
    #expect(status == 9)
    #expect(try world.latest()?.state.isUnknown == true)
  }

  /// Returns an answer with another value of a member in each transaction.
  private static func foreign(_ data: JSONObject, _ member: String) -> JSONObject {
    func change(_ made: JSONObject) -> JSON {
      var made = made
      made[member] =
        switch member {
        case "payment_method": ["payment_method_id": "pt_pmt_other"]
        case "gross_amount": 1200
        default: "other"
        }
      return .object(made)
    }
    var data = data
    if let made = data["createTransaction"]?.object { data["createTransaction"] = change(made) }
    if let items = data["transactions"]?["items"]?.array {
      data["transactions"] = ["items": .array(items.compactMap(\.object).map(change))]
    }
    return data
  }

  /// A look-up that could not be sent decides nothing about the reversal before it.
  @Test func `a reversal whose look-up cannot be sent is unknown`() throws {
    let world = try World()
    let parts = PartTests()
    try parts.paid(world)
    let status = exit { try parts.refund(world, 300) { Deaf(inner: $0) } }
    #expect(status == 9)
    #expect(try world.latest()?.state.isUnknown == true)
    #expect(try world.books().refunded == 300)
  }

  /// Is unreachable as soon as a request that can move money was executed.
  final class Deaf: HTTPExchange {
    private let inner: any HTTPExchange
    private let isOver = Atomic(false)

    init(inner: any HTTPExchange) { self.inner = inner }

    func send(
      _ request: HTTPRequest,
      _ permit: SendPermit?,
      by deadline: Deadline
    ) throws(Fault) -> HTTPResponse {
      guard !isOver.load(ordering: .relaxed) else {
        throw Fault(.notSent, code: "unreachable", "nobody is there")
      }
      defer { if permit != nil { isOver.store(true, ordering: .relaxed) } }
      return try inner.send(request, permit, by: deadline)
    }
  }

  /// A failure counts only if it names the payment's reference, because a script would pay again.
  @Test(arguments: ["A", nil, "", "B"])
  func `a failure that does not name the payment decides nothing`(_ reference: String?) throws {
    let world = try World()
    let order = try world.storedOrder("A", amount: 1000)
    let report = try world.engine(exchange: { inner in
      Liar(inner, to: "createTransaction") { data in
        var data = data
        guard var made = data["createTransaction"]?.object else { return data }
        made["status"] = "FAILED"
        made["transaction_id"] = "pt-another"
        made["reference"] = reference.map(JSON.string) ?? .null
        data["createTransaction"] = .object(made)
        return data
      }
    }).pay(order)
    // The following look-up returns the real state. An answer that names the payment is evidence.
    #expect(report.status == (reference == "A" ? .declined : .succeeded))
    #expect(try world.latest()?.state.captured == (reference == "A" ? 0 : 1000))
  }

  /// The charge succeeded, but its answer or look-up shows a failure, without naming it completely.
  @Test(arguments: ["currency", "reference", "transaction_id"])
  func `a failure is named whole`(_ member: String) throws {
    let world = try World()
    let order = try world.storedOrder("A", amount: 1000)
    let status = exit {
      try world.engine(exchange: { inner in
        Liar(inner, to: "transaction") { data in
          var data = data
          func fail(_ value: JSON?) -> JSONObject? {
            guard var made = value?.object else { return nil }
            made["status"] = "FAILED"
            made[member] = .null
            return made
          }
          data["createTransaction"] = fail(data["createTransaction"]).map(JSON.object)
          if let item = fail(data["transactions"]?["items"]?.array?.first) {
            data["transactions"] = ["items": .array([.object(item)])]
          }
          return data
        }
      }).pay(order)
    }
    #expect(status == 9)
    #expect(try world.engine().pay(order).status == .succeeded)
    #expect(try world.books().count == 1)
  }

  /// Of two matching transactions, the one that took money counts.
  @Test func `a failure in a look-up does not hide what was charged`() throws {
    let world = try World()
    let order = try world.storedOrder("A", amount: 1000)
    let report = try world.engine(
      fault: "stored:close-after",
      exchange: { inner in
        Liar(inner, to: "transactions(") { data in
          guard var items = data["transactions"]?["items"]?.array,
            var other = items.first?.object
          else { return data }
          other["status"] = "FAILED"
          other["transaction_id"] = "pt-other"
          items.insert(.object(other), at: 0)
          var data = data
          data["transactions"] = ["items": .array(items)]
          return data
        }
      }
    ).pay(order)
    #expect(report.status == .succeeded)
  }

  /// Each request is executed, and its answer says that the document was invalid.
  @Test(arguments: [
    ("INTERNAL_SERVER_ERROR", 200), ("VALIDATION_ERROR", 200), (nil, 404), (nil, 200),
  ])
  func `no error hides what was charged`(_ code: String?, _ status: Int) throws {
    let world = try World()
    let order = try world.storedOrder("A", amount: 1000)
    let said = exit {
      try world.engine(exchange: { inner in
        refuser(inner, code, status)
      }).pay(order)
    }
    // The following look-up returns the real state.
    #expect(said == 0)
    #expect(try world.latest()?.state.captured == 1000)
  }

  /// Executes each request, and answers that the document was invalid.
  private func refuser(_ inner: any HTTPExchange, _ code: String?, _ status: Int) -> Altered {
    Altered(inner) { request, response in
      guard request.contains("createTransaction") else { return }
      var error: JSONObject = ["message": #"Cannot query field "fees" on type "Transaction"."#]
      if let code { error["extensions"] = ["code": .string(code)] }
      let body: JSON = ["errors": [.object(error)]]
      response = HTTPResponse(status: status, body: Array(JSONWriter.text(body).utf8))
    }
  }

  /// A server gives a part of a long list. A charge can be in the rest.
  @Test(arguments: [(51, true), (1000, true), (1001, false), (5_000_000, false)])
  func `a part of the payments of a reference proves nothing`(_ total: Int, _ isRead: Bool) throws {
    let world = try World()
    try PartTests().paid(world)
    // The server shows declines first, and the payment where all are asked for.
    let engine = try world.engine(exchange: { inner in
      Altered(inner) { request, response in
        guard request.contains(#"key: \"reference\""#) else { return }
        response.alterTransactions(total: total) { items in
          guard request.contains("limit: \(total)"), let paid = items.first else { return [] }
          return Array(repeating: paid, count: total)
        }
      }
    })
    let look = exit { try engine.lookUp("A", known: nil) }
    #expect(look == (isRead ? 0 : 11))
  }

  /// One API key serves several merchants. Each can only change payments of the same merchant.
  @Test func `another merchant of the same key owns nothing`() throws {
    let world = try World()
    try PartTests().paid(world)
    let payment = try #require(try world.latest())
    func provider(_ uid: String?) throws -> PayTheoryProvider {
      let inner = try world.simulator()
      let key = try APIKey(PayTheoryCatalog.apiKey)
      var configuration = PayTheoryConfiguration(env: .simulator, key: key)
      configuration.merchantUID = uid
      configuration.secretKey = SharedSecret(PayTheoryCatalog.secretKey)
      return PayTheoryProvider(
        PayTheoryContext(
          configuration: configuration,
          http: inner,
          sockets: inner,
          clock: world.clock,
          randomness: SeededRandomness(seed: 1, label: "other"),
          redactor: world.redactor
        )
      )
    }
    #expect(try provider(PayTheoryCatalog.merchantUID).owns(payment))
    #expect(try !provider("another").owns(payment))
    #expect(try provider(nil).owns(payment))
    // A payment of an earlier version, which stored no uid.
    var old = payment
    old.merchant = try provider(nil).merchant
    #expect(try provider("another").owns(old))
  }
}
