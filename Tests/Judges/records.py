#!/usr/bin/env python3
"""Holds the published schemas of records against their metaschema, and records against the schemas.

With PROGRAM FOLDER it reads the schemas of the program and the records in the files of the folder, prints every
problem, and exits 1 if there is any. Without arguments it answers line by line over standard input and output:
{"schema": {...}} is a schema to learn, {"record": {...}} a record; the answer is {"problems": [...]}.
"""

import json
import pathlib
import subprocess
import sys

try:
    from jsonschema import Draft202012Validator
except ImportError:
    print("skipped: python3-jsonschema is not installed")
    sys.exit(0)


class Schemas:
    def __init__(self):
        self.validators = {}
        self.members = {}

    def learn(self, schema):
        """Takes a record of `tender schema`. Returns the problems of its schema."""
        name, schema = schema["name"], schema["json_schema"]
        validator = Draft202012Validator(Draft202012Validator.META_SCHEMA)
        problems = ["schema %s: %s" % (name, error.message) for error in validator.iter_errors(schema)]
        required = schema.get("required", [])
        problems += ["schema %s: %s is no member" % (name, one) for one in required if one not in schema["properties"]]
        self.validators[name] = Draft202012Validator(schema)
        self.members[name] = set(schema["properties"])
        return problems

    def judge(self, record):
        """Returns the problems of a record."""
        kind = record.get("record")
        if kind not in self.validators:
            return ["%s is no kind of record" % kind]
        problems = [
            "%s, %s: %s" % (kind, error.json_path, error.message[:300])
            for error in self.validators[kind].iter_errors(record)
        ]
        return problems + ["%s: %s is not in the schema" % (kind, one) for one in record if one not in self.members[kind]]


def answer_lines():
    schemas = Schemas()
    for line in sys.stdin:
        question = json.loads(line)
        problems = schemas.learn(question["schema"]) if "schema" in question else schemas.judge(question["record"])
        print(json.dumps({"problems": problems}), flush=True)


def main(program, folder):
    schemas = Schemas()
    printed = subprocess.run([program, "schema", "--json"], capture_output=True, text=True, check=True).stdout
    problems = [problem for line in printed.splitlines() for problem in schemas.learn(json.loads(line))]
    count = 0
    kinds = set()
    for file in sorted(pathlib.Path(folder).iterdir()):
        for line in file.read_text(encoding="utf-8").splitlines():
            record = json.loads(line)
            count += 1
            kinds.add(record.get("record"))
            problems += ["%s: %s" % (problem, line[:400]) for problem in schemas.judge(record)]
    for problem in sorted(set(problems))[:50]:
        print(problem)
    print("%d kinds of schema, %d records of %d kinds, %d problems" % (len(schemas.validators), count, len(kinds), len(problems)))
    if count == 0:
        print("there was no record")
    return 1 if problems or count == 0 else 0


if __name__ == "__main__":
    if len(sys.argv) > 1:
        sys.exit(main(*sys.argv[1:]))
    answer_lines()
