# bash completion for tender; made from its catalogue, do not edit
_tender() {
  local word="${COMP_WORDS[COMP_CWORD]}" before="${COMP_WORDS[COMP_CWORD-1]}"
  local i first="" second="" skip=""
  COMPREPLY=()
  case "$before" in
    --fee-mode)
      COMPREPLY=($(compgen -W "merchant_fee service_fee" -- "$word"))
      return ;;
    --method)
      COMPREPLY=($(compgen -W "card ach cash" -- "$word"))
      return ;;
    --test-card)
      COMPREPLY=($(compgen -W "visa mastercard amex discover" -- "$word"))
      return ;;
    --test-account)
      COMPREPLY=($(compgen -W "success failure" -- "$word"))
      return ;;
    --type)
      COMPREPLY=($(compgen -W "purchase refund" -- "$word"))
      return ;;
    --signature)
      COMPREPLY=($(compgen -W "device app" -- "$word"))
      return ;;
    --signature-matches)
      COMPREPLY=($(compgen -W "yes no" -- "$word"))
      return ;;
    --mandate-type)
      COMPREPLY=($(compgen -W "sweeping commercial" -- "$word"))
      return ;;
    --use-case)
      COMPREPLY=($(compgen -W "charity financial_services government utilities" -- "$word"))
      return ;;
    --consent)
      COMPREPLY=($(compgen -W "pis pis,ais" -- "$word"))
      return ;;
    --status)
      COMPREPLY=($(compgen -W "requires_confirmation requires_action pending authorized succeeded declined cancelled refunded partially_refunded returned expired revoked failed unknown open" -- "$word"))
      return ;;
    --as)
      COMPREPLY=($(compgen -W "succeeded declined cancelled expired failed refunded partially_refunded authorized revoked restored" -- "$word"))
      return ;;
    --provider)
      COMPREPLY=($(compgen -W "paytheory toro truelayer" -- "$word"))
      return ;;
    --env)
      COMPREPLY=($(compgen -W "simulator sandbox live" -- "$word"))
      return ;;
    --output|-o)
      COMPREPLY=($(compgen -W "auto table jsonl raw" -- "$word"))
      return ;;
    --color)
      COMPREPLY=($(compgen -W "auto always never" -- "$word"))
      return ;;
    --metadata-file|--instrument-file|--signature-file|--original-file|--additional-file|--resource-token-file|--form-file|--junit|--trace|--config)
      compopt -o filenames 2>/dev/null
      COMPREPLY=($(compgen -f -- "$word"))
      return ;;
    --state-dir)
      compopt -o filenames 2>/dev/null
      COMPREPLY=($(compgen -d -- "$word"))
      return ;;
    --amount|--amount-minor|--currency|--reference|--metadata|--fee|--fee-minor|--payor|--payor-id|--account-code|--payment-parameters|--invoice-id|--recurring-id|--receipt-description|--instrument-fd|--token|--device|--gratuity|--gratuity-minor|--gratuity-menu|--original|--additional|--beneficiary-name|--sort-code|--account-number|--iban|--merchant-account|--payment-reference|--user|--valid-from|--valid-to|--max-individual|--limit|--payment-id|--mandate-id|--redirect-url|--return-url|--country|--bank|--branch|--scheme|--account|--form|--refund-reference|--since|--until|--before|--reason|--last-four|--customer|--trace-id|--failure|--jobs|--rate|--port|--idempotency-key|--interval|--expect|--id|--sim-scenario|--sim-fault|--sim-seed|--sim-clock|--profile|--fields|--timeout)
      return ;;
  esac
  for ((i = 1; i < COMP_CWORD; i++)); do
    if [[ -n $skip ]]; then skip=""; continue; fi
    case "${COMP_WORDS[i]}" in
      --amount|--amount-minor|--currency|--reference|--metadata|--metadata-file|--fee-mode|--fee|--fee-minor|--payor|--payor-id|--account-code|--payment-parameters|--invoice-id|--recurring-id|--receipt-description|--method|--instrument-file|--instrument-fd|--test-card|--test-account|--token|--type|--device|--gratuity|--gratuity-minor|--gratuity-menu|--signature|--signature-file|--signature-matches|--original|--original-file|--additional|--additional-file|--beneficiary-name|--sort-code|--account-number|--iban|--merchant-account|--payment-reference|--user|--mandate-type|--use-case|--valid-from|--valid-to|--max-individual|--limit|--payment-id|--mandate-id|--resource-token-file|--redirect-url|--return-url|--country|--bank|--branch|--scheme|--account|--consent|--form|--form-file|--refund-reference|--since|--until|--before|--status|--as|--reason|--last-four|--customer|--trace-id|--failure|--jobs|--rate|--junit|--port|--idempotency-key|--interval|--expect|--id|--sim-scenario|--sim-fault|--sim-seed|--sim-clock|--provider|--env|--profile|--output|-o|--fields|--trace|--color|--config|--state-dir|--timeout) skip=1 ;;
      -*) ;;
      *) if [[ -z $first ]]; then first="${COMP_WORDS[i]}"
         elif [[ -z $second ]]; then second="${COMP_WORDS[i]}"; fi ;;
    esac
  done
  if [[ -z $first && $word != -* ]]; then
    COMPREPLY=($(compgen -W "transact confirm cancel refund tokenize payment-status mandate-status batch find journal providers explain doctor simulator config schema completion help version" -- "$word"))
    return
  fi
  case "$first" in
    journal)
      if [[ -z $second && $word != -* ]]; then
        COMPREPLY=($(compgen -W "list show resume export prune verify backup settle" -- "$word"))
        return
      fi ;;
    simulator)
      if [[ -z $second && $word != -* ]]; then
        COMPREPLY=($(compgen -W "serve reset scenarios" -- "$word"))
        return
      fi ;;
    config)
      if [[ -z $second && $word != -* ]]; then
        COMPREPLY=($(compgen -W "show check" -- "$word"))
        return
      fi ;;
    schema)
      if [[ $word != -* ]]; then
        COMPREPLY=($(compgen -W "payment mandate token event error journal_entry batch_summary check capability explanation setting scenario request server version schema note" -- "$word"))
        return
      fi ;;
    completion)
      if [[ $word != -* ]]; then
        COMPREPLY=($(compgen -W "bash zsh fish" -- "$word"))
        return
      fi ;;
    help)
      if [[ $word != -* ]]; then
        COMPREPLY=($(compgen -W "transact confirm cancel refund tokenize payment-status mandate-status batch find journal providers explain doctor simulator config schema completion help version instruments readers banks exit-status output environment files promises security" -- "$word"))
        return
      fi ;;
  esac
  case "$first $second" in
    "transact "*) COMPREPLY=($(compgen -W "--amount --amount-minor --currency --fee-mode --fee --fee-minor --reference --confirmation --payor --payor-id --account-code --payment-parameters --invoice-id --recurring-id --send-receipt --receipt-description --metadata --metadata-file --method --instrument-stdin --instrument-file --instrument-fd --test-card --test-account --token --beneficiary-name --sort-code --account-number --iban --merchant-account --payment-reference --user --preselect --mandate --mandate-type --use-case --valid-from --valid-to --max-individual --limit --payment-id --mandate-id --resource-token-file --redirect-url --return-url --country --bank --branch --scheme --account --consent --form --form-file --retry --open --type --device --gratuity --gratuity-minor --gratuity-menu --signature --signature-file --signature-matches --no-capture --original --original-file --additional --additional-file --idempotency-key --new-attempt --wait --interval --expect --events --dry-run --id --sim-scenario --sim-fault --sim-seed --sim-clock --provider --env --profile --output --json --fields --quiet --verbose --trace --color --no-input --yes --config --state-dir --timeout --help --version" -- "$word")) ;;
    "confirm "*) COMPREPLY=($(compgen -W "--resource-token-file --redirect-url --return-url --country --bank --branch --scheme --account --consent --form --form-file --retry --open --new-attempt --wait --interval --expect --events --dry-run --id --sim-scenario --sim-fault --sim-seed --sim-clock --provider --env --profile --output --json --fields --quiet --verbose --trace --color --no-input --yes --config --state-dir --timeout --help --version" -- "$word")) ;;
    "cancel "*) COMPREPLY=($(compgen -W "--amount --amount-minor --currency --refund-reference --refund --payment-reference --resource-token-file --new-attempt --wait --interval --expect --events --dry-run --id --idempotency-key --sim-scenario --sim-fault --sim-seed --sim-clock --provider --env --profile --output --json --fields --quiet --verbose --trace --color --no-input --yes --config --state-dir --timeout --help --version" -- "$word")) ;;
    "refund "*) COMPREPLY=($(compgen -W "--amount --amount-minor --currency --refund-reference --payment-reference --resource-token-file --reason --new-attempt --wait --interval --expect --events --dry-run --id --idempotency-key --sim-scenario --sim-fault --sim-seed --sim-clock --provider --env --profile --output --json --fields --quiet --verbose --trace --color --no-input --yes --config --state-dir --timeout --help --version" -- "$word")) ;;
    "tokenize "*) COMPREPLY=($(compgen -W "--reference --payor --payor-id --metadata --metadata-file --method --instrument-stdin --instrument-file --instrument-fd --test-card --test-account --idempotency-key --new-attempt --expect --events --dry-run --sim-scenario --sim-fault --sim-seed --sim-clock --provider --env --profile --output --json --fields --quiet --verbose --trace --color --no-input --yes --config --state-dir --timeout --help --version" -- "$word")) ;;
    "payment-status "*) COMPREPLY=($(compgen -W "--resource-token-file --wait --interval --expect --events --id --sim-scenario --sim-fault --sim-seed --sim-clock --provider --env --profile --output --json --fields --quiet --verbose --trace --color --no-input --yes --config --state-dir --timeout --help --version" -- "$word")) ;;
    "mandate-status "*) COMPREPLY=($(compgen -W "--resource-token-file --wait --interval --expect --events --id --sim-scenario --sim-fault --sim-seed --sim-clock --provider --env --profile --output --json --fields --quiet --verbose --trace --color --no-input --yes --config --state-dir --timeout --help --version" -- "$word")) ;;
    "batch "*) COMPREPLY=($(compgen -W "--device --signature-matches --check --jobs --rate --resume --ordered --stop-on-error --junit --sim-scenario --sim-fault --sim-seed --sim-clock --provider --env --profile --output --json --fields --quiet --verbose --trace --color --no-input --yes --config --state-dir --timeout --help --version" -- "$word")) ;;
    "find "*) COMPREPLY=($(compgen -W "--amount --amount-minor --currency --metadata --since --until --status --last-four --customer --trace-id --failure --all --id --provider --env --profile --output --json --fields --quiet --verbose --trace --color --no-input --yes --config --state-dir --timeout --help --version" -- "$word")) ;;
    "journal list") COMPREPLY=($(compgen -W "--amount --amount-minor --currency --since --until --status --last-four --all --provider --env --profile --output --json --fields --quiet --verbose --trace --color --no-input --yes --config --state-dir --timeout --help --version" -- "$word")) ;;
    "journal show") COMPREPLY=($(compgen -W "--receipt --id --provider --env --profile --output --json --fields --quiet --verbose --trace --color --no-input --yes --config --state-dir --timeout --help --version" -- "$word")) ;;
    "journal resume") COMPREPLY=($(compgen -W "--all --id --sim-scenario --sim-fault --sim-seed --sim-clock --provider --env --profile --output --json --fields --quiet --verbose --trace --color --no-input --yes --config --state-dir --timeout --help --version" -- "$word")) ;;
    "journal export") COMPREPLY=($(compgen -W "--amount --amount-minor --currency --since --until --status --last-four --provider --env --profile --output --json --fields --quiet --verbose --trace --color --no-input --yes --config --state-dir --timeout --help --version" -- "$word")) ;;
    "journal prune") COMPREPLY=($(compgen -W "--before --dry-run --provider --env --profile --output --json --fields --quiet --verbose --trace --color --no-input --yes --config --state-dir --timeout --help --version" -- "$word")) ;;
    "journal verify") COMPREPLY=($(compgen -W "--provider --env --profile --output --json --fields --quiet --verbose --trace --color --no-input --yes --config --state-dir --timeout --help --version" -- "$word")) ;;
    "journal backup") COMPREPLY=($(compgen -W "--provider --env --profile --output --json --fields --quiet --verbose --trace --color --no-input --yes --config --state-dir --timeout --help --version" -- "$word")) ;;
    "journal settle") COMPREPLY=($(compgen -W "--as --reason --all --id --provider --env --profile --output --json --fields --quiet --verbose --trace --color --no-input --yes --config --state-dir --timeout --help --version" -- "$word")) ;;
    "providers "*) COMPREPLY=($(compgen -W "--provider --env --profile --output --json --fields --quiet --verbose --trace --color --no-input --yes --config --state-dir --timeout --help --version" -- "$word")) ;;
    "explain "*) COMPREPLY=($(compgen -W "--list --provider --env --profile --output --json --fields --quiet --verbose --trace --color --no-input --yes --config --state-dir --timeout --help --version" -- "$word")) ;;
    "doctor "*) COMPREPLY=($(compgen -W "--device --sim-scenario --sim-fault --sim-seed --sim-clock --provider --env --profile --output --json --fields --quiet --verbose --trace --color --no-input --yes --config --state-dir --timeout --help --version" -- "$word")) ;;
    "simulator serve") COMPREPLY=($(compgen -W "--port --sim-scenario --sim-fault --sim-seed --sim-clock --provider --env --profile --output --json --fields --quiet --verbose --trace --color --no-input --yes --config --state-dir --timeout --help --version" -- "$word")) ;;
    "simulator reset") COMPREPLY=($(compgen -W "--provider --env --profile --output --json --fields --quiet --verbose --trace --color --no-input --yes --config --state-dir --timeout --help --version" -- "$word")) ;;
    "simulator scenarios") COMPREPLY=($(compgen -W "--provider --env --profile --output --json --fields --quiet --verbose --trace --color --no-input --yes --config --state-dir --timeout --help --version" -- "$word")) ;;
    "config show") COMPREPLY=($(compgen -W "--provider --env --profile --output --json --fields --quiet --verbose --trace --color --no-input --yes --config --state-dir --timeout --help --version" -- "$word")) ;;
    "config check") COMPREPLY=($(compgen -W "--provider --env --profile --output --json --fields --quiet --verbose --trace --color --no-input --yes --config --state-dir --timeout --help --version" -- "$word")) ;;
    "schema "*) COMPREPLY=($(compgen -W "--provider --env --profile --output --json --fields --quiet --verbose --trace --color --no-input --yes --config --state-dir --timeout --help --version" -- "$word")) ;;
    "completion "*) COMPREPLY=($(compgen -W "--provider --env --profile --output --json --fields --quiet --verbose --trace --color --no-input --yes --config --state-dir --timeout --help --version" -- "$word")) ;;
    "help "*) COMPREPLY=($(compgen -W "--provider --env --profile --output --json --fields --quiet --verbose --trace --color --no-input --yes --config --state-dir --timeout --help --version" -- "$word")) ;;
    "version "*) COMPREPLY=($(compgen -W "--provider --env --profile --output --json --fields --quiet --verbose --trace --color --no-input --yes --config --state-dir --timeout --help --version" -- "$word")) ;;
    *) COMPREPLY=($(compgen -W "--provider --env --profile --output --json --fields --quiet --verbose --trace --color --no-input --yes --config --state-dir --timeout --help --version" -- "$word")) ;;
  esac
}
complete -F _tender tender
