import CLibraries
import TenderEngine
import TenderModel

/// One libcurl handle with the rules of every connection.
@safe
final class CurlHandle {
  private let easy: UnsafeMutableRawPointer
  private let interruption: any Interruption
  /// The error of a rejected option. Nothing may be sent without the option's rule.
  private var refusal: CURLcode?
  private var permit: SendPermit?
  /// The reason why a request was not sent.
  private var held: Fault?

  /// Opens libcurl on first use.
  ///
  /// Throws `internal` if it is missing.
  init(_ settings: TransportSettings) throws(Fault) {
    try unsafe Libraries.need(tender_curl_open(), hint: "nothing was sent")
    guard let easy = unsafe tender_curl_easy_init() else { throw .libraryMissing("out of memory") }
    unsafe self.easy = easy
    interruption = settings.interruption
  }

  deinit { unsafe tender_curl_easy_cleanup(easy) }

  /// Resets every option. Connections stay open.
  func reset() {
    unsafe tender_curl_easy_reset(easy)
    refusal = nil
  }

  func set(_ option: CURLoption, _ value: Int) {
    note(unsafe tender_curl_set_long(easy, option, value))
  }

  func set(_ option: CURLoption, _ value: String?) {
    note(unsafe tender_curl_set_pointer(easy, option, value))
  }

  private func note(_ code: CURLcode) {
    if code != CURLE_OK, refusal == nil { refusal = code }
  }

  /// Sets the options of every connection: address, TLS, proxy, cancellation, time to connect.
  ///
  /// Throws `usage` for an address that is not encrypted and not on this machine.
  func prepare(
    _ address: WebAddress,
    _ settings: TransportSettings,
    deadline: Deadline
  ) throws(Fault) {
    guard address.isEncrypted || address.isLoopback else { throw .unencrypted(address) }
    let scheme = address.isEncrypted ? "https" : "http"
    set(CURLOPT_URL, "\(scheme)://\(address.authority)\(address.target)")
    note(unsafe tender_curl_set_scheme(easy, address.isEncrypted ? 1 : 0))
    set(CURLOPT_NOSIGNAL, 1)
    set(CURLOPT_FOLLOWLOCATION, 0)
    set(CURLOPT_SSL_VERIFYPEER, 1)
    set(CURLOPT_SSL_VERIFYHOST, 2)
    // The lowest version is TLS 1.2.
    set(CURLOPT_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_2))
    switch settings.roots {
    case .builtIn: break
    case .file(let path):
      set(CURLOPT_CAINFO, path)
      // Not every TLS library supports folders of certificates.
      _ = unsafe tender_curl_set_pointer(easy, CURLOPT_CAPATH, nil)
    case .folder(let path):
      set(CURLOPT_CAPATH, path)
      set(CURLOPT_CAINFO, nil)
    }
    // A proxy must not see an unencrypted request.
    if !address.isEncrypted { set(CURLOPT_NOPROXY, "*") }
    let left = max(1, deadline.remaining)
    set(CURLOPT_CONNECTTIMEOUT_MS, left)
    set(CURLOPT_TIMEOUT_MS, left)
    watchInterruption()
  }

  private func watchInterruption() {
    let code = unsafe tender_curl_set_progress(
      easy,
      { context, _, _, _, _ in unsafe CurlHandle.of(context)?.interruption.kind == nil ? 0 : 1 },
      Unmanaged.passUnretained(self).toOpaque()
    )
    note(code)
  }

  private static func of(_ context: UnsafeMutableRawPointer?) -> CurlHandle? {
    unsafe context.map { unsafe Unmanaged<CurlHandle>.fromOpaque($0).takeUnretainedValue() }
  }

  /// Checks the permit right before the first byte of the request leaves, however long the connection took.
  func ask(_ permit: SendPermit) {
    self.permit = permit
    let code = unsafe tender_curl_set_leaving(
      easy,
      { context, _, _, _, _ in unsafe CurlHandle.of(context)?.mayLeave() == false ? 1 : 0 },
      Unmanaged.passUnretained(self).toOpaque()
    )
    note(code)
  }

  private func mayLeave() -> Bool {
    do throws(Fault) {
      try permit?.checkLeaving()
      return true
    } catch {
      held = error
      return false
    }
  }

  func setFields(_ list: FieldList) {
    note(unsafe tender_curl_set_pointer(easy, CURLOPT_HTTPHEADER, list.head))
  }

  func collect(into answer: AnswerBuffer) {
    let context = unsafe Unmanaged.passUnretained(answer).toOpaque()
    note(
      unsafe tender_curl_collect(easy, AnswerBuffer.takeBody, AnswerBuffer.takeField, context)
    )
  }

  /// Performs the request, with a body that stays at its address meanwhile.
  func perform(posting body: [UInt8]?) -> CURLcode {
    guard let body else { return performAsSet() }
    return unsafe body.withUnsafeBytes { bytes in
      set(CURLOPT_POST, 1)
      set(CURLOPT_POSTFIELDSIZE, bytes.count)
      note(unsafe tender_curl_set_pointer(easy, CURLOPT_POSTFIELDS, bytes.baseAddress))
      return performAsSet()
    }
  }

  private func performAsSet() -> CURLcode {
    if let refusal { return refusal }
    return unsafe tender_curl_easy_perform(easy)
  }

  func number(_ info: CURLINFO) -> Int {
    var value = 0
    _ = unsafe tender_curl_get_long(easy, info, &value)
    return value
  }

  /// The connected socket; -1 without one.
  var socket: Int32 {
    var value: curl_socket_t = -1
    _ = unsafe tender_curl_get_socket(easy, &value)
    return value
  }

  /// Sends on the connected stream. Returns the number of accepted bytes.
  func send(_ bytes: ArraySlice<UInt8>) -> (code: CURLcode, count: Int) {
    var count = 0
    let code = unsafe bytes.withUnsafeBytes { raw in
      unsafe tender_curl_easy_send(easy, raw.baseAddress, raw.count, &count)
    }
    return (code, count)
  }

  /// Receives from the connected stream into a buffer. Returns the number of bytes.
  func receive(into buffer: inout [UInt8]) -> (code: CURLcode, count: Int) {
    var count = 0
    let code = unsafe buffer.withUnsafeMutableBytes { raw in
      unsafe tender_curl_easy_recv(easy, raw.baseAddress, raw.count, &count)
    }
    return (code, count)
  }

  /// The fault of a failed transfer. If nothing was sent, it gives the permit back.
  ///
  /// `excess` is the limit that the answer exceeded, for the message.
  func fault(_ code: CURLcode, host: String, excess: String? = nil) -> Fault {
    if let held {
      permit?.giveBack()
      return held
    }
    let connectStatus = number(CURLINFO_HTTP_CONNECTCODE)
    let isRefusedByProxy = connectStatus != 0 && !(200..<300).contains(connectStatus)
    let text = isRefusedByProxy ? "the proxy answered \(connectStatus)" : excess ?? Self.text(code)
    let hasLeft =
      number(CURLINFO_REQUEST_SIZE) > 0 && !isRefusedByProxy
      && !Self.neverLeft.contains(code.rawValue) && !Self.aboutTrust.contains(code.rawValue)
    if !hasLeft { permit?.giveBack() }
    if let kind = interruption.kind, code == CURLE_ABORTED_BY_CALLBACK {
      return .stopped(
        by: kind,
        underWay: hasLeft ? "a request was under way" : "nothing had left yet"
      )
    }
    guard hasLeft else {
      let isTrust = Self.aboutTrust.contains(code.rawValue)
      return Fault(
        .notSent,
        code: isTrust ? "tls_failed" : "unreachable",
        cause: isTrust ? .tlsFailed : nil,
        "cannot reach \(host): \(text)",
        hint: isTrust
          ? "TLS is always verified; TENDER_CA_FILE names a private root"
          : isRefusedByProxy
            ? "nothing was sent; check HTTPS_PROXY with its name and password, and NO_PROXY"
            : "nothing was sent; it is safe to retry"
      )
    }
    let (name, cause): (String, Fault.Cause?) =
      switch code {
      case CURLE_OPERATION_TIMEDOUT: ("no_answer", nil)
      case CURLE_WRITE_ERROR, CURLE_FILESIZE_EXCEEDED, CURLE_OUT_OF_MEMORY:
        ("answer_too_large", nil)
      case CURLE_WEIRD_SERVER_REPLY, CURLE_UNSUPPORTED_PROTOCOL, CURLE_HTTP2, CURLE_PARTIAL_FILE,
        CURLE_BAD_FUNCTION_ARGUMENT:
        ("unreadable_answer", nil)
      default: ("connection_closed", .connectionClosed)
      }
    return Fault(
      .providerError,
      code: name,
      cause: cause,
      code == CURLE_OPERATION_TIMEDOUT
        ? "no answer from \(host) within the time for one request" : "\(host): \(text)"
    )
  }

  private static func text(_ code: CURLcode) -> String {
    switch code {
    // libcurl reports its own limits for lines and trailers in this way.
    case CURLE_OUT_OF_MEMORY: "the answer has a line or trailers that are too long"
    // In an answer, this is a trailer that is no field.
    case CURLE_BAD_FUNCTION_ARGUMENT: "the answer is not HTTP"
    default: unsafe String(cString: tender_curl_easy_strerror(code))
    }
  }

  /// Failures before the first byte of a request (libcurl, "libcurl-errors").
  private static let neverLeft: Set<UInt32> = [
    CURLE_COULDNT_RESOLVE_PROXY.rawValue, CURLE_COULDNT_RESOLVE_HOST.rawValue,
    CURLE_COULDNT_CONNECT.rawValue, CURLE_URL_MALFORMAT.rawValue, CURLE_PROXY.rawValue,
  ]

  private static let aboutTrust: Set<UInt32> = [
    CURLE_SSL_CONNECT_ERROR.rawValue, CURLE_PEER_FAILED_VERIFICATION.rawValue,
    CURLE_SSL_CACERT_BADFILE.rawValue, CURLE_SSL_CERTPROBLEM.rawValue,
    CURLE_SSL_ISSUER_ERROR.rawValue, CURLE_SSL_CIPHER.rawValue,
    CURLE_SSL_INVALIDCERTSTATUS.rawValue,
  ]
}

/// A list of header fields, in libcurl's form.
@safe
final class FieldList {
  private(set) var head: UnsafeMutablePointer<curl_slist>?

  func append(_ line: String) { unsafe head = unsafe tender_curl_slist_append(head, line) }

  deinit { unsafe tender_curl_slist_free_all(head) }
}

/// Collects an answer, up to a limit.
final class AnswerBuffer {
  private(set) var body: [UInt8] = []
  private(set) var fields: [String: String] = [:]
  private let limit: Int
  /// The limit for header fields before and after the body, in bytes.
  private static let fieldLimit = 262_144
  /// The number of bytes of header fields that may still arrive.
  private var room = fieldLimit
  /// The limit that the answer exceeded, for a message.
  private(set) var excess: String?

  init(limit: Int) { self.limit = limit }

  static let takeBody: curl_write_callback = { bytes, size, count, context in
    guard let bytes = unsafe bytes, let context = unsafe context else { return 0 }
    let answer = unsafe Unmanaged<AnswerBuffer>.fromOpaque(context).takeUnretainedValue()
    guard answer.body.count + size * count <= answer.limit else {
      answer.excess = "the answer is larger than \(answer.limit) bytes"
      return 0
    }
    unsafe answer.body.append(
      contentsOf: UnsafeRawBufferPointer(start: bytes, count: size * count)
    )
    return size * count
  }

  static let takeField: curl_write_callback = { bytes, size, count, context in
    guard let bytes = unsafe bytes, let context = unsafe context else { return 0 }
    let answer = unsafe Unmanaged<AnswerBuffer>.fromOpaque(context).takeUnretainedValue()
    answer.room -= size * count
    guard answer.room >= 0 else {
      answer.excess = "the header fields of the answer are larger than \(fieldLimit) bytes"
      return 0
    }
    let line = unsafe UnsafeRawBufferPointer(start: bytes, count: size * count)
    // Another status line (100 Continue, or a proxy's) starts a new set of fields.
    if unsafe line.starts(with: "HTTP/".utf8) {
      answer.fields = [:]
    } else if answer.fields.count < 200, let colon = unsafe line.firstIndex(of: UInt8(ascii: ":")) {
      let name = unsafe line[..<colon].map { (65...90).contains($0) ? $0 | 0x20 : $0 }
      let value = unsafe line[(colon + 1)...].drop { $0 == UInt8(ascii: " ") }
        .prefix { $0 != UInt8(ascii: "\r") && $0 != UInt8(ascii: "\n") }
      answer.fields[String(decoding: name, as: UTF8.self)] =
        unsafe String(decoding: value, as: UTF8.self)
    }
    return size * count
  }
}

extension Fault {
  fileprivate static func unencrypted(_ address: WebAddress) -> Fault {
    Fault.badAddress(
      "plain \(address.scheme) goes to this machine only, not to \(address.host)",
      hint: "use https or wss"
    )
  }
}
