internal import TenderModel

/// The processor's failure codes that Pay Theory documents (README, 8.3).
enum ProcessorCode {
  static let all: [String] = Vocabulary.processorCodes.map(\.code)

  /// The code as ours, where it is one of them; other texts are no codes.
  static func snakeCase(_ code: String) -> String? {
    let upper = code.uppercased()
    return all.contains(upper) ? upper.lowercased() : nil
  }
}
