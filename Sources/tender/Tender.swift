private import Platform
internal import TenderCommands
internal import TenderSystem

/// The program: it prepares the process, then runs the arguments to an exit status.
@main
struct Tender {
  static func main() {
    ProcessGuard.begin()
    let (arguments, garbled) = ProcessGuard.arguments
    // No output is buffered. The exit handlers of the libraries take as long as half a look-up.
    _exit(Program.run(Array(arguments.dropFirst()), garbled: garbled))
  }
}
