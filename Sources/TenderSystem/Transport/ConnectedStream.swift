package import TenderEngine
package import TenderModel

/// A connected stream that a WebSocket runs over.
package protocol ConnectedStream {
  /// Sends all bytes. If it throws and none was taken, it gives the permit back.
  func send(_ bytes: [UInt8], _ permit: SendPermit?, by deadline: Deadline) throws(Fault)
  /// Waits for bytes; empty at the end of the stream.
  func receive(by deadline: Deadline) throws(Fault) -> [UInt8]
  /// Returns the bytes that have arrived; empty at the end of the stream, nil if there are none.
  func receiveNow() throws(Fault) -> [UInt8]?
}
