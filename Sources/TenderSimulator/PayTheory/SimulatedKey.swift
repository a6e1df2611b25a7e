import TenderModel

struct SimulatedKey {
  let partner: String
  let stage: String

  init?(_ text: String) {
    var parts = text.split(separator: "-", omittingEmptySubsequences: false).map(String.init)
    if parts.count == 4 { parts.remove(at: 1) }
    guard parts.count == 3, parts.allSatisfy({ !$0.isEmpty }),
      ["paytheory", "paytheorystudy", "paytheorylab"].contains(parts[1])
    else { return nil }
    partner = parts[0]
    stage = parts[1]
  }
}
