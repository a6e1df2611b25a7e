import TenderEngine
import TenderModel

/// The steps before a card is read: preparing the reader, and waiting for a card.
extension ReaderSession {
  mutating func setUp(_ commands: [ReaderCommand], _ event: Event) -> [Action] {
    guard case .answer(let command, let message) = event else {
      if case .quiet = event { return fail(.deviceError, "the reader does not answer") }
      return []
    }
    let objects = message.template.objects
    let mayFail = command != .reset && command != .encryptionStatus && command != .touchStatus
    guard mayFail || message.status == 0x9000 else {
      return fail(status: message.status, during: command.name)
    }
    switch command {
    case .reset:
      serial = objects[tag: 0x9f1e].map { String(decoding: $0.prefix(35), as: UTF8.self) }
      let refused = configuration.refusedReaders?.serials
      if let serial, refused?.contains(serial) == true { return refuseReader() }
    case .deviceInfo:
      hasContactless = Self.hasContactless(objects)
    case .encryptionStatus:
      // Bit 2: card data is encrypted. Bit 1: PINs are encrypted.
      guard let status = objects[tag: 0xdfae01]?.first, status & 0x06 == 0x06 else {
        return fail(.deviceError, "the reader has no keys to encrypt card data and PINs with")
      }
    default: break
    }
    let rest = Array(commands.dropFirst())
    if let next = rest.first {
      go(to: .settingUp(rest), atMost: 5000)
      return [.send(next)]
    }
    guard !order.gratuityMenu.isEmpty else { return beginArming() }
    go(to: .menu, atMost: configuration.cardTimeout)
    return [.enter(.awaitingGratuity), .send(.gratuityMenu(order.gratuityMenu, of: money))]
  }

  /// Returns whether the reader lists contactless, or has no list.
  private static func hasContactless(_ objects: [TLV]) -> Bool {
    for (name, value) in zip(objects, objects.dropFirst())
    where name.tag == 0xdf0d && value.tag == 0xdf7f {
      if String(decoding: name.value, as: UTF8.self).lowercased() == "contactless" {
        return value.value != Array("0".utf8)
      }
    }
    return true
  }

  mutating func chooseGratuity(_ event: Event) -> [Action] {
    switch event {
    case .answer(_, let message):
      if isStopping { return fail(.operatorCancelled, "the operator cancelled") }
      guard message.status == 0x9000 else {
        return message.status == 0x9f42
          ? fail(.transactionTimeout, "no gratuity was chosen in time")
          : fail(status: message.status, during: "GET DYNAMIC TIP")
      }
      let objects = message.template.objects + (TLV.read(message.body) ?? [])
      guard let value = objects[tag: 0xdfa208], let choice = Self.number(value),
        order.gratuityMenu.indices.contains(choice - 1)
      else { return fail(.deviceError, "the reader's gratuity menu answered no listed choice") }
      let chosen = order.gratuityMenu[choice - 1]
      // Half a minor unit is rounded up.
      let amount = (order.amount.minorUnits * chosen + 50) / 100
      gratuity = amount
      money = Money(minorUnits: order.amount.minorUnits + amount, currency: money.currency)
      return beginArming()
    case .quiet:
      return isStopping
        ? fail(.operatorCancelled, "the operator cancelled")
        : fail(.transactionTimeout, "no gratuity was chosen in time")
    default: return cancelKey(event) ?? []
    }
  }

  /// Returns a number in ASCII digits, or in one byte.
  private static func number(_ bytes: [UInt8]) -> Int? {
    if bytes.count == 1, bytes[0] < 0x20 { return Int(bytes[0]) }
    return bytes.count <= 4 ? Int(String(decoding: bytes, as: UTF8.self)) : nil
  }

  mutating func beginArming() -> [Action] {
    go(to: .arming(Presented()), atMost: 5000)
    return [.enter(.awaitingCard), .send(.cardEvents)]
  }

  /// Waits for the report on the slot, which is the reader's only answer to CARD STATUS (README, 4.3).
  ///
  /// A contactless prompt that begins before the report confuses the reader. Some firmware also acknowledges
  /// the command, before or after the report. Some sends nothing.
  mutating func arm(_ presented: Presented, _ event: Event) -> [Action] {
    var presented = presented
    switch event {
    case .answer(let command, let message):
      guard command == .cardEvents else { return [] }
      guard message.status == 0x9000 else {
        return fail(status: message.status, during: command.name)
      }
      guard presented.isNothing else { return beginWaiting(presented) }
      hurry(300)
      return []
    case .unsolicited(let message): return presented.take(message) ? beginWaiting(presented) : []
    case .quiet: return beginWaiting(presented)
    default: return []
    }
  }

  private mutating func beginWaiting(_ presented: Presented) -> [Action] {
    guard presented.isNothing else { return goOn(presented) }
    guard hasContactless else { return ask("Insert or swipe", presented) }
    // The reader's own time limit ends first.
    go(to: .waiting(presented, isTapping: true), atMost: configuration.cardTimeout + 5000)
    return [.send(.start(contactless: true, money, isRefund: order.isRefund, at: time))]
  }

  /// The maximum number of prompts for a card in one sale.
  private static let mostRequests = 10

  /// Shows a prompt while no long command runs, so the cancel key works.
  private mutating func ask(_ text: String, _ presented: Presented) -> [Action] {
    requests += 1
    guard requests <= Self.mostRequests else {
      return fail(presented.fallback ?? .transactionTimeout, "no card could be read")
    }
    go(to: .waiting(presented, isTapping: false), atMost: configuration.cardTimeout)
    let amount = "\(money.currency.code) \(money.decimalText)"
    return [.send(.display("\(text)\n\(amount)")), .send(.keyEvents)]
  }

  mutating func wait(
    _ presented: Presented,
    _ isTapping: Bool,
    _ event: Event
  ) -> [Action] {
    var presented = presented
    switch event {
    case .answer(let command, let message):
      guard command.isLong else { return [] }
      if isStopping { return fail(.operatorCancelled, "the operator cancelled") }
      step = .waiting(presented, isTapping: false)
      return tapped(message, presented)
    case .unsolicited(let message):
      if !isTapping, let actions = cancelKey(event) { return actions }
      guard presented.take(message) else { return [] }
      step = .waiting(presented, isTapping: isTapping)
      if isStopping { return [] }
      guard isTapping else { return goOn(presented) }
      // The contactless command ends by itself. If it does not, it is aborted.
      if !presented.isNothing { hurry(1500) }
      return []
    case .quiet:
      if isStopping { return fail(.operatorCancelled, "the operator cancelled") }
      if isTapping, !presented.isNothing {
        go(to: .waiting(presented, isTapping: false), atMost: 2000)
        return [.send(.abort)]
      }
      if let fallback = presented.fallback {
        return fail(fallback, "the chip could not be used, and no stripe was read")
      }
      return fail(.transactionTimeout, "no card was presented in time")
    default: return []
    }
  }

  private mutating func tapped(_ message: ReaderMessage, _ presented: Presented) -> [Action] {
    switch message.status {
    case 0x9000: return read(.contactless, message, presented)
    case 0x9f41 where !presented.isNothing, 0x9f43 where !presented.isNothing,
      0x9f44 where !presented.isNothing:
      return goOn(presented)
    case 0x9f43, 0x9f44:
      // The event with the reason is about to arrive.
      wait(atMost: 3000)
      return []
    case 0x9fc1: return ask("Insert or swipe", presented)
    case 0x9fc2: return ask("Insert, swipe or try another card", presented)
    case 0x9fc3: return ask("Insert the card", presented)
    case 0x9f28: return fallBack(.unsupportedCard, presented)
    case 0x9f30: return fallBack(.cardReadError, presented)
    default: return fail(status: message.status, during: "START CONTACTLESS TRANSACTION")
    }
  }

  /// Handles the slot and the stripe once no other command runs.
  private mutating func goOn(_ presented: Presented) -> [Action] {
    var presented = presented
    if let card = presented.stripe {
      presented.stripe = nil
      return swiped(card, presented)
    }
    switch presented.slot {
    case .chip:
      go(to: .chip(presented), atMost: configuration.cardTimeout + 5000)
      return [.send(.start(contactless: false, money, isRefund: order.isRefund, at: time))]
    case .unreadable: return fallBack(.cardReadError, presented)
    case .empty:
      step = .waiting(presented, isTapping: false)
      return []
    }
  }

  /// Allows the stripe, because the chip cannot be read.
  mutating func fallBack(_ reason: ToroError, _ presented: Presented) -> [Action] {
    var presented = presented
    presented.fallback = reason
    presented.slot = .empty
    return ask("Remove the card and swipe it", presented)
  }

  mutating func swiped(_ card: PresentedCard, _ presented: Presented) -> [Action] {
    var card = card
    guard card.encrypted != nil, let track = card.maskedTrack else {
      return fail(.magSwipeError, "the stripe could not be read")
    }
    if card.hasChip, presented.fallback == nil {
      return ask("This card has a chip: insert it", presented)
    }
    card.isFallback = presented.fallback != nil
    guard card.needsPIN else { return authorise(card) }
    go(to: .pin(card), atMost: configuration.cardTimeout + 5000)
    return [
      .enter(.awaitingPinEntry),
      .send(.onlinePIN(money, label: "PIN", track: Array(track.utf8))),
    ]
  }

  /// Handles the cancel key while keyboard events are on.
  private mutating func cancelKey(_ event: Event) -> [Action]? {
    guard case .unsolicited(let message) = event,
      message.template.objects[tag: 0xdfa205] == [0x1b]
    else { return nil }
    return fail(.customerCancelled, "the customer cancelled on the reader")
  }
}
