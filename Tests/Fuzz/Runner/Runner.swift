import TenderFuzz

#if canImport(Darwin)
private import Darwin
#else
private import Glibc
#endif

/// The target in the variable TENDER_FUZZ.
private let chosen: FuzzTarget? = unsafe getenv("TENDER_FUZZ").flatMap { name in
  FuzzTarget.named(unsafe String(cString: name))
}

private func take(_ bytes: [UInt8]) {
  guard let chosen else { fatalError("TENDER_FUZZ names no target") }
  if let problem = chosen.run(bytes) { fatalError("\(chosen.name): \(problem)") }
}

#if FUZZING
/// libFuzzer calls this with each input.
@_cdecl("LLVMFuzzerTestOneInput")
public func takeOne(_ start: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
  take(unsafe Array(UnsafeBufferPointer(start: start, count: count)))
  return 0
}

/// libFuzzer's own driver (LLVM, "libFuzzer", section "Using libFuzzer as a library").
@_silgen_name("LLVMFuzzerRunDriver")
private func drive(
  _ count: UnsafeMutablePointer<Int32>,
  _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?>,
  _ body: @convention(c) (UnsafePointer<UInt8>?, Int) -> Int32
) -> Int32

/// The package manager renames the main function of an executable to this.
@_cdecl("tender_fuzz_main")
public func begin(
  _ count: Int32,
  _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
) -> Int32 {
  var count = count
  var arguments = unsafe arguments
  return unsafe drive(&count, &arguments, takeOne)
}
#else
/// Without libFuzzer, it takes named inputs. `seeds FOLDER` writes the seeds of a target.
@main
struct Runner {
  static func main() {
    let arguments = Array(CommandLine.arguments.dropFirst())
    if arguments.first == "targets" {
      for target in FuzzTarget.all { print(target.name) }
      return
    }
    if arguments.first == "seeds", arguments.count == 2, let chosen {
      for (number, seed) in chosen.seeds.enumerated() {
        write(seed, to: "\(arguments[1])/seed-\(number)")
      }
      let words = chosen.words.map { word in
        "\""
          + word.utf8.map { byte in
            let digits = String(byte, radix: 16)
            return "\\x" + (digits.count == 1 ? "0" : "") + digits
          }.joined() + "\"\n"
      }
      write(Array(words.joined().utf8), to: arguments[1] + ".dict")
      return
    }
    for path in arguments { take(read(path)) }
  }

  private static func read(_ path: String) -> [UInt8] {
    guard let file = unsafe fopen(path, "rb") else { fatalError("cannot read \(path)") }
    defer { unsafe fclose(file) }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = unsafe fread(&buffer, 1, buffer.count, file)
      if count == 0 { return bytes }
      bytes += buffer.prefix(count)
    }
  }

  private static func write(_ bytes: [UInt8], to path: String) {
    guard let file = unsafe fopen(path, "wb") else { fatalError("cannot write \(path)") }
    defer { unsafe fclose(file) }
    _ = unsafe fwrite(bytes, 1, bytes.count, file)
  }
}
#endif
