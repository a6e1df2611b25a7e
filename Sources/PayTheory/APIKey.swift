package import TenderModel

/// A Pay Theory API key, `{partner}-{stage}-{id}`: a public key, not a secret.
///
/// Partner builds carry `new` or `old` between partner and stage (README, 1.1).
package struct APIKey: Sendable, Hashable {
  /// The three stages that SDKs know.
  package enum Stage: String, Sendable, Hashable, CaseIterable {
    case production = "paytheory"
    case study = "paytheorystudy"
    case lab = "paytheorylab"
  }

  package let text: String
  package let partner: String
  package let stage: Stage

  /// Checks the shape.
  ///
  /// Throws a `usage` fault that names what is wrong.
  package init(_ text: String) throws(Fault) {
    var parts = text.split(separator: "-", omittingEmptySubsequences: false).map(String.init)
    if parts.count == 4, parts[1] == "new" || parts[1] == "old" { parts.remove(at: 1) }
    let plain = text.utf8.allSatisfy { byte in
      UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte || byte == UInt8(ascii: "-")
        || UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte | 0x20
    }
    guard parts.count == 3, parts.allSatisfy({ !$0.isEmpty }), plain, text.utf8.count <= 200 else {
      throw Fault(
        .usage,
        code: "bad_api_key",
        "the Pay Theory API key has the wrong shape",
        hint: "it is {partner}-{stage}-{id}, as the Pay Theory portal shows it"
      )
    }
    guard let stage = Stage(rawValue: parts[1]) else {
      throw Fault(
        .usage,
        code: "bad_api_key",
        "the Pay Theory API key has the unknown stage \(parts[1].quotedForMessage)",
        hint: "stages are paytheory, paytheorystudy and paytheorylab"
      )
    }
    self.text = text
    self.stage = stage
    partner = parts[0]
  }

  /// Checks that the stage fits the env.
  ///
  /// Throws a `usage` fault.
  package func check(fits env: Env) throws(Fault) {
    let fits =
      switch env {
      case .simulator: true
      case .sandbox: stage != .production
      case .live: stage == .production
      }
    guard fits else {
      throw Fault(
        .usage,
        code: "stage_mismatch",
        "the API key's stage \(stage.rawValue) does not fit --env \(env.rawValue)",
        hint: "sandbox takes paytheorystudy and paytheorylab, live takes paytheory"
      )
    }
  }
}
