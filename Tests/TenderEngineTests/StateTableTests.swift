import TenderEngine
import TenderModel
import Testing

/// The table of states and events, for every pair, and the published order of observations.
///
/// The expectations are written from TenderEngine/README, 3 to 5, and not taken from the code.
@Suite struct StateTableTests {
  @Test(arguments: Status.allCases)
  func `offers for resolve what some operation can be resolved as`(_ status: Status) {
    let can = Operation.Kind.allCases.contains { Operation($0, at: 0).resolution(status) != nil }
    #expect(status.isResolution == can)
  }

  typealias Event = Operation.Event
  typealias Name = Operation.State.Name

  /// The states that an answer can give an operation.
  static let answers: Set<Name> = [
    .waiting, .processing, .succeeded, .declined, .cancelled, .expired, .returned,
  ]

  /// For each event and state, the possible next states. A missing pair is impossible.
  static let table: [Event: [Name: Set<Name>]] = [
    .send: [
      .prepared: [.sent], .sent: [.sent], .waiting: [.sent], .processing: [.sent],
    ],
    .keep: [.prepared: [.prepared], .sent: [.sent], .waiting: [.waiting]],
    .enter: [.prepared: [.prepared], .sent: [.sent], .waiting: [.waiting]],
    .answer: [
      .prepared: answers, .sent: answers, .waiting: answers, .processing: answers,
      // A run may record the same state again before its end.
      .succeeded: [.succeeded], .declined: [.declined], .cancelled: [.cancelled],
      .expired: [.expired], .returned: [.returned],
    ],
    .revert: [.sent: [.sent, .waiting, .processing]],
    .lose: [.sent: [.sent], .waiting: [.sent], .processing: [.sent]],
    .fail: [.prepared: [.failed], .sent: [.failed]],
    .find: [.sent: answers],
    .observe: [
      .sent: answers,
      .waiting: answers,
      .expired: [.processing, .succeeded, .declined, .cancelled, .returned],
      .processing: [.processing, .succeeded, .declined, .cancelled, .returned],
      .succeeded: [.succeeded, .returned],
      .failed: [.processing, .succeeded, .declined, .cancelled, .returned],
    ],
    .resolve: [
      .sent: [.waiting, .succeeded, .declined, .cancelled, .expired, .failed],
      .waiting: [.waiting, .succeeded, .declined, .cancelled, .expired, .failed],
      .processing: [.waiting, .succeeded, .declined, .cancelled, .expired, .failed],
    ],
    .close: [
      .sent: [.succeeded, .declined, .cancelled, .expired],
      .waiting: [.succeeded, .declined, .cancelled, .expired],
      .processing: [.succeeded, .declined, .cancelled, .expired],
    ],
  ]

  @Test(arguments: Event.allCases)
  func `moves as the table says, for every pair of states`(_ event: Event) throws {
    #expect(Operation.State.all.map(\.name) == Name.allCases)
    for from in Operation.State.all {
      for next in Operation.State.all {
        let isPossible = Self.table[event]?[from.name]?.contains(next.name) ?? false
        let words = "\(from.name.rawValue) \(event.rawValue) \(next.name.rawValue)"
        #expect(Operation.isPossible(event, from: from, to: next) == isPossible, "\(words)")
        var operation = Operation.of(.charge, 5, from)
        operation.updatedAt = 1
        var thrown: Fault?
        do throws(Fault) { try operation.move(event, to: next, at: 2) } catch { thrown = error }
        #expect(thrown?.kind == (isPossible ? nil : .internal), "\(words)")
        #expect(operation.state == (isPossible ? next : from), "\(words)")
        #expect(operation.updatedAt == (isPossible ? 2 : 1), "\(words)")
      }
    }
  }

  /// The published order: the observed states that may follow a state.
  static let order: [Name: Set<Name>] = [
    .prepared: [],
    .sent: [.waiting, .processing, .succeeded, .declined, .cancelled, .expired, .returned],
    .waiting: [.waiting, .processing, .succeeded, .declined, .cancelled, .expired, .returned],
    .expired: [.processing, .succeeded, .declined, .cancelled, .returned],
    .processing: [.processing, .succeeded, .declined, .cancelled, .returned],
    .succeeded: [.succeeded, .returned],
    .failed: [.processing, .succeeded, .declined, .cancelled, .returned],
    .declined: [], .cancelled: [], .returned: [],
  ]

  @Test func `allows what the published order says, for every pair of states`() {
    for from in Operation.State.all {
      for next in Operation.State.all {
        let isAllowed = Self.order[from.name]?.contains(next.name) ?? false
        #expect(from.allows(next) == isAllowed, "\(from.name.rawValue) \(next.name.rawValue)")
      }
    }
    // The payer acts before the merchant.
    #expect(Operation.State.redirect.allows(.held))
    #expect(Operation.State.held.allows(.held))
    #expect(!Operation.State.held.allows(.redirect))
  }

  @Test func `is an order: what may follow may follow at once, and nothing goes back`() {
    let states = Operation.State.all + [.held]
    for one in states {
      for two in states where one.allows(two) && one != two {
        #expect(!two.allows(one), "\(one.name.rawValue) \(two.name.rawValue)")
        for three in states where two.allows(three) {
          #expect(
            one.allows(three),
            "\(one.name.rawValue) \(two.name.rawValue) \(three.name.rawValue)"
          )
        }
      }
    }
  }

  /// Every order in which true statements about one operation may arrive.
  @Test(
    arguments: [
      [.redirect, .held, .expired, .processing, .succeeded, .returned],
      [.redirect, .held, .expired, .processing, .declined],
      [.redirect, .held, .expired, .processing, .cancelled],
    ] as [[Operation.State]]
  )
  func `ends the same however what was observed arrives`(_ chain: [Operation.State]) throws {
    for subset in 1..<(1 << chain.count) {
      let said = chain.indices.filter { subset & (1 << $0) != 0 }.map { chain[$0] }
      for arrival in Self.permutations(said) {
        for start in [Operation.State.lost, .redirect] {
          var operation = Operation.of(.charge, 5, start)
          for state in arrival + arrival where operation.state.allows(state) {
            try operation.move(.observe, to: state, at: 0)
          }
          #expect(operation.state == said.last, "\(arrival.map(\.name.rawValue))")
        }
      }
    }
  }

  /// A reported outcome is never reversed (TenderEngine/README, 12).
  @Test func `keeps the first of two outcomes that contradict each other`() {
    let ends: [Operation.State] = [.succeeded, .declined, .cancelled]
    for one in ends {
      for two in ends where one != two { #expect(!one.allows(two)) }
    }
  }

  static func permutations<Element>(_ elements: [Element]) -> [[Element]] {
    guard elements.count > 1 else { return [elements] }
    return elements.indices.flatMap { index in
      var rest = elements
      let first = rest.remove(at: index)
      return permutations(rest).map { [first] + $0 }
    }
  }

  @Test func `says what is known about the money in each state`() {
    let effects: [Name: Fault.Effect] = [
      .prepared: .none, .sent: .unknown, .waiting: .done, .processing: .done, .succeeded: .done,
      .declined: .none, .cancelled: .none, .expired: .none, .failed: .none, .returned: .done,
    ]
    let inUse: Set<Name> = [.prepared, .sent, .waiting, .processing, .succeeded]
    for state in Operation.State.all {
      let operation = Operation.of(.refund, 5, state)
      #expect(operation.effect == effects[state.name])
      #expect(operation.isAlive == inUse.contains(state.name))
      #expect(operation.isUnknown == (state.name == .sent))
    }
  }
}
