"""Pays by TrueLayer with nothing but the variables that `tender simulator serve` prints."""
import base64, http.client, json, os, urllib.parse, uuid
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, utils

def call(base, method, path, body=None, **fields):
    link = http.client.HTTPConnection(urllib.parse.urlsplit(os.environ[base]).netloc)
    link.request(method, path, body, {name.replace("_", "-"): value for name, value in fields.items()})
    answer = link.getresponse()
    assert answer.status < 400, (path, answer.status, answer.read())
    return json.load(answer)

def url64(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()

api, once = "TENDER_TRUELAYER_API_URL", str(uuid.uuid4())
client = {"client_id": os.environ["TL_CLIENT_ID"], "client_secret": os.environ["TL_CLIENT_SECRET"]}
grant = json.dumps(client | {"grant_type": "client_credentials", "scope": "payments"})
token = call("TENDER_TRUELAYER_AUTH_URL", "POST", "/connect/token", grant)["access_token"]
account = {"type": "sort_code_account_number", "sort_code": "560029", "account_number": "26207729"}
payee = {"type": "external_account", "account_holder_name": "Ben", "reference": "B1", "account_identifier": account}
bank = {"type": "preselected", "provider_id": "mock-payments-gb-redirect", "scheme_selection": {"type": "instant_only"}}
order = json.dumps({
    "amount_in_minor": 1050, "currency": "GBP", "user": {"name": "Remi Terr", "email": "remi@example.com"},
    "payment_method": {"type": "bank_transfer", "provider_selection": bank, "beneficiary": payee}})
head = url64(json.dumps({"alg": "ES512", "kid": os.environ["TL_SIGNING_KEY_ID"], "tl_version": "2",
                         "tl_headers": "Idempotency-Key"}).encode())
signed = f"{head}." + url64(f"POST /v3/payments\nIdempotency-Key: {once}\n{order}".encode())
key = serialization.load_pem_private_key(os.environ["TL_SIGNING_PRIVATE_KEY"].encode(), None)
pair = utils.decode_dss_signature(key.sign(signed.encode(), ec.ECDSA(hashes.SHA512())))
signature = f"{head}.." + url64(b"".join(number.to_bytes(66, "big") for number in pair))
made = call(api, "POST", "/v3/payments", order, Authorization=f"Bearer {token}", Idempotency_Key=once,
            Tl_Signature=signature)
place, own = f"/v3/payments/{made['id']}", {"Authorization": f"Bearer {made['resource_token']}"}
call(api, "POST", place + "/authorization-flow", '{"redirect":{"return_uri":"http://localhost:3000/"}}', **own)
print(call(api, "GET", place, **own)["status"])
