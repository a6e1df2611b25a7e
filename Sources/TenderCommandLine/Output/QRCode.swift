private import CLibraries

/// A text as a QR code that a phone can scan from a terminal, by libqrencode.
package enum QRCode {
  /// Returns the code in half blocks, two modules a character, with a quiet zone of four modules around it.
  ///
  /// The zone is that of ISO/IEC 18004, section 6.3.8. Nil without the library, if the text is too long, or
  /// if the terminal is narrower than the code. With `isColoured`, the code is dark on light, with any colors
  /// of the terminal.
  package static func text(for content: String, width: Int, isColoured: Bool) -> String? {
    guard let modules = modules(of: content) else { return nil }
    let quiet = 4
    let side = modules.count + 2 * quiet
    guard side <= width else { return nil }
    let isDark = { (row: Int, column: Int) in
      let rows = modules.indices
      guard rows.contains(row - quiet), rows.contains(column - quiet) else { return false }
      return modules[row - quiet][column - quiet]
    }
    var text = ""
    for row in stride(from: 0, to: side, by: 2) {
      if isColoured { text += "\u{1b}[97;40m" }
      for column in 0..<side {
        // Light modules are drawn and dark ones left out, because most terminals are dark.
        switch (isDark(row, column), row + 1 < side ? isDark(row + 1, column) : true) {
        case (false, false): text += "█"
        case (false, true): text += "▀"
        case (true, false): text += "▄"
        case (true, true): text += " "
        }
      }
      text += isColoured ? "\u{1b}[0m\n" : "\n"
    }
    return text
  }

  /// The modules by row; true is dark.
  private static func modules(of content: String) -> [[Bool]]? {
    guard content.utf8.count <= 2000, unsafe tender_qr_open() == nil,
      let code = unsafe tender_qr_encode(content)
    else { return nil }
    defer { unsafe tender_qr_free(code) }
    let width = unsafe Int(code.pointee.width)
    guard let data = unsafe code.pointee.data, width > 0 else { return nil }
    return (0..<width).map { row in
      (0..<width).map { column in unsafe data[row * width + column] & 1 == 1 }
    }
  }
}
