private import CLibraries
private import Platform
private import Synchronization
package import TenderEngine
package import TenderModel

/// Listens on this machine alone for a payer's return from a bank, by libmicrohttpd.
package struct LoopbackRedirects: RedirectListener {
  private let interruption: any Interruption

  package init(interruption: any Interruption) { self.interruption = interruption }

  /// Whether an address is one of this machine, so that it can listen there.
  package static func isOwn(_ address: String) -> Bool {
    guard let address = WebAddress(address) else { return false }
    return address.scheme == "http" && address.isLoopback
  }

  /// Listens at an address of this machine.
  ///
  /// Throws `usage` if the port is taken.
  package func listen(at address: String) throws(Fault) -> any RedirectVisit {
    guard let parts = WebAddress(address), Self.isOwn(address) else {
      throw .badAddress(
        "cannot listen at \(address.quotedForMessage)",
        hint: "such as http://localhost:3000/callback"
      )
    }
    return try LoopbackVisit(parts, interruption)
  }
}

@safe
final class LoopbackVisit: RedirectVisit, @unchecked Sendable {
  // Unchecked: the library's thread reads constants, and state behind the lock.
  private struct State {
    var queries: [String] = []
    var expected: (name: String, value: String)?
  }

  /// The limit of connections. A browser opens six to one host at once.
  private static let mostConnections = 16

  private let state = Mutex(State())
  private let path: String
  private let interruption: any Interruption
  private var daemons: [OpaquePointer] = unsafe []
  private var connections: OpaquePointer?
  private var readEnd: Int32 = -1
  private var writeEnd: Int32 = -1

  init(_ address: WebAddress, _ interruption: any Interruption) throws(Fault) {
    self.interruption = interruption
    let target = address.target.isEmpty ? "/" : address.target
    path = String(target.prefix(before: "?"))
    try unsafe Libraries.need(tender_httpd_open())
    var ends: [Int32] = [-1, -1]
    guard unsafe pipe(&ends) == 0 else {
      throw .state("state_unusable", "cannot make a pipe", "nothing was sent")
    }
    // A visit and the listener's thread must never wait for each other.
    ends.forEach(Sockets.prepare)
    readEnd = ends[0]
    writeEnd = ends[1]
    let port = UInt16(address.port ?? 80)
    guard let connections = unsafe tender_httpd_connections_new(Self.mostConnections) else {
      throw .state("state_unusable", "no memory is left", "nothing was sent")
    }
    unsafe self.connections = connections
    // A browser uses `localhost` for either version of IP.
    let versions: [Int32] =
      switch address.host {
      case "localhost": [0, 1]
      case "[::1]": [1]
      default: [0]
      }
    for version in versions {
      let context = unsafe Unmanaged.passUnretained(self).toOpaque()
      errno = 0
      if let daemon = unsafe tender_httpd_visit(
        port,
        version,
        Self.handle,
        Self.complete,
        context,
        connections
      ) {
        unsafe daemons.append(daemon)
      } else if version == 0 || errno == EADDRINUSE || versions.count == 1 {
        close()
        throw .usage(
          "port_busy",
          "cannot listen at \(address.authority), where the payer comes back",
          errno == EACCES
            ? "this command may not listen there; see: tender help containment"
            : "free the port, or give another registered --redirect-url"
        )
      }
    }
  }

  deinit { close() }

  func expect(_ name: String, _ value: String) { state.withLock { $0.expected = (name, value) } }

  func wait(milliseconds: Int) throws(Fault) -> String? {
    try interruption.check()
    let ready = interruption.wait(for: readEnd, POLLIN, milliseconds: milliseconds)
    try interruption.check()
    guard ready & Int16(POLLIN) != 0 else { return nil }
    var byte: UInt8 = 0
    _ = unsafe read(readEnd, &byte, 1)
    return state.withLock { $0.queries.isEmpty ? nil : $0.queries.removeFirst() }
  }

  func close() {
    while let daemon = unsafe daemons.popLast() { unsafe tender_httpd_stop(daemon) }
    unsafe tender_httpd_connections_free(connections)
    unsafe connections = nil
    for end in [readEnd, writeEnd] where end >= 0 { Environment.close(end) }
    readEnd = -1
    writeEnd = -1
  }

  private static let handle: MHD_AccessHandlerCallback = {
    context,
    connection,
    url,
    method,
    _,
    _,
    _,
    state in
    guard let context = unsafe context, let connection = unsafe connection,
      let url = unsafe url, let method = unsafe method, let state = unsafe state
    else { return tender_httpd_no() }
    let isGet = unsafe String(cString: method) == "GET"
    // The first call has only the head. A body is not awaited.
    guard unsafe state.pointee != nil || !isGet else {
      unsafe state.pointee = context
      return tender_httpd_yes()
    }
    let visit = unsafe Unmanaged<LoopbackVisit>.fromOpaque(context).takeUnretainedValue()
    let host = unsafe tender_httpd_header(connection, "Host").map { unsafe String(cString: $0) }
    let isLocal = host.flatMap { WebAddress("http://\($0)/") }?.isLoopback ?? false
    guard isGet, isLocal, unsafe String(cString: url) == visit.path else {
      return unsafe answer(connection, 404, ReturnPage.nothing)
    }
    var parameters: [(String, String)] = []
    for name in ["payment_id", "mandate_id", "error"] {
      if let value = unsafe tender_httpd_argument(connection, name) {
        unsafe parameters.append((name, String(cString: value)))
      }
    }
    guard let isNew = visit.take(parameters) else {
      return unsafe answer(connection, 400, ReturnPage.another)
    }
    if isNew { unsafe state.pointee = context + 1 }
    return unsafe answer(connection, 200, ReturnPage.thanks)
  }

  /// A visit is announced after its page was sent, because the wait's end may close the listener.
  private static let complete: MHD_RequestCompletedCallback = { context, _, state, _ in
    guard let context = unsafe context, let mark = unsafe state?.pointee,
      unsafe mark == context + 1
    else { return }
    let visit = unsafe Unmanaged<LoopbackVisit>.fromOpaque(context).takeUnretainedValue()
    var byte: UInt8 = 1
    _ = unsafe write(visit.writeEnd, &byte, 1)
  }

  /// Accepts a visitor. Returns whether the visit must be announced; nil for a visitor of another payment.
  private func take(_ parameters: [(name: String, value: String)]) -> Bool? {
    state.withLock { state in
      if let expected = state.expected,
        let given = parameters.first(where: { $0.name == expected.name }),
        given.value != expected.value
      {
        return nil
      }
      let query =
        parameters.map { "\($0.name)=\(QueryText.encode($0.value))" }.joined(separator: "&")
      // A repeated visit adds nothing. If too many wait, the oldest is dropped. The pipe has one byte for
      // each that waits.
      guard !state.queries.contains(query) else { return false }
      state.queries.append(query)
      guard state.queries.count <= 8 else {
        state.queries.removeFirst()
        return false
      }
      return true
    }
  }

  private static func answer(
    _ connection: OpaquePointer,
    _ status: UInt32,
    _ page: String
  ) -> MHD_Result {
    var body = Array(page.utf8)
    let made = unsafe body.withUnsafeMutableBytes { bytes in
      unsafe tender_httpd_response(bytes.count, bytes.baseAddress)
    }
    guard let made = unsafe made else { return tender_httpd_no() }
    defer { unsafe tender_httpd_destroy(made) }
    for (name, value) in [
      ("Content-Type", "text/html; charset=utf-8"), ("Cache-Control", "no-store"),
      ("Referrer-Policy", "no-referrer"),
      ("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'"),
    ] {
      _ = unsafe tender_httpd_add_header(made, name, value)
    }
    return unsafe tender_httpd_queue(connection, status, made)
  }
}

/// The pages that the payer reads in the browser.
private enum ReturnPage {
  static let thanks = page(
    "Thank you",
    "Your bank has sent you back. You can close this page: the payment goes on by itself."
  )
  static let another = page(
    "Another payment",
    "This address belongs to another payment than the one that is awaited here."
  )
  static let nothing = page("Nothing here", "A payer is awaited at another address.")

  private static func page(_ title: String, _ text: String) -> String {
    """
    <!doctype html>
    <html lang="en"><head><meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>\(title)</title>
    <style>body{font:1.125rem/1.5 system-ui,sans-serif;max-width:32rem;margin:4rem auto;padding:0 1rem}\
    @media(prefers-color-scheme:dark){body{background:#111;color:#eee}}</style></head>
    <body><main><h1>\(title)</h1><p>\(text)</p></main></body></html>

    """
  }
}
