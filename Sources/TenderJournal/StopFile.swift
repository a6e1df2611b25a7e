import TenderEngine
import TenderModel

#if canImport(Darwin)
private import Darwin
#else
private import Glibc
#endif

/// Wishes that somebody stop what they are doing: a file for each, beside the journal.
///
/// Who works on a reference looks for its file while nothing else happens.
struct StopFile {
  let path: String

  init(folder: String, name: String) {
    path = folder + "/stop-" + String(LockFile.position(of: name), radix: 16)
  }

  func make() throws(Fault) {
    let flags = O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW
    let descriptor = unsafe open(path, flags, 0o600)
    guard descriptor >= 0 else {
      throw Fault(
        .state,
        code: "state_unusable",
        "cannot make \(path): \(unsafe String(cString: strerror(errno)))",
        hint: "make room or access"
      )
    }
    close(descriptor)
  }

  var exists: Bool { unsafe access(path, F_OK) == 0 }

  func remove() { _ = unsafe unlink(path) }
}
