"""Writes an old simulator's books in the shape of this version's: world.py OLD NEW

The journal beside them is untouched. What a payment was, and what was done to it, is the old program's.
"""

import datetime
import json
import sqlite3
import sys

SCHEMA = """
CREATE TABLE thing (
  kind TEXT NOT NULL, id TEXT NOT NULL, reference TEXT, parent TEXT, body TEXT NOT NULL,
  PRIMARY KEY (kind, id)
);
CREATE INDEX thing_by_reference ON thing (kind, reference) WHERE reference IS NOT NULL;
CREATE INDEX thing_by_parent ON thing (kind, parent) WHERE parent IS NOT NULL;
PRAGMA user_version = 1;
"""

old = sqlite3.connect(sys.argv[1])
new = sqlite3.connect(sys.argv[2])
new.executescript(SCHEMA)
columns = [row[1] for row in old.execute("PRAGMA table_info(thing)")]
things = [
    {**dict(zip(columns, row)), "body": json.loads(row[columns.index("body")])}
    for row in old.execute("SELECT * FROM thing ORDER BY rowid")
]


def put(kind, key, body, reference=None, parent=None):
    body = {name: value for name, value in body.items() if value is not None}
    new.execute(
        "INSERT INTO thing VALUES (?, ?, ?, ?, ?)",
        (kind, key, reference, parent, json.dumps(body, separators=(",", ":"))),
    )


def milliseconds(text):
    if text is None:
        return None
    at = datetime.datetime.fromisoformat(text.replace("Z", "+00:00"))
    return round(at.timestamp() * 1000)


def terms(amount, fee, mode, reference, account, metadata):
    return {
        "amount": amount,
        "fee": fee,
        "service": mode.lower() == "service_fee",
        "reference": reference or "",
        "account": account or "",
        "metadata": metadata or {},
    }


def method(body):
    """A stored method, or what an intent or a transaction says of its own."""
    payor = body.get("payor")
    return {
        "id": body.get("payment_method_id", ""),
        "type": body.get("payment_type") or body.get("method") or "CARD",
        "payor": (payor or {}).get("payor_id") if isinstance(payor, dict) else body.get("payor_id", ""),
        "last_four": body.get("last_four", ""),
        "first_six": body.get("first_six", "411111"),
        "brand": body.get("card_brand") or body.get("brand") or "",
        "expiration": body.get("exp_date") or body.get("expiration") or "",
        "active": True,
        "fails": body.get("fails", False),
    }


def intent(thing):
    body = thing["body"]
    states = {"pending": "pending", "cancelled": "cancelled", "captured": "transferred"}
    put(
        "intent",
        thing["id"],
        {
            "id": thing["id"],
            "receipt": body["receipt"],
            "merchant": body["merchant"],
            "session": thing.get("reference") or "",
            "state": states.get(body["state"], body["state"]),
            "terms": terms(
                body["amount"], body["fee"], body["fee_mode"], body["reference"],
                body.get("account_code"), body.get("metadata"),
            ),
            "method": method(body),
            "expires_at": body.get("expires_at", 4102444800000),
        },
        thing.get("reference") or "",
    )


def payment(thing, all_of_them):
    """A charge with what was done to it; its reversals are transactions of their own in the old books."""
    body = thing["body"]
    if body.get("parent_id") or body["transaction_type"] == "REVERSAL":
        return
    operations = []
    if body["status"] == "VOIDED":
        operations.append({"amount": body["gross_amount"]})
    for other in all_of_them:
        if other["body"].get("parent_id") == thing["id"]:
            at = milliseconds(other["body"]["transaction_date"])
            refund = {"refund": other["id"], "amount": other["body"]["gross_amount"], "at": at}
            operations.append(refund)
            put("transaction", other["id"], {"payment": thing["id"]})
    put("transaction", thing["id"], {"payment": thing["id"]})
    put(
        "payment",
        thing["id"],
        {
            "receipt": thing["id"],
            "terms": terms(
                body["gross_amount"], body["fees"], body["fee_mode"], body["reference"],
                body.get("account_code"), json.loads(body["metadata"]),
            ),
            "method": method(body["payment_method"]),
            "at": milliseconds(body["transaction_date"]),
            "disputed": "dispute_status" in body,
            "operations": operations,
            "failure": body.get("failure_code"),
            "settles_at": body.get("settles_at"),
            "returned": body.get("settles_as") == "RETURNED" if "settles_at" in body else None,
        },
        body["reference"],
    )


def sale(thing, all_of_them):
    """A sale at the reader, with the advices about it, which the old books have apart, and its refunds."""
    body = dict(thing["body"])
    operations = []
    if body.pop("captures", 0):
        body["captured"] = False
    advices = [
        other
        for other in all_of_them
        if other["kind"] == "toro-advice" and other["body"]["sale"] == body["sale"]
    ]
    for number, advice in enumerate(advices):
        is_completion = "captures" in thing["body"] and number == 0
        operations.append(
            {
                "kind": "completion" if is_completion else "cancellation",
                "ref": advice["id"].split("/")[-1],
                "amount": body.get("authorised", body.get("amount", 0)),
                "rspn": advice["body"]["rspn"],
            }
        )
    for other in all_of_them:
        if other["kind"] == "toro-sale" and other["body"].get("original") == thing["id"]:
            amount = other["body"]["authorised"]
            operations.append(
                {"kind": "refund", "ref": other["id"], "amount": amount, "rspn": "APPR"}
            )
    put("toro-sale", thing["id"], body | {"operations": operations}, thing["reference"])


def bank(thing):
    """A bank's payment or mandate, with its refunds."""
    body = thing["body"]
    order = {"user": {"id": body["user"]["id"]}, "metadata": body.get("metadata")}
    if thing["kind"] == "bank-payment":
        for name in ["amount_in_minor", "currency", "payment_method"]:
            order[name] = body[name]
        selection = body["payment_method"]["provider_selection"]
    else:
        names = ["type", "provider_selection", "beneficiary", "reference", "remitter"]
        order["mandate"] = {name: body[name] for name in names if name in body}
        order.update({name: body[name] for name in ["currency", "constraints"] if name in body})
        selection = body["provider_selection"]
    flow = None
    if body["status"] == "authorizing":
        action = body["authorization_flow"]["actions"]["next"]["type"]
        flow = {
            "capabilities": body["_configuration"],
            "step": action,
            "shown_at": body["_shown"],
            "session": body.get("_session"),
            "abandoned": True,
        }
    names = ["authorized", "executed", "settled", "failed", "revoked"]
    times = {name: milliseconds(body.get(name + "_at")) for name in names}
    failure = None
    if "failure_reason" in body:
        failure = {"stage": body["failure_stage"], "reason": body["failure_reason"]}
    put(
        thing["kind"],
        thing["id"],
        {
            "id": thing["id"],
            "user": body["user"]["id"],
            "created": body["_created"],
            "status": body["status"],
            "order": {name: value for name, value in order.items() if value is not None},
            "selection": {"bank": selection.get("provider_id"), "scheme": selection.get("scheme_id")},
            "times": {name: time for name, time in times.items() if time is not None},
            "failure": failure,
            "flow": flow,
            "due": body.get("_due"),
        },
        (body.get("metadata") or {}).get("reference"),
    )
    for refund in body.get("_refunds", []):
        put(
            "bank-refund",
            refund["id"],
            {
                "id": refund["id"],
                "payment": thing["id"],
                "amount": refund["amount_in_minor"],
                "currency": refund["currency"],
                "reference": refund["reference"],
                "metadata": refund.get("metadata"),
                "created": refund["_created"],
                "course": "failed" if refund.get("_fails") else "executed",
            },
            None,
            thing["id"],
        )


for thing in things:
    kind = thing["kind"]
    if kind == "intent":
        intent(thing)
    elif kind == "transaction":
        payment(thing, [other for other in things if other["kind"] == kind])
    elif kind == "method":
        put(kind, thing["id"], method(thing["body"]) | {"id": thing["id"]})
    elif kind in ["bank-payment", "bank-mandate"]:
        bank(thing)
    elif kind == "toro-sale":
        sale(thing, things)
    elif kind in ["bank-key", "toro-exchange"]:
        put(kind, thing["id"], thing["body"], thing.get("reference"), thing.get("parent"))
new.commit()
