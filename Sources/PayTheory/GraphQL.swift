import TenderEngine
import TenderModel

/// Pay Theory's GraphQL interface, as far as payments need it (published schema of 2026; README, 6).
///
/// Arguments are written into the document, as the documentation does.
struct GraphQL {
  private let context: PayTheoryContext
  let merchantUID: String
  private let secretKey: SharedSecret

  /// Throws `auth` where the merchant credentials are missing; `what` names who needs them.
  init(_ context: PayTheoryContext, for what: String) throws(Fault) {
    let (merchantUID, secretKey) = try context.configuration.merchant(for: what)
    self.context = context
    self.merchantUID = merchantUID
    self.secretKey = secretKey
  }

  /// Asks for fields, and once more without those that a server names as unknown: a server of an
  /// older schema refuses the whole document for one of them.
  ///
  /// `document` makes the query of the fields' text. Nothing that can move money goes this way.
  func ask(
    _ fields: [String],
    _ document: (String) -> String
  ) throws(Fault) -> JSONObject {
    var fields = fields
    for _ in 0..<3 {
      let answer = try send(document(fields.joined(separator: " ")))
      let unknown = Self.unknownFields(answer)
      let left = fields.filter { field in
        TransactionFields.needed.contains(field) || !unknown.contains(TransactionFields.name(field))
      }
      guard left.count < fields.count else { return try Self.data(answer) }
      fields = left
    }
    return try Self.data(try send(document(fields.joined(separator: " "))))
  }

  /// The first name in quotes of each error of an answer without data: what a server does not know.
  private static func unknownFields(_ answer: HTTPResponse) -> Set<String> {
    guard (200..<300).contains(answer.status) || answer.status == 400,
      let body = JSONReader.read(answer.body)?.object,
      body["data"] == nil || body["data"] == .null
    else { return [] }
    var names: Set<String> = []
    for error in body["errors"]?.array?.prefix(100) ?? [] {
      // Servers differ in the quote mark; what follows the name may be a suggestion.
      let parts = (error["message"]?.text ?? "").split(
        maxSplits: 2,
        omittingEmptySubsequences: false,
        whereSeparator: { $0 == "\"" || $0 == "'" }
      )
      if parts.count == 3 { names.insert(String(parts[1])) }
    }
    return names
  }

  /// A string literal of GraphQL (specification, section 2.9.4): JSON's escapes are a subset.
  static func quoted(_ text: String) -> String { JSONWriter.text(.string(text)) }

  /// Sends a mutation, which is recorded as sent first; gives what it answers under its name.
  func run(_ mutation: Mutation, _ progress: Progress) throws(Fault) -> JSON {
    try progress.willSend()
    let answer = try send(mutation.document, try progress.permit())
    do throws(Fault) {
      return try Self.data(answer)[mutation.name] ?? .null
    } catch {
      // A refusal may come after the effect: only one of the document itself proves that there was none. Credentials
      // were accepted by the question before.
      let isProof = error.cause == .refused && Self.isOfDocument(answer)
      throw isProof ? error.proven : error.afterSending
    }
  }

  private func send(_ document: String, _ permit: SendPermit? = nil) throws(Fault) -> HTTPResponse {
    let configuration = context.configuration
    let request = HTTPRequest(
      method: .post,
      url: configuration.graphQLURL,
      fields: [
        HTTPRequest.Field(
          "Authorization",
          "\(merchantUID);\(secretKey.revealed)",
          isSecret: true
        ),
        HTTPRequest.Field("Content-Type", "application/json"),
        HTTPRequest.Field("Accept", "application/json"),
      ],
      body: Array(JSONWriter.text(["query": .string(document), "variables": [:]]).utf8)
    )
    do throws(Fault) {
      return try context.http.send(
        request,
        permit,
        by: Deadline(in: configuration.timeout, on: context.clock)
      )
    } catch {
      if error.isProven { throw error }
      if error.kind == .notSent || permit == nil { throw error.withoutEffect }
      throw error.afterSending
    }
  }

  /// The `data` of an answer.
  ///
  /// Errors without `data` were raised before anything was executed (GraphQL specification,
  /// "Response Format"): the request was refused and nothing was done. Errors beside `data`, and
  /// everything unreadable, leave open what was done: the code `graphql_unclear`.
  private static func data(_ answer: HTTPResponse) throws(Fault) -> JSONObject {
    let body = JSONReader.read(answer.body)?.object
    let texts = body?["errors"]?.array?.compactMap { $0["message"]?.text } ?? []
    let text = texts.joined(separator: "; ")
    switch answer.status {
    case 401, 403: throw .credentialsRefused
    case 429: throw .unavailable("it answered 429")
    case 200..<300, 400..<408, 409..<500: break
    default: throw .unreadable("it answered \(answer.status)")
    }
    if let errors = body?["errors"]?.array, !errors.isEmpty {
      if Self.isAboutCredentials(body) { throw .credentialsRefused }
      guard body?["data"] == nil || body?["data"] == .null && answer.status >= 400 else {
        throw .unreadable(text.isEmpty ? "an error" : text)
      }
      throw Fault(
        .rejected,
        code: "graphql_refused",
        cause: .refused,
        "Pay Theory refused the request: \(text.isEmpty ? "no reason given" : text)",
        hint: "nothing was done at the provider"
      )
    }
    guard answer.status < 300 else {
      throw Fault(
        .rejected,
        code: "graphql_refused",
        cause: .refused,
        "Pay Theory refused the request with status \(answer.status)",
        hint: "nothing was done at the provider"
      )
    }
    guard let data = body?["data"]?.object else { throw .unreadable("an answer without data") }
    return data
  }

  /// Whether an answer says that the document was not executed: every error is one of parsing or validation.
  ///
  /// GraphQL specification, section 7.1.2, "Request Errors"; the sentences are graphql-js', graphql-java's and AWS
  /// AppSync's. Both of their parts are compared, because a resolver's own words may begin alike.
  private static func isOfDocument(_ answer: HTTPResponse) -> Bool {
    guard [200, 400].contains(answer.status), let body = JSONReader.read(answer.body)?.object,
      body["data"] == nil || body["data"] == .null,
      let errors = body["errors"]?.array, !errors.isEmpty
    else { return false }
    let codes = ["GRAPHQL_VALIDATION_FAILED", "GRAPHQL_PARSE_FAILED"]
    let sentences = [
      ("Cannot query field \"", "\" on type \""), ("Unknown argument \"", "\" on field \""),
      ("Unknown type \"", "\"."), ("Syntax Error: ", ""), ("Syntax Error GraphQL ", ""),
      ("Field \"", "\" is required, but it was not provided."),
      ("Field \"", "\" must not have a selection since type \""),
      ("Field \"", " must have a selection of subfields."),
      ("Field \"", "\" is not defined by type \""), ("Field \"", "\" was not provided."),
      ("Expected value of type \"", "\", found "), ("Value \"", "\" does not exist in \""),
      ("Enum \"", "\" cannot represent "), ("Int cannot represent ", " value: "),
      ("String cannot represent ", " value: "), ("Boolean cannot represent ", " value: "),
      ("Validation error of type ", ": "), ("Validation error (", ") : "),
      ("Invalid Syntax : ", ""),
    ]
    return errors.allSatisfy { error in
      guard error["path"] == nil || error["path"] == .null else { return false }
      // A code of something else outweighs words that look alike.
      if let code = error["extensions"]?["code"]?.text, !codes.contains(code) { return false }
      // graphql-core quotes with the other mark.
      let text = (error["message"]?.text ?? "").replacing("'", with: "\"")
      return sentences.contains { text.hasPrefix($0) && ($1.isEmpty || text.contains($1)) }
    }
  }

  private static func isAboutCredentials(_ body: JSONObject?) -> Bool {
    guard body?["data"] == nil || body?["data"] == .null else { return false }
    return body?["errors"]?.array?.contains { error in
      let type = error["errorType"]?.text ?? error["extensions"]?["code"]?.text ?? ""
      return ["UnauthorizedException", "Unauthorized", "UNAUTHENTICATED"].contains(type)
    } ?? false
  }
}

extension Fault {
  fileprivate static var credentialsRefused: Fault {
    Fault(
      .auth,
      code: "credentials_refused",
      "Pay Theory refused the merchant credentials",
      hint: "check TENDER_PAYTHEORY_MERCHANT_UID and TENDER_PAYTHEORY_SECRET_KEY"
    )
  }

  fileprivate static func unavailable(_ why: String) -> Fault {
    Fault(
      .providerError,
      code: "graphql_unavailable",
      "Pay Theory's GraphQL interface: \(why)",
      hint: "no money moved; try again later"
    )
  }

  static func unreadable(_ why: String) -> Fault {
    Fault(
      .providerError,
      code: "graphql_unclear",
      cause: .unclear,
      "Pay Theory's GraphQL interface: \(why)",
      hint: "no money moved; try again later"
    )
  }
}
