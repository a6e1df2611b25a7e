package import TenderModel

/// A page of help that belongs to no command.
package struct Topic: Sendable {
  package let name: String
  package let aliases: [String]
  package let summary: String
  private let section: PageFile.Section
  /// Returns the text that replaces a placeholder.
  private let part: @Sendable (String) -> [String]?

  /// The paragraphs. Lines that begin with a space are not wrapped.
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

/// A module's texts in the pages that all providers share.
package struct ModuleHelp: Sendable {
  /// The room whose file has its texts; nil without one.
  private let room: String?
  /// Variables besides those of its credentials.
  package let variables: [String]
  /// Variables with base addresses.
  package let addresses: [String]

  package init(_ room: String? = nil, variables: [String] = [], addresses: [String] = []) {
    self.room = room
    self.variables = variables
    self.addresses = addresses
  }

  /// Members of `profiles` in the page about files, as JSON, each on separate lines.
  package var profiles: [String] { paragraphs("profiles") }

  /// The assumptions of the promises about its payments.
  package var assumptions: [String] { paragraphs("assumptions") }

  /// The rules that decide its payments on the simulator.
  package var simulation: [String] { paragraphs("simulation") }

  /// The data that the provider's support asks for about a payment.
  package var quote: String? { paragraphs("quote").first }

  /// The provider's abilities. With `no` in front, it is what the provider cannot do.
  package var capabilities: [Capability] {
    guard let section = section("capabilities") else { return [] }
    return PageFile.certain { () throws(PageFile.Flaw) in try section.rows() }.map { row in
      let isSupported = row.words.first != "no"
      let name = row.words.dropFirst(isSupported ? 0 : 1).joined(separator: " ")
      return Capability(name, isSupported, row.text)
    }
  }

  var file: PageFile? { room.map { .embedded($0) } }

  private func section(_ title: String) -> PageFile.Section? {
    file?.sections.first { $0.title == title }
  }

  private func paragraphs(_ title: String) -> [String] {
    guard let section = section(title) else { return [] }
    return PageFile.certain { () throws(PageFile.Flaw) in try section.paragraphs() }
  }
}
