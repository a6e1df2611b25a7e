import TenderEngine
import TenderModel

/// Performs the steps of an authorization flow for one payment or mandate.
struct FlowRunner {
  let context: TrueLayerContext
  let client: Client
  let progress: Progress
  /// The listener for the payer's return; nil if the payer returns to another program.
  let visit: (any RedirectVisit)?

  /// Runs the flow from the current resource to the end of this run.
  func run(_ resource: Resource) throws(Fault) -> Outcome {
    // The payer, or the consent of an earlier run, may have moved the bank since. A status that is not
    // documented does not show that.
    let seen = progress.payment.providerStatus
    let hasBegun =
      progress.attempt.hasConsent
      || ["authorizing", "attempt_failed", "authorized", "executed"].contains(seen)
    var flow = AuthorizationFlow(
      listens: visit != nil,
      retries: context.options.retries,
      starts: hasBegun ? 1 : 0
    )
    let patience = Patience(context)
    var current = resource
    var stale = 0
    var isGiven = hasBegun || ![nil, "authorization_required"].contains(seen)
    var isShown = false
    announce(current, after: nil)
    while true {
      let before = current
      progress.hands = hands(on: current, isGiven: isGiven, isShown: isShown)
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
            // Programs get the same choices as people.
            return current.awaiting(answers.offered(next), error)
          }
          current = try submit(submission, current)
          isGiven = isGiven || submission.isEffecting
        case .redirect(let address):
          try show(address, isAwaited: true)
          isShown = true
          progress.hands = .payers
          current = try awaitPayer(current, patience)
        case .look: current = try awaitPayer(current, patience)
        case .end:
          if case .redirect(let address)? = current.next, current.status == "authorizing" {
            try show(address, isAwaited: false)
          }
          return current.outcome
        }
        // An answer of ours is still given after the time limit.
        if current.isOpen, patience.left == 0, current.status == before.status,
          current.next?.isAnswered != true
        {
          return current.outcome
        }
      } catch {
        if error.cause == .genericConflict, !progress.isUnderWay, stale < 3,
          let seen = try? look(current.kind, current.id), seen.hasMoved(from: before)
        {
          // The payer, or an earlier process that ended, answered this step first.
          stale += 1
          current = seen
          continue
        }
        guard error.kind == .interrupted || error.kind == .cancelled, !progress.isUnderWay else {
          throw error
        }
        return try giveUp(current)
      }
      announce(current, after: before)
    }
  }

  /// Returns who can go on with the flow while no process watches it.
  ///
  /// `isGiven`: a consent or form was accepted, or an earlier run began. `isShown`: the payer was sent to the
  /// bank.
  private func hands(on resource: Resource, isGiven: Bool, isShown: Bool) -> Progress.Hands {
    switch (resource.status, resource.next) {
    case ("authorizing", nil), ("authorizing", .wait): .banks
    // The payer may have authorized it since the last look.
    case ("authorizing", .redirect): isShown ? .payers : .own
    // A state before the one that was seen is an older one: the look lags.
    case ("authorization_required", _): isGiven ? .payers : .own
    // The payer cannot continue without an answer from this process.
    case ("authorizing", _), ("attempt_failed", _): .own
    default: isGiven ? .banks : .own
    }
  }

  private func announce(_ resource: Resource, after before: Resource?) {
    if resource.status != before?.status {
      progress.enter(resource.documentedStatus, isLast: resource.shownStatus.isFinal)
    }
    if case .wait? = resource.next, before?.next != resource.next { progress.enter("wait") }
  }

  /// Reads the current resource.
  ///
  /// Throws `provider_error` if the answer is about another amount or currency.
  func look(_ kind: Payment.Kind, _ id: String) throws(Fault) -> Resource {
    let resource = try client.resource(kind, id)
    try resource.check(against: progress.payment)
    return resource
  }

  /// Returns the resource after an answer to a creation or a step.
  ///
  /// Such an answer does not name amount and currency. So an end, or an authorization, counts only once a look
  /// shows it.
  func confirmed(_ answered: Resource) throws(Fault) -> Resource {
    guard answered.isEnd || answered.status == "authorized" else { return answered }
    return try look(answered.kind, answered.id)
  }

  private func start(_ resource: Resource) throws(Fault) -> Resource {
    try post("/authorization-flow", capabilities(resource.kind), resource)
  }

  /// Returns the capabilities that this program declares for a flow (README, 4.2).
  private func capabilities(_ kind: Payment.Kind) -> JSONObject {
    let redirect: JSON = ["return_uri": .string(context.configuration.redirectURL)]
    guard kind == .payment else {
      return ["provider_selection": [:], "redirect": redirect, "consent": [:]]
    }
    let scopes: JSON = ["scopes": ["accounts", "balance"]]
    let consent: JSON = [
      "pis": [:], "ais": context.options.consentsToAccountData ? scopes : nil,
    ]
    return [
      "provider_selection": [:], "scheme_selection": [:], "branch_selection": [:],
      "redirect": redirect, "form": ["input_types": ["text", "text_with_image", "select"]],
      "consent": ["action_type": "explicit", "requirements": consent],
      // Without this member, saved accounts are not offered and no choice among them is needed.
      "user_account_selection": context.options.account == nil ? nil : [:],
      "retry": context.options.retries ? [:] : nil,
    ]
  }

  private func submit(_ submission: Submission, _ resource: Resource) throws(Fault) -> Resource {
    if submission.isEffecting { try progress.willSend(isConsent: true) }
    var next: Resource
    do throws(Fault) {
      next = try post(
        "/authorization-flow/actions/\(submission.action)",
        submission.body,
        resource,
        permits: submission.isEffecting ? progress : nil
      )
    } catch {
      guard submission.isEffecting, error.isProven else { throw error }
      next = try seen(resource, after: error)
    }
    if submission.isEffecting {
      try progress.remember(next.outcome, note: "\(submission.action) given")
    }
    return next
  }

  /// Returns the resource after a consent or form that was refused, if a look shows that the flow went on all the
  /// same.
  ///
  /// Throws the refusal if the look still shows the step. Without a look, the bank may have the consent.
  private func seen(_ resource: Resource, after refusal: Fault) throws(Fault) -> Resource {
    progress.hands = .banks
    let seen = try look(resource.kind, resource.id)
    guard seen.hasMoved(from: resource) else {
      progress.hands = .own
      throw refusal
    }
    return seen
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
    // Each submission has a separate key, because the same form may be sent twice on purpose.
    let answer = try client.post(
      Paths.resource(resource.kind, resource.id) + tail,
      writer.bytes,
      .resource(resource.id, resource.kind),
      permits,
      about: resource.kind
    )
    var answered = resource
    (answered.body, answered.traceID) = (answer.body, answer.traceID)
    try answered.check(against: progress.payment)
    guard answer.body.text("status") != nil else {
      throw .unexpectedBehaviour("an answer without status", traceID: answer.traceID)
    }
    return try confirmed(resource.after(answer.body, traceID: answer.traceID))
  }

  /// Waits for the payer, or for a pause, and then looks.
  private func awaitPayer(_ resource: Resource, _ patience: Patience) throws(Fault) -> Resource {
    try progress.save()
    let pause = min(context.options.interval, max(1, patience.left))
    // It waits in steps of a second, so that the time left is shown.
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
      // Any page in the browser can visit the listener. Only the first few visits shorten the wait.
      if !patience.hurries { try context.clock.pause(milliseconds: pause) }
      break
    }
    do throws(Fault) {
      return try look(resource.kind, resource.id)
    } catch {
      // The payer may still be at the bank, so one failed look does not end the wait.
      let isPassing = error.kind == .notSent || error.kind == .providerError
      guard isPassing, patience.left > 0 else { throw error }
      return resource
    }
  }

  /// Stops for the operator or the payer.
  ///
  /// A payment is cancelled. A mandate cannot be cancelled: it is left to expire, and is not final before.
  func giveUp(_ resource: Resource) throws(Fault) -> Outcome {
    context.interruption.acknowledge()
    var ended = resource
    progress.hands = hands(on: resource, isGiven: true, isShown: true)
    if resource.kind == .payment {
      do throws(Fault) {
        ended = try cancel(resource)
      } catch {
        // The payment continued meanwhile, so its current state is the answer.
        guard error.kind == .conflict, !progress.isUnderWay,
          let seen = try? look(resource.kind, resource.id), !seen.isOpen
        else { throw error }
        ended = seen
      }
      if ended.shownStatus != .cancelled {
        var outcome = ended.outcome
        // The payment continued, or does not show the cancellation yet. It must be looked at again.
        if !outcome.status.isFinal { outcome.fault = .cancelPending(ended) }
        return outcome
      }
    }
    var outcome = ended.outcome
    let isLeft = resource.kind == .mandate && ended.isOpen
    let fault = isLeft ? Fault.leftToExpire(ended) : .userCanceled(ended)
    outcome.fault = fault
    outcome.result = fault.result ?? [:]
    // TrueLayer cannot cancel a mandate that its payer can still authorize, so it stays open.
    outcome.status = isLeft ? .requiresAction : .cancelled
    if !isLeft { outcome.nextAction = nil }
    return outcome
  }

  /// Cancels a payment (README, 8.1) and looks at it. Only the look counts, not the answer.
  ///
  /// Throws if no look succeeds.
  func cancel(_ resource: Resource, key: String? = nil) throws(Fault) -> Resource {
    try progress.willSend()
    _ = try client.post(
      Paths.resource(resource.kind, resource.id) + "/actions/cancel",
      key: key,
      .resource(resource.id, resource.kind),
      progress,
      about: resource.kind
    )
    // The cancellation was accepted. It may take a moment until the payment shows it.
    guard let seen = lookAfterwards(resource, until: { !$0.isOpen }) else {
      throw .unexpectedBehaviour("a cancellation that cannot be looked at")
    }
    return seen
  }

  /// Looks a few times until a resource shows a change; nil if every look fails.
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

  /// Shows the payer the address to open.
  ///
  /// Throws `provider_error` for an address that a payer must not be sent to.
  private func show(_ address: String, isAwaited: Bool) throws(Fault) {
    guard Redirection.isUsable(address) else {
      throw .unexpectedBehaviour("a redirect to an address that is not of the web")
    }
    context.redactor.showWhole(address)
    try progress.save()
    try context.guide.show(address, isAwaited: isAwaited)
  }
}

/// The time limit for the payer. It ends when the payment expires by the wall clock, or a little later
/// by the monotonic clock.
private final class Patience {
  /// The number of visits that are followed by an immediate look.
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

  /// The remaining milliseconds; 0 after the limit.
  var left: Int { max(0, min(end - clock.now, deadline.remaining)) }

  /// Counts a visit. Returns false if the visit must not shorten the wait.
  var hurries: Bool {
    visits = min(visits + 1, Self.mostHurried + 1)
    return visits <= Self.mostHurried
  }
}
