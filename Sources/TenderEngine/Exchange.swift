package import TenderModel

/// The methods that requests to providers have (RFC 9110, section 9).
package enum HTTPMethod: String, Sendable {
  case get = "GET"
  case post = "POST"
}

/// One HTTP request.
package struct HTTPRequest: Sendable {
  /// A header field; `isSecret` keeps its value out of every trace.
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

/// One HTTP answer, its body bounded by the transport.
package struct HTTPResponse: Sendable {
  package var status: Int
  package var body: [UInt8]
  /// Header fields, names in lower case.
  package var fields: [String: String]

  package init(status: Int, body: [UInt8] = [], fields: [String: String] = [:]) {
    self.status = status
    self.body = body
    self.fields = fields
  }

  /// The seconds that `Retry-After` asks to wait, at most a day (RFC 9110, section 10.2.3); nil if it has none that can
  /// be read. `now` in milliseconds since 1970.
  package func retryAfter(_ now: Int) -> Int? {
    guard let text = fields["retry-after"] else { return nil }
    let seconds = Int(text) ?? Self.time(text).map { max(0, ($0 - now + 999) / 1000) }
    return seconds.flatMap { (0...86_400).contains($0) ? $0 : nil }
  }

  /// The time of an HTTP date such as `Sun, 06 Nov 1994 08:49:37 GMT`.
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
  package func retried(after seconds: Int?) -> Fault {
    var fault = self
    fault.after = seconds
    return fault
  }
}

/// Something that carries HTTP requests to a provider.
package protocol HTTPExchange: Sendable {
  /// Sends a request and waits for the answer, whatever its status.
  ///
  /// A request that can move money needs a permit, which is used up. It goes over a fresh connection: on a kept
  /// one that the server closes after a POST, libcurl would send it a second time by itself.
  /// Throws `not_sent` (effect none) where no byte of it left, else a fault with effect unknown,
  /// whose code says what was missing: `no_answer`, `connection_closed`, `answer_too_large`,
  /// `unreadable_answer`. The adapter, which knows what the request could do, narrows the effect.
  func send(
    _ request: HTTPRequest,
    _ permit: SendPermit?,
    by deadline: Deadline
  ) throws(Fault) -> HTTPResponse
}

extension HTTPExchange {
  /// Sends a request that moves no money and makes nothing.
  package func send(_ request: HTTPRequest, by deadline: Deadline) throws(Fault) -> HTTPResponse {
    try send(request, nil, by: deadline)
  }
}

/// Something that opens message sockets to a provider.
package protocol SocketExchange: Sendable {
  /// Opens a WebSocket. Throws `not_sent` where there is no connection, `provider_error` with the
  /// code `upgrade_refused` where the other side declines.
  func open(
    url: String,
    fields: [HTTPRequest.Field],
    by deadline: Deadline
  ) throws(Fault) -> any MessageSocket
}

/// What a message socket hands over.
package enum SocketMessage: Sendable, Hashable {
  case text(String)
  case binary([UInt8])
  /// An orderly close by the other side; nil where it gave no code.
  case closed(code: Int?, reason: String)
}

/// A connection that carries whole text messages both ways.
package protocol MessageSocket: AnyObject {
  /// Sends a text message; one that can move money needs a permit, which is used up.
  ///
  /// Throws `not_sent` where the connection was found closed before any of it left, else effect unknown.
  func send(_ text: String, _ permit: SendPermit?, by deadline: Deadline) throws(Fault)
  /// Waits for the next message. Throws with effect unknown, as `HTTPExchange.send` does.
  func receive(by deadline: Deadline) throws(Fault) -> SocketMessage
  /// Whether the other side has not ended it, as far as has arrived.
  var isOpen: Bool { get }
  /// Says goodbye and lets the connection go; `waiting` a short while for the other side's, which says that
  /// everything before was read.
  func close(waiting: Bool)
}

extension MessageSocket {
  /// Sends a message that moves no money and makes nothing.
  package func send(_ text: String, by deadline: Deadline) throws(Fault) {
    try send(text, nil, by: deadline)
  }

  package var isOpen: Bool { true }
}

/// Something that lets a payer come back from a bank to this machine.
package protocol RedirectListener: Sendable {
  /// Begins to listen at `http://localhost:PORT/PATH`. Throws `usage` (`port_busy`) where it cannot.
  func listen(at address: String) throws(Fault) -> any RedirectVisit
}

/// A payer who is awaited.
package protocol RedirectVisit: AnyObject {
  /// Says who is awaited: a visitor whose parameter of this name has another value is sent away.
  func expect(_ name: String, _ value: String)
  /// Waits for a visitor; gives the query of the address they came to, nil where none came in time.
  /// Throws where a signal ends the wait.
  func wait(milliseconds: Int) throws(Fault) -> String?
  /// Lets the address go.
  func close()
}

/// Something that opens streams of bytes to devices on this machine or beside it.
package protocol DeviceExchange: Sendable {
  /// Opens a device by its address (`tcp://HOST:PORT`, `tty:PATH`, …).
  ///
  /// Throws `device` (`device_unreachable`) where there is none, `usage` for an address of no known
  /// form.
  func open(_ address: String, by deadline: Deadline) throws(Fault) -> any ByteStream
}

/// What a stream hands over.
package enum StreamEvent: Sendable, Hashable {
  case bytes([UInt8])
  /// Nothing came in time, or a signal ended the wait.
  case nothing
  case ended
}

/// A connection to a device.
package protocol ByteStream: AnyObject {
  /// Sends all bytes. Throws `device` (`device_disconnected`) where the link is broken.
  func send(_ bytes: [UInt8]) throws(Fault)
  /// Waits for bytes. Throws `device` where the link broke.
  func receive(milliseconds: Int) throws(Fault) -> StreamEvent
  /// Lets the device go.
  func close()
}
