import TenderEngine
import TenderModel

#if canImport(Darwin)
private import Darwin
#else
private import Glibc
#endif

/// Empty files beside the journal: a wish that somebody stop, for which who works on a reference looks
/// while nothing else happens, and the mark of an erasure that is not finished.
struct MarkFile {
  let path: String

  init(path: String) { self.path = path }

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
