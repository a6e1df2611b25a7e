private import Platform
internal import TenderCommandLine
internal import TenderModel
internal import TenderSystem

/// The ports that a running `simulator serve` has printed, so that a live sale can refuse them.
///
/// Each port is a file with its number as the name, locked by the process that serves it. The lock ends with
/// the process in every case.
/// A live sale with another state folder recognizes the simulated reader by its serial number.
struct ServedPorts {
  /// The folder of the files, in the state folder; nil without one.
  let folder: String?

  init(_ settings: Settings) { folder = (try? settings.stateFolder().text).map { $0 + "/serving" } }

  /// Records that this process serves a port, until it ends.
  ///
  /// Throws `state` if the folder does not accept that. A port that a live sale cannot recognize is not served.
  func announce(_ port: UInt16) throws(Fault) {
    if let folder {
      try Environment.makeFolder(folder)
      let flags = O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW
      let descriptor = unsafe open("\(folder)/\(port)", flags, 0o600)
      // The file stays open and locked as long as the process lives.
      if descriptor >= 0, flock(descriptor, LOCK_EX | LOCK_NB) == 0 { return }
      if descriptor >= 0 { close(descriptor) }
    }
    throw .state(
      "state_unusable",
      "cannot write down that port \(port) is the simulator's",
      "choose another --state-dir"
    )
  }

  /// Whether a running `simulator serve` has recorded a port.
  func holds(_ port: UInt16) -> Bool {
    guard let folder else { return false }
    let descriptor = unsafe open("\(folder)/\(port)", O_RDWR | O_CLOEXEC | O_NOFOLLOW)
    guard descriptor >= 0 else { return false }
    defer { close(descriptor) }
    return flock(descriptor, LOCK_SH | LOCK_NB) != 0
  }
}
