package import Foundation
package import TenderModel

/// Runs the built program as a user does: arguments in; status, output and errors out.
package struct Binary: Sendable {
  /// The result of a run.
  package struct Result: Sendable {
    package let status: Int32
    package let output: String
    package let errors: String

    package init(status: Int32, output: String, errors: String) {
      self.status = status
      self.output = output
      self.errors = errors
    }

    /// The lines of standard output as records.
    package var records: [JSONObject] {
      output.split(separator: "\n").compactMap { JSONReader.read(String($0))?.object }
    }

    /// The only record on standard output; empty if there is not exactly one.
    package var record: JSONObject { records.count == 1 ? records[0] : [:] }

    /// The last line of standard error as a record.
    package var errorRecord: JSONObject {
      errors.split(separator: "\n").last.flatMap { JSONReader.read(String($0))?.object } ?? [:]
    }
  }

  /// A separate home, in a new folder.
  package let home: URL
  package var variables: [String: String] = [:]
  /// The product that is run, or the path of another program.
  package var program = "tender"

  /// The path of the program.
  package var executable: URL {
    program.hasPrefix("/") ? URL(filePath: program) : Self.products.appending(path: program)
  }

  /// Creates a program with an empty home and an otherwise empty environment.
  package init() throws {
    home = FileManager.default.temporaryDirectory.appending(path: "tender-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: home, withIntermediateDirectories: true)
  }

  /// The folder of the products of this build.
  package static var products: URL {
    URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent()
  }

  package static var path: URL { products.appending(path: "tender") }

  /// The same program with one failing system call (see `Tests/Faults`), `KIND:N`.
  package func faulty(_ fault: String) -> Binary {
    var struck = self
    struck.variables["LD_PRELOAD"] = Self.products.appending(path: "libtender-faults.so").path
    struck.variables["TENDER_FAULT"] = fault
    struck.variables["TENDER_FAULT_FOLDER"] = home.appending(path: ".local/state").path
    return struck
  }

  /// Removes the home and its contents.
  package func remove() { try? FileManager.default.removeItem(at: home) }

  /// Starts the program and leaves it running. The caller reads `output`.
  package func start(_ arguments: [String], input: Pipe? = nil) throws -> (Process, Pipe, Pipe) {
    let process = Process()
    process.executableURL = executable
    process.arguments = arguments
    process.environment = ["HOME": home.path, "PATH": "/usr/bin:/bin"].merging(variables) { $1 }
    process.currentDirectoryURL = home
    let output = Pipe()
    let errors = Pipe()
    process.standardOutput = output
    process.standardError = errors
    process.standardInput = input ?? FileHandle.nullDevice
    try process.run()
    return (process, output, errors)
  }

  /// Runs the program to its end.
  package func run(_ arguments: String..., input: String? = nil) throws -> Result {
    try run(arguments, input: input)
  }

  /// Runs a line of words without a terminal, and prints JSON lines.
  package func run(line: String, _ more: [String] = []) throws -> Result {
    try run(line.split(separator: " ").map(String.init) + ["--json", "--no-input"] + more)
  }

  /// Runs the program to its end.
  package func run(_ arguments: [String], input: String? = nil) throws -> Result {
    let pipe = input == nil ? nil : Pipe()
    let (process, output, errors) = try start(arguments, input: pipe)
    if let input, let pipe {
      pipe.fileHandleForWriting.write(Data(input.utf8))
      try pipe.fileHandleForWriting.close()
    }
    // Errors are short; output may fill its pipe, so it is read first.
    let out = output.fileHandleForReading.readDataToEndOfFile()
    let err = errors.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    let isSignal = process.terminationReason == .uncaughtSignal
    let result = Result(
      status: isSignal ? 128 + process.terminationStatus : process.terminationStatus,
      output: String(decoding: out, as: UTF8.self),
      errors: String(decoding: err, as: UTF8.self)
    )
    // A choice of fields is not a whole record.
    if program == "tender", !arguments.contains(where: { $0.hasPrefix("--fields") }) {
      PrintedRecords.add(result.output + result.errors)
    }
    return result
  }

  /// Every byte of every file below the home.
  package func everyByte() throws -> [(file: String, bytes: Data)] {
    let files = FileManager.default.enumerator(at: home, includingPropertiesForKeys: nil)
    var found: [(String, Data)] = []
    while let file = files?.nextObject() as? URL {
      if let data = try? Data(contentsOf: file) { found.append((file.lastPathComponent, data)) }
    }
    return found
  }
}

extension Pipe {
  /// Returns the output up to a text or its end. It waits only for these.
  package func read(until text: String) -> String {
    var said = ""
    while !said.contains(text) {
      let more = fileHandleForReading.availableData
      guard !more.isEmpty else { break }
      said += String(decoding: more, as: UTF8.self)
    }
    return said
  }
}
