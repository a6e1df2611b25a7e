import Foundation
import TenderModel
import Testing

/// Bytes in locked memory: many at once, without overlaps, and erased afterwards.
@Suite
struct SecretTests {
  private func bytes(_ secret: borrowing Secret) -> [UInt8] {
    unsafe secret.withBytes { unsafe Array($0) }
  }

  /// More secrets than the shared block has slots, of sizes on both sides of a slot.
  @Test func manySecretsDoNotOverlap() {
    let sizes = [0, 1, 6, 16, 255, 256, 257, 4095, 4096, 4097]
    let secrets = (0..<80).map { index in
      var bytes = [UInt8](repeating: UInt8(index + 1), count: sizes[index % sizes.count])
      return SharedSecret(consuming: &bytes)
    }
    for (index, shared) in secrets.enumerated() {
      let expected = [UInt8](repeating: UInt8(index + 1), count: sizes[index % sizes.count])
      #expect(bytes(shared.secret) == expected)
    }
  }

  /// After a secret, the next one finds zeros in its place, with any size of the shared slots.
  @Test(arguments: [16, 256, 300, 4096])
  func nothingIsLeftBehind(size: Int) {
    for _ in 0..<40 {
      var bytes = [UInt8](repeating: 0xa5, count: size)
      _ = Secret(consuming: &bytes)
      #expect(bytes.isEmpty)
    }
    var isFound = false
    _ = unsafe Secret(capacity: size) { room in
      isFound = unsafe room.contains(0xa5)
      return 0
    }
    #expect(!isFound)
  }

  @Test func erasedSecretShowsNothing() {
    let secret = Secret("4111111111111111")
    secret.erase()
    #expect(secret.count == 0)
    #expect(bytes(secret).isEmpty)
  }

  /// After the erasure, its memory has nothing of the secret. No other secret uses that memory before the
  /// release.
  @Test(arguments: [16, 300, 5000])
  func erasedSecretIsOverwritten(size: Int) throws {
    var text = [UInt8](repeating: 0xa5, count: size)
    let secret = Secret(consuming: &text)
    let place = unsafe secret.withBytes { UInt(bitPattern: $0.baseAddress) }
    secret.erase()
    let start = unsafe try #require(UnsafeRawPointer(bitPattern: place))
    let left = unsafe Array(UnsafeRawBufferPointer(start: start, count: size))
    #expect(left == [UInt8](repeating: 0, count: size))
    #expect(secret.count == 0)
  }

  /// Threads allocate and release at the same time.
  @Test func threadsShareTheBlock() {
    DispatchQueue.concurrentPerform(iterations: 8) { thread in
      for round in 0..<500 {
        let text = "thread \(thread) round \(round)"
        let secret = SharedSecret(text)
        #expect(secret.revealed == text)
      }
    }
  }
}

/// The text beside a redacted number.
@Suite struct BesideNumberTests {
  /// The code that follows a card number may begin with digits that look like a part of the number.
  @Test func `leaves nothing of a code behind a number`() {
    for code in (0...999).map({ String(1000 + $0).dropFirst() }) {
      for number in ["4111111111111111", "5454545454545454"] {
        let redactor = Redactor()
        redactor.learn(Secret(number))
        redactor.learnShort(Secret(String(code)))
        for text in [
          #"{"number":"\#(number)","security_code":"\#(code)","x":1}"#,
          #"{"security_code":"\#(code)","number":"\#(number)"}"#, "\(code) \(number)",
          "\(number), \(code)",
        ] {
          // As in a message: first redacted alone, then as a provider's text.
          let shown = redactor.redact(redactor.redact(text), foreign: true)
          let digits = shown.filter(\.isNumber)
          #expect(digits.isEmpty || digits == "1" && shown.contains("x"), "\(code): \(shown)")
        }
      }
    }
  }
}
