"""Says whether Python's own regular expressions find a pattern in a text (ASCII classes)."""
import json
import re
import sys

for line in sys.stdin:
    question = json.loads(line)
    try:
        found = re.search(question["pattern"], question["text"], re.ASCII) is not None
    except re.error:
        found = None
    print(json.dumps({"found": found}), flush=True)
