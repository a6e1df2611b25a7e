import TenderEngine
import TenderModel

/// Performs what an authorization flow decides, on one payment or mandate.
struct FlowRunner {
  let context: TrueLayerContext
  let client: Client
  let progress: Progress
  /// Where the payer is awaited; nil where they come back to somebody else.
  let visit: (any RedirectVisit)?

  /// Goes through the flow from how the resource stands to where this run ends.
  func run(_ resource: Resource) throws(Fault) -> Outcome {
    var flow = AuthorizationFlow(listens: visit != nil, retries: context.options.retries)
    let patience = Patience(context)
    var current = resource
    var stale = 0
    var isGiven = false
    var isShown = false
    announce(current, after: nil)
    while true {
      let before = current
      do throws(Fault) {
        switch try flow.receive(current) {
        case .start: current = try start(current)
        case .answer(let next):
          let answers = Answers(context: context, progress: progress)
          let submission: Submission
          do throws(Fault) {
            submission = try answers.submission(for: next, current)
          } catch {
            guard error.kind == .pending else { throw error }
            // What a program reads is what a person would be shown.
            return current.awaiting(answers.offered(next), error)
          }
          current = try submit(submission, current)
          isGiven = isGiven || submission.isEffecting
        case .redirect(let address):
          try show(address, isAwaited: true)
          isShown = true
          current = try awaitPayer(current, patience)
        case .look: current = try awaitPayer(current, patience)
        case .end:
          if case .redirect(let address)? = current.next, current.status == "authorizing" {
            try show(address, isAwaited: false)
          }
          return current.outcome
        }
        // Whatever it waits for: an answer of ours is still given.
        if current.isOpen, patience.left == 0, current.status == before.status,
          current.next?.isAnswered != true
        {
          return current.outcome
        }
      } catch {
        if error.cause == .genericConflict, error.effect == .none, stale < 3,
          let seen = try? look(current.kind, current.id), seen.hasMoved(from: before)
        {
          // An earlier step of a process that is no more, or of the payer's, came first.
          stale += 1
          current = seen
          continue
        }
        guard error.kind == .interrupted || error.kind == .cancelled, error.effect == .none else {
          throw unwatched(error, current, isGiven: isGiven, isShown: isShown)
        }
        return try giveUp(current)
      }
      announce(current, after: before)
    }
  }

  /// What a failure means where the bank may execute it while nobody here looks; `isGiven` says that a
  /// consent or a form was accepted, `isShown` that its payer was sent to the bank.
  private func unwatched(
    _ fault: Fault,
    _ resource: Resource,
    isGiven: Bool,
    isShown: Bool
  ) -> Fault {
    let isOurs: Set<Fault.Kind> = [.usage, .pending, .refused, .interrupted, .terminated, .hungUp]
    return switch (resource.status, resource.next) {
    case ("authorizing", nil), ("authorizing", .wait): fault.unwatched
    // Its payer may have authorized it since the last look.
    case ("authorizing", .redirect):
      !isShown || isOurs.contains(fault.kind) ? fault : fault.unwatched
    // It waits for its payer, who can do nothing without an answer from here.
    case ("authorizing", _), ("authorization_required", _), ("attempt_failed", _): fault
    default: isGiven ? fault.unwatched : fault
    }
  }

  private func announce(_ resource: Resource, after before: Resource?) {
    if resource.status != before?.status {
      progress.enter(resource.documentedStatus, isLast: resource.shownStatus.isFinal)
    }
    if case .wait? = resource.next, before?.next != resource.next { progress.enter("wait") }
  }

  /// The resource as it is now.
  ///
  /// Throws `provider_error` for an answer about another amount or currency.
  func look(_ kind: Payment.Kind, _ id: String) throws(Fault) -> Resource {
    let resource = try client.resource(kind, id)
    try resource.check(against: progress.payment)
    return resource
  }

  private func start(_ resource: Resource) throws(Fault) -> Resource {
    try post("/authorization-flow", capabilities(resource.kind), resource)
  }

  /// What this program can do in a flow, as it declares it (README, 4.2).
  private func capabilities(_ kind: Payment.Kind) -> JSONObject {
    let redirect: JSON = ["return_uri": .string(context.configuration.redirectURL)]
    guard kind == .payment else {
      return ["provider_selection": [:], "redirect": redirect, "consent": [:]]
    }
    var consent: JSONObject = ["pis": [:]]
    if context.options.consentsToAccountData {
      consent["ais"] = ["scopes": ["accounts", "balance"]]
    }
    var body: JSONObject = [
      "provider_selection": [:], "scheme_selection": [:], "branch_selection": [:],
      "redirect": redirect, "form": ["input_types": ["text", "text_with_image", "select"]],
      "consent": ["action_type": "explicit", "requirements": .object(consent)],
    ]
    // Without it saved accounts are never offered, and nobody has to choose among them.
    if context.options.account != nil { body["user_account_selection"] = [:] }
    if context.options.retries { body["retry"] = [:] }
    return body
  }

  private func submit(_ submission: Submission, _ resource: Resource) throws(Fault) -> Resource {
    if submission.isEffecting { try progress.willSend() }
    let next = try post(
      "/authorization-flow/actions/\(submission.action)",
      submission.body,
      resource,
      permits: submission.isEffecting ? progress : nil
    )
    if submission.isEffecting {
      try progress.remember(next.outcome, note: "\(submission.action) given")
    }
    return next
  }

  private func post(
    _ tail: String,
    _ body: JSONObject,
    _ resource: Resource,
    permits: Progress? = nil
  ) throws(Fault) -> Resource {
    var writer = JSONWriter()
    writer.write(.object(body))
    defer { writer.wipe() }
    // With a key of its own for each submission: the same form may rightly be sent twice.
    let answer = try client.post(
      Paths.resource(resource.kind, resource.id) + tail,
      writer.bytes,
      .resource(resource.id, resource.kind),
      permits,
      about: resource.kind
    )
    guard answer.body.text("status") != nil else {
      let fault = Fault.unexpectedBehaviour("an answer without status", traceID: answer.traceID)
      throw permits == nil ? fault : fault.afterSending
    }
    return resource.after(answer.body, traceID: answer.traceID)
  }

  /// Waits for the payer, or a while, and looks.
  private func awaitPayer(_ resource: Resource, _ patience: Patience) throws(Fault) -> Resource {
    try progress.save()
    let pause = min(context.options.interval, max(1, patience.left))
    // In steps of a second: whoever watches sees the time that is left.
    var rest = pause
    while rest > 0 {
      try context.interruption.check()
      context.guide.waits(left: patience.left)
      let step = min(rest, 1000)
      rest -= step
      guard let visit else {
        try context.clock.pause(milliseconds: step)
        continue
      }
      guard let query = try visit.wait(milliseconds: step) else { continue }
      if ReturnAddress(query: query).isGivenUp(resource.kind, resource.id) {
        throw .userCanceled(resource)
      }
      // Any page in the browser can visit: beyond a few, visits hurry nothing.
      if !patience.hurries { try context.clock.pause(milliseconds: pause) }
      break
    }
    do throws(Fault) {
      return try look(resource.kind, resource.id)
    } catch {
      // The payer may still be at the bank: one look that fails ends nothing.
      let isPassing = error.kind == .notSent || error.kind == .providerError
      guard isPassing, patience.left > 0 else { throw error }
      return resource
    }
  }

  /// The operator or payer stops it: a payment is cancelled; a mandate, which cannot be, is left to
  /// expire, and is not final before.
  func giveUp(_ resource: Resource) throws(Fault) -> Outcome {
    context.interruption.acknowledge()
    var ended = resource
    if resource.kind == .payment {
      do throws(Fault) {
        ended = try cancel(resource)
      } catch {
        // It went on meanwhile: how it stands is the answer.
        guard error.kind == .conflict, error.effect == .none,
          let seen = try? look(resource.kind, resource.id), !seen.isOpen
        else { throw unwatched(error, resource, isGiven: true, isShown: true) }
        ended = seen
      }
      if ended.shownStatus != .cancelled {
        var outcome = ended.outcome
        // It went on, or does not show it yet: it is looked at again before anything else is done.
        if !outcome.status.isFinal { outcome.fault = .cancelPending(ended) }
        return outcome
      }
    }
    var outcome = ended.outcome
    let isLeft = resource.kind == .mandate && ended.isOpen
    let fault = isLeft ? Fault.leftToExpire(ended) : .userCanceled(ended)
    outcome.fault = fault
    outcome.result = fault.result ?? [:]
    // TrueLayer cannot cancel a mandate that its payer can still authorize: it is as open as before.
    outcome.status = isLeft ? .requiresAction : .cancelled
    if !isLeft { outcome.nextAction = nil }
    return outcome
  }

  /// Cancels a payment (README, 8.1) and looks what became of it: what is seen is the truth,
  /// whatever the answer was.
  ///
  /// Throws with effect unknown where nothing can be seen.
  func cancel(_ resource: Resource, key: String? = nil) throws(Fault) -> Resource {
    try progress.willSend()
    _ = try client.post(
      Paths.resource(resource.kind, resource.id) + "/actions/cancel",
      key: key,
      .resource(resource.id, resource.kind),
      progress,
      about: resource.kind
    )
    // It was accepted; how the payment shows it may take a moment.
    guard let seen = lookAfterwards(resource, until: { !$0.isOpen }) else {
      throw Fault.unexpectedBehaviour("a cancellation that cannot be looked at").afterSending
    }
    return seen
  }

  /// Looks a few times until a resource shows what was done to it; nil where no look gets through.
  func lookAfterwards(_ resource: Resource, until isDone: (Resource) -> Bool) -> Resource? {
    var seen: Resource?
    for _ in 0..<5 {
      if let latest = try? look(resource.kind, resource.id) {
        seen = latest
        if isDone(latest) { return latest }
      }
      do throws(Fault) { try context.clock.pause(milliseconds: 300) } catch { break }
    }
    return seen
  }

  /// Shows the payer where to go.
  ///
  /// Throws `provider_error` for an address that is none for a payer.
  private func show(_ address: String, isAwaited: Bool) throws(Fault) {
    guard Redirection.isUsable(address) else {
      throw .unexpectedBehaviour("a redirect to an address that is not of the web")
    }
    context.redactor.showWhole(address)
    try progress.save()
    try context.guide.show(address, isAwaited: isAwaited)
  }
}

/// How long the payer is awaited: by the clock that a payment expires by, and in any case not much
/// longer on the one that nobody sets.
private final class Patience {
  /// How many visits are followed by a look at once.
  private static let mostHurried = 3

  private let clock: any Clock
  private let end: Int
  private let deadline: Deadline
  private var visits = 0

  init(_ context: TrueLayerContext) {
    clock = context.clock
    end = context.clock.now + context.options.patience
    deadline = Deadline(in: context.options.patience + 10_000, on: context.clock)
  }

  /// In milliseconds; 0 where it is over.
  var left: Int { max(0, min(end - clock.now, deadline.remaining)) }

  /// Counts a visit; false where it must not be followed by a look earlier than without it.
  var hurries: Bool {
    visits = min(visits + 1, Self.mostHurried + 1)
    return visits <= Self.mostHurried
  }
}
