/// A page of help that belongs to no command.
package struct Topic: Sendable {
  package let name: String
  /// Other words that people look for it by.
  package let aliases: [String]
  package let summary: String
  /// Paragraphs; those that begin with a space stand as they are.
  package let body: [String]

  /// A page; its paragraphs are wrapped by whoever prints them.
  package init(name: String, aliases: [String] = [], summary: String, body: [String]) {
    self.name = name
    self.aliases = aliases
    self.summary = summary
    self.body = body
  }
}

/// What a module says in the pages that all providers share.
package struct ModuleHelp: Sendable {
  /// Pages of its own.
  package var topics: [Topic] = []
  /// Members of `profiles` in the page about files, as JSON, each on lines of its own.
  package var profiles: [String] = []
  /// Variables besides those of its credentials.
  package var variables: [String] = []
  /// Variables that replace its base addresses.
  package var addresses: [String] = []
  /// What the promises about its payments rest on.
  package var assumptions = ""
  /// What decides its payments on the simulator.
  package var simulation: [String] = []

  /// What it wants to hear when it is asked about a payment.
  package var quote: String?

  /// Nothing to say yet.
  package init() {}
}
