import TenderModel

/// The style of tables: width in columns, and whether color may be used.
package struct TableStyle: Sendable {
  package var width: Int
  package var isColoured: Bool
  /// Converts a time to the local zone, shown beside UTC; nil if the zone is UTC.
  package var localTime: (@Sendable (String) -> String?)?

  package init(
    width: Int,
    isColoured: Bool,
    localTime: (@Sendable (String) -> String?)? = nil
  ) {
    self.width = width
    self.isColoured = isColoured
    self.localTime = localTime
  }
}

/// One value of a table in one line.
enum TableCell {
  /// Members with amounts of money in minor units, ours and the providers'. The statuses among them have
  /// sums. `unknown` counts payments.
  private static let moneyNames: Set<String> = Set(
    [
      "amount", "requested_amount", "captured_amount", "released_amount", "voided_amount",
      "refunded_amount", "refunding_amount", "charged", "captured", "refunding", "net",
      "returned_amount", "left", "left_afterwards", "this_refund", "authorisedAmount",
      "gratuityAmount", "service_fee", "fee", "fees", "gross_amount", "net_amount",
      "amount_in_minor", "maximum_individual_amount", "maximum_available_amount", "current_amount",
      "maximum_amount", "minimum_amount",
    ] + Status.allCases.filter { $0 != .unknown }.map(\.rawValue)
  )

  /// Returns whether a member of this name is an amount in minor units.
  static func isMoney(_ name: String) -> Bool { moneyNames.contains(name) }

  /// Returns one value in one line. Amounts of money are decimals with their currency.
  static func text(_ value: JSON, _ key: String, _ currency: Currency?) -> String {
    switch value {
    case .null: ""
    case .bool(let truth): truth ? "yes" : "no"
    case .integer(let number):
      if moneyNames.contains(key), let currency {
        Money(minorUnits: number, currency: currency).text
      } else {
        String(number)
      }
    case .number(let text): text
    case .string(let text): Printable.text(text)
    case .array(let elements): elements.map { text($0, "", currency) }.joined(separator: ", ")
    case .object(let inner):
      inner.members.map { "\(Printable.text($0.key))=\(text($0.value, $0.key, currency))" }
        .joined(separator: " ")
    }
  }

  static func dim(_ text: String, _ style: TableStyle) -> String {
    style.isColoured ? "\u{1b}[2m\(text)\u{1b}[0m" : text
  }

  static func paint(_ name: String, _ value: String, _ style: TableStyle) -> String {
    guard style.isColoured, name == "status", let status = Status(rawValue: value) else {
      return value
    }
    let colour =
      switch status.end {
      case .succeeded: 32
      case .declined, .failed, .returned: 31
      case nil where status == .unknown: 35
      case .cancelled, .refunded, nil: 33
      }
    return "\u{1b}[\(colour)m\(value)\u{1b}[0m"
  }
}
