import TenderEngine
import TenderModel

/// The events with a card: tap, chip, stripe and PIN.
extension SimulatedReader {
  /// Plays the customer while the reader waits for a card.
  func presentCard() {
    guard let sale else { return }
    switch scenario {
    case "tap", "tap_mobile":
      card = .mastercard
      end(
        card.answer(
          0xe4,
          sale,
          method: [0x1f, 3, 2],
          kernel: [2, 1],
          device: scenario == "tap_mobile" ? [0, 0x80] : nil
        )
      )
    case "swipe", "swipe_pin", "signature_refused":
      cardEvent([0, 7], stripe(service: scenario == "swipe_pin" ? "100" : "101", sale))
      end(status: 0x9f44)
    case "chip_swiped" where !hasSwiped:
      hasSwiped = true
      cardEvent([0, 7], stripe(service: "201", sale))
      end(status: 0x9f44)
      // The card has a chip, so the customer inserts it.
      cardEvent([3, 0])
    case "chip_unreadable":
      cardEvent([1, 0])
      end(status: 0x9f43)
      swipeInstead(sale)
    case "customer_cancel": end(status: 0x9f41)
    case "timeout": end(status: 0x9f42)
    case "no_card": break
    case "try_contact":
      end(status: 0x9fc1)
      cardEvent([3, 0])
    default:
      cardEvent([3, 0])
      end(status: 0x9f43)
    }
  }

  /// The customer removes the card, and its stripe is read.
  func swipeInstead(_ sale: SimulatedSale) {
    cardEvent([0, 0])
    cardEvent([0, 7], stripe(service: "201", sale))
  }

  func stripe(service: String, _ sale: SimulatedSale) -> [TLV] {
    [TLV(0xdfae22, Array(card.track(service: service).utf8))]
      + card.encrypted(sale.keySerial, service: service)
  }

  /// Plays the card and its customer after the chip is inserted.
  func readChip() {
    guard let sale else { return }
    switch scenario {
    case "card_removed":
      cardEvent([0, 0])
      return end(status: 0x9f23)
    case "unsupported_card": return end(status: 0x9f25)
    case "fallback":
      end(status: 0x9f28)
      return swipeInstead(sale)
    case "chip_error":
      end(status: 0x9f30)
      return swipeInstead(sale)
    case "card_declines": return end(card.answer(0xe5, sale, method: [0x1f, 0, 0]))
    case "application_choice":
      event(
        TLV(0xe6, holding: [TLV(0xc3, [3]), TLV(0xc4, Array("Select application".utf8))])
      )
      if struck("reader-choice") { return }
    case "chip_signature": return end(card.answer(0xe4, sale, method: [0x1e, 3, 0]))
    case "pin_slow":
      // This customer never finishes the PIN.
      return pinEvent("Enter PIN")
    default: break
    }
    pinEvent("Enter PIN")
    if struck("reader-pin") { return }
    switch scenario {
    case "pin_cancel": return end(status: 0x9f41)
    case "pin_bypass":
      // The terminal's results show that the PIN was not entered (EMV Book 3, annex C.5).
      end(card.answer(0xe4, sale, method: [0x44, 3, 1], results: [0, 0, 8, 0x80, 0]))
    case "wrong_pin":
      pinEvent("Incorrect PIN")
      pinEvent("Last PIN try")
      pinEvent("PIN OK")
      end(card.answer(0xe4, sale, method: [0x44, 3, 2]))
    case "online_pin": end(card.answer(0xe4, sale, method: [0x42, 3, 0]))
    default:
      pinEvent("PIN OK")
      end(card.answer(0xe4, sale, method: [0x44, 3, 2]))
    }
  }

  /// Passes the issuer's answer to the chip.
  func proceed(_ command: ReaderPackets.Command) {
    guard let sale, let objects = TLV.read(command.data)?.first?.objects else {
      return answer(status: 0x9f27)
    }
    if objects[tag: 0xc0] != nil {
      running = 0xded2
      return end(card.answer(0xe4, sale, method: [0x44, 3, 2]))
    }
    guard let code = objects[tag: 0x8a], code.count == 2 else { return answer(status: 0x9f27) }
    let isApproved = code == Array("00".utf8) && scenario != "declines_after"
    if scenario == "removed_after" {
      cardEvent([0, 0])
      return answer(status: 0x9f23)
    }
    answer(
      TLV(
        isApproved ? 0xe3 : 0xe5,
        holding: [
          TLV(0x9f26, sale.cryptogram), TLV(0x9f27, [isApproved ? 0x40 : 0]),
          TLV(0x95, [0, 0, 0, 0x80, 0]), TLV(0x9b, [0xf8, 0]), TLV(0x8a, code),
        ]
      )
    )
  }

  /// The PIN of a swiped card, as an ISO 9564 format 0 block under the reader's PIN key.
  func takePIN() {
    guard let sale else { return answer(status: 0x9f26) }
    switch scenario {
    case "pin_bypass": return answerBytes([0x0c])
    case "pin_cancel": return answerBytes([0x08])
    default: break
    }
    let number = card.number.dropLast().suffix(12)
    let account = Hex.decode("0000" + number) ?? []
    let pin = Hex.decode("041234FFFFFFFFFF") ?? []
    let key = CardKeys.key(CardKeys.current(CardKeys.base, serial: sale.keySerial), for: .pin)
    let block = CardKeys.tdes(key, zip(pin, account).map { $0 ^ $1 })
    answer(TLV(0xe1, holding: [TLV(0xdfae04, block), TLV(0xdfae05, sale.keySerial)]))
  }
}
