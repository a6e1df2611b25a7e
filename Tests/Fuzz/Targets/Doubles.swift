import TenderCommands
import TenderEngine
import TenderModel
import TenderSimulator
import Toro
import TrueLayer

/// The names of the simulator's options.
enum Names {
  private static let scenarios = Providers().simulated.flatMap(\.scenarios).map(\.name)
  private static let faults = Providers().simulated.flatMap(\.faults.words).map(\.name)

  static let bank = scenarios.filter {
    $0.hasPrefix("bank") || $0.hasPrefix("mandate") || $0.hasPrefix("refund")
  }
  static let reader = scenarios.filter { $0.hasPrefix("card") || $0.hasPrefix("gateway") }
  static let payTheory = scenarios.filter { !bank.contains($0) && !reader.contains($0) }
  static let bankFaults = faults
  static let readerFaults = faults
  static let payTheoryFaults = faults
}

/// A guide whose answers come from the input.
struct AnyGuide: FlowGuide {
  let feed: SharedFeed

  init(_ feed: SharedFeed) { self.feed = feed }

  func choose(_ subject: String, among choices: [Choice]) throws(Fault) -> String? {
    feed.take { $0.one(of: choices.map(\.id) + ["x"]) }
  }

  func given(_ inputs: [FormInput]) throws(Fault) -> [String: String] {
    var values: [String: String] = [:]
    for input in inputs where feed.take({ $0.below(4) }) > 0 { values[input.id] = try ask(input) }
    return values
  }

  func ask(_ input: FormInput) throws(Fault) -> String? {
    if let choice = input.options.first, feed.take({ $0.below(3) }) > 0 { return choice.id }
    return feed.take { $0.one(of: ["hunter2-hunter2", "123456", "", "remi", nil]) }
  }

  func show(_ address: String, isAwaited: Bool) throws(Fault) {}

  func note(_ text: String) {}
}

struct AnyAttendant: Attendant {
  let feed: SharedFeed

  init(_ feed: SharedFeed) { self.feed = feed }

  var canCompare: Bool { true }

  func signature() throws(Fault) -> [UInt8]? { feed.take { $0.below(4) == 1 ? nil : [1, 2, 3] } }

  func signatureMatches() throws(Fault) -> Bool { feed.take { $0.below(4) != 1 } }
}
