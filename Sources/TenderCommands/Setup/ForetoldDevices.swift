internal import TenderEngine
internal import TenderModel
internal import TenderSimulator

/// A served reader that is told beforehand what its next customer will be like.
struct ForetoldDevices: DeviceExchange {
  let inner: any DeviceExchange
  let http: any HTTPExchange
  let base: String

  func open(_ address: String, by deadline: Deadline) throws(Fault) -> any ByteStream {
    // Another server than ours does not know the path, which is no reason to stop.
    _ = try? http.send(
      HTTPRequest(method: .post, url: base + NextCustomer.path),
      by: deadline
    )
    return try inner.open(address, by: deadline)
  }
}
