# bash completion for tender
_tender() {
  local IFS=$'\n' found
  found=($("${COMP_WORDS[0]}" __complete bash "${COMP_LINE:0:COMP_POINT}" 2>/dev/null))
  case "${found[0]}" in
    :files)
      compopt -o filenames 2>/dev/null
      COMPREPLY=($(compgen -f -- "${COMP_WORDS[COMP_CWORD]#=}")) ;;
    :folders)
      compopt -o filenames 2>/dev/null
      COMPREPLY=($(compgen -d -- "${COMP_WORDS[COMP_CWORD]#=}")) ;;
    *) COMPREPLY=("${found[@]%%$'\t'*}") ;;
  esac
}
complete -F _tender tender
