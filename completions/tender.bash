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
