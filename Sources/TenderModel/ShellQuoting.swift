extension String {
  /// The text, quoted as one argument of a POSIX shell.
  package var shellQuoted: String {
    let isPlain =
      !isEmpty && first != "-"
      && unicodeScalars.allSatisfy { scalar in
        scalar.isASCII
          && (scalar.properties.isAlphabetic || scalar.properties.numericType != nil
            || "-_.:/@%+,".unicodeScalars.contains(scalar))
      }
    return isPlain ? self : "'" + replacing("'", with: "'\\''") + "'"
  }

  /// The text as the ID operand of a suggested command. An id with a leading dash would be read as an option.
  package var shellOperand: String { hasPrefix("-") ? "--id=\(shellQuoted)" : shellQuoted }

  /// The text as the value of an option of a suggested command.
  package func shellOption(_ name: String) -> String {
    "--\(name)\(hasPrefix("-") ? "=" : " ")\(shellQuoted)"
  }
}
