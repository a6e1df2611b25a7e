private import CLibraries
private import Platform
private import Synchronization
package import TenderEngine
package import TenderModel

/// Programs of the configuration that print a secret. A helper runs them, which starts before this process
/// restricts itself.
///
/// The helper runs only the programs that it was started with. Each program runs once, and later questions
/// get the same answer.
package final class SecretPrograms: Sendable {
  /// A program's arguments with its path first, or the reason why it must not run.
  private struct Program {
    let arguments: [String]
    let found: Result<[String], Fault>
    var answer: Result<SharedSecret, Fault>?
  }

  private let helper: Int32
  private let programs: Mutex<[Program]>

  /// Starts the helper for argument lists, each with the name of its member of the configuration.
  ///
  /// Call it before any thread starts.
  package init(_ lists: [(name: String, arguments: [String])], _ environment: Environment) {
    var programs: [Program] = []
    for (name, arguments) in lists where !programs.contains(where: { $0.arguments == arguments }) {
      let found = Result { () throws(Fault) in try Self.find(arguments, named: name, environment) }
      programs.append(Program(arguments: arguments, found: found))
    }
    helper = Self.start(programs.map { (try? $0.found.get()) ?? [] })
    self.programs = Mutex(programs)
  }

  deinit { close(helper) }

  private static func start(_ lists: [[String]]) -> Int32 {
    let texts = unsafe lists.flatMap { list in unsafe list.map { unsafe strdup($0) } + [nil] }
    defer {
      for index in unsafe texts.indices { unsafe free(texts[index]) }
    }
    return unsafe tender_system_programs("TENDER_", texts, lists.count)
  }

  /// Returns the argument list with the program's path first. The program is an absolute path, or a name in
  /// one of the absolute folders of `PATH`.
  ///
  /// Throws `usage` if it does not exist, or another user can change it.
  package static func find(
    _ arguments: [String],
    named name: String,
    _ environment: Environment
  ) throws(Fault) -> [String] {
    let program = arguments.first ?? ""
    let folders = (environment["PATH"] ?? "").split(separator: ":").filter { $0.hasPrefix("/") }
    let paths =
      program.hasPrefix("/")
      ? [program] : program.contains("/") ? [] : folders.map { "\($0)/\(program)" }
    guard
      let path = paths.first(where: { unsafe access($0, X_OK) == 0 && !Environment.isFolder($0) })
    else {
      throw .badFile(
        "\(name): there is no program \(program.quotedForMessage)",
        hint: "the program is an absolute path, or a name that is found in PATH"
      )
    }
    try FileGuard.checkProgram(path, named: name)
    return [path] + arguments.dropFirst()
  }

  /// Returns the output of a program, without the line end after it.
  ///
  /// Throws `usage` if the program fails or is late, and the fault of a signal.
  package func output(
    of arguments: [String],
    named name: String,
    _ interruption: any Interruption
  ) throws(Fault) -> SharedSecret {
    let answer = programs.withLock { programs -> Result<SharedSecret, Fault> in
      guard let index = programs.firstIndex(where: { $0.arguments == arguments }) else {
        return .failure(.program(name, "was not prepared for this command"))
      }
      if let known = programs[index].answer { return known }
      let answer = Result { () throws(Fault) in
        _ = try programs[index].found.get()
        return try ask(index, name, interruption)
      }
      if case .failure(let fault) = answer, fault.kind.isStop { return answer }
      programs[index].answer = answer
      return answer
    }
    return try answer.get()
  }

  private func ask(
    _ index: Int,
    _ name: String,
    _ interruption: any Interruption
  ) throws(Fault) -> SharedSecret {
    var number = UInt32(index)
    let sent = unsafe send(helper, &number, MemoryLayout.size(ofValue: number), 0)
    guard sent == MemoryLayout.size(ofValue: number) else {
      throw .program(name, "cannot be run: its helper has ended")
    }
    // The helper itself ends a late program.
    let clock = SystemClock(interruption: interruption)
    let deadline = Deadline(in: Int(TENDER_PROGRAM_TIME) + 2000, on: clock)
    func receive(_ count: Int) throws(Fault) -> [UInt8] {
      var bytes = [UInt8](repeating: 0, count: count)
      var filled = 0
      while filled < count {
        let isReady = interruption.wait(for: helper, POLLIN, milliseconds: deadline.remaining) != 0
        if let kind = interruption.kind {
          // The helper ends the program when this end of the socket closes.
          shutdown(helper, Int32(SHUT_RDWR))
          throw .stopped(by: kind, underWay: "nothing was under way")
        }
        let got = unsafe bytes.withUnsafeMutableBytes { room in
          let rest = unsafe UnsafeMutableRawBufferPointer(rebasing: room[filled...])
          return unsafe isReady ? recv(helper, rest.baseAddress, rest.count, 0) : 0
        }
        if got < 0, errno == EINTR { continue }
        guard got > 0 else { throw .program(name, "cannot be run: its helper has ended") }
        filled += got
      }
      return bytes
    }
    let answer = unsafe try receive(MemoryLayout<tender_program_answer>.size)
      .withUnsafeBytes { unsafe $0.loadUnaligned(as: tender_program_answer.self) }
    var output = try receive(Int(answer.output))
    defer { output.wipe() }
    while let last = output.last, last == 10 || last == 13 || last == 32 { output.removeLast() }
    switch Int(answer.status) {
    case 0 where !output.isEmpty: return SharedSecret(consuming: &output)
    case 0: throw .program(name, "printed nothing")
    case TENDER_PROGRAM_MISSING: throw .program(name, "cannot be started")
    case TENDER_PROGRAM_LATE:
      throw .program(name, "did not end within \(TENDER_PROGRAM_TIME / 1000) s and was stopped")
    case TENDER_PROGRAM_LONG:
      throw .program(name, "printed more than \(TENDER_PROGRAM_OUTPUT >> 10) KiB")
    case let status:
      throw .program(name, "ended with \(status)")
    }
  }
}

extension Fault {
  /// A program of the configuration that returned no secret.
  fileprivate static func program(_ name: String, _ problem: String) -> Fault {
    .usage(
      "bad_credential",
      "\(name): the program \(problem)",
      "nothing was sent; run the program by itself to see what it prints"
    )
  }
}
