extension SimulatorServer {
  /// The variables that point `tender` at a server and its reader on this machine, with their values.
  package static func variables(
    port: UInt16,
    readerPort: UInt16
  ) -> [(name: String, value: String)] {
    [
      ("TENDER_PAYTHEORY_TOKEN_URL", "http://127.0.0.1:\(port)"),
      ("TENDER_PAYTHEORY_SOCKET_URL", "ws://127.0.0.1:\(port)"),
      ("TENDER_PAYTHEORY_GRAPHQL_URL", "http://127.0.0.1:\(port)"),
      ("TENDER_TORO_GATEWAY_URL", "http://127.0.0.1:\(port)"),
      ("TENDER_TORO_DEVICE", "tcp://127.0.0.1:\(readerPort)"),
      ("TENDER_TRUELAYER_API_URL", "http://127.0.0.1:\(port)"),
      ("TENDER_TRUELAYER_AUTH_URL", "http://127.0.0.1:\(port)"),
    ]
  }
}
