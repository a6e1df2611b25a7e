import TenderEngine
package import TenderModel

/// Whoever answers what a flow asks and options leave open: a person at a terminal, or nobody.
package protocol FlowGuide: Sendable {
  /// Chooses one of several by its id; nil where nobody can be asked. Throws `cancelled` where the
  /// person gives up, `interrupted` at Ctrl-C.
  func choose(_ question: Question) throws(Fault) -> String?
  /// The values of a form by id, as far as options and files give them.
  func given(_ inputs: [FormInput]) throws(Fault) -> [String: String]
  /// Asks for one value; nil where nobody can be asked. Throws as `choose` does.
  func ask(_ input: FormInput) throws(Fault) -> String?
  /// Shows the address that the payer must open.
  func show(_ address: String, isAwaited: Bool) throws(Fault)
  /// Says something that is good to know.
  func note(_ text: String)
  /// Hears for how many milliseconds more the payer is awaited.
  func waits(left: Int)
}

extension FlowGuide {
  package func waits(left: Int) {}
}

/// Writes down what is known before anybody is asked or shown anything.
struct WritingFirst: FlowGuide, @unchecked Sendable {
  // Unchecked: a run is one thread's.
  let guide: any FlowGuide
  let progress: Progress

  func choose(_ question: Question) throws(Fault) -> String? {
    try progress.save()
    return try guide.choose(question)
  }

  func given(_ inputs: [FormInput]) throws(Fault) -> [String: String] { try guide.given(inputs) }

  func ask(_ input: FormInput) throws(Fault) -> String? {
    try progress.save()
    return try guide.ask(input)
  }

  func show(_ address: String, isAwaited: Bool) throws(Fault) {
    try progress.save()
    try guide.show(address, isAwaited: isAwaited)
  }

  func note(_ text: String) { guide.note(text) }

  func waits(left: Int) { guide.waits(left: left) }
}

/// Something to choose, with what there is.
package struct Question: Sendable {
  /// What is chosen: `bank`, `branch`, `scheme`, `account`.
  package let subject: String
  package let choices: [Choice]
  /// Further words by which a choice may be searched, by its id.
  package let aliases: [String: [String]]

  package init(subject: String, choices: [Choice], aliases: [String: [String]]) {
    self.subject = subject
    self.choices = choices
    self.aliases = aliases
  }
}
