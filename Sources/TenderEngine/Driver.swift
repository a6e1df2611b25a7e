import TenderModel

/// Does what the machine of an attempt asks for: first the journal, then whoever watches.
struct Driver {
  let journal: any Journal
  let clock: any Clock
  /// Whether the provider's states alone are announced.
  var namesItsStates: Bool
  /// Whether an outcome is the last that is written under the lock that is held.
  var isLast = true
  let announce: (String) -> Void

  /// Takes an event in and performs its actions; the attempt changes only where that was written.
  ///
  /// Gives why an outcome had to be set aside. Throws the journal's fault where nothing was written.
  @discardableResult
  func take(_ event: Attempt.Event, _ attempt: inout Attempt) throws(Fault) -> Fault? {
    var next = attempt
    var warning: Fault?
    for action in try next.receive(event, at: clock.now) {
      switch action {
      case .write(let note, let durability): try journal.update(&next, note: note, durability)
      case .conclude(let note): warning = try journal.conclude(&next, note: note, isLast: isLast)
      case .tryToConclude(let note):
        do throws(Fault) { warning = try journal.conclude(&next, note: note, isLast: isLast) } catch
        {
          warning = error
        }
      case .announce(let state): announce(state)
      case .say(let state): if !namesItsStates { announce(state) }
      }
    }
    attempt = next
    return warning
  }
}
