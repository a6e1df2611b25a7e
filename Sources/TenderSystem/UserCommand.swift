private import CLibraries
private import Platform
import TenderEngine
package import TenderModel

/// A command of the user's, such as the tests of a shop. A helper runs it, which starts before this process
/// restricts itself.
package final class UserCommand {
  private let name: String
  private let helper: Int32

  /// Starts the helper, with a new state folder for this process and the command, which `TENDER_STATE_DIR` names.
  ///
  /// Call it before any thread starts. Throws `state` without a folder or a helper.
  package init(_ arguments: [String], _ environment: Environment) throws(Fault) {
    name = arguments[0]
    let folder = (environment["TMPDIR"] ?? "/tmp") + "/tender-XXXXXX"
    let made = unsafe strdup(folder)
    defer { unsafe free(made) }
    // The command may change its folder, so a relative name would not do.
    let path = unsafe made.flatMap { unsafe mkdtemp($0) }.flatMap { unsafe realpath($0, nil) }
    defer { unsafe free(path) }
    guard let path = unsafe path else {
      throw .state(
        "state_unusable",
        "cannot make \(folder): \(unsafe String(cString: strerror(errno)))",
        "set TMPDIR to a folder that can be written"
      )
    }
    // The mark of a journal is beside its folder.
    unsafe setenv("TENDER_STATE_DIR", String(cString: path) + "/state", 1)
    let texts = unsafe arguments.map { unsafe strdup($0) } + [nil]
    defer {
      for index in unsafe texts.indices { unsafe free(texts[index]) }
    }
    helper = unsafe tender_system_command(texts, path)
    guard helper >= 0 else {
      unsafe rmdir(path)
      throw .state("state_unusable", "no process can be started", "try again")
    }
  }

  deinit { close(helper) }

  /// Runs the command with further variables to its end. Returns its exit status, or 128 plus the signal that ended it.
  /// Signals are passed on, and the time limit of this process as SIGTERM.
  ///
  /// Throws `usage` if it cannot be started.
  package func run(
    with variables: [(name: String, value: String)],
    _ signals: Signals
  ) throws(Fault) -> Int32 {
    let block = Array(variables.map { "\($0)=\($1)\0" }.joined().utf8)
    var size = UInt32(block.count)
    send(unsafe withUnsafeBytes(of: &size) { unsafe Array($0) } + block)
    var end = tender_command_end()
    let expected = MemoryLayout.size(ofValue: end)
    repeat {
      while let number = signals.next() {
        send([UInt8(signals.hasExpired ? SIGTERM : number)])
      }
    } while signals.wait(for: helper, POLLIN, milliseconds: 3_600_000) == 0
    guard unsafe recv(helper, &end, expected, Int32(MSG_WAITALL)) == expected else {
      throw .state("state_unusable", "the process that ran \(name) has ended", "try again")
    }
    guard end.problem == 0 else {
      throw .badOperand(
        "cannot start \(name.quotedForMessage): \(unsafe String(cString: strerror(end.problem)))",
        hint: "it is a path, or a name that is found in PATH"
      )
    }
    return end.status
  }

  /// Waits until the helper has removed the folder.
  package func finish() {
    shutdown(helper, Int32(SHUT_WR))
    var byte: UInt8 = 0
    while unsafe recv(helper, &byte, 1, 0) > 0 {}
  }

  private func send(_ bytes: [UInt8]) {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = unsafe rest.withUnsafeBytes { unsafe write(helper, $0.baseAddress, $0.count) }
      // A helper that has ended is noticed at its answer.
      guard count > 0 else { return }
      rest.removeFirst(count)
    }
  }
}
