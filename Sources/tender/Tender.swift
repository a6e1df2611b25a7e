internal import TenderCommands
internal import TenderSystem

#if canImport(Darwin)
private import Darwin
#else
private import Glibc
#endif

/// The program: what the process does to itself, then one run from arguments to exit status.
@main
struct Tender {
  static func main() {
    ProcessGuard.begin()
    // Nothing is buffered, and the libraries' own farewells take as long as half a look-up's work.
    _exit(Program.run(Array(CommandLine.arguments.dropFirst()), garbled: garbledArgument))
  }

  /// The number of the first argument that is not UTF-8; nil where all are.
  ///
  /// `CommandLine.arguments` repairs them, and two references that differ would be one.
  private static var garbledArgument: Int? {
    (1..<max(1, Int(CommandLine.argc))).first { number in
      guard let bytes = unsafe CommandLine.unsafeArgv[number] else { return false }
      return unsafe String(validatingCString: bytes) == nil
    }
  }
}
