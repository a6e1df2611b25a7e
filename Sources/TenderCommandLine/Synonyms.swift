import TenderModel

/// Names of other tools for the commands.
package enum Synonyms {
  /// Each command with its other names.
  package static let words: [(command: String, typed: [String])] =
    """
    transact: charge pay payment payments purchase sale sell authorize authorise create buy
    refund REF: refunds give-back reimburse
    confirm REF: capture complete approve execute
    cancel REF: void reverse revoke undo abort stop
    payment-status ID: status lookup look-up get show retrieve check query dispute disputes chargeback
    payment-status ID --wait: listen watch webhook webhooks poll tail
    mandate-status ID: mandate mandates
    find: search grep where which twice duplicates
    journal list: list ls history log logs transactions
    journal show REF --receipt: receipt receipts print
    journal resume: resume recover retry
    tokenize: token vault store save
    config show: configure settings profile profiles whoami
    doctor: login logout auth init setup ping
    simulator serve: serve server mock simulate
    explain CODE: error errors code codes
    completion SHELL: completions
    help TOPIC: man manual docs topics
    """
    .split(separator: "\n").map { line in
      let sides = line.split(separator: ": ")
      return (String(sides[0]), sides[1].split(separator: " ").map(String.init))
    }

  /// Returns the option that other tools name so, or the same name.
  static func option(for typed: String) -> String {
    typed == "last4" || typed == "card" ? "last-four" : typed
  }

  /// The code of a currency by a name or sign that only one currency has; nil for any other.
  static func currency(for typed: String) -> String? {
    currencies.first { $0.names.contains(typed.lowercased()) }?.code
  }

  private static let currencies: [(code: String, names: [String])] =
    """
    JPY: yen yens jap ¥
    CNY: yuan rmb renminbi cnh
    GBP: pound pounds sterling stg quid ukp £
    EUR: euro euros €
    USD: dollar dollars us$ $ usdollar
    PLN: zloty złoty zl zł
    INR: rupee rupees rs ₹
    KRW: won ₩
    CHF: franc francs franken frank sfr
    """
    .split(separator: "\n").map { line in
      let sides = line.split(separator: ": ")
      return (String(sides[0]), sides[1].split(separator: " ").map(String.init))
    }

  /// The command with this other name; nil if there is none.
  static func command(for typed: String) -> String? {
    words.first { $0.typed.contains(typed.lowercased()) }?.command
  }
}
