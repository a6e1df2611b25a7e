internal import TenderCommandLine
internal import TenderEngine
internal import TenderModel
internal import TenderWire
internal import TrueLayer

#if canImport(Darwin)
private import Darwin
#else
private import Glibc
#endif

/// `payment-status` and `mandate-status`.
struct LookUpCommands {
  let composition: Composition

  private var invocation: Invocation { composition.invocation }
  private var output: Output { composition.output }

  func run(_ place: inout WriteCommands.Place) throws(Fault) -> Int32 {
    let wait = try WaitOptions(invocation)
    try Expectation.check(invocation)
    let operands = invocation.operands
    guard !operands.isEmpty else {
      throw Fault(
        .usage,
        code: "bad_operand",
        "\(invocation.command.name) needs an id or a reference",
        hint: "such as: tender \(invocation.command.name) ORDER-1042, or - for standard input"
      )
    }
    try invocation.checkStandardInput()
    if operands.count == 1, operands[0] != "-" {
      place.reference = operands[0]
      let report = try look(operands[0], wait, &place)
      let (shown, exit) = Expectation.judge(report, invocation)
      output.show(composition.records.record(shown))
      return output.exit(exit)
    }
    return try several(operands, wait)
  }

  /// Looks several up, each fault in its place: 14 where there was one.
  ///
  /// A single id from standard input keeps its own exit, so the first answer waits until there is a
  /// second.
  private func several(_ operands: [String], _ wait: WaitOptions?) throws(Fault) -> Int32 {
    var rows: [Record] = []
    var line = 0
    var first: (record: Record, fault: Fault?)?
    var hasFault = false
    var worst: Int32 = 0
    func put(_ record: Record) {
      if output.isTable {
        rows.append(Self.row(record))
      } else {
        output.show(record)
      }
    }
    func take(_ handle: String, isVouchedFor: Bool) throws(Fault) -> Bool {
      line += 1
      var place = WriteCommands.Place()
      var record: Record
      var fault: Fault?
      do throws(Fault) {
        if !isVouchedFor { try Self.check(handle) }
        let (shown, exit) = Expectation.judge(try look(handle, wait, &place), invocation)
        worst = max(worst, exit)
        record = composition.records.record(shown)
        record.fields["line"] = .integer(line)
      } catch {
        if error.kind == .interrupted || error.kind == .terminated || error.kind == .state {
          throw error
        }
        hasFault = true
        fault = error
        record = composition.records.record(
          error,
          provider: place.provider,
          env: place.env,
          id: error.code == "card_number_on_standard_input" ? nil : handle,
          line: line
        )
      }
      if line == 1 {
        first = (record, fault)
        return true
      }
      if let earlier = first {
        put(earlier.record)
        first = nil
      }
      put(record)
      return !output.isBroken
    }
    scan: for operand in operands {
      if operand == "-" {
        let lines = LineReader(descriptor: 0)
        while let handle = try lines.next() {
          if handle.isBlank { continue }
          guard try take(handle, isVouchedFor: false) else { break scan }
        }
      } else {
        // Operands passed the guard, or stood behind --id.
        guard try take(operand, isVouchedFor: true) else { break }
      }
    }
    if let only = first {
      if let fault = only.fault { throw fault }
      put(only.record)
      return output.exit(worst)
    }
    if output.isTable {
      output.show(
        rows,
        columns: ["line", "reference", "id", "status", "amount", "env", "note"]
      )
    }
    return output.exit(hasFault ? Fault.Kind.partial.exitStatus : worst)
  }

  private func look(
    _ handle: String,
    _ wait: WaitOptions?,
    _ place: inout WriteCommands.Place
  ) throws(Fault) -> Report {
    let (provider, env, attempt) = try composition.target(of: handle)
    place.provider = provider
    place.env = env
    place.reference = attempt?.reference
    composition.reference = attempt?.reference
    let isMandate = invocation.command.name == "mandate-status"
    guard !isMandate || provider == TrueLayerProvider.name.text else {
      throw Fault(
        .unsupported,
        code: "mandates_unsupported",
        "\(provider) has no mandates",
        hint: "see: tender providers"
      )
    }
    let engine = try composition.engine(
      provider,
      env,
      needing: .lookUp
    )
    let report = try engine.lookUp(
      handle,
      known: attempt,
      kind: isMandate ? .mandate : .payment
    )
    guard let wait else { return report }
    return try wait.apply(to: report, engine, composition)
  }

  private static func check(_ handle: String) throws(Fault) {
    guard let digits = Digits.only(in: handle), Digits.looksLikeCard(digits) else { return }
    throw Fault(
      .usage,
      code: "card_number_on_standard_input",
      "an id looks like a card number; it was not sent, logged or stored",
      hint: "an id that only looks like one goes behind --id"
    )
  }

  /// A row of the table of several: the error's message where there is one.
  private static func row(_ record: Record) -> Record {
    var row = record
    row.fields["note"] = record.fields["error"]?["message"]
    return row
  }
}

/// Lines of a descriptor, one by one, each bounded.
final class LineReader {
  private let descriptor: Int32
  private var buffer: [UInt8] = []
  private var hasEnded = false
  private static let limit = 4096

  init(descriptor: Int32) { self.descriptor = descriptor }

  /// The next line without its end; nil at the end.
  ///
  /// Throws `usage` for one that is too long.
  func next() throws(Fault) -> String? {
    while true {
      if let end = buffer.firstIndex(of: UInt8(ascii: "\n")) {
        defer { buffer.removeFirst(end + 1) }
        return text(buffer[..<end])
      }
      if hasEnded {
        defer { buffer = [] }
        return buffer.isEmpty ? nil : text(buffer[...])
      }
      guard buffer.count <= Self.limit else {
        throw Fault(
          .usage,
          code: "bad_operand",
          "a line of standard input is longer than \(Self.limit) bytes",
          hint: "one id a line"
        )
      }
      var chunk = [UInt8](repeating: 0, count: 16_384)
      let count = unsafe read(descriptor, &chunk, chunk.count)
      if count < 0, errno == EINTR { continue }
      if count <= 0 { hasEnded = true } else { buffer += chunk.prefix(count) }
    }
  }

  private func text(_ bytes: ArraySlice<UInt8>) -> String {
    let line = bytes.last == UInt8(ascii: "\r") ? bytes.dropLast() : bytes
    return String(decoding: line, as: UTF8.self)
  }
}
