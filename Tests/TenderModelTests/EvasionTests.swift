import Foundation
import TenderModel
import TenderTestSupport
import Testing

/// Forms in which a provider may repeat a secret, on purpose or not.
@Suite struct EvasionTests {
  private static let number = "4000056655665556"
  private static let token = "Kp7/secret+token_of-42"

  private static func told(short: Bool = true) -> Redactor {
    let redactor = Redactor()
    redactor.learn(number)
    redactor.learn(token)
    redactor.learn(long)
    redactor.learn("skliveZt7pQw9xRb2LmN4vKc8sYd1f")
    redactor.learn("000918273645")
    if short { redactor.learnShort(Secret("937")) }
    return redactor
  }

  /// With a security code, for which each text is searched in detail, and without.
  private static var all: [Redactor] { [told(), told(short: false)] }

  private static func base64(_ text: String) -> String { Data(text.utf8).base64EncodedString() }

  private static func each(_ text: String, _ form: (UInt8) -> String) -> String {
    text.utf8.map(form).joined()
  }

  /// A form in which a provider may send a number back.
  struct Form: Sendable, CustomTestStringConvertible {
    /// Its name in `man 7 tender-security`.
    let name: String
    /// Whether a number of another command is found in it too.
    var isForeign = true
    let examples: [String]

    var testDescription: String { name }
  }

  static let forms: [Form] = [
    Form(
      name: "groups",
      examples: [
        number, "4000 0566 5566 5556", "4000-0566-5566-5556", "4 0 0 0 0 5 6 6 5 5 6 6 5 5 5 6",
        "4000      0566      5566      5556", "4000.0566.5566.5556", "4000/0566/5566/5556",
        "4000_0566_5566_5556", "4000\t0566\t5566\t5556",
        "4000\u{a0}0566\u{a0}5566\u{a0}5556", "4000\u{200b}0566\u{2060}5566\u{ad}5556",
      ]
    ),
    Form(
      name: "percent-encoding",
      examples: [
        "4000%200566%205566%205556", "4000%C2%A00566%C2%A05566%C2%A05556",
        "%34%30%30%30%30%35%36%36%35%35%36%36%35%35%35%36",
      ]
    ),
    Form(
      name: "escapes with u",
      examples: [
        #"4000\u003056655665556"#, each(number) { "\\u00\(String($0, radix: 16))" },
        #"4000\u00a00566\u20095566 5556"#,
      ]
    ),
    Form(
      name: "other separators",
      isForeign: false,
      examples: [
        "4000,0566,5566,5556",
        "4000\n0566\n5566\n5556",
        "4000:0566:5566:5556", "4000|0566|5566|5556", "4000+0566+5566+5556",
      ]
    ),
    Form(
      name: "base64",
      isForeign: false,
      examples: [
        base64(number), base64("x" + number), base64("xy" + number), base64("xyz" + number + "!"),
        base64("user:" + number), "Basic " + base64("api:" + number),
        base64(number).replacingOccurrences(of: "=", with: ""), base64("a>" + number + "?~"),
        base64(number).enumerated()
          .map { $0.offset % 8 == 7 ? "\($0.element)\r\n" : "\($0.element)" }.joined(),
      ]
    ),
  ]

  static let numberForms = forms.flatMap(\.examples)

  /// The manual names each form, and those in which a number of another command is found.
  @Test func `covers the forms that the manual names`() throws {
    let page = try Project.text("man/tender-security.7").replacing("\\-", with: "-")
    let lists = page.components(separatedBy: "in each of these forms: ").dropFirst().compactMap {
      $0.prefix { $0 != "(" && $0 != "\n" }.trimmingCharacters(in: .whitespaces)
        .components(separatedBy: ", ")
    }
    #expect(
      lists == [
        Self.forms.filter(\.isForeign).map(\.name),
        Self.forms.filter { !$0.isForeign }.map(\.name), Self.tokenForms.map(\.name),
        Self.forms.filter { !$0.isForeign }.map(\.name),
      ]
    )
  }

  /// Forms of a token of any length.
  static let tokenForms: [Form] = [
    Form(name: "any case", examples: [token, token.uppercased()]),
    Form(name: "percent-encoding", examples: ["Kp7%2Fsecret%2Btoken_of-42"]),
    Form(
      name: "escapes of JSON",
      examples: [#"Kp7\u002fsecret+token_of-42"#, #"Kp7\/secret+token_of-42"#]
    ),
    Form(name: "separators", examples: ["sk live Zt7pQw9x\nRb2LmN4vKc8sYd1f"]),
    Form(
      name: "base64",
      examples: [
        base64(token), base64("a:" + token), base64("ab:" + token + ":c"), base64("a" + long),
        base64("??" + token).replacingOccurrences(of: "+", with: "-")
          .replacingOccurrences(of: "/", with: "_"),
      ]
    ),
  ]

  /// A longer token.
  private static let long = "sk-live-Zt7pQw9xRb2LmN4vKc8sYd1f"

  @Test(arguments: forms)
  func `sees a card number of another command in the forms that the manual names`(_ form: Form) {
    let isSeen = form.examples.allSatisfy { example in
      Redactor().redact("echo <\(example)> end") != "echo <\(example)> end"
    }
    #expect(isSeen == form.isForeign)
  }

  /// A secret is encoded behind any number of bytes. What is beside it stays, and a text can end within it.
  @Test(arguments: [6, 35, 36, 37, 38, 900])
  func `masks what a secret of any length is encoded to, and no more`(_ count: Int) {
    let letters = Array("abcdefghij0123456789~")
    let secret = String((0..<count).map { letters[$0 * 8 % 21] })
    let redactor = Redactor()
    redactor.learn(secret)
    for behind in 0..<3 {
      // The letters around the secret hold bits of what is beside it. Digits beside a secret are masked with it.
      let text = Array(Self.base64(String(repeating: "-", count: behind + 3) + secret + "------"))
      var (first, last) = ([4, 6, 7][behind], (behind + 3 + count) * 8 / 6)
      while text[first - 1].isNumber { first -= 1 }
      while text[last].isNumber { last += 1 }
      let beginning = String(text[..<first]) + "[redacted]"
      #expect(redactor.redact(String(text)) == beginning + String(text[last...]))
      if count == 900 { #expect(redactor.redact(String(text[..<(first + 100)])) == beginning) }
    }
  }

  /// Digits before a number make an escape with its first ones.
  @Test func `finds a learned number in groups behind the beginning of an escape`() {
    let redactor = Redactor()
    redactor.learn("4000056655665556")
    #expect(redactor.redact(#"x \u664000 0566 5566 5556 y"#) == #"x \u[redacted] y"#)
  }

  /// However many digits are before it.
  @Test(arguments: [0...40, 1210...1260])
  func `sees a card number behind many digits`(_ counts: ClosedRange<Int>) {
    for count in counts {
      #expect(
        Redactor.holdsCardNumber(String(repeating: "1 ", count: count) + "4000 0566 5566 5556")
      )
      #expect(!Redactor.holdsCardNumber(String(repeating: "1 ", count: count) + "4000056655665557"))
    }
  }

  /// A swipe is `%B` and the number. Decoded as an escape, it would lose two digits.
  @Test(arguments: [
    "%B4242424242424242^DOE/JANE^29121010000000000000", "%B4242424242424242",
    "a%b4242424242424242%20", #"\u4242424242424242"#,
  ])
  func `shows no swiped card number`(_ text: String) {
    #expect(Redactor.holdsCardNumber(text))
    #expect(!Redactor().redact(text).contains("4242424242424242"))
  }

  @Test(arguments: numberForms)
  func `shows no card number that it was told`(_ form: String) {
    for redactor in Self.all {
      let shown = redactor.redact("echo <\(form)> end", foreign: true)
      #expect(shown.contains("[redacted]"), "\(shown)")
      #expect(shown.hasPrefix("echo <") && shown.hasSuffix("> end"), "\(shown)")
      let digits = shown.filter { $0.wholeNumberValue != nil }
      #expect(digits.count < 9, "\(shown)")
    }
  }

  @Test(arguments: tokenForms)
  func `shows no token that it was told`(_ form: Form) {
    judgeToken(form)
  }

  private func judgeToken(_ form: Form) {
    for (example, redactor) in form.examples.flatMap({ example in Self.all.map { (example, $0) } })
    {
      let shown = redactor.redact("echo \(example) end", foreign: true)
      #expect(shown.contains("[redacted]"), "\(shown)")
      #expect(!shown.lowercased().contains("secret"), "\(shown)")
      #expect(shown.utf8.count < 40, "\(shown)")
    }
  }

  @Test(arguments: [
    "zq7X kPmW bvRt", "zq7X.kPmW.bvRt", "z q 7 x k p m w b v r t", "zq7XkPm\nWbvRt",
  ])
  func `shows no key whose parts are apart`(_ form: String) {
    let redactor = Redactor()
    redactor.learn("zq7XkPmWbvRt")
    let shown = redactor.redact("echo \(form) end")
    #expect(shown == "echo [redacted] end", "\(shown)")
  }

  /// The documented parts of a card number are shown, even if all its digits are the same.
  @Test func `shows the first six and the last four`() {
    let redactor = Redactor()
    redactor.learn("4111111111111111")
    let body: JSON = [
      "amount": 500, "service_fee": 0, "brand": "VISA", "first_six": "411111", "last_four": "1111",
    ]
    #expect(redactor.redact(body, foreign: true) == body)
  }

  @Test(arguments: ["937", "(937)", "cvv: 937."])
  func `shows no security code that it was told`(_ example: String) {
    #expect(Self.told().redact("echo \(example) end", foreign: true).contains("[redacted]"))
  }

  /// A short secret may have letters. Then a text without digits may hold it.
  @Test func `shows no short secret with letters that it was told`() {
    for secret in ["wxyz", "a7c"] {
      let redactor = Redactor()
      redactor.learn("937")
      redactor.learn(secret)
      #expect(redactor.redact("echo \(secret) end", foreign: true) == "echo [redacted] end")
      #expect(redactor.redact("echo 937 end", foreign: true) == "echo [redacted] end")
    }
  }

  @Test(arguments: [
    "order 4000 of 0566", "9 3 7", "2026-11-20T17:19:00Z", "amount 1050, fee 9370", "pt-937-x",
    "https://bank.example/pay?id=123e4567-e89b-12d3-a456-426614174000", "last four 5556",
    "first six 400005, last four 5556", "9 37", "19 3 7", "9 3 7 1", "9 and 3 and 7",
  ])
  func `keeps what is none of them`(_ text: String) {
    for redactor in Self.all { #expect(redactor.redact(text, foreign: true) == text) }
  }

  /// A line is searched as a whole first. It is clean only if no value in it would be changed.
  @Test(
    arguments: numberForms + ["4111111111111111", "eyJhbGciOiJIUzI1NiJ9.e30.abc", "937", "fine"]
  )
  func `sees in a whole line what one of its values holds`(_ form: String) {
    for value: JSON in [["a": .string(form)], ["b": [.string("x " + form), 12]]] {
      for redactor in Self.all + [Redactor()]
      where redactor.redact(value, foreign: true) != value {
        #expect(!redactor.isClean(JSONWriter.text(value)))
      }
    }
  }

  @Test func `sees a number, and nothing in times and ids`() {
    #expect(!Redactor().isClean(#"{"n":4111111111111111,"a":""}"#))
    let plain =
      #"{"created":1795559937591,"at":"2026-11-24T22:38:57Z","id":"123e4567-e89b-12d3-a456-426614174000"}"#
    #expect(Redactor().isClean(plain))
  }

  /// The search of a line looks at some of its bytes first.
  @Test(arguments: 0...40)
  func `sees a secret at each place of a line`(_ place: Int) {
    let redactor = Redactor()
    redactor.learn("tokenof42x")
    let before = String(repeating: "x1-", count: place).prefix(place)
    for form in [
      "4111111111111111", "4111-1111-1111-1111", "eyJhbGciOiJIUzI1NiJ9.e30.abc", "tokenof42x",
      "to-ke-no-f4-2x",
    ] {
      #expect(!redactor.isClean("\(before)y\(form)z 12"), "\(form)")
    }
    #expect(redactor.isClean("\(before)y411111111111z 12"))
  }

  /// Unknown numbers in the same forms.
  @Test(arguments: [
    "4111    1111    1111    1111", "4111%201111%201111%201111", "4111\u{200b}111111111111",
    "4111\u{2009}1111\u{2009}1111\u{2009}1111",
  ])
  func `sees a card number that nobody told it`(_ form: String) {
    #expect(Redactor().redact("echo \(form) end") == "echo [redacted] end")
    #expect(Redactor.holdsCardNumber(form))
  }

  /// It contains no copy of the secret. Its fingerprints depend on a separate key.
  @Test func `keeps no copy`() {
    let shown = String(describing: Mirror(reflecting: Self.told()).children.map { "\($0)" })
    #expect(!shown.contains(Self.number))
    #expect(!shown.contains(Self.token))
  }

  /// Twice the text takes twice the time, for any text.
  @Test(arguments: [
    "4", "4 ", "41111111", "a", "eyJ", "eyJa.", "%34", "&#52;", "\\u0034", "٤", "4-", "\u{200b}",
    "123e4567-e89b-12d3-a456-4266141740", "4000056655665556 ", "K", "937,", "password=",
    "password=\"", "password='\"", "password:[", "password:{", "password:[\"", "password:\t",
    "password=\"\\", "-----BEGIN PRIVATE KEY-----", "-----BEGIN ", "-----", "BEGIN PRIVATE KEY",
    "bearer ", "bearer a ", ":", " :", "_", "GB29", "GB29 NWBK ",
    "A1", "://", "a://b:", "://b:c@", "://@", "PRIVATE KEY-----", "Authorization: Basic ", "cvv=[",
    "password:[{", "4 1 1 1 ", "password=>", "=>", "password:['", "password:{'a", "bearer\t",
    "bearer \"", "bearer\"",
    "&quot;", "password:\n", "[password] =>", "]=", "password=(\"", "bearer (", "bearer (a",
  ])
  func `grows with the text alone`(_ piece: String) {
    let redactor = Self.told()
    func text(_ bytes: Int) -> String {
      String(repeating: piece, count: bytes / piece.utf8.count)
    }
    Growth.expectLinear(base: 16_384) { size in _ = redactor.redact(text(size), foreign: true) }
  }

  /// Secrets of other commands, by the name before them.
  @Test(arguments: [
    "access_token=Xk9-Z.2", "password=hunter2&x=1", "password: hunter2",
    #"{"password": "hunter2 x"}"#,
    #"{"client_secret":"hunter2"}"#, "Client-Secret: hunter2; a", "api_key = 'hunter2'",
    "APIKEY=hunter2",
    "passphrase%3Dhunter2", #"{\"refresh_token\": \"hunter2\"}"#, "Bearer hunter2",
    "bearer  hunter2=",
    "Authorization: Bearer hunter2,", "see https://bank.example/?resource_token=hunter2 for more",
    "private_key=hunter2", "secret_key: hunter2", "id_token=hunter2", "password=[redacted]hunter2",
    #"{"password": ["hunter2"]}"#, #"{"password":["a","hunter2"],"b":1}"#,
    #"{"password":{"value":"hunter2"}}"#, #"{"api_key": {"a": [{"b": "hunter2"}]}, "c": 2}"#,
    #"{\"password\": [\"a\", \"hunter2\"]}"#, "password:\thunter2", "password:\r\n  hunter2",
    "password\t=\thunter2", #"{"password":"a\"hunter2"}"#, #"{"password":"a\\\"hunter2"}"#,
    #"password = "a \" hunter2""#, #"{"password":["a]","hunter2"]}"#, "password:[hunter2",
    "{'password': {'a': '}', 'b': 'hunter2'}}", "password: ['don\\'t', ']', 'hunter2']",
    "password:\n\thunter2", "password:\r\nhunter2",
    "client_secret=\\\nhunter2", "X-API-Key: hunter2", #"{"token":"hunter2"}"#, "CVV2=hunter2",
    #"{"security_code":"hunter2"}"#, "cvc: hunter2", "Authorization: Basic hunter2",
    #"{"Authorization":"Basic hunter2"}"#, "amqp://u:hunter2@h", "https://u:hunter2@h:80/x?y=z",
    "-----BEGIN PRIVATE KEY-----\\nhunter2\\n-----END PRIVATE KEY-----",
    "-----BEGIN RSA PRIVATE KEY-----\nhunter2", "redis://:hunter2@h", "a://b a://u:hunter2@h",
    "password:\nhunter2", "password:\n\"hunter2\"",
  ])
  func `shows no value after the name of a secret`(_ text: String) {
    for redactor in Self.all + [Redactor()] {
      let shown = redactor.redact(text, foreign: true)
      #expect(!shown.contains("hunter2") && !shown.contains("Xk9"), "\(shown)")
      #expect(shown.contains("[redacted]"), "\(shown)")
      #expect(redactor.redact(shown, foreign: true) == shown)
      #expect(redactor.redact(text) == text)
      let line = JSONWriter.text(["message": .string(text)])
      #expect(!redactor.isClean(line), "\(line)")
    }
    let member: JSON = [
      "Password": "hunter2", "api_key": 12345, "a": ["id_token": "x"], "key": "x",
    ]
    let shown: JSON = [
      "Password": "[redacted]", "api_key": "[redacted]", "a": ["id_token": "[redacted]"],
      "key": "x",
    ]
    #expect(Redactor().redact(member, foreign: true) == shown)
    let nested: JSON = [
      "password": ["x", 1], "client_secret": ["a": ["b": "x"], "c": true], "api_key": [],
      "a": ["x"],
    ]
    let masked: JSON = [
      "password": ["[redacted]", "[redacted]"],
      "client_secret": ["a": ["b": "[redacted]"], "c": true], "api_key": [], "a": ["x"],
    ]
    #expect(Redactor().redact(nested, foreign: true) == masked)
    #expect(Redactor().redact(nested) == nested)
  }

  /// What follows the value stays.
  @Test(arguments: [
    (#"{"password":["x","y"],"b":"stays"}"#, #"{"password":[redacted],"b":"stays"}"#),
    (#"{"password":{"a":"}"},"b":"stays"}"#, #"{"password":[redacted],"b":"stays"}"#),
    (#"{"access_token":[1,[2]],"b":"stays"}"#, #"{"access_token":[redacted],"b":"stays"}"#),
    (#"{\"password\":[\"]\"],\"b\":\"stays\"}"#, #"{\"password\":[redacted],\"b\":\"stays\"}"#),
    (#"{"cvv":123,"b":"stays"}"#, #"{"cvv":[redacted],"b":"stays"}"#),
    ("postgres://u:x@h/db stays", "postgres://u:[redacted]@h/db stays"),
    ("mysql://u:p/w:r?d@x@h/db stays", "mysql://u:[redacted]@h/db stays"),
    ("https://u:x@h/?a=stays", "https://u:[redacted]@h/?a=stays"),
    ("host=h password=x dbname=stays", "host=h password=[redacted] dbname=stays"),
    ("Authorization: Basic eDp4 stays", "Authorization: [redacted] stays"),
    ("Proxy-Authorization: Basic eDp4\r\nstays", "Proxy-Authorization: [redacted]\r\nstays"),
    (
      "-----BEGIN EC PRIVATE KEY-----\nMHcC\n-----END EC PRIVATE KEY-----\nstays",
      "-----BEGIN EC PRIVATE KEY-----[redacted]-----END EC PRIVATE KEY-----[redacted]"
    ),
    (#"{"password":"x\"y","b":"stays"}"#, #"{"password":"[redacted]","b":"stays"}"#),
    (#"{\"password\":\"x\",\"b\":\"stays\"}"#, #"{\"password\":\"[redacted]\",\"b\":\"stays\"}"#),
    ("password:\tx stays", "password:\t[redacted] stays"),
    ("password='x y' stays", "password='[redacted]' stays"),
    ("password=x&b=stays", "password=[redacted]&b=stays"),
    ("Bearer x stays", "Bearer [redacted] stays"),
    ("password: (at least 8) stays", "password: [redacted] least 8) stays"),
  ])
  func `takes out the value of a name alone`(_ text: String, _ shown: String) {
    for redactor in Self.all + [Redactor()] {
      #expect(redactor.redact(text, foreign: true) == shown)
    }
  }

  /// Ways in which logs, shells, browsers and settings carry a secret.
  static let carried = [
    "Server=h;Uid=u;Pwd=hunter2;", "Server=h;User Id=u;Password=hunter2;",
    "host=h password=hunter2",
    "PGPASSWORD=hunter2 psql", "DB_PASSWORD=hunter2", "MYSQL_PWD=hunter2", "db-passwd: hunter2",
    "'//u:hunter2@h/db'", "//u:hunter2@h", "'u:hunter2@h/db'", "mysql://u:hunter2@h/db",
    "redis://:hunter2@h", "postgres:/u:hunter2@h'", "see https://u:hunter2@h/x",
    "(//u:hunter2@h:1)",
    "STRIPE_SECRET_KEY=hunter2", "client-secret: hunter2", "client secret: hunter2",
    "APP_SECRET=hunter2", "X-Api-Key: hunter2", "my_api_key=hunter2", "Auth-Token: hunter2",
    "sessionToken=hunter2", "AWS_SECRET_ACCESS_KEY=hunter2", "passphrase=hunter2",
    "Set-Cookie: sid=hunter2; Path=/", "Cookie: a=1; sid=hunter2", "Authorization: Bearer hunter2",
    "key sk_live_hunter2hunter2", "rk_test_hunter2", "(whsec_hunter2)", "token ghp_hunter2hunter2",
    "cvv: 737", "cvv 737", "CVC2 737", "cvc=737", "security code 737", "security code: 737",
    "account_number: 26207737", "account number 26207737", "account-number=26207737",
    #"{"account_number":"26207737"}"#, "private_key=hunter2", "proxy-authorization: hunter2",
  ]

  @Test(arguments: carried) func `shows no secret that logs and settings carry`(_ text: String) {
    let shown = Redactor().redact("it said: \(text)", foreign: true)
    #expect(!shown.contains("hunter2") && !shown.contains("737"), "\(shown)")
    #expect(shown.contains("[redacted]"))
    #expect(!Redactor().isClean(JSONWriter.text(["message": .string(text)])))
  }

  @Test(arguments: [
    "account_number: must have eight digits", "the account number is missing", "cvv is required",
    "CVC 2 of 3", "error 737 in cvv2", "a secret is not set", "the cookie was eaten",
    "set TENDER_PAYTHEORY_SECRET_KEY", "password or passphrase", "mailto:ada@example.com",
    "email:ada@example.com", "'mailto:ada@example.com'", "at 10:15 ada@example.com wrote",
    "risk_live_view", "ask_test_1", "a//b", "https://h/x?token_type=a", "sort code 56-00-29",
    "12:30@noon", "h:8080/a@b", "//h:8080/a@b", "the pwd command", "page_token", "cvv 12345",
    "security codes: three", "card_token_type: reusable", "'a:b'", "cookies: none",
  ])
  func `leaves innocent text as it is`(_ text: String) {
    #expect(Redactor().redact("it said \(text)", foreign: true) == "it said \(text)")
  }

  @Test func `the manual names these names`() throws {
    let page = try Project.text("man/tender-security.7").replacing("\\-", with: "-")
    let names = page.components(separatedBy: "one of these names: ").dropFirst().flatMap { list in
      list.prefix { $0 != "(" }.trimmingCharacters(in: .whitespaces).components(separatedBy: ", ")
    }
    #expect(names == Redactor.namesOfSecrets)
  }

  @Test(arguments: [
    "GB29NWBK60161331926819", "GB29 NWBK 6016 1331 9268 19", "DE89370400440532013000",
    "NO9386011117947", "MT84MALT011000012345MTLCAST001S",
  ])
  func `shows no IBAN`(_ account: String) {
    for redactor in Self.all + [Redactor()] {
      let text = "account <\(account)>, closed"
      #expect(redactor.redact(text, foreign: true) == "account <[redacted]>, closed")
      #expect(!redactor.isClean(JSONWriter.text(["message": .string(text)])))
    }
    #expect(Redactor().redact("to \(account) today", foreign: true) == "to [redacted] today")
    #expect(Redactor().redact(account) == account)
  }

  @Test(arguments: [
    "https://bank.example/pay?access_token=x7", "the password is wrong",
    "NO_TOKEN: No pt-token found",
    "invalid_token: expired", "key: value", "monkey=1", "a bearer", "GB28NWBK60161331926819",
    "GB29NWBK6016133192681", "XGB29NWBK60161331926819", "the access_token expired",
    "password:", "password: ", #"{"passwords":["x"]}"#, #"{"token_type":"Bearer","scope":"x"}"#,
    #"the "Bearer" scheme"#, "the 'bearer' pays", "bearer\nhunter", "the bearer (of a card)",
    "Bearer (see RFC 6750", "[password]: required", "https://h:8080/a?email=a@b.c",
    "see http://h:80/@a", "mailto:a@b.c", "http://[::1]:80/", "-----BEGIN PUBLIC KEY-----\nMFkw",
    "https://medium.com/@a:b", "the basic plan", "cvv_status: match", "a:b@c", "token_type=x",
    "https://bank.example/a:b@c",
  ])
  func `keeps what has no value of a secret`(_ text: String) {
    for redactor in Self.all { #expect(redactor.redact(text, foreign: true) == text) }
  }
}
