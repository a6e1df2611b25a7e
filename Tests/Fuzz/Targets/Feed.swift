/// An input as a row of choices. After its end come zeros.
package struct Feed: Sendable {
  private let bytes: [UInt8]
  private var place = 0

  package init(_ bytes: [UInt8]) { self.bytes = bytes }

  var isOver: Bool { place >= bytes.count }

  mutating func byte() -> UInt8 {
    guard place < bytes.count else { return 0 }
    defer { place += 1 }
    return bytes[place]
  }

  /// A number below `limit`.
  mutating func below(_ limit: Int) -> Int {
    limit <= 1
      ? 0 : (Int(byte()) << 8 | Int(limit > 256 ? byte() : 0)) >> (limit > 256 ? 0 : 8) % limit
  }

  /// One of several elements; the first after the end of the input.
  mutating func one<Element>(of elements: [Element]) -> Element { elements[below(elements.count)] }

  /// Up to `limit` bytes.
  mutating func chunk(_ limit: Int) -> [UInt8] {
    let count = min(below(limit), bytes.count - place)
    defer { place += count }
    return Array(bytes[place..<(place + count)])
  }
}

/// A target for any input.
package struct FuzzTarget: Sendable {
  package let name: String
  /// Inputs to begin with.
  package let seeds: [[UInt8]]
  /// Words that inputs are made of.
  package let words: [String]
  /// Runs one input. Returns the finding; nil without one.
  package let run: @Sendable ([UInt8]) -> String?

  init(
    _ name: String,
    seeds: [String] = [],
    words: [String] = [],
    _ run: @escaping @Sendable ([UInt8]) -> String?
  ) {
    self.name = name
    self.seeds = seeds.map { Array($0.utf8) }
    self.words = words
    self.run = run
  }

  init(
    _ name: String,
    bytes seeds: [[UInt8]],
    _ run: @escaping @Sendable ([UInt8]) -> String?
  ) {
    self.name = name
    self.seeds = seeds
    words = []
    self.run = run
  }

  package static let all: [FuzzTarget] = parsers + files + conversations + adapters

  /// The target of a name.
  package static func named(_ name: String) -> FuzzTarget? { all.first { $0.name == name } }
}
