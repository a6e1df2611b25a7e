private import TenderModel

/// Completion scripts for three shells (`completions/`). Each sends the line to `tender __complete` and shows
/// its answer.
///
/// Only the program knows the possible arguments, such as references and profiles. Nothing is sent over a
/// network.
package enum Completions {
  /// The first argument of a call for completion. No command of the catalogue has this name.
  package static let command = "__complete"
  /// An answer that asks the shell to complete file names.
  package static let files = ":files"
  /// An answer that asks the shell to complete folders.
  package static let folders = ":folders"

  /// Returns the script of a shell; nil if there is none.
  package static func script(for shell: String) -> String? {
    let names = ["bash": "tender.bash", "zsh": "_tender", "fish": "tender.fish"]
    return names[shell].map { EmbeddedText.named("../completions/" + $0) }
  }
}
