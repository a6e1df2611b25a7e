import Foundation
import TenderModel
import TenderTestSupport
import Testing

/// A provider's section of a profile has only known keys, with values of the right kind.
@Suite struct ConfigurationTests {
  static let wrong: [(section: String, says: String)] = [
    (#""paytheory":{"two_step":"yes"}"#, "profiles.a.paytheory.two_step is neither true nor false"),
    (#""paytheory":{"api_key":1}"#, "profiles.a.paytheory.api_key is not text"),
    (
      #""paytheory":{"api_key":"x","api_key_file":"y"}"#,
      "profiles.a.paytheory has both api_key and api_key_file"
    ),
    (
      #""paytheory":{"secret_key_file":"/none"}"#,
      "profiles.a.paytheory.secret_key_file: no '/none'"
    ),
    (
      #""paytheory":{"api_key_file":"x","api_key_command":["y"]}"#,
      "profiles.a.paytheory has both api_key_file and api_key_command"
    ),
    (
      #""toro":{"passphrase_command":["x"],"passphrase_env":"Y"}"#,
      "profiles.a.toro has both passphrase_command and passphrase_env"
    ),
    (
      #""toro":{"passphrase_command":"pass show x"}"#,
      "profiles.a.toro.passphrase_command is not an argument list"
    ),
    (#""toro":{"passphrase_command":[]}"#, "passphrase_command is not an argument list"),
    (#""toro":{"passphrase_command":["a",1]}"#, "passphrase_command is not an argument list"),
    (
      #""truelayer":{"client_secret_env":"${X}"}"#,
      "profiles.a.truelayer.client_secret_env is written as a variable"
    ),
    (
      #""truelayer":{"client_secret_env":"A-B"}"#,
      "profiles.a.truelayer.client_secret_env is not the name of a variable"
    ),
    (
      #""paytheory":{"two_step_env":"X"}"#,
      "has the unknown key 'profiles.a.paytheory.two_step_env'"
    ),
    (#""paytheory":[]"#, "profiles.a.paytheory is no object"),
    (
      #""truelayer":{"resource_token":"x"}"#,
      "has the unknown key 'profiles.a.truelayer.resource_token'"
    ),
    (#""toro":{"currency":"XXQ"}"#, "profiles.a.toro.currency 'XXQ' is no ISO 4217 code"),
    (
      #""toro":{"location":{"latitude":"1"}}"#,
      "profiles.a.toro.location needs latitude and longitude as text"
    ),
    (
      #""toro":{"kdf":{"prf":"md5","salt":"x","iterations":1,"length":16}}"#,
      "profiles.a.toro.kdf needs prf, salt, iterations and length"
    ),
    (
      #""toro":{"gratuity_percentages":[101]}"#,
      "profiles.a.toro.gratuity_percentages is no list of"
    ),
    (
      #""toro":{"signature_mode":"paper"}"#,
      "profiles.a.toro.signature_mode is neither device nor app"
    ),
    (#""toro":{"card_timeout":"soon"}"#, "profiles.a.toro.card_timeout is not a length of time"),
    (#""toro":{"authorisation_path":"x"}"#, "profiles.a.toro.authorisation_path is no path"),
    (#""fourth":{}"#, "has the unknown key 'profiles.a.fourth'"),
    (#""provider":"fourth""#, "profiles.a.provider 'fourth' is unknown"),
    (#""env":"prod""#, "profiles.a.env is none of simulator, sandbox, live"),
    (#""mode":"careful""#, "profiles.a.mode is neither read-only nor read-write"),
    (#""look_first":"no""#, "profiles.a.look_first is neither true nor false"),
    (#""max_amount":"500""#, "profiles.a.max_amount is no object"),
    (#""max_amount":{"usd":"5"}"#, "profiles.a.max_amount.usd is no ISO 4217 code in capitals"),
    (#""max_amount":{"XXX":"5"}"#, "profiles.a.max_amount.XXX is no ISO 4217 code in capitals"),
    (#""max_amount":{"USD":5}"#, "profiles.a.max_amount.USD is not text"),
    (#""max_amount":{"USD":"5,00"}"#, "profiles.a.max_amount.USD '5,00' is not an amount"),
    (#""max_amount":{"USD":"-1"}"#, "profiles.a.max_amount.USD '-1' is not an amount"),
    (#""max_amount":{"JPY":"5.5"}"#, "profiles.a.max_amount.JPY '5.5' has more digits"),
    (#""output":"xml""#, "profiles.a.output is none of auto, table, jsonl, json"),
  ]

  @Test(arguments: wrong)
  func `says what is wrong with a section`(_ section: String, _ says: String) throws {
    let result = try check(section)
    #expect(result.status == 2)
    #expect(result.errorRecord["error"]?["code"] == "bad_config")
    let message = result.errorRecord["error"]?["message"]?.text ?? ""
    #expect(message.contains(says), "\(message)")
  }

  @Test(arguments: [
    (#""paytheory":{"api_key":"$KEY"}"#, #"name the variable in "api_key_env", without $"#),
    (#""paytheory":{"secret_key":"${KEY}"}"#, #"name the variable in "secret_key_env", without $"#),
    (#""toro":{"merchant_name":"$NAME"}"#, "set TENDER_TORO_MERCHANT_NAME"),
    (#""toro":{"kdf":{"salt":"$SALT"}}"#, "write the value"),
    (#""journal":"$JOURNAL""#, "write the value"),
  ])
  func `refuses a value that is written as a variable`(_ section: String, _ hint: String) throws {
    let result = try check(section)
    #expect(result.status == 2)
    #expect(result.errorRecord["error"]?["hint"]?.text == hint)
    let message = result.errorRecord["error"]?["message"]?.text ?? ""
    #expect(message.hasSuffix("is written as a variable, and variables are not replaced here"))
    #expect(!message.contains("$"))
  }

  @Test(arguments: ["a$KEY", "$KEY-", "$1", "$", "${}", "${A-B}"])
  func `takes a value with another dollar sign`(_ value: String) throws {
    #expect(try check(#""toro":{"passphrase":"\#(value)"}"#).status == 0)
  }

  private func check(_ section: String) throws -> Binary.Result {
    let binary = try Binary()
    defer { binary.remove() }
    let file = binary.home.appending(path: "config.json")
    try #"{"profiles":{"a":{\#(section)}}}"#.write(to: file, atomically: true, encoding: .utf8)
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path)
    return try binary.run("config", "check", "--config", file.path, "--json")
  }

  @Test(arguments: [
    (#"{"schema":1,"schema":1}"#, "has a key twice"), ("[]", "is not a JSON object"),
    (#"{"default_profile":"\ud800"}"#, "has half of a surrogate pair"),
  ])
  func `says what is wrong with a file`(_ text: String, _ says: String) throws {
    let binary = try Binary()
    defer { binary.remove() }
    let path = binary.home.appending(path: "c.json")
    try text.write(to: path, atomically: true, encoding: .utf8)
    let result = try binary.run("config", "check", "--config", path.path, "--json")
    #expect(result.status == 2)
    #expect(
      result.errorRecord["error"]?["message"]?.text?.contains(says) == true,
      "\(result.errors)"
    )
  }
}
