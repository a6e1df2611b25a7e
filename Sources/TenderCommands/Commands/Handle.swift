internal import TenderCommandLine
internal import TenderModel

extension Invocation {
  /// The one reference or id that a command is about.
  ///
  /// Throws `usage` for none, several, or `-`, which stands for many.
  func handle() throws(Fault) -> String {
    guard let handle = operands.first, operands.count == 1, handle != "-" else {
      throw .badOperand(
        "\(command.name) needs one reference or id",
        hint: "such as: tender \(command.name) ORDER-1042"
      )
    }
    return handle
  }
}
