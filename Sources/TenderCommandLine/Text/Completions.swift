/// Completion scripts for three shells: each hands the line to `tender __complete` and shows its answer.
///
/// What can be typed is known by the program alone: references and profiles too. Nothing goes over a
/// network.
package enum Completions {
  /// The first argument of a call for completion; no command of the catalogue.
  package static let command = "__complete"
  /// Answers that stand for the shell's own completion.
  package static let files = ":files"
  /// The same, of folders.
  package static let folders = ":folders"

  /// The file name of each script and its text.
  package static let all = [("tender.bash", bash), ("_tender", zsh), ("tender.fish", fish)]

  /// The script of each shell by its name.
  package static let scripts = ["bash": bash, "zsh": zsh, "fish": fish]

  // bash breaks words at = and :, so it hands over the line as it was typed.
  private static let bash = #"""
    # bash completion for tender
    _tender() {
      # What is found is text: no pattern, and quoted for the line that it goes into.
      local IFS=$'\n' found one glob=+f
      case $- in *f*) glob=-f ;; esac
      set -f
      found=($("${COMP_WORDS[0]}" __complete bash "${COMP_LINE:0:COMP_POINT}" 2>/dev/null))
      case "${found[0]}" in
        :files)
          compopt -o filenames 2>/dev/null
          COMPREPLY=($(compgen -f -- "${COMP_WORDS[COMP_CWORD]#=}")) ;;
        :folders)
          compopt -o filenames 2>/dev/null
          COMPREPLY=($(compgen -d -- "${COMP_WORDS[COMP_CWORD]#=}")) ;;
        *)
          COMPREPLY=()
          for one in ${found[@]+"${found[@]}"}; do
            COMPREPLY+=("$(printf '%q' "${one%%$'\t'*}")")
          done ;;
      esac
      set $glob
    }
    complete -F _tender tender

    """#

  private static let zsh = #"""
    #compdef tender
    # zsh completion for tender
    _tender() {
      local -a found described
      local one
      found=("${(@f)$("${words[1]}" __complete zsh "${(@)words[2,CURRENT]}" 2>/dev/null)}")
      case "${found[1]}" in
        :files) compset -P '--*='; _files; return ;;
        :folders) compset -P '--*='; _files -/; return ;;
        '') return 1 ;;
      esac
      for one in "${found[@]}"; do
        if [[ "$one" == *$'\t'* ]]; then
          described+=("${${one%%$'\t'*}//:/\\:}:${one#*$'\t'}")
        else
          described+=("${one//:/\\:}")
        fi
      done
      _describe -V tender described
    }
    if [ "$funcstack[1]" = _tender ]; then _tender "$@"; else compdef _tender tender; fi

    """#

  private static let fish = #"""
    # fish completion for tender
    function __tender_complete
      set -l words (commandline -opc)
      set -l current (commandline -ct)
      set -l found ($words[1] __complete fish $words[2..-1] $current 2>/dev/null)
      switch "$found[1]"
        case :files
          __fish_complete_path (string replace -r -- '^--[^=]*=' '' $current)
        case :folders
          __fish_complete_directories (string replace -r -- '^--[^=]*=' '' $current)
        case '*'
          string join -- \n $found
      end
    end
    complete -c tender -f -a '(__tender_complete)'

    """#
}
