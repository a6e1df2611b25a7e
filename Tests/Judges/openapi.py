"""Holds requests and answers against an OpenAPI document, over standard input and output.

Usage: openapi.py DOCUMENT. Each line in is one exchange: {"method", "path", "key", "signature",
"request" (text), "checks_request", "status", "response" (text), "trace_id"}. Each line out:
{"operation", "problems"}. jsonschema validates by JSON Schema 2020-12, formats included.
"""

import json
import re
import sys
import warnings

warnings.filterwarnings("ignore")
from jsonschema import Draft202012Validator, FormatChecker, RefResolver  # noqa: E402


class Document:
    def __init__(self, path):
        self.document = json.load(open(path, encoding="utf-8"))
        schemas = self.document["components"]["schemas"]
        # The official libraries have these two currencies; the enumeration does not.
        schemas["CurrencyCode"]["enum"] += ["PLN", "NOK"]
        self.resolver = RefResolver.from_schema(self.document)
        self.formats = FormatChecker()
        self.verdicts = {}
        self.operations = []
        for path, methods in self.document["paths"].items():
            pattern = re.compile("^" + re.sub(r"\{[^}]+\}", "[^/]+", path) + "$")
            for method, operation in methods.items():
                if method in ("get", "post"):
                    self.operations.append((method.upper(), path, pattern, operation))
        # A path without placeholders comes before one with.
        self.operations.sort(key=lambda entry: entry[1].count("{"))

    def find(self, method, path):
        for known, _, pattern, operation in self.operations:
            if known == method and pattern.match(path):
                return operation
        return None

    def problems(self, text, schema, place):
        # The same text under the same schema has the same verdict: stories repeat themselves.
        name = (id(schema), text)
        if name not in self.verdicts:
            # The schema is held as well, so that no other gets its identity.
            self.verdicts[name] = (schema, self.judged(text, schema, "%s"))
        return [problem.replace("%s", place, 1) for problem in self.verdicts[name][1]]

    def judged(self, text, schema, place):
        try:
            value = json.loads(text)
        except ValueError:
            return ["%s: not JSON: %s" % (place, text[:80])]
        validator = Draft202012Validator(
            schema, resolver=self.resolver, format_checker=self.formats
        )
        return [
            "%s: %s" % (place, self.reason(error)) for error in validator.iter_errors(value)
        ]

    def reason(self, error):
        """Where one of several shapes is wanted: what is wrong with each, the deepest first."""
        if not error.context:
            return "%s: %s" % (error.json_path, error.message[:300])
        inner = sorted(error.context, key=lambda each: -len(each.absolute_path))
        return "; ".join(self.reason(each) for each in inner[:6])

    def schema(self, content):
        return next(iter(content.values()))["schema"] if content else None

    def answer_schema(self, operation, status):
        """The schema of a status: the operation's own, else any that the document has for it."""
        own = operation["responses"].get(status) if operation else None
        if own is not None:
            return True, self.schema(own.get("content"))
        found = []
        for _, _, _, other in self.operations:
            response = other["responses"].get(status)
            if response is not None and int(status) >= 400:
                schema = self.schema(response.get("content"))
                if schema is not None and schema not in found:
                    found.append(schema)
        return bool(found), {"anyOf": found} if found else None

    def judge(self, exchange):
        operation = self.find(exchange["method"], exchange["path"])
        problems = []
        if exchange.get("checks_request"):
            problems += self.request(operation, exchange)
        status = str(exchange["status"])
        is_known, schema = self.answer_schema(operation, status)
        text = exchange.get("response") or ""
        if operation is None and not is_known:
            problems.append("no such operation: %(method)s %(path)s" % exchange)
        elif not is_known:
            problems.append("status %s is not one of this operation" % status)
        elif schema is None:
            if text:
                problems.append("answer: a body where there is none")
        else:
            problems += self.problems(text, schema, "answer")
        trace = exchange.get("trace_id")
        if not trace:
            problems.append("answer: no Tl-Trace-Id")
        elif int(status) >= 400 and json.loads(text or "{}").get("trace_id") != trace:
            problems.append("answer: trace_id is not Tl-Trace-Id")
        name = operation.get("operationId") if operation else None
        return {"operation": name, "problems": problems}

    def request(self, operation, exchange):
        if operation is None:
            return ["request: no such operation"]
        problems = []
        body = operation.get("requestBody")
        if body is not None:
            problems += self.problems(
                exchange.get("request") or "", self.schema(body["content"]), "request"
            )
        elif exchange.get("request"):
            problems.append("request: a body where there is none")
        for parameter in operation.get("parameters", []):
            if not parameter.get("required") or parameter["in"] != "header":
                continue
            if parameter["name"] == "Idempotency-Key" and not exchange.get("key"):
                problems.append("request: no Idempotency-Key")
            # Only the client's own token signs.
            if parameter["name"] == "Tl-Signature" and exchange.get("signature") is False:
                problems.append("request: no Tl-Signature")
        return problems


def main():
    document = Document(sys.argv[1])
    for line in sys.stdin:
        print(json.dumps(document.judge(json.loads(line))), flush=True)


main()
