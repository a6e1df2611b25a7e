internal import TenderEngine
package import TenderModel

/// The expected result of a command: alternatives, and required members of the record.
package struct ExpectedResult: Sendable {
  private var statuses: [Status] = []
  private var exits: [Int] = []
  /// The expected error codes.
  package private(set) var codes: [String] = []
  /// Paths of the record with their values. `*` means any value that is not empty.
  private var fields: [(path: [String], value: String)] = []
  package let text: String

  /// Reads `STATUS`, `exit:N`, `code:CODE` and `PATH=VALUE`, with commas between them.
  ///
  /// Throws `usage` for any other word.
  package init(_ text: String, option: String) throws(Fault) {
    self.text = text
    for word in text.split(separator: ",", omittingEmptySubsequences: false).map(String.init) {
      if let equals = word.firstIndex(of: "="), equals > word.startIndex {
        let path = word[..<equals].split(separator: ".").map(String.init)
        fields.append((path, String(word[word.index(after: equals)...])))
      } else if word.hasPrefix("exit:"), let exit = Int(word.dropFirst(5)),
        exit == 0 || Fault.Kind.allCases.contains(where: { Int($0.exitStatus) == exit })
      {
        exits.append(exit)
      } else if word.hasPrefix("code:"), word.count > 5 {
        codes.append(String(word.dropFirst(5)))
      } else if let status = Status(rawValue: word) {
        statuses.append(status)
      } else {
        let names = Status.allCases.map(\.rawValue)
        let nearest = Suggestion.nearest(to: word, among: names)
        throw .badValue(
          option,
          word,
          hint: nearest.map { "did you mean \($0)?" }
            ?? "a status, exit:N, code:CODE or FIELD=VALUE, such as provider_status=settled; statuses: "
            + names.joined(separator: ", ")
        )
      }
    }
  }

  /// The paths of the expected members, nested by dots.
  package var paths: [String] { fields.map { $0.path.joined(separator: ".") } }

  /// Whether a result matches: its status (nil for a fault, or for a part of the amount), exit status, error code and record.
  package func holds(
    _ status: Status?,
    exit: Int32,
    code: String?,
    _ record: JSONObject
  ) -> Bool {
    let isAny = statuses.isEmpty && exits.isEmpty && codes.isEmpty
    let isOne =
      status.map { statuses.contains($0) } ?? false || exits.contains(Int(exit))
      || code.map { codes.contains($0) } ?? false
    return (isAny || isOne)
      && fields.allSatisfy { field in
        guard let value = Self.text(at: field.path[...], in: .object(record)) else { return false }
        return field.value == "*" ? !value.isEmpty : field.value == value
      }
  }

  /// What a record has in the expected fields that differ, such as `provider_status=executed`.
  package func differences(_ record: JSONObject) -> [String] {
    fields.compactMap { field in
      let path = field.path.joined(separator: ".")
      guard let value = Self.text(at: field.path[...], in: .object(record)) else {
        return "no \(path)"
      }
      return field.value == value || field.value == "*" ? nil : "\(path)=\(value)"
    }
  }

  /// A scalar of a record as text; nil without one.
  private static func text(at path: ArraySlice<String>, in value: JSON) -> String? {
    guard let first = path.first else {
      return value.plainText ?? (value == .null ? nil : "*")
    }
    if let list = value.array {
      guard let index = Int(first), list.indices.contains(index) else { return nil }
      return text(at: path.dropFirst(), in: list[index])
    }
    return value[first].flatMap { text(at: path.dropFirst(), in: $0) }
  }
}
