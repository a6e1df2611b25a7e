"""Says which characters of a block Python's Unicode data calls wide (East Asian Width W or F)."""
import json
import sys
import unicodedata

for line in sys.stdin:
    question = json.loads(line)
    wide = []
    narrow = []
    for code in range(question["from"], question["to"]):
        character = chr(code)
        # Marks have no width of their own, and what is not assigned may be anything.
        if unicodedata.category(character) in ("Cn", "Cs", "Co", "Mn", "Me", "Cf"):
            continue
        width = unicodedata.east_asian_width(character)
        (wide if width in ("W", "F") else narrow).append(code)
    print(json.dumps({"wide": wide, "narrow": narrow}), flush=True)
