internal import FoundationEssentials
internal import TenderModel
import Testing

extension Binary {
  /// Runs the program on a new terminal and answers its questions: a text to wait for, and the typed answer.
  ///
  /// Returns the exit status and the whole screen. `program` runs instead of this one, such as a shell.
  package func onTerminal(
    _ words: [String],
    _ steps: [(wait: String, type: String)],
    width: Int = 80,
    height: Int = 24,
    by program: [String]? = nil
  ) throws -> (exit: Int?, screen: String) {
    var environment: JSONObject = [
      "HOME": .string(home.path), "PATH": "/usr/bin:/bin", "TERM": "xterm", "LC_ALL": "C.UTF-8",
    ]
    for (name, value) in variables { environment[name] = .string(value) }
    let answer = try Judge("terminal.py").ask([
      "argv": .array(((program ?? [executable.path]) + words).map(JSON.string)),
      "env": .object(environment), "width": .integer(width), "height": .integer(height),
      "steps": .array(steps.map { .array([.string($0.wait), .string($0.type)]) }),
    ])
    #expect(answer["left"] == 0, "\(answer)")
    return (answer["exit"]?.boundedNumber, answer.text("screen") ?? "")
  }
}
