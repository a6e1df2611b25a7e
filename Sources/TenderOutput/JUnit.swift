/// A JUnit XML report, as CI systems read it: one suite, a case for each command.
package enum JUnit {
  /// What went wrong with a case.
  package struct Problem: Sendable {
    /// Whether it is a fault rather than an outcome that was not wanted.
    package var isError: Bool
    /// A stable word.
    package var kind: String
    package var message: String
    package var detail: String

    package init(isError: Bool, kind: String, message: String, detail: String) {
      self.isError = isError
      self.kind = kind
      self.message = message
      self.detail = detail
    }
  }

  /// The beginning, with the numbers of the whole.
  package static func head(
    tests: Int,
    failures: Int,
    errors: Int,
    milliseconds: Int
  ) -> String {
    let counts = "tests=\"\(tests)\" failures=\"\(failures)\" errors=\"\(errors)\""
    return "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites \(counts) "
      + "time=\"\(seconds(milliseconds))\">\n<testsuite name=\"tender batch\" \(counts) skipped=\"0\" "
      + "time=\"\(seconds(milliseconds))\">\n"
  }

  /// The end.
  package static let tail = "</testsuite>\n</testsuites>\n"

  /// One case.
  package static func testCase(
    name: String,
    group: String,
    milliseconds: Int,
    problem: Problem?
  ) -> String {
    let start =
      "<testcase name=\"\(escaped(name))\" classname=\"\(escaped(group))\" "
      + "time=\"\(seconds(milliseconds))\""
    guard let problem else { return start + "/>\n" }
    let element = problem.isError ? "error" : "failure"
    return start + "><\(element) type=\"\(escaped(problem.kind))\" "
      + "message=\"\(escaped(problem.message))\">\(escaped(problem.detail))</\(element)></testcase>\n"
  }

  private static func seconds(_ milliseconds: Int) -> String {
    let rest = String(1000 + milliseconds % 1000).dropFirst()
    return "\(milliseconds / 1000).\(rest)"
  }

  /// Text for an attribute or between tags; what XML has no place for becomes a question mark.
  private static func escaped(_ text: String) -> String {
    var shown = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "&": shown += "&amp;"
      case "<": shown += "&lt;"
      case ">": shown += "&gt;"
      case "\"": shown += "&quot;"
      default:
        let isAllowed = scalar.value >= 0x20 && scalar.value != 0xfffe && scalar.value != 0xffff
        shown.unicodeScalars.append(isAllowed ? scalar : "?")
      }
    }
    return shown
  }
}
