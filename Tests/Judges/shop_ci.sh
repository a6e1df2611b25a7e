#!/bin/sh
# A CI job of a shop: tests its payment program against 500s, timeouts, lost answers and duplicates of three
# providers. It needs tender, python3 and openssl, and nothing else: sh shop_ci.sh
set -eu
# It starts itself again beside the simulated providers. Whatever is lost, five orders are charged once by card, and five
# at the reader. The bank payments wait for their payers.
books=charged.USD=5250,charged.GBP=5250
[ -n "${TENDER_SIMULATOR_URL:-}" ] || exec tender simulator run --expect "$books" -- sh "$0"
# The folder is removed at the end.
cd "$TENDER_STATE_DIR"

# The program under test.
cat >shop.py <<'END'
import base64, http.client, json, os, subprocess, sys, urllib.parse, uuid

def call(base, path, body, **fields):
    """The answer to one request; None where none came that says what happened."""
    if os.environ.get("SIMULATOR"):
        fields["X_Tender_Simulator"] = os.environ["SIMULATOR"]
    try:
        link = http.client.HTTPConnection(urllib.parse.urlsplit(os.environ[base]).netloc, timeout=0.5)
        link.request("POST", path, body, {name.replace("_", "-"): value for name, value in fields.items()})
        answer = link.getresponse()
        return None if answer.status >= 500 else json.load(answer)
    except (OSError, http.client.HTTPException, ValueError):
        return None

def url64(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()

def sign(text):
    """ES512 of a text, as JOSE writes it: two numbers of 66 bytes."""
    with open("key.pem", "w") as file:
        file.write(os.environ["TL_SIGNING_PRIVATE_KEY"])
    der = subprocess.run(["openssl", "dgst", "-sha512", "-sign", "key.pem"], input=text, capture_output=True).stdout
    place, numbers = 3 if der[1] & 128 else 2, b""
    for _ in range(2):
        end = place + 2 + der[place + 1]
        numbers += int.from_bytes(der[place + 2:end], "big").to_bytes(66, "big")
        place = end
    return numbers

def truelayer(reference):
    once = str(uuid.uuid5(uuid.NAMESPACE_URL, reference))
    client = {"client_id": os.environ["TL_CLIENT_ID"], "client_secret": os.environ["TL_CLIENT_SECRET"]}
    grant = json.dumps(client | {"grant_type": "client_credentials", "scope": "payments"})
    token = call("TENDER_TRUELAYER_AUTH_URL", "/connect/token", grant)["access_token"]
    account = {"type": "sort_code_account_number", "sort_code": "560029", "account_number": "26207729"}
    payee = {"type": "external_account", "account_holder_name": "Ben", "reference": "B1",
             "account_identifier": account}
    method = {"type": "bank_transfer", "provider_selection": {"type": "user_selected"}, "beneficiary": payee}
    order = json.dumps({"amount_in_minor": 1050, "currency": "GBP", "payment_method": method,
                        "user": {"name": "Remi Terr", "email": "remi@example.com"},
                        "metadata": {"order": reference}})
    head = url64(json.dumps({"alg": "ES512", "kid": os.environ["TL_SIGNING_KEY_ID"], "tl_version": "2",
                             "tl_headers": "Idempotency-Key"}).encode())
    text = f"{head}." + url64(f"POST /v3/payments\nIdempotency-Key: {once}\n{order}".encode())
    signature = f"{head}.." + url64(sign(text.encode()))
    for _ in range(3):
        made = call("TENDER_TRUELAYER_API_URL", "/v3/payments", order, Authorization=f"Bearer {token}",
                    Idempotency_Key=once, Tl_Signature=signature)
        if made:
            return made["id"]

def paytheory(reference):
    """Looks before each charge: a lost answer may have been a charge."""
    own = os.environ["TENDER_PAYTHEORY_MERCHANT_UID"] + ";" + os.environ["TENDER_PAYTHEORY_SECRET_KEY"]
    find = ('{transactions(query:{query_list:[{key:"reference",value:"%s",operator:EQUAL,'
            'conjunctive_operator:NONE_NEXT}]}){items{transaction_id}}}' % reference)
    pay = ('mutation{createTransaction(merchant_uid:"%s",amount:1050,payment_method_id:"%s",reference:"%s")'
           '{transaction_id}}' % (own.split(";")[0], os.environ["TOKEN"], reference))
    for _ in range(3):
        found = call("TENDER_PAYTHEORY_GRAPHQL_URL", "/graphql", json.dumps({"query": find}), Authorization=own)
        if found and found["data"]["transactions"]["items"]:
            assert len(found["data"]["transactions"]["items"]) == 1, found
            return found["data"]["transactions"]["items"][0]["transaction_id"]
        if found:
            call("TENDER_PAYTHEORY_GRAPHQL_URL", "/graphql", json.dumps({"query": pay}), Authorization=own)

def toro(reference):
    """Leaves the reader to tender, and repeats what was undone."""
    sale = ["tender", "transact", "--provider", "toro", "--env", "simulator", "--json", "--amount", "10.50",
            "--timeout", "1s", "--signature-matches", "yes", "--reference", reference]
    fault = ["--sim-fault", os.environ["FAULT"]] if os.environ.get("FAULT") else []
    for _ in range(3):
        done = subprocess.run(sale + fault, capture_output=True, text=True)
        if done.returncode == 0:
            return json.loads(done.stdout.splitlines()[-1])["id"]
        if done.returncode == 12:
            sale += ["--new-attempt"] * ("--new-attempt" not in sale)
        fault = []

paid = {"truelayer": truelayer, "paytheory": paytheory, "toro": toro}[sys.argv[1]](sys.argv[2])
print(paid or sys.exit("not paid"))
END

TOKEN=$(tender tokenize --provider paytheory --env sandbox --test-card visa --json --fields id 2>tokenized | cut -d'"' -f4)
export TOKEN

# Pays two times by a provider for each fault. The fault must strike, and one payment must be made.
rows() {
  number=0
  for what in none 'http-500*1' 'silence-after*1' 'reset-after*1' 'close-before*1'; do
    number=$((number + 1))
    reference="SHOP-$1-$number"
    FAULT="$2:$what"
    SIMULATOR="fault=$FAULT;for=$reference"
    [ "$what" = none ] && FAULT='' SIMULATOR=''
    export FAULT SIMULATOR
    first=$(python3 shop.py "$1" "$reference") || first=failed
    second=$(python3 shop.py "$1" "$reference") || second=failed
    if [ -n "$FAULT" ] && ! tender simulator requests | grep -qF "\"fault\":\"$FAULT"; then
      echo "not ok - $1 $what: did not strike"
    elif [ "$first" = "$second" ] && [ "$first" != failed ]; then
      echo "ok - $1 $what: paid once"
    else
      echo "not ok - $1 $what: $first, then $second"
    fi
  done
}

# The providers do not wait for each other.
rows truelayer create >truelayer.rows &
truelayer=$!
rows paytheory stored >paytheory.rows &
paytheory=$!
rows toro authorisation >toro.rows
wait $truelayer $paytheory
cat ./*.rows
echo "1..$(cat ./*.rows | wc -l)"
! grep -q '^not ok' ./*.rows
