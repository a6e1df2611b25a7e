package import TenderModel

/// A page of help that belongs to no command.
package struct Topic: Sendable {
  package let name: String
  /// Other words that people look for it by.
  package let aliases: [String]
  package let summary: String
  private let section: PageFile.Section
  /// What code says in it, by the names of its placeholders.
  private let part: @Sendable (String) -> [String]?

  /// The paragraphs; those that begin with a space stay as they are.
  package var body: [String] {
    PageFile.certain { () throws(PageFile.Flaw) in try section.paragraphs(part) }
  }

  /// The topics of a file.
  package static func topics(
    in file: PageFile,
    _ part: @escaping @Sendable (String) -> [String]?
  ) throws(PageFile.Flaw) -> [Topic] {
    var topics: [Topic] = []
    for section in file.sections where section.title.hasPrefix("topic ") {
      topics.append(try Topic(section, part))
    }
    return topics
  }

  private init(
    _ section: PageFile.Section,
    _ part: @escaping @Sendable (String) -> [String]?
  ) throws(PageFile.Flaw) {
    try section.checkFields(["summary", "aliases"])
    name = String(section.title.dropFirst("topic ".count))
    summary = try section.required("summary")
    aliases = section.field("aliases")?.split(separator: " ").map(String.init) ?? []
    self.section = section
    self.part = part
  }
}

/// What a module says in the pages that all providers share.
package struct ModuleHelp: Sendable {
  /// The room whose file has its texts; nil where it has none.
  private let room: String?
  /// Variables besides those of its credentials.
  package let variables: [String]
  /// Variables that replace its base addresses.
  package let addresses: [String]

  /// What the file of a room says.
  package init(_ room: String? = nil, variables: [String] = [], addresses: [String] = []) {
    self.room = room
    self.variables = variables
    self.addresses = addresses
  }

  /// Members of `profiles` in the page about files, as JSON, each on lines of its own.
  package var profiles: [String] { paragraphs("profiles") }

  /// What the promises about its payments rest on.
  package var assumptions: [String] { paragraphs("assumptions") }

  /// What decides its payments on the simulator.
  package var simulation: [String] { paragraphs("simulation") }

  /// What it wants to hear when it is asked about a payment.
  package var quote: String? { paragraphs("quote").first }

  /// The file of its texts; nil where it has none.
  var file: PageFile? { room.map { .embedded($0) } }

  private func paragraphs(_ title: String) -> [String] {
    guard let section = file?.sections.first(where: { $0.title == title }) else { return [] }
    return PageFile.certain { () throws(PageFile.Flaw) in try section.paragraphs() }
  }
}
