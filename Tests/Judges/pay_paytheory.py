"""Pays by Pay Theory's socket with nothing but the variables that `tender simulator serve` prints."""
import base64, ctypes, http.client, json, os, urllib.parse, uuid

def ask(base, path, **fields):
    link = http.client.HTTPConnection(urllib.parse.urlsplit(os.environ[base]).netloc)
    link.request("GET", path, headers={name.replace("_", "-"): value for name, value in fields.items()})
    answer = link.getresponse()
    assert answer.status < 400, (path, answer.status, answer.read())
    return link.sock.makefile("rwb") if answer.status == 101 else json.load(answer)

def say(action, encoded, **more):
    message = {"action": action, "encoded": base64.b64encode(encoded).decode()} | more
    text = json.dumps(message).encode()
    line.write(b"\x81\xfe" + len(text).to_bytes(2, "big") + bytes(4) + text)
    line.flush()
    size = line.read(2)[1]
    answer = json.loads(line.read(size if size < 126 else int.from_bytes(line.read(2), "big")))
    assert answer["type"] != "error", answer
    return answer["body"]

sodium, buffer, size = ctypes.CDLL("libsodium.so.23"), ctypes.create_string_buffer, ctypes.c_ulonglong
sodium.crypto_box_keypair(public := buffer(32), secret := buffer(32))
key = os.environ["TENDER_PAYTHEORY_API_KEY"]
token = ask("TENDER_PAYTHEORY_TOKEN_URL", "/pt-token-service/", X_API_Key=key, X_Session_Key=str(uuid.uuid4()))
path = f"/{key.split('-')[0]}/?pt_token=" + urllib.parse.quote(token["pt-token"])
line = ask("TENDER_PAYTHEORY_SOCKET_URL", path, Upgrade="websocket", Connection="Upgrade",
           Sec_WebSocket_Version="13", Sec_WebSocket_Key=base64.b64encode(os.urandom(16)).decode())
host = say("host:hostToken", json.dumps({"ptToken": token["pt-token"]}).encode())
card = {"type": "card", "number": "4111111111111111", "security_code": "123", "expiration_month": "12"}
order = json.dumps({
    "hostToken": host["hostToken"], "payment_method_data": card | {"expiration_year": "2039"},
    "payment_data": {"amount": 1050, "currency": "USD", "fee_mode": "merchant_fee"}, "pay_theory_data": {}}).encode()
theirs, nonce, sealed = base64.b64decode(host["publicKey"]), os.urandom(24), buffer(len(order) + 16)
sodium.crypto_box_easy(sealed, order, size(len(order)), nonce, theirs, secret)
answer = base64.b64decode(say("host:transfer_part1", nonce + sealed.raw, sessionKey=host["sessionKey"],
                              publicKey=base64.b64encode(public.raw).decode()))
plain = buffer(len(answer) - 40)
assert sodium.crypto_box_open_easy(plain, answer[24:], size(len(answer) - 24), answer[:24], theirs, secret) == 0
print(json.loads(plain.raw)["state"])
