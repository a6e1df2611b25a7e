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
    let (arguments, garbled) = ProcessGuard.arguments
    // Nothing is buffered, and the libraries' own farewells take as long as half a look-up's work.
    _exit(Program.run(Array(arguments.dropFirst()), garbled: garbled))
  }
}
