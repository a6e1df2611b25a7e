import TenderEngine
import TenderModel

/// The steps after a card was read: PIN, acquirer, chip, signature.
extension ReaderSession {
  mutating func authorise(_ card: PresentedCard) -> [Action] {
    if let keySerial = card.encrypted?.serial,
      configuration.refusedReaders?.keySets.contains(Array(keySerial.prefix(5))) == true
    {
      return refuseReader()
    }
    self.card = card
    step = .deciding
    return [.enter(.authorising), .authorise(card)]
  }

  /// Handles the result of a chip transaction, with or without contact.
  mutating func read(
    _ interface: PresentedCard.Interface,
    _ message: ReaderMessage,
    _ presented: Presented
  ) -> [Action] {
    let (tag, objects) = message.template
    let read = PresentedCard(interface, objects)
    switch tag {
    case 0xe4:
      guard read.encrypted != nil else {
        return fail(.deviceError, "the reader did not encrypt the card's data")
      }
      return authorise(read)
    case 0xe2:
      // The reader asks for a choice although it should not. The first application has the highest priority.
      step = .chip(presented)
      return [.enter(.awaitingApplicationSelection), .send(.proceed([TLV(0xc0, [1])]))]
    case 0xe5:
      card = read
      return leave(.declinedByCard, "Declined")
    case 0xe3: return fail(.transactionError, "the card approved without the acquirer")
    default: return fail(.deviceError, "the reader answered with no card")
    }
  }

  mutating func readChip(_ presented: Presented, _ event: Event) -> [Action] {
    var presented = presented
    switch event {
    case .answer(let command, let message):
      guard command.isLong else { return [] }
      if isStopping { return fail(.operatorCancelled, "the operator cancelled") }
      switch message.status {
      case 0x9000: return read(.contact, message, presented)
      case 0x9f28: return fallBack(.unsupportedCard, presented)
      case 0x9f30: return fallBack(.cardReadError, presented)
      default: return fail(status: message.status, during: command.name)
      }
    case .unsolicited(let message):
      if presented.take(message) {
        step = .chip(presented)
        if presented.slot == .empty { hurry(2000) }
      }
      switch message.template.objects[tag: 0xc3] {
      case [2]: return [.enter(.awaitingPinEntry)]
      case [3]: return [.enter(.awaitingApplicationSelection)]
      default: return []
      }
    case .quiet:
      if isStopping { return fail(.operatorCancelled, "the operator cancelled") }
      return presented.slot == .empty
        ? fail(.cardReadError, "the card was removed")
        : fail(.transactionTimeout, "the card was not finished with in time")
    default: return []
    }
  }

  mutating func takePIN(_ card: PresentedCard, _ event: Event) -> [Action] {
    switch event {
    case .answer(let command, let message):
      guard command.isLong else { return [] }
      if isStopping { return fail(.operatorCancelled, "the operator cancelled") }
      guard message.status == 0x9000 else {
        return fail(status: message.status, during: command.name)
      }
      let objects = message.template.objects + (TLV.read(message.body) ?? [])
      var card = card
      if let block = objects[tag: 0xdfae04], let serial = objects[tag: 0xdfae05],
        serial.count == 10
      {
        card.pin = .entered(block: block, serial: serial)
        return authorise(card)
      }
      switch message.body {
      case [0x08]: return fail(.customerCancelled, "the customer did not enter a PIN")
      case [0x0c]:
        card.pin = .bypassed
        return authorise(card)
      default: return fail(.deviceError, "the reader could not encrypt the PIN")
      }
    case .quiet:
      return isStopping
        ? fail(.operatorCancelled, "the operator cancelled")
        : fail(.transactionTimeout, "no PIN was entered in time")
    default: return []
    }
  }

  mutating func finish(_ decision: Decision) -> [Action] {
    guard let card, card.interface == .contact else { return finished(decision) }
    go(to: .finishing(decision), atMost: 15_000)
    return switch decision {
    case .approved(let objects), .declined(let objects): [.send(.proceed(objects))]
    // Z3: unable to go online, declined (EMV Book 4, annex A6).
    case .unavailable: [.send(.proceed([TLV(0x8a, Array("Z3".utf8))]))]
    }
  }

  mutating func finished(_ decision: Decision, _ event: Event) -> [Action] {
    switch event {
    case .answer(let command, let message):
      guard command.isLong else { return [] }
      guard case .approved = decision else { return finished(decision) }
      switch (message.status, message.template.tag) {
      case (0x9000, 0xe3): return finished(decision)
      case (0x9000, 0xe5): return leave(.refusedByCard, "Declined")
      default:
        let (error, why) = meaning(of: message.status, during: command.name)
        return leave(.undo(error, why), "Cancelled")
      }
    case .quiet:
      guard case .approved = decision else { return finished(decision) }
      return isStopping
        ? leave(.undo(.operatorCancelled, "the operator cancelled"), "Cancelled")
        : leave(.undo(.deviceError, "the reader did not finish with the card"), "Cancelled")
    default: return []
    }
  }

  private mutating func finished(_ decision: Decision) -> [Action] {
    switch decision {
    case .unavailable(let lost): return leave(.released(lost), "Not completed")
    case .declined: return leave(.completed, "Declined")
    case .approved:
      guard card?.wantsSignature == true, !order.isRefund else {
        return leave(.completed, "Approved")
      }
      if isStopping { return leave(.signatureFailed(.operatorCancelled), "Cancelled") }
      guard signsOnDevice else {
        step = .signing
        return [.enter(.awaitingSignature), .takeSignature]
      }
      go(to: .touching(.beginning), atMost: 5000)
      return [.enter(.awaitingSignature), .send(.beginTouch)]
    }
  }

  mutating func compare(_ signature: [UInt8]?) -> [Action] {
    guard let signature, !signature.isEmpty else {
      return leave(.signatureFailed(.customerCancelled), "Cancelled")
    }
    self.signature = signature
    step = .comparing
    return [.compare(signature)]
  }

  /// Takes a signature on the reader's screen. Touch areas 1, 2 and 3 cancel, clear and accept.
  mutating func take(_ touch: Touch, _ event: Event) -> [Action] {
    switch (touch, event) {
    case (.drawing, .unsolicited(let message)):
      guard let area = message.template.objects[tag: ReaderCommand.touchedArea]?.first else {
        return []
      }
      switch area {
      case 1: return leave(.signatureFailed(.customerCancelled), "Cancelled")
      case 2: return [.send(.clearTouch)]
      case 3:
        go(to: .touching(.ending), atMost: 5000)
        return [.send(.endTouch)]
      default: return []
      }
    case (_, .quiet): return leave(.signatureFailed(.customerCancelled), "Cancelled")
    case (.drawing, _): return []
    case (_, .answer(let command, let message)) where !command.isSilent:
      if case .reading(let bytes, let size) = touch { return read(bytes, size, message) }
      guard message.status == 0x9000 else {
        let (error, why) = meaning(of: message.status, during: command.name)
        return leave(.undo(error, why), "Cancelled")
      }
      switch touch {
      case .beginning:
        go(to: .touching(.drawing), atMost: configuration.cardTimeout)
        return []
      case .ending:
        go(to: .touching(.exporting), atMost: 5000)
        return [.send(.exportTouch)]
      case .exporting:
        go(to: .touching(.selecting), atMost: 5000)
        return [.send(.selectSignature)]
      default:
        let size = message.template.objects[tag: 0x80] ?? TLV.read(message.body)?[tag: 0x80]
        let count = size.flatMap(Self.size)
        guard count != 0 else { return compare(nil) }
        // The limit is for all pieces, on a line of any speed.
        go(to: .touching(.reading([], size: count)), atMost: configuration.cardTimeout)
        return [.send(.read(at: 0, count: count ?? ReaderCommand.pieceLength))]
      }
    default: return []
    }
  }

  /// The maximum size of a signature's picture, in bytes.
  private static let pictureLimit = 1 << 20

  /// Returns a file's size; nil if a picture cannot have it.
  private static func size(_ bytes: [UInt8]) -> Int? {
    guard (1...8).contains(bytes.count) else { return nil }
    var size = 0
    for byte in bytes {
      size = size << 8 | Int(byte)
      guard size <= pictureLimit else { return nil }
    }
    return size
  }

  /// Receives a piece of the signature's picture. If the size is not known, a short piece is the last.
  private mutating func read(
    _ bytes: [UInt8],
    _ size: Int?,
    _ message: ReaderMessage
  ) -> [Action] {
    let whole = bytes + (message.status == 0x9000 ? message.body : [])
    let isLast =
      size.map { whole.count >= $0 } ?? (message.body.count < ReaderCommand.pieceLength)
    guard message.status == 0x9000, !message.body.isEmpty, !isLast,
      whole.count < Self.pictureLimit
    else { return compare(whole) }
    step = .touching(.reading(whole, size: size))
    let left = size.map { $0 - whole.count } ?? ReaderCommand.pieceLength
    return [.send(.read(at: whole.count, count: left))]
  }
}
