#if canImport(Darwin)
private import Darwin
#else
private import Glibc
#endif

/// A serial line of the tests.
package enum PseudoTerminal {
  /// The controlling end of a new terminal, and the path of the other.
  package static func open() -> (descriptor: Int32, path: String)? {
    // The numbers of Linux (asm-generic/ioctls.h): unlock the terminal, and read its number.
    let descriptor = openFile("/dev/ptmx")
    var unlocked: Int32 = 0
    var number: UInt32 = 0
    guard descriptor >= 0, unsafe ioctl(descriptor, 0x4004_5431, &unlocked) == 0,
      unsafe ioctl(descriptor, 0x8004_5430, &number) == 0
    else { return nil }
    return (descriptor, "/dev/pts/\(number)")
  }
}

private func openFile(_ path: String) -> Int32 { unsafe open(path, O_RDWR | O_NOCTTY) }
