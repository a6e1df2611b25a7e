import TenderModel

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
    skipped: Int,
    milliseconds: Int,
    start: String,
    properties: [(name: String, value: String)]
  ) -> String {
    let shown = properties.map { property in
      "<property name=\"\(MarkUp.escape(property.name))\" value=\"\(MarkUp.escape(property.value))\"/>\n"
    }
    let counts = "tests=\"\(tests)\" failures=\"\(failures)\" errors=\"\(errors)\""
    return "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites \(counts) "
      + "time=\"\(seconds(milliseconds))\">\n<testsuite name=\"tender batch\" \(counts) skipped=\"\(skipped)\" "
      + "time=\"\(seconds(milliseconds))\" timestamp=\"\(start)\">\n"
      + "<properties>\n\(shown.joined())</properties>\n"
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
      "<testcase name=\"\(MarkUp.escape(name))\" classname=\"\(MarkUp.escape(group))\" "
      + "time=\"\(seconds(milliseconds))\""
    guard let problem else { return start + "/>\n" }
    let element = problem.isError ? "error" : "failure"
    return start + "><\(element) type=\"\(MarkUp.escape(problem.kind))\" "
      + "message=\"\(MarkUp.escape(problem.message))\">\(MarkUp.escape(problem.detail))</\(element)></testcase>\n"
  }

  /// A case that was not run.
  package static func skipped(name: String, group: String, why: String) -> String {
    "<testcase name=\"\(MarkUp.escape(name))\" classname=\"\(MarkUp.escape(group))\" time=\"0.000\">"
      + "<skipped message=\"\(MarkUp.escape(why))\"/></testcase>\n"
  }

  private static func seconds(_ milliseconds: Int) -> String {
    let rest = String(1000 + milliseconds % 1000).dropFirst()
    return "\(milliseconds / 1000).\(rest)"
  }
}
