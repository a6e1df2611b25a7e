"""Hooks of schemathesis: signs each request as TrueLayer wants it, and names resources that exist.

Needs nothing but the variables that `tender simulator serve` prints.
"""
import base64, json, os, urllib.request, uuid
import schemathesis
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, utils


def url64(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


class Client:
    def __init__(self):
        self.key = serialization.load_pem_private_key(os.environ["TL_SIGNING_PRIVATE_KEY"].encode(), None)
        grant = {"grant_type": "client_credentials", "scope": "payments recurring_payments:sweeping",
                 "client_id": os.environ["TL_CLIENT_ID"], "client_secret": os.environ["TL_CLIENT_SECRET"]}
        address = os.environ["TENDER_TRUELAYER_AUTH_URL"] + "/connect/token"
        asked = urllib.request.Request(address, json.dumps(grant).encode(), {"Content-Type": "application/json"})
        self.token = json.load(urllib.request.urlopen(asked))["access_token"]

    def __call__(self, request):
        body = request.body or b""
        body = body.encode() if isinstance(body, str) else body
        request.headers["Authorization"] = f"Bearer {self.token}"
        if request.method != "GET":
            once = request.headers["Idempotency-Key"] = str(uuid.uuid4())
            path = request.path_url.split("?")[0]
            head = url64(json.dumps({"alg": "ES512", "kid": os.environ["TL_SIGNING_KEY_ID"],
                                     "tl_version": "2", "tl_headers": "Idempotency-Key"}).encode())
            text = f"{request.method} {path}\nIdempotency-Key: {once}\n".encode() + body
            signed = self.key.sign(f"{head}.{url64(text)}".encode(), ec.ECDSA(hashes.SHA512()))
            pair = utils.decode_dss_signature(signed)
            number = b"".join(part.to_bytes(66, "big") for part in pair)
            request.headers["Tl-Signature"] = f"{head}..{url64(number)}"
        return request


@schemathesis.hook
def before_load_schema(context, raw_schema):
    # The official libraries have these two currencies; the enumeration does not.
    raw_schema["components"]["schemas"]["CurrencyCode"]["enum"] += ["PLN", "NOK"]


schemathesis.auth.set_from_requests(Client())


@schemathesis.hook
def map_path_parameters(context, path_parameters):
    # The simulator has a payment and a mandate of each such id: deeper than a stray id reaches.
    if path_parameters and "id" in path_parameters:
        path_parameters["id"] = f"00000000-0000-4000-8000-{uuid.uuid4().int % 10**6 + 1:012d}"
    return path_parameters
