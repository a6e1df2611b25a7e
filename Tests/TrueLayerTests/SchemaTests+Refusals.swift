import Foundation
import TenderEngine
import TenderModel
import TenderSimulator
import TenderTestSupport
import Testing
import TrueLayer

/// The simulator refuses every body that the published schema refuses.
extension SchemaTests {
  static let payment =
    #"{"amount_in_minor":1000,"currency":"GBP","payment_method":{"type":"bank_transfer","#
    + #""provider_selection":{"type":"user_selected","filter":{"countries":["GB"],"#
    + #""release_channel":"general_availability","provider_ids":["mock-payments-gb-redirect"]},"#
    + #""scheme_selection":{"type":"instant_preferred","allow_remitter_fee":true}},"#
    + #""beneficiary":{"type":"external_account","account_holder_name":"Ben Eficiary","#
    + #""reference":"ORDER 1042","account_identifier":{"type":"sort_code_account_number","#
    + #""sort_code":"560029","account_number":"26207729"}}},"user":{"id":"u","name":"Remi Terr","#
    + #""email":"remi@example.com","phone":"+447700900000","date_of_birth":"1990-01-31","address":"#
    + #"{"address_line1":"1 High Street","city":"London","zip":"EC2A 1PX","country_code":"GB"},"#
    + #""political_exposure":"none"},"metadata":{"order":"1042"}}"#

  static let preselected =
    #"{"amount_in_minor":1000,"currency":"EUR","payment_method":{"type":"bank_transfer","#
    + #""provider_selection":{"type":"preselected","provider_id":"mock-payments-de-redirect","#
    + #""scheme_selection":{"type":"preselected","scheme_id":"sepa_credit_transfer"},"#
    + #""remitter":{"account_holder_name":"Remi","account_identifier":{"type":"iban","#
    + #""iban":"NL39ABNA8234998285"}}},"beneficiary":{"type":"merchant_account","#
    + #""merchant_account_id":"8d5e4f3a-2b1c-4d6e-9f80-a1b2c3d4e5f6","reference":"A"}},"#
    + #""user":{"id":"u"},"hosted_page":{"return_uri":"https://shop.example","country_code":"DE"}}"#

  static let mandate =
    #"{"mandate":{"type":"commercial","use_case":"utilities","provider_selection":"#
    + #"{"type":"user_selected"},"beneficiary":{"type":"external_account","#
    + #""account_holder_name":"Ben","account_identifier":{"type":"sort_code_account_number","#
    + #""sort_code":"560029","account_number":"26207729"}},"reference":"GAS"},"currency":"GBP","#
    + #""user":{"id":"u"},"constraints":{"maximum_individual_amount":5000,"periodic_limits":"#
    + #"{"month":{"maximum_amount":50000,"period_alignment":"calendar"}}}}"#

  /// Valid bodies with their paths.
  static let bodies = [
    ("/v3/payments", payment), ("/v3/payments", preselected), ("/v3/mandates", mandate),
    (
      "/v3/payments-providers/search",
      #"{"authorization_flow":{"configuration":{"form":{"input_types":["text"]}}},"#
        + #""countries":["GB"],"currencies":["GBP"],"customer_segments":["retail"],"#
        + #""release_channel":"public_beta"}"#
    ),
  ]

  /// Returns variants with each member removed, of another type, too long, or with another value, and each
  /// list emptied.
  private static func mutations(_ value: JSON) -> [JSON] {
    switch value {
    case .object(let object):
      var all: [JSON] = []
      for (index, member) in object.members.enumerated() {
        var without = object.members
        without.remove(at: index)
        all.append(.object(JSONObject(without)))
        for mutation in mutations(member.value) {
          var changed = object.members
          changed[index].value = mutation
          all.append(.object(JSONObject(changed)))
        }
      }
      return all + ["text", 7, [1]]
    case .array(let elements):
      return [[], .array(elements + elements), 7]
        + elements.flatMap { element in
          mutations(element).map { [$0] }
        }
    case .string(let text):
      return [
        7, true, "", .string(text + "()"), .string(text + "é"),
        .string(String(repeating: "a", count: 17)),
        .string(String(repeating: "a", count: 41)), .string(String(repeating: "9", count: 600)),
        "SIDEWAYS", .string(text.lowercased()), .string(text + "\n"),
      ]
    case .integer: return [0, -1, "1000", .number("1.5"), 100_000_001]
    case .bool: return ["true", 1]
    default: return []
    }
  }

  @Test(arguments: bodies)
  func `the simulator refuses what the schema refuses`(_ path: String, _ text: String) throws {
    let world = try World()
    let judge = try JudgedHTTP.judge()
    let simulator = try simulator(world)
    let whole = try #require(JSONReader.read(text))
    let right = try ask(world, simulator, .post, path, body: text)
    #expect(right.response.status < 300, "\(right.json)")
    #expect(try verdict(judge, .post, path, body: text, right.response) == [])
    var refused = 0
    for mutation in Self.mutations(whole) {
      let body = JSONWriter.text(mutation)
      let (response, json) = try ask(world, simulator, .post, path, body: body)
      let problems = try verdict(judge, .post, path, body: body, response)
      #expect(problems.allSatisfy { $0.hasPrefix("request: ") }, "\(body) \(problems)")
      // TrueLayer's own clients create commercial mandates without it, though it is required.
      let lacksUseCase =
        mutation["mandate"]?["type"] == "commercial"
        && mutation["mandate"]?["use_case"] == nil
      let isWrong = problems.contains { $0.hasPrefix("request: ") } && !lacksUseCase
      if isWrong {
        refused += 1
        #expect(response.status == 400, "taken although \(problems): \(body)")
      } else if response.status >= 300 {
        // Rules that the schema cannot express: unknown banks, members that depend on each other.
        #expect(response.status == 400)
        #expect(json["errors"]?.object?.members.isEmpty == false, "\(json)")
      }
    }
    #expect(refused > 20)
  }

  /// Bodies that were once accepted and must be refused, each with the wrong member.
  @Test(arguments: [
    (
      #""reference":"ORDER 1042""#, #""reference":"ORDER_1042""#,
      "payment_method.beneficiary.reference"
    ),
    (
      #""reference":"ORDER 1042""#, #""reference":"1234567890123456789""#,
      "payment_method.beneficiary.reference"
    ),
    (
      #""countries":["GB"]"#, #""countries":["XX"]"#,
      "payment_method.provider_selection.filter.countries[0]"
    ),
    (#""email":"remi@example.com""#, #""email":"remi""#, "user.email"),
    (#""metadata":{"order":"1042"}"#, #""metadata":{"order":7}"#, "metadata"),
    (#""currency":"GBP""#, #""currency":"USD""#, "currency"),
    (
      #""account_holder_name":"Ben Eficiary""#, #""account_holder_name":"Ben (x)""#,
      "payment_method.beneficiary.account_holder_name"
    ),
    (#""date_of_birth":"1990-01-31""#, #""date_of_birth":"1990-02-31""#, "user.date_of_birth"),
  ])
  func `names the member that it refuses`(_ old: String, _ new: String, _ name: String) throws {
    let world = try World()
    let body = Self.payment.replacing(old, with: new)
    #expect(body != Self.payment)
    let answer = try ask(world, try simulator(world), .post, "/v3/payments", body: body)
    #expect(answer.response.status == 400)
    #expect(answer.json["errors"]?.object?.members.map(\.key) == [name])
  }

  @Test func `null is absent, and an empty list is no body`() throws {
    let world = try World()
    let simulator = try simulator(world)
    let body = Self.payment.replacing(#""id":"u""#, with: #""id":null"#)
      .replacing(#""metadata":{"order":"1042"}"#, with: #""metadata":null"#)
    let made = try ask(world, simulator, .post, "/v3/payments", body: body)
    #expect(made.response.status == 201)
    #expect(made.json["user"]?["id"]?.text?.count == 36)
    let id = try #require(made.json["id"]?.text)
    let cancelled = try ask(
      world,
      simulator,
      .post,
      "/v3/payments/\(id)/actions/cancel",
      body: "[]"
    )
    #expect(cancelled.response.status == 202)
    let seen = try ask(world, simulator, .get, "/v3/payments/\(id)").json
    #expect(seen["failure_reason"] == "canceled")
    #expect(seen["metadata"] == nil)
  }
}
