/// Everything that can be typed: the one definition that all else derives from.
package enum Catalogue {
  /// This version of the program.
  package static let version = "0.1.0"

  /// The providers of the vocabulary, and those that this version speaks to.
  package static let providers = ["paytheory", "toro", "truelayer"]

  /// Every command, in the order in which help lists them.
  package static let commands: [Command] = paymentCommands + supportCommands

  /// The command of some words; nil where there is none.
  package static func command(_ words: [String]) -> Command? {
    commands.first { $0.words == words }
  }

  /// The first words of two-word commands.
  package static var groups: [String] {
    var groups: [String] = []
    for command in commands where command.words.count == 2 && !groups.contains(command.words[0]) {
      groups.append(command.words[0])
    }
    return groups
  }

  /// Every option, whichever command takes it.
  package static let options: [Option] =
    moneyOptions + paymentOptions + instrumentOptions + creationOptions + flowOptions
    + refundOptions + readerOptions + filterOptions + controlOptions
    + simulatorOptions + generalOptions

  /// The option of a long name; nil where there is none.
  package static func option(_ name: String) -> Option? { options.first { $0.name == name } }
}
