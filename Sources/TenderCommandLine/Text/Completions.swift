internal import TenderModule

/// Completion scripts for three shells, from the catalogue.
package struct Completions {
  private let catalogue: Catalogue

  /// Text about what a catalogue defines.
  package init(_ catalogue: Catalogue) { self.catalogue = catalogue }

  /// The file name of each script and its text.
  package var all: [(file: String, text: String)] {
    [("tender.bash", bash), ("_tender", zsh), ("tender.fish", fish)]
  }

  /// The script of a shell by name; nil for any other.
  package func script(for shell: String) -> String? {
    switch shell {
    case "bash": bash
    case "zsh": zsh
    case "fish": fish
    default: nil
    }
  }

  private var firstWords: [String] {
    var words: [String] = []
    for command in catalogue.commands where !words.contains(command.words[0]) {
      words.append(command.words[0])
    }
    return words
  }

  private func secondWords(_ group: String) -> [String] {
    catalogue.commands.filter { $0.words.count == 2 && $0.words[0] == group }.map { $0.words[1] }
  }

  private var choices: [Option] { catalogue.options.filter { !$0.choices.isEmpty } }

  private func flags(_ completion: Option.Completion) -> [Option] {
    catalogue.options.filter { $0.completion == completion }
  }

  private static func spellings(_ option: Option) -> [String] {
    ["--" + option.name] + (option.short.map { ["-\($0)"] } ?? [])
  }

  /// Options whose next word is a value, so that it is not taken for a command.
  private var valued: [String] {
    catalogue.options.flatMap { option -> [String] in
      guard case .required = option.value else { return [] }
      return Self.spellings(option)
    }
  }

  private var operandChoices: [(name: String, words: [String])] {
    var found: [(String, [String])] = []
    for command in catalogue.commands {
      for operand in command.operands where !operand.choices.isEmpty {
        found.append((command.name, operand.choices))
      }
    }
    let topics = Topic.all(catalogue.modules).map(\.name).filter { !firstWords.contains($0) }
    return found + [("help", firstWords + topics)]
  }

  private var bash: String {
    var text = """
      # bash completion for tender; made from its catalogue, do not edit
      _tender() {
        local word="${COMP_WORDS[COMP_CWORD]}" before="${COMP_WORDS[COMP_CWORD-1]}"
        local i first="" second="" skip=""
        COMPREPLY=()
        case "$before" in

      """
    for option in choices {
      text += "    \(Self.spellings(option).joined(separator: "|")))\n"
      text +=
        "      COMPREPLY=($(compgen -W \"\(option.choices.joined(separator: " "))\" -- \"$word\"))\n"
      text += "      return ;;\n"
    }
    for (kind, flag) in [(Option.Completion.files, "-f"), (.folders, "-d")] {
      let names = flags(kind).flatMap(Self.spellings).joined(separator: "|")
      text += "    \(names))\n      compopt -o filenames 2>/dev/null\n"
      text += "      COMPREPLY=($(compgen \(flag) -- \"$word\"))\n      return ;;\n"
    }
    let plain = catalogue.options.filter { option in
      guard case .required = option.value else { return false }
      return option.choices.isEmpty && option.completion == .nothing
    }
    text += "    \(plain.flatMap(Self.spellings).joined(separator: "|")))\n      return ;;\n"
    text += """
        esac
        for ((i = 1; i < COMP_CWORD; i++)); do
          if [[ -n $skip ]]; then skip=""; continue; fi
          case "${COMP_WORDS[i]}" in
            \(valued.joined(separator: "|"))) skip=1 ;;
            -*) ;;
            *) if [[ -z $first ]]; then first="${COMP_WORDS[i]}"
               elif [[ -z $second ]]; then second="${COMP_WORDS[i]}"; fi ;;
          esac
        done
        if [[ -z $first && $word != -* ]]; then
          COMPREPLY=($(compgen -W "\(firstWords.joined(separator: " "))" -- "$word"))
          return
        fi
        case "$first" in

      """
    for group in catalogue.groups {
      text += "    \(group))\n      if [[ -z $second && $word != -* ]]; then\n"
      text +=
        "        COMPREPLY=($(compgen -W \"\(secondWords(group).joined(separator: " "))\" -- \"$word\"))\n"
      text += "        return\n      fi ;;\n"
    }
    for (name, words) in operandChoices where !name.contains(" ") {
      text += "    \(name))\n      if [[ $word != -* ]]; then\n"
      text += "        COMPREPLY=($(compgen -W \"\(words.joined(separator: " "))\" -- \"$word\"))\n"
      text += "        return\n      fi ;;\n"
    }
    text += "  esac\n  case \"$first $second\" in\n"
    for command in catalogue.commands {
      let pattern =
        command.words.count == 2 ? "\"\(command.name)\"" : "\"\(command.words[0]) \"*"
      let names = command.options.map { "--" + $0.name }.joined(separator: " ")
      text += "    \(pattern)) COMPREPLY=($(compgen -W \"\(names)\" -- \"$word\")) ;;\n"
    }
    let general = catalogue.generalOptions.map { "--" + $0.name }.joined(separator: " ")
    text += "    *) COMPREPLY=($(compgen -W \"\(general)\" -- \"$word\")) ;;\n"
    text += "  esac\n}\ncomplete -F _tender tender\n"
    return text
  }

  private var zsh: String {
    var text = """
      #compdef tender
      # zsh completion for tender; made from its catalogue, do not edit
      _tender() {
        local context state state_descr line
        local -a commands
        typeset -A opt_args
        commands=(

      """
    for word in firstWords {
      let summary =
        catalogue.command([word])?.summary ?? secondWords(word).joined(separator: ", ")
      text += "    '\(word):\(Self.quoted(summary))'\n"
    }
    text += """
        )
        _arguments -C '1: :->command' '*:: :->rest' && return
        case $state in
          command) _describe -t commands 'tender command' commands ;;
          rest)
            case $line[1] in

      """
    for word in firstWords {
      if let command = catalogue.command([word]) {
        text += "        \(word)) _arguments \\\n\(zshOptions(command)) ;;\n"
      } else {
        text += "        \(word))\n          if (( CURRENT == 1 )); then\n"
        text += "            compadd -- \(secondWords(word).joined(separator: " "))\n"
        text += "          else\n            local second=$words[1]\n"
        text += "            case $second in\n"
        for second in secondWords(word) {
          guard let command = catalogue.command([word, second]) else { continue }
          text += "              \(second)) _arguments \\\n\(zshOptions(command)) ;;\n"
        }
        text += "            esac\n          fi ;;\n"
      }
    }
    text += "      esac ;;\n  esac\n}\n"
    text +=
      "if [ \"$funcstack[1]\" = _tender ]; then _tender \"$@\"; else compdef _tender tender; fi\n"
    return text
  }

  private func zshOptions(_ command: Command) -> String {
    var lines = command.shownOptions.map { option -> String in
      let star = option.repeats ? "*" : ""
      let equals =
        switch option.value {
        case .flag: ""
        case .required: "="
        case .optional: "=-"
        }
      var action = ""
      if case .required(let name) = option.value { action = ":\(name):" + Self.zshAction(option) }
      if case .optional(let name) = option.value { action = "::\(name):" }
      return
        "            '\(star)--\(option.name)\(equals)[\(Self.quoted(option.summary))]\(action)'"
    }
    if let operand = command.operands.first {
      let words = operandChoices.first { $0.name == command.name }?.words ?? []
      let action = words.isEmpty ? " " : "(\(words.joined(separator: " ")))"
      lines.append("            '*:\(operand.name):\(action)'")
    }
    return lines.joined(separator: " \\\n")
  }

  private static func zshAction(_ option: Option) -> String {
    if !option.choices.isEmpty { return "(\(option.choices.joined(separator: " ")))" }
    return switch option.completion {
    case .files: "_files"
    case .folders: "_files -/"
    case .nothing: " "
    }
  }

  /// Text within single quotes and brackets.
  private static func quoted(_ text: String) -> String {
    text.map { character -> String in
      switch character {
      case "'": "'\\''"
      case "[", "]", ":": "\\\(character)"
      default: String(character)
      }
    }.joined()
  }

  private var fish: String {
    var text = """
      # fish completion for tender; made from its catalogue, do not edit
      complete -c tender -f

      """
    let all = firstWords.joined(separator: " ")
    for word in firstWords {
      let summary = catalogue.command([word])?.summary ?? ""
      text += "complete -c tender -n 'not __fish_seen_subcommand_from \(all)' -a \(word)"
      text += summary.isEmpty ? "\n" : " -d '\(Self.fishQuoted(summary))'\n"
    }
    for group in catalogue.groups {
      let words = secondWords(group).joined(separator: " ")
      text += "complete -c tender -n '__fish_seen_subcommand_from \(group); "
      text += "and not __fish_seen_subcommand_from \(words)' -a '\(words)'\n"
    }
    for (name, words) in operandChoices where !name.contains(" ") {
      text += "complete -c tender -n '__fish_seen_subcommand_from \(name)' "
      text += "-a '\(words.joined(separator: " "))'\n"
    }
    for option in catalogue.options {
      text += "complete -c tender"
      if option.group != .general {
        let names = catalogue.commands.filter { $0.optionNames.contains(option.name) }
        let words = names.map { $0.words[$0.words.count - 1] }.joined(separator: " ")
        text += " -n '__fish_seen_subcommand_from \(words)'"
      }
      text += " -l \(option.name)"
      if let short = option.short { text += " -s \(short)" }
      // -x wants a value that is no file.
      if case .required = option.value { text += option.completion == .nothing ? " -x" : " -r" }
      if !option.choices.isEmpty { text += " -a '\(option.choices.joined(separator: " "))'" }
      if option.completion != .nothing { text += " -F" }
      text += " -d '\(Self.fishQuoted(option.summary))'\n"
    }
    return text
  }

  private static func fishQuoted(_ text: String) -> String {
    text.map { $0 == "'" || $0 == "\\" ? "\\\($0)" : String($0) }.joined()
  }
}
