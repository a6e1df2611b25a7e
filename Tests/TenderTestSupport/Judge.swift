private import Foundation
package import TenderModel

/// An independent program that judges line by line: a published schema with the usual library of its field.
package final class Judge {
  /// Whether this machine has a library that a judge needs, by the module's name.
  package static func has(_ module: String) -> Bool {
    let process = Process()
    process.executableURL = interpreter
    process.arguments = ["-c", "import \(module)"]
    process.standardError = FileHandle.nullDevice
    guard (try? process.run()) != nil else { return false }
    process.waitUntilExit()
    return process.terminationStatus == 0
  }

  private static let interpreter = URL(filePath: "/usr/bin/python3")

  private let process = Process()
  private let input = Pipe()
  private let output = Pipe()
  private var rest = Data()

  /// Starts a script of `Tests/Judges`.
  package init(_ script: String, _ arguments: String...) throws {
    process.executableURL = Self.interpreter
    process.arguments = [Project.path("Tests/Judges/\(script)")] + arguments
    process.standardInput = input
    process.standardOutput = output
    try process.run()
  }

  deinit {
    try? input.fileHandleForWriting.close()
    process.waitUntilExit()
  }

  /// Sends one object and returns the verdict; empty if the judge has ended.
  package func ask(_ question: JSONObject) throws -> JSONObject {
    input.fileHandleForWriting.write(Data((JSONWriter.text(.object(question)) + "\n").utf8))
    while !rest.contains(0x0a) {
      let more = output.fileHandleForReading.availableData
      if more.isEmpty { return [:] }
      rest += more
    }
    let line = rest.prefix { $0 != 0x0a }
    rest = Data(rest.dropFirst(line.count + 1))
    return JSONReader.read(String(decoding: line, as: UTF8.self))?.object ?? [:]
  }
}
