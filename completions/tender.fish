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
