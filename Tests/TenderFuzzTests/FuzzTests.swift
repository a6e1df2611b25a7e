import TenderFuzz
import TenderTestSupport
import Testing

/// Runs every target for a moment, with inputs from a seed. `make fuzz` runs as long as requested, guided by
/// coverage, under the address sanitizer.
@Suite struct FuzzTests {
  @Test(arguments: FuzzTarget.all.map(\.name))
  func `survives what a seed makes`(_ name: String) throws {
    let target = try #require(FuzzTarget.named(name))
    for seed in target.seeds + [[]] {
      if let problem = target.run(seed) { Issue.record("\(name): \(problem) in \(seed)") }
    }
    let number = Int.random(in: 1..<1_000_000)
    var random = Seeded(number)
    let end = ContinuousClock.now + .milliseconds(500)
    var runs = 0
    // A busy machine needs more time for the smallest number of runs.
    while runs < 4 || ContinuousClock.now < end {
      let input = Self.input(target, &random)
      runs += 1
      guard let problem = target.run(input) else { continue }
      Issue.record("\(name): \(problem) in \(input) (seed \(number))")
      return
    }
  }

  private static func input(_ target: FuzzTarget, _ random: inout Seeded) -> [UInt8] {
    var bytes = target.seeds.isEmpty ? [] : target.seeds[random.below(target.seeds.count)]
    for _ in 0...random.below(6) {
      let place = random.below(bytes.count + 1)
      switch random.below(6) {
      case 0: bytes.insert(UInt8(random.below(256)), at: place)
      case 1: if place < bytes.count { bytes[place] = UInt8(random.below(256)) }
      case 2: if place < bytes.count { bytes[place] ^= 1 << UInt8(random.below(8)) }
      case 3: bytes = Array(bytes.prefix(place))
      case 4 where !target.words.isEmpty:
        bytes.insert(contentsOf: target.words[random.below(target.words.count)].utf8, at: place)
      default:
        let from = random.below(bytes.count + 1)
        bytes.insert(contentsOf: bytes[min(from, place)..<max(from, place)].prefix(64), at: place)
      }
    }
    return bytes
  }
}
