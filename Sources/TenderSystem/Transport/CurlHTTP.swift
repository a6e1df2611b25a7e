import CLibraries
package import TenderEngine
package import TenderModel

/// HTTP by libcurl: verified TLS, no redirects, bounded answers, one reusable connection.
package final class CurlHTTP: HTTPExchange, @unchecked Sendable {
  // Unchecked: one thread uses it. A batch gives each worker a separate one.
  private let settings: TransportSettings
  private var reusable: CurlHandle?

  package init(_ settings: TransportSettings) { self.settings = settings }

  /// Opens libcurl on another thread while this one prepares the command. With its libraries, that takes as
  /// long as a request on this machine.
  ///
  /// If it fails, the first request reports that.
  package static func openAhead() { DetachedThread.begin { _ = unsafe tender_curl_open() } }

  /// The range of seconds that `Retry-After` may delay a request.
  private static let patience = 0...60

  package func send(
    _ request: HTTPRequest,
    _ permit: SendPermit?,
    by deadline: Deadline
  ) throws(Fault) -> HTTPResponse {
    var answer = try sendOnce(request, permit, by: deadline)
    guard permit == nil else { return answer }
    // A delay counts only if the provider names it (RFC 9110, section 10.2.3), and the request's deadline
    // allows it.
    for _ in 0..<settings.returns where answer.status == 429 || answer.status == 503 {
      guard let seconds = answer.fields["retry-after"].flatMap({ Int($0) }),
        Self.patience.contains(seconds), seconds * 1000 < deadline.remaining
      else { break }
      try settings.clock.pause(milliseconds: max(100, seconds * 1000))
      answer = try sendOnce(request, nil, by: deadline)
    }
    return answer
  }

  private func sendOnce(
    _ request: HTTPRequest,
    _ permit: SendPermit?,
    by deadline: Deadline
  ) throws(Fault) -> HTTPResponse {
    guard let address = WebAddress(request.url) else {
      throw .badAddress("\(request.url.quotedForMessage) is not a web address")
    }
    try settings.interruption.check()
    // A request that can move money never uses a reusable connection: see HTTPExchange.send. An idempotency
    // key does not help: libcurl does not report that the first send was lost.
    let mayReuse = permit == nil
    let handle: CurlHandle
    if mayReuse, let reusable {
      handle = reusable
      handle.reset()
    } else {
      handle = try CurlHandle(settings)
      if mayReuse { reusable = handle }
    }
    try handle.prepare(address, settings, deadline: deadline)
    if let permit {
      handle.set(CURLOPT_FRESH_CONNECT, 1)
      handle.set(CURLOPT_FORBID_REUSE, 1)
      handle.ask(permit)
    }
    handle.set(CURLOPT_USERAGENT, settings.userAgent)
    let fields = try fields(of: request)
    handle.setFields(fields)
    let answer = AnswerBuffer(limit: settings.answerLimit)
    handle.collect(into: answer)
    try permit?.use()
    let code = handle.perform(posting: request.method == .post ? request.body : nil)
    withExtendedLifetime((fields, answer)) {}
    guard code == CURLE_OK else {
      let fault = handle.fault(code, host: address.authority, excess: answer.excess)
      reusable = nil
      throw fault
    }
    return HTTPResponse(
      status: handle.number(CURLINFO_RESPONSE_CODE),
      body: answer.body,
      fields: answer.fields
    )
  }

  /// Returns the header fields of a request. Throws `usage` for a value that no header may have.
  private func fields(of request: HTTPRequest) throws(Fault) -> FieldList {
    let fields = FieldList()
    // libcurl would ask for permission before a large body, and wait for it.
    fields.append("Expect:")
    let names = request.fields.map { $0.name.lowercased() }
    if request.method == .post, !names.contains("content-type") {
      // Without a body, libcurl would declare a form.
      fields.append("Content-Type:")
    }
    for field in request.fields + settings.extraFields {
      guard field.value.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7f }) else {
        throw .usage(
          "bad_value",
          "the value for the header \(field.name) has a control character in it"
        )
      }
      fields.append("\(field.name): \(field.value)")
    }
    return fields
  }
}
