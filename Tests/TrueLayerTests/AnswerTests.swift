import Foundation
import TenderEngine
import TenderModel
import TenderTestSupport
import Testing
import TrueLayer

/// Every published answer that a command can receive gives the right record.
@Suite struct AnswerTests {
  static func answer(_ name: String) throws -> String {
    try String(
      contentsOfFile: Project.path("Tests/TrueLayerTests/Answers/" + name + ".json"),
      encoding: .utf8
    )
  }

  static let id = "0cd1b0f7-71bc-4d24-b209-95259dadcc20"

  /// A look-up: file, status, `result`, whether it is final.
  struct Look: CustomTestStringConvertible {
    var file: String
    var kind = Payment.Kind.payment
    var status: Status
    var result: JSONObject
    var isFinal: Bool
    var amount: Int? = 101
    var lastFour: String?
    var next: String?

    var testDescription: String { file }
  }

  private static let payments = "truelayer-java/payments/200.get_payment_by_id."
  private static let mandates = "truelayer-java/mandates/200.get_"

  static let looks: [Look] = [
    Look(
      file: payments + "bank_transfer.authorization_required",
      status: .requiresAction,
      result: ["status": "authorizationRequired"],
      isFinal: false
    ),
    Look(
      file: payments + "bank_transfer.authorizing",
      status: .requiresAction,
      result: ["status": "authorizing"],
      isFinal: false
    ),
    Look(
      file: payments + "bank_transfer.authorized",
      status: .pending,
      result: ["status": "authorized"],
      isFinal: false,
      lastFour: "3456"
    ),
    // For a merchant account, the last state is settled.
    Look(
      file: payments + "bank_transfer.executed",
      status: .pending,
      result: ["status": "executed"],
      isFinal: false,
      lastFour: "3456"
    ),
    Look(
      file: payments + "bank_transfer.settled",
      status: .succeeded,
      result: ["status": "settled"],
      isFinal: true,
      lastFour: "3456"
    ),
    Look(
      file: payments + "bank_transfer.failed",
      status: .declined,
      result: [
        "status": "failed", "failure_reason": "failed", "failure_stage": "authorization_required",
      ],
      isFinal: true,
      lastFour: "3456"
    ),
    Look(
      file: payments + "bank_transfer.attempt_failed",
      status: .failed,
      result: [
        "status": "attemptFailed", "failure_reason": "authorization_failed",
        "failure_stage": "authorizing",
      ],
      isFinal: false,
      amount: 475,
      lastFour: "5678",
      next: "retry"
    ),
    Look(
      file: payments + "mandate.executed",
      status: .succeeded,
      result: ["status": "executed"],
      isFinal: true,
      amount: 10
    ),
    Look(
      file: payments + "mandate.failed",
      status: .declined,
      result: [
        "status": "failed", "failure_reason": "failed", "failure_stage": "authorization_required",
      ],
      isFinal: true,
      amount: 10
    ),
    Look(
      file: payments + "unknown_response_field",
      status: .succeeded,
      result: ["status": "settled"],
      isFinal: true,
      lastFour: "3456"
    ),
    Look(
      file: payments + "with_submerchants",
      status: .pending,
      result: ["status": "executed"],
      isFinal: false,
      lastFour: "3456"
    ),
    Look(
      file: mandates + "mandate_by_id.authorization_required",
      kind: .mandate,
      status: .requiresAction,
      result: ["status": "authorizationRequired"],
      isFinal: false,
      amount: nil
    ),
    Look(
      file: mandates + "mandate_by_id.authorizing",
      kind: .mandate,
      status: .requiresAction,
      result: ["status": "authorizing"],
      isFinal: false,
      amount: nil,
      next: "provider_selection"
    ),
    Look(
      file: mandates + "mandate_by_id.authorized",
      kind: .mandate,
      status: .authorized,
      result: ["status": "authorized"],
      isFinal: true,
      amount: nil,
      lastFour: "2723"
    ),
    Look(
      file: mandates + "commercial_mandate_by_id",
      kind: .mandate,
      status: .authorized,
      result: ["status": "authorized"],
      isFinal: true,
      amount: nil,
      lastFour: "2723"
    ),
    Look(
      file: mandates + "mandate_by_id.failed",
      kind: .mandate,
      status: .declined,
      result: [
        "status": "failed", "failure_reason": "a failure reason",
        "failure_stage": "authorization_required",
      ],
      isFinal: true,
      amount: nil
    ),
    Look(
      file: mandates + "mandate_by_id.revoked",
      kind: .mandate,
      status: .revoked,
      result: ["status": "revoked"],
      isFinal: true,
      amount: nil,
      lastFour: "2723"
    ),
  ]

  @Test(arguments: looks) func `a look-up of a published answer`(_ look: Look) throws {
    let collection = look.kind == .mandate ? "mandates" : "payments"
    let stub = StubHTTP([
      .init("GET", "/v3/\(collection)/\(Self.id)", 200, try Self.answer(look.file))
    ])
    let engine = try World().engine(over: stub) { _, configuration in
      configuration.resourceToken = SharedSecret("resource-token-of-the-test")
    }
    let report = try engine.lookUp(Self.id, known: nil, kind: look.kind)
    #expect(report.status == look.status)
    #expect(report.result == look.result)
    #expect(report.isFinal == look.isFinal)
    #expect(report.id == Self.id)
    #expect(report.kind == look.kind)
    #expect(report.amount == look.amount)
    #expect(report.currency?.code == "GBP")
    #expect(report.lastFour == look.lastFour)
    #expect(report.nextAction?.type == look.next)
    #expect(report.fault == nil)
    let request = try #require(stub.requests.first)
    #expect(request.fields.contains { $0.value == "Bearer resource-token-of-the-test" })
    #expect(!request.fields.contains { $0.name == "Tl-Signature" })
  }

  /// An error answer to a look-up: file or body, status, code, exit, documented name.
  struct Refusal: CustomTestStringConvertible {
    var file: String
    var kind = Payment.Kind.payment
    var status: Int
    var code: String
    var exit: Int32
    var name: String

    var testDescription: String { file + " \(kind)" }
  }

  static let refusals: [Refusal] = [
    Refusal(
      file: "truelayer-java/payments/400.request_invalid",
      status: 400,
      code: "generic_rejected",
      exit: 7,
      name: "generic"
    ),
    Refusal(
      file: "truelayer-java/payments/401.invalid_signature",
      status: 401,
      code: "invalid_token",
      exit: 4,
      name: "invalidToken"
    ),
    Refusal(
      file: "truelayer-java/payments/401.invalid_token",
      status: 401,
      code: "invalid_token",
      exit: 4,
      name: "invalidToken"
    ),
    Refusal(
      file: "truelayer-java/payments/404.payment_not_found",
      status: 404,
      code: "payment_not_found",
      exit: 5,
      name: "paymentNotFound"
    ),
    Refusal(
      file: "truelayer-java/mandates/422.create_mandate.idempotency_key_reuse",
      kind: .mandate,
      status: 422,
      code: "generic_conflict",
      exit: 6,
      name: "generic"
    ),
    Refusal(
      file: "openapi/problem.400.invalid-parameters",
      status: 400,
      code: "generic_rejected",
      exit: 7,
      name: "generic"
    ),
    Refusal(
      file: "openapi/problem.400.invalid_state",
      status: 400,
      code: "generic_conflict",
      exit: 6,
      name: "generic"
    ),
    Refusal(
      file: "openapi/problem.401.unauthenticated",
      status: 401,
      code: "invalid_token",
      exit: 4,
      name: "invalidToken"
    ),
    Refusal(
      file: "openapi/problem.403.forbidden",
      status: 403,
      code: "invalid_token",
      exit: 4,
      name: "invalidToken"
    ),
    Refusal(
      file: "openapi/problem.404.not-found",
      kind: .mandate,
      status: 404,
      code: "mandate_not_found",
      exit: 5,
      name: "mandateNotFound"
    ),
    Refusal(
      file: "openapi/problem.409.concurrency-conflict",
      status: 409,
      code: "generic_conflict",
      exit: 6,
      name: "generic"
    ),
    Refusal(
      file: "openapi/problem.409.idempotency-key-concurrency-conflict",
      status: 409,
      code: "generic_conflict",
      exit: 6,
      name: "generic"
    ),
    Refusal(
      file: "openapi/problem.422.idempotency-key-reuse",
      status: 422,
      code: "generic_conflict",
      exit: 6,
      name: "generic"
    ),
    Refusal(
      file: "openapi/problem.429.rate-limit-exceeded",
      status: 429,
      code: "generic_rate_limited",
      exit: 11,
      name: "generic"
    ),
    Refusal(
      file: "openapi/problem.500.unknown-error",
      status: 500,
      code: "server_error",
      exit: 11,
      name: "serverError"
    ),
    Refusal(
      file: "openapi/problem.502.provider-error",
      kind: .mandate,
      status: 502,
      code: "server_error",
      exit: 11,
      name: "serverError"
    ),
  ]

  @Test(arguments: refusals) func `a published error`(_ refusal: Refusal) throws {
    let collection = refusal.kind == .mandate ? "mandates" : "payments"
    let body = try Self.answer(refusal.file)
    // A read is repeated this many times.
    let steps = (0..<4).map { _ in
      StubHTTP.Step("GET", "/v3/\(collection)/\(Self.id)", refusal.status, body)
    }
    let engine = try World().engine(over: StubHTTP(steps)) { _, configuration in
      configuration.resourceToken = SharedSecret("resource-token-of-the-test")
    }
    let fault = #expect(throws: Fault.self) {
      _ = try engine.lookUp(Self.id, known: nil, kind: refusal.kind)
    }
    #expect(fault?.code == refusal.code)
    #expect(fault?.exitStatus == refusal.exit)
    #expect(fault?.effect == Fault.Effect.none)
    #expect(fault?.result?["error"] == .string(refusal.name))
    #expect(fault?.result?["trace_id"]?.text?.isEmpty == false)
  }

  @Test func `a wait that is asked for is passed on`() throws {
    let path = "/v3/payments/\(Self.id)"
    let busy = StubHTTP.Step("GET", path, .bytes(429, [], ["retry-after": "7"]))
    let engine = try World().engine(over: StubHTTP(Array(repeating: busy, count: 9))) {
      $1.resourceToken = SharedSecret("resource-token")
    }
    let fault = #expect(throws: Fault.self) { _ = try engine.lookUp(Self.id, known: nil) }
    #expect(fault?.exitStatus == 11 && fault?.retry == .later && fault?.after == 7)
  }

  /// Readers differ in the value that counts.
  @Test(arguments: [
    #"{"id":"\#(id)","status":"settled","status":"failed"}"#,
    #"{"id":"\#(id)","status":"settled","a":{"b":1,"\u0062":2}}"#,
  ])
  func `an answer with a member twice is unreadable`(_ body: String) throws {
    let steps = (0..<4).map { _ in StubHTTP.Step("GET", "/v3/payments/\(Self.id)", 200, body) }
    let engine = try World().engine(over: StubHTTP(steps)) {
      $1.resourceToken = SharedSecret("resource-token")
    }
    let fault = #expect(throws: Fault.self) { _ = try engine.lookUp(Self.id, known: nil) }
    #expect(fault?.exitStatus == 11)
    #expect(fault?.message.contains("no JSON object") == true, "\(fault?.message ?? "")")
  }

  @Test(arguments: ["<html>", "[]", #"{"access_token":"a","access_token":"b"}"#])
  func `an answer of the token service that cannot be read`(_ body: String) throws {
    let engine = try World().engine(over: StubHTTP([.init("POST", "/connect/token", 200, body)]))
    let fault = #expect(throws: Fault.self) { _ = try engine.lookUp(Self.id, known: nil) }
    #expect(fault?.exitStatus == 11)
    #expect(fault?.message.contains("no JSON object") == true, "\(fault?.message ?? "")")
  }

  @Test func `an empty error body and an older one`() throws {
    let engine = try World().engine(
      over: StubHTTP([
        .init("GET", "/v3/payments/\(Self.id)", .bytes(400, [], ["tl-trace-id": "abc"]))
      ])
    ) { _, configuration in configuration.resourceToken = SharedSecret("resource-token") }
    let fault = #expect(throws: Fault.self) { _ = try engine.lookUp(Self.id, known: nil) }
    #expect(fault?.exitStatus == 7)
    #expect(fault?.result?["trace_id"] == "abc")
    let refused = try World().engine(
      over: StubHTTP([
        .init(
          "POST",
          "/connect/token",
          400,
          try Self.answer("truelayer-java/auth/400.invalid_client")
        )
      ])
    )
    let credentials = #expect(throws: Fault.self) { _ = try refused.lookUp(Self.id, known: nil) }
    #expect(credentials?.exitStatus == 4)
    #expect(credentials?.result == ["error": "invalidToken", "reason": "invalid_client"])
  }
}
