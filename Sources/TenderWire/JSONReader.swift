package import TenderModel

#if canImport(FoundationEssentials)
private import FoundationEssentials
#else
private import Foundation
#endif

/// Reads JSON text into values: bounded in size and depth, exact in numbers.
package enum JSONReader {
  /// The value of a JSON text of at most `limit` bytes; nil where it is not JSON.
  ///
  /// Depth is bounded by the decoder (512). Members are sorted by name, since the decoder does not
  /// keep their order.
  package static func read(_ bytes: some Collection<UInt8>, limit: Int = 8 << 20) -> JSON? {
    guard !bytes.isEmpty, bytes.count <= limit else { return nil }
    let decoder = JSONDecoder()
    return try? decoder.decode(Box.self, from: Data(bytes)).value
  }

  /// The value of a JSON text; nil where it is not JSON.
  package static func read(_ text: String, limit: Int = 8 << 20) -> JSON? {
    read(text.utf8, limit: limit)
  }
}

/// One decoded value; a wrapper, so that `JSON` itself stays free of Foundation.
private struct Box: Decodable {
  let value: JSON

  init(from decoder: any Decoder) throws {
    // The likeliest first: every kind that it is not costs an error that nobody sees.
    let single = try decoder.singleValueContainer()
    if single.decodeNil() {
      value = .null
      return
    }
    if let text = try? single.decode(String.self) {
      value = .string(text)
      return
    }
    if let members = try? decoder.container(keyedBy: Name.self) {
      let names = members.allKeys.sorted { $0.stringValue < $1.stringValue }
      value = .object(
        JSONObject(
          try names.map { name in
            JSONObject.Member(
              key: name.stringValue,
              value: try members.decode(Box.self, forKey: name).value
            )
          }
        )
      )
      return
    }
    if let number = try? single.decode(Int.self) {
      value = .integer(number)
    } else if let truth = try? single.decode(Bool.self) {
      value = .bool(truth)
    } else if var elements = try? decoder.unkeyedContainer() {
      var values: [JSON] = []
      while !elements.isAtEnd { values.append(try elements.decode(Box.self).value) }
      value = .array(values)
    } else {
      value = .number(try single.decode(Decimal.self).description)
    }
  }

  struct Name: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }

    init?(stringValue: String) { self.stringValue = stringValue }

    init?(intValue: Int) { stringValue = String(intValue) }
  }
}
