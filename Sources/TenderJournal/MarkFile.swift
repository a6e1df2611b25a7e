import TenderEngine
import TenderModel

/// Empty files beside the journal: a wish that somebody stop, for which who works on a reference looks
/// while nothing else happens, and the mark of an erasure that is not finished.
struct MarkFile {
  let path: String

  init(path: String) { self.path = path }

  init(folder: String, name: String) {
    path = folder + "/stop-" + String(LockFile.position(of: name), radix: 16)
  }

  func make() throws(Fault) {
    PlainFile.close(try PlainFile.open(path))
  }

  var exists: Bool { PlainFile.exists(path) }

  func remove() { PlainFile.remove(path) }
}
