/// What a command line turned out to be.
package enum ParsedLine: Sendable {
  case run(Invocation)
  /// Help for a command's words or a topic; what to try where there are none.
  case help([String])
  case version(Invocation?)
}
