import TenderModel

/// The simulated bank's pages as HTML. They are readable on a phone, without scripts, and not by color alone.
enum BankHTML {
  /// The documented test users (TrueLayer/README, 10.4).
  static let users: [(name: String, meaning: String)] = [
    ("test_executed", "the payment is executed"),
    ("test_authorisation_failed", "the authorisation fails"),
    ("test_execution_rejected", "the bank rejects the payment after it was authorised"),
  ]

  static func login(_ resource: BankResource, wrongUser: String? = nil) -> String {
    let session = resource.flow?.session ?? ""
    let problem =
      wrongUser.map { name in
        "<p role=\"alert\" id=\"problem\"><strong>There is no user "
          + "\u{201c}\(MarkUp.escape(String(name.prefix(40))))\u{201d}.</strong></p>"
      } ?? ""
    let list = users.map { "<li><code>\($0.name)</code>: \($0.meaning)</li>" }.joined()
    return page(
      "Log in",
      bankName(resource),
      """
      \(summary(resource))
      \(problem)<form method="post" action="/login/\(session)">
      <p><label for="username">User name</label>
      <input id="username" name="username" autocomplete="off" autocapitalize="none" required \
      value="test_executed"\(wrongUser == nil ? "" : " aria-describedby=\"problem\"")></p>
      <p><button type="submit">Log in</button></p></form>
      \(cancelForm(session))
      <h2>Test users</h2><ul>\(list)</ul>
      """
    )
  }

  static func authorise(_ resource: BankResource, user: String) -> String {
    let session = resource.flow?.session ?? ""
    return page(
      resource.kind == .mandate ? "Authorise the mandate" : "Authorise the payment",
      bankName(resource),
      """
      \(summary(resource))
      <form method="post" action="/authorise/\(session)">
      <input type="hidden" name="user" value="\(MarkUp.escape(user))">
      <fieldset><legend>Pay from</legend>
      <p><label><input type="radio" name="account" value="1" checked> Current account, 50-00-00 \
      \u{2022}\u{2022}\u{2022}\u{2022}5601</label></p>
      <p><label><input type="radio" name="account" value="2"> Savings account, 50-00-00 \
      \u{2022}\u{2022}\u{2022}\u{2022}5602</label></p></fieldset>
      <p><button type="submit" name="action" value="Authorise">Authorise</button>
      <button type="submit" name="action" value="Reject" class="quiet">Reject</button></p></form>
      \(cancelForm(session))
      """
    )
  }

  static func message(_ title: String, _ text: String) -> String {
    page(title, "Simulated bank", "<p>\(MarkUp.escape(text))</p>")
  }

  /// A page in place of TrueLayer's hosted page. Its fragment has a payment's id and token.
  static let hosted = message(
    "Hosted page",
    "TrueLayer's own page is not part of the simulator. Start the authorization flow by the API."
  )

  private static func cancelForm(_ session: String) -> String {
    """
    <form method="post" action="/login/\(session)">
    <p><button type="submit" name="action" value="Cancel" class="quiet">Cancel</button></p></form>
    """
  }

  private static func bankName(_ resource: BankResource) -> String {
    resource.selection.bank.flatMap(BankCatalog.bank)?.name ?? "Simulated bank"
  }

  private static func summary(_ resource: BankResource) -> String {
    let order = resource.order
    var rows: [(String, String)] = []
    if let constraints = order.constraints {
      rows.append(("At most", amount(constraints.most, order.currency) + " a payment"))
    } else {
      rows.append(("Amount", amount(order.amount, order.currency)))
    }
    rows.append(("To", order.payee?.name ?? "the merchant"))
    if let account = order.payee?.number { rows.append(("Account", account)) }
    if let reference = order.payee?.reference { rows.append(("Reference", reference)) }
    let list = rows.map { "<div><dt>\($0.0)</dt><dd>\(MarkUp.escape($0.1))</dd></div>" }.joined()
    return "<dl>\(list)</dl>"
  }

  private static func amount(_ units: Int, _ code: String) -> String {
    guard let currency = Currency(code: code) else { return "\(units)" }
    return Money(minorUnits: units, currency: currency).decimalText + " " + code
  }

  private static func page(_ title: String, _ bank: String, _ body: String) -> String {
    """
    <!doctype html>
    <html lang="en"><head><meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>\(MarkUp.escape(title)) - \(MarkUp.escape(bank))</title>
    <style>
    body{font:1.125rem/1.5 system-ui,sans-serif;max-width:32rem;margin:2rem auto;padding:0 1rem}
    dl div{display:flex;gap:1rem}dt{min-width:6rem;font-weight:600}dd{margin:0}
    label{display:block}
    input:not([type=radio]){font:inherit;padding:.5rem;width:100%;box-sizing:border-box}
    button{font:inherit;padding:.6rem 1.2rem;min-height:2.75rem;background:#0b5fff;color:#fff;\
    border:2px solid #0b5fff;border-radius:.4rem}
    button.quiet{background:none;color:inherit;border-color:currentColor}
    :focus-visible{outline:3px solid #f90;outline-offset:2px}
    .note{border-top:1px solid;padding-top:.5rem;font-size:1rem}
    @media(prefers-color-scheme:dark){body{background:#111;color:#eee}}
    </style></head>
    <body><header><p>\(MarkUp.escape(bank))</p></header>
    <main><h1>\(MarkUp.escape(title))</h1>
    \(body)
    </main><footer><p class="note">A simulated bank. No money is moved here.</p></footer></body></html>

    """
  }
}
