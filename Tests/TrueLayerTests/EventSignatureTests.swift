import Foundation
import TenderModel
import TenderTestSupport
import Testing
import TrueLayer

/// `Tl-Signature` of events, against the two vectors that TrueLayer publishes.
@Suite struct EventSignatureTests {
  static func keys(_ file: String) throws -> KeySet {
    try #require(KeySet(Array(SignatureTests.file(file).utf8)))
  }

  /// The vector of the signing libraries' tests.
  static let first = SignedEvent(
    target: "/tl-webhook",
    fields: [
      ("x-tl-webhook-timestamp", "2021-11-29T11:42:55Z"), ("content-type", "application/json"),
    ],
    body: Array(
      #"{"event_type":"example","event_id":"18b2842b-a57b-4887-a0a6-d3c7c36f1020"}"#.utf8
    )
  )

  /// An event of the sandbox, whose key has a short coordinate.
  static func second() throws -> SignedEvent {
    let body = try SignatureTests.file("missing-zero-padding-test-payload.json")
      .split(separator: "\n").map { $0.trimmingPrefix { $0 == " " } }.joined()
      .replacing("\": ", with: "\":")
    return SignedEvent(
      target: "/a147f26a-f07e-47e3-9526-d52f1f1fdd55",
      fields: [("X-TL-Webhook-Timestamp", "2023-06-09T15:40:30Z")],
      body: Array(body.utf8)
    )
  }

  struct UnknownKey: Error {}

  static func verify(
    _ event: SignedEvent,
    _ signature: String,
    _ keys: KeySet
  ) throws -> String {
    let signature = try EventSignature(signature)
    guard let key = keys.keys[signature.keyID] else { throw UnknownKey() }
    return try signature.verify(event, key: key)
  }

  @Test func `both published vectors verify`() throws {
    let hook = try SignatureTests.file("webhook-signature.txt")
    #expect(try Self.verify(Self.first, hook, Self.keys("jwks.json")) == "the path")
    let read = try EventSignature(hook)
    #expect(read.names == ["X-Tl-Webhook-Timestamp", "Content-Type"])
    #expect(read.keySet == "https://webhooks.truelayer.com/.well-known/jwks")
    let padded = try SignatureTests.file("missing-zero-padding-test-signature.txt")
    let keys = try Self.keys("missing-zero-padding-test-jwks.json")
    #expect(try Self.verify(Self.second(), padded, keys) == "the path")
    #expect(keys.keys.count == 1, "RSA keys are left out")
    var slashed = Self.first
    slashed.target += "/?secret=1"
    #expect(
      try Self.verify(slashed, hook, Self.keys("jwks.json")) == "the path without its last slash"
    )
  }

  @Test func `the published signature of a request is none of an event`() throws {
    let request = try SignatureTests.file("tl-signature.txt")
    #expect(throws: EventSignature.Refusal.self) { try EventSignature(request) }
  }

  @Test func `nothing beside the vectors verifies`() throws {
    let hook = try SignatureTests.file("webhook-signature.txt")
    let keys = try Self.keys("jwks.json")
    let changes: [(inout SignedEvent) -> Void] = [
      { $0.target = "/tl-webhooks" }, { $0.target = "tl-webhook" }, { $0.target = "/TL-webhook" },
      { $0.body.append(10) }, { $0.body.removeLast() }, { $0.body[0] ^= 1 },
      { $0.fields[0].value = "2021-11-29T11:42:56Z" }, { $0.fields[1].value = "Application/json" },
      { $0.fields.removeFirst() }, { $0.fields.removeLast() },
      { $0.fields.append($0.fields[0]) }, { $0.fields[1].value += " " },
    ]
    for change in changes {
      var event = Self.first
      change(&event)
      #expect(throws: EventSignature.Refusal.self) { try Self.verify(event, hook, keys) }
    }
    // The key of another environment.
    let others = try Self.keys("missing-zero-padding-test-jwks.json")
    #expect(throws: UnknownKey.self) { try Self.verify(Self.first, hook, others) }
    let key = try #require(others.keys.values.first)
    #expect(throws: EventSignature.Refusal.self) {
      try EventSignature(hook).verify(Self.first, key: key)
    }
    let parts = hook.components(separatedBy: "..")
    for text in [
      "", "..", parts[0], "..\(parts[1])", "\(parts[0]).\(parts[1])", "\(parts[0]).e30.\(parts[1])",
      "\(parts[0])..\(parts[1])..", "\(parts[0])..\(parts[1].dropLast(2))", "%..\(parts[1])",
      "\(hook)\(String(repeating: "A", count: 5000))",
    ] {
      #expect(throws: EventSignature.Refusal.self, "\(text)") { try EventSignature(text) }
    }
    let header =
      #"{"alg":"ES512","kid":"k","tl_version":"2","tl_headers":"X-Tl-Webhook-Timestamp","jku":"u"}"#
    _ = try EventSignature("\(Base64.encodeURL(header.utf8))..\(parts[1])")
    for (from, to) in [
      (#""ES512""#, #""none""#), (#""ES512""#, #""RS512""#), (#""2""#, "2"), (#""2""#, #""1""#),
      (#""kid":"k","#, ""), (#","jku":"u""#, ""), ("X-Tl-Webhook-Timestamp", "Content-Type"),
      (#""tl_headers":"X-Tl-Webhook-Timestamp","#, ""), ("{", "[{"),
    ] {
      let changed = Base64.encodeURL(header.replacing(from, with: to).utf8)
      #expect(throws: EventSignature.Refusal.self, "\(to)") {
        try EventSignature("\(changed)..\(parts[1])")
      }
    }
  }

  @Test func `reads a set of keys, and nothing that is none`() throws {
    for text in ["", "{}", "[]", #"{"keys":{}}"#, #"{"keys":1}"#] {
      #expect(KeySet(Array(text.utf8)) == nil, "\(text)")
    }
    let many = #"{"keys":["# + Array(repeating: "{}", count: 101).joined(separator: ",") + "]}"
    #expect(KeySet(Array(many.utf8)) == nil)
    #expect(KeySet([UInt8](repeating: 32, count: 1 << 19)) == nil)
    for key in [
      "{}", "1", #"{"kty":"EC","crv":"P-256","kid":"k","x":"AA","y":"AA"}"#,
      #"{"kty":"EC","crv":"P-521","kid":"k","x":"AA"}"#,
      #"{"kty":"EC","crv":"P-521","kid":"k","x":"AA","y":"\#(String(repeating: "A", count: 90))"}"#,
    ] {
      #expect(KeySet(Array(#"{"keys":[\#(key)]}"#.utf8))?.keys.isEmpty == true, "\(key)")
    }
  }
}
