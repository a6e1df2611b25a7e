import TenderEngine
package import TenderModel

/// What can be tried without moving money.
extension ToroProvider {
  /// Connects to the reader and asks what it is; gives that in words.
  ///
  /// Throws the documented errors of devices.
  package func checkReader() throws(Fault) -> String {
    let link = try ReaderLink.open(context)
    defer { link.close() }
    let device = try ask(link, .reset).template.objects
    let serial = device[tag: 0x9f1e].map { String(decoding: $0.prefix(35), as: UTF8.self) }
    let status = try ask(link, .encryptionStatus).template.objects[tag: 0xdfae01]?.first ?? 0
    guard status & 0x06 == 0x06 else {
      throw .deviceError("the reader has no keys to encrypt card data and PINs with")
    }
    let battery = try? ask(link, .battery).template.objects[tag: 0xdfa20a]?.first
    return "reader \(serial ?? "without a serial number"), encrypts card data and PINs"
      + (battery.map { ", battery \($0) %" } ?? "")
  }

  private func ask(
    _ link: ReaderLink,
    _ command: ReaderCommand
  ) throws(Fault) -> ReaderMessage {
    try link.send(command)
    let deadline = Deadline(in: 5000, on: context.clock)
    while deadline.remaining > 0 {
      try context.interruption.check()
      guard case .answer(let asked, let message) = try link.next(milliseconds: 200),
        asked == command
      else { continue }
      switch message.status {
      case 0x9000: return message
      case 0x9f22, 0x9f26: throw .busyReader
      default:
        let code = Hex.encode([UInt8(message.status >> 8), UInt8(message.status & 0xff)])
        throw .deviceError("the reader answered \(code) to \(command.name)")
      }
    }
    throw .deviceError("the reader does not answer")
  }

  /// Asks the gateway whether it is there and knows us; gives what it said in words.
  package func checkGateway() throws(Fault) -> String {
    let gateway = try Gateway(context)
    let body = try gateway.exchange(
      try gateway.messages.diagnostic(gateway.header()),
      nil,
      by: Deadline(in: context.configuration.timeout, on: context.clock)
    )
    let isThere =
      body.text("AcqrrAvlbl").map { ["true", "1"].contains($0) ? "" : " not" }
      .map { ", acquirer\($0) available" } ?? ""
    let maintenance =
      body["TMSTrggr"].map { ", maintenance wanted (\($0.text("TMSCtctLvl") ?? ""))" } ?? ""
    return "the gateway answered, its security trailer fits" + isThere + maintenance
  }

  /// Reports this terminal's state; gives what its manager sent in words.
  package func checkTerminalManager() throws(Fault) -> String {
    let gateway = try Gateway(context)
    let body = try gateway.exchange(
      try gateway.messages.statusReport(gateway.header(), serial: nil),
      nil,
      by: Deadline(in: context.configuration.timeout, on: context.clock)
    )
    let what = body.name == "MgmtPlan" ? "a management plan" : "a configuration"
    let version = body.text("DataSet/Id/Vrsn").map { ", version \($0)" } ?? ""
    return "the terminal manager sent \(what)\(version)"
  }
}
