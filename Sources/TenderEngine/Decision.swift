package import TenderModel

/// What a command does with an attempt.
package enum Plan: String, Sendable {
  case capture, release, reverse, refund, replay
  case findOut = "find_out"
}

/// What the same reference means for a new order: pure, from the latest attempt alone.
///
/// The rules are the contract's (section 4, "The same command again").
package enum Decision: Sendable {
  /// Open this attempt.
  case open(number: Int)
  /// Answer with the recorded result.
  case replay
  /// Find out first what an earlier attempt did; where it did nothing it is sent again only for the sake
  /// of the same order, never of another.
  case findOut(mayRepeat: Bool)
  /// Refuse.
  case refuse(Fault)

  /// Decides for an order's content; `newAttempt` is the operator's `--new-attempt`.
  ///
  /// `fingerprints` are the keyed hashes of what the journal does not keep as it was typed.
  package init(
    latest: Attempt?,
    content: JSONObject,
    fingerprints: JSONObject = [:],
    newAttempt: Bool
  ) {
    guard let latest else {
      self = .open(number: 1)
      return
    }
    switch (latest.phase, latest.status) {
    case (.sent, _):
      let isSame = Self.different(latest, content, fingerprints).isEmpty
      self = .findOut(mayRepeat: isSame && !newAttempt)
    case (.prepared, _):
      // Its process died before anything effecting was sent.
      self = .open(number: latest.number + 1)
    case (.done, _) where latest.isFreed:
      self = .open(number: latest.number + 1)
    case (.done, .declined), (.done, .cancelled), (.done, .expired), (.done, .revoked):
      guard latest.isFinal || !newAttempt else {
        // Stopped here, and its payer can still go on elsewhere.
        self = .refuse(.stillStands(latest))
        return
      }
      self =
        newAttempt
        ? .open(number: latest.number + 1) : Self.replay(latest, ifSameAs: content, fingerprints)
    case (.done, _):
      if newAttempt {
        self = .refuse(.stillStands(latest))
      } else {
        self = Self.replay(latest, ifSameAs: content, fingerprints)
      }
    }
  }

  private static func replay(
    _ latest: Attempt,
    ifSameAs content: JSONObject,
    _ fingerprints: JSONObject
  ) -> Decision {
    let different = different(latest, content, fingerprints)
    return different.isEmpty ? .replay : .refuse(.otherContent(latest, different: different))
  }

  /// The names of what is not the same in two orders.
  private static func different(
    _ latest: Attempt,
    _ content: JSONObject,
    _ fingerprints: JSONObject
  ) -> [String] {
    let names = Set(latest.content.members.map(\.key) + content.members.map(\.key)).sorted()
    return names.filter { name in
      // What was not kept as it was typed is known by its fingerprint alone.
      if let print = latest.fingerprints[name] { return print != fingerprints[name] }
      return latest.content[name] != content[name]
    }
  }
}

extension Fault {
  fileprivate static func otherContent(_ attempt: Attempt, different: [String]) -> Fault {
    Fault(
      .conflict,
      code: "reference_reused",
      "reference \(attempt.reference.quotedForMessage) was used with another "
        + different.joined(separator: ", "),
      hint: "use another --reference, or see: tender journal show \(attempt.reference)"
    )
  }

  fileprivate static func stillStands(_ attempt: Attempt) -> Fault {
    Fault(
      .conflict,
      code: "attempt_stands",
      "reference \(attempt.reference.quotedForMessage) already has a payment that is "
        + attempt.status.rawValue,
      hint: "--new-attempt is for declined, cancelled and expired ones; use another --reference"
    )
  }
}
