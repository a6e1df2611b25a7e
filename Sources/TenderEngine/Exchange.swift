package import TenderModel

/// The HTTP methods of requests to providers (RFC 9110, section 9).
package enum HTTPMethod: String, Sendable {
  case get = "GET"
  case post = "POST"
}

/// One HTTP request.
package struct HTTPRequest: Sendable {
  /// A header field. With `isSecret`, its value appears in no trace.
  package struct Field: Sendable {
    package var name: String
    package var value: String
    package var isSecret: Bool

    package init(_ name: String, _ value: String, isSecret: Bool = false) {
      self.name = name
      self.value = value
      self.isSecret = isSecret
    }
  }

  package var method: HTTPMethod
  package var url: String
  package var fields: [Field]
  package var body: [UInt8]

  package init(
    method: HTTPMethod,
    url: String,
    fields: [Field] = [],
    body: [UInt8] = []
  ) {
    self.method = method
    self.url = url
    self.fields = fields
    self.body = body
  }
}

/// One HTTP answer. The transport limits its body.
package struct HTTPResponse: Sendable {
  package var status: Int
  package var body: [UInt8]
  /// Header fields, with names in lower case.
  package var fields: [String: String]

  package init(status: Int, body: [UInt8] = [], fields: [String: String] = [:]) {
    self.status = status
    self.body = body
    self.fields = fields
  }

  /// The seconds that `Retry-After` asks to wait, at most a day (RFC 9110, section 10.2.3); nil without a
  /// readable one.
  ///
  /// `now` is in milliseconds since 1970.
  package func retryAfter(_ now: Int) -> Int? {
    guard let text = fields["retry-after"] else { return nil }
    let seconds = Int(text) ?? Self.time(text).map { max(0, ($0 - now + 999) / 1000) }
    return seconds.flatMap { (0...86_400).contains($0) ? $0 : nil }
  }

  /// Returns the time of an HTTP date such as `Sun, 06 Nov 1994 08:49:37 GMT`.
  private static func time(_ text: String) -> Int? {
    let words = text.split(separator: " ")
    let months = [
      "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]
    guard words.count == 6, words[5] == "GMT", words[1].count == 2,
      let month = months.firstIndex(where: { $0 == words[2] })
    else { return nil }
    let number = month < 9 ? "0\(month + 1)" : "\(month + 1)"
    return Timestamp.read("\(words[3])-\(number)-\(words[1])T\(words[4])Z")
  }
}

extension Fault {
  /// The same fault with the seconds to wait before a retry.
  package func retried(after seconds: Int?) -> Fault { with { $0.after = seconds } }
}

/// A connection that carries HTTP requests to a provider.
package protocol HTTPExchange: Sendable {
  /// Sends a request and waits for the answer, with any status.
  ///
  /// A request that can move money needs a permit, and uses it up. It gets a new connection. If a server
  /// closes a reused connection after a POST, libcurl would send the request again. If no byte left, the
  /// permit is given back. Throws `not_sent` then, or the signal. The code of any other fault names the
  /// reason: `no_answer`, `connection_closed`, `answer_too_large` or `unreadable_answer`. No fault of a
  /// transport says what the request did: the engine decides it by the permit.
  func send(
    _ request: HTTPRequest,
    _ permit: SendPermit?,
    by deadline: Deadline
  ) throws(Fault) -> HTTPResponse
}

extension HTTPExchange {
  /// Sends a request that moves no money and creates nothing.
  package func send(_ request: HTTPRequest, by deadline: Deadline) throws(Fault) -> HTTPResponse {
    try send(request, nil, by: deadline)
  }
}

/// A factory of message sockets to a provider.
package protocol SocketExchange: Sendable {
  /// Begins to connect to the server of a socket that is opened next, on another thread. A failure is reported when
  /// that socket is opened.
  func connectAhead(to url: String, by deadline: Deadline)

  /// Opens a WebSocket. Throws `not_sent` without a connection, and `provider_error` with the code
  /// `upgrade_refused` if the server refuses.
  func open(
    url: String,
    fields: [HTTPRequest.Field],
    by deadline: Deadline
  ) throws(Fault) -> any MessageSocket
}

extension SocketExchange {
  package func connectAhead(to url: String, by deadline: Deadline) {}
}

/// A message from a socket.
package enum SocketMessage: Sendable, Hashable {
  case text(String)
  case binary([UInt8])
  /// An orderly close by the server; the code is nil if it gave none.
  case closed(code: Int?, reason: String)
}

/// A connection that carries whole text messages in both directions.
package protocol MessageSocket: AnyObject {
  /// Sends a text message. One that can move money needs a permit, and uses it up.
  ///
  /// Throws `not_sent` and gives the permit back if the connection was closed before any byte left.
  func send(_ text: String, _ permit: SendPermit?, by deadline: Deadline) throws(Fault)
  /// Waits for the next message. Throws as `HTTPExchange.send` does.
  func receive(by deadline: Deadline) throws(Fault) -> SocketMessage
  /// Closes the connection. With `waiting`, it waits a short while for the server's close, which confirms
  /// that the server read everything before.
  func close(waiting: Bool)
}

extension MessageSocket {
  /// Sends a message that moves no money and creates nothing.
  package func send(_ text: String, by deadline: Deadline) throws(Fault) {
    try send(text, nil, by: deadline)
  }
}

/// A factory of addresses at which a payer returns from the bank to this machine.
package protocol RedirectListener: Sendable {
  /// Starts to listen at `http://localhost:PORT/PATH`. Throws `usage` (`port_busy`) if it cannot.
  func listen(at address: String) throws(Fault) -> any RedirectVisit
}

/// A payer's expected return.
package protocol RedirectVisit: AnyObject {
  /// Sets a parameter that the right visitor has. A visitor with another value is sent away.
  func expect(_ name: String, _ value: String)
  /// Waits for a visitor. Returns the query of the visited address; nil if none came in time. Throws if a
  /// signal ends the wait.
  func wait(milliseconds: Int) throws(Fault) -> String?
  func close()
}

/// A factory of byte streams to devices on this machine or in its network.
package protocol DeviceExchange: Sendable {
  /// Opens a device by its address (`tcp://HOST:PORT`, `tty:PATH`, …).
  ///
  /// Throws `device` (`device_unreachable`) if there is none, and `usage` for an unknown form of address.
  func open(_ address: String, by deadline: Deadline) throws(Fault) -> any ByteStream
}

/// An event of a stream.
package enum StreamEvent: Sendable, Hashable {
  case bytes([UInt8])
  /// Nothing arrived in time, or a signal ended the wait.
  case nothing
  case ended
}

/// A connection to a device.
package protocol ByteStream: AnyObject {
  /// Sends all bytes. Throws `device` (`device_disconnected`) if the connection is broken.
  func send(_ bytes: [UInt8]) throws(Fault)
  /// Waits for bytes. Throws `device` if the connection broke.
  func receive(milliseconds: Int) throws(Fault) -> StreamEvent
  func close()
}
