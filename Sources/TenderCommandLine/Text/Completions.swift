/// Completion scripts for three shells. Each sends the line to `tender __complete` and shows its answer.
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

  /// The file name and the text of each script.
  package static let all = [("tender.bash", bash), ("_tender", zsh), ("tender.fish", fish)]

  /// The script of each shell by its name.
  package static let scripts = ["bash": bash, "zsh": zsh, "fish": fish]

  // bash splits words at = and :, so the script passes the line as it was typed.
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
