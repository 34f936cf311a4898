"""The helper process: read a file's name and text, write its colours, until the input ends.

A request is a line of JSON with `name` and `size`, then so many bytes of text. An answer is a line
of JSON with the sizes of two tables, then these; both are 0 for a file without colours.
"""

import json
import os
import sys

from siding.faces.tui.colours.lexing import colours_of

_NICENESS = 5  # the screen comes first


def main() -> int:
    """Answer requests; return at the end of the input."""
    os.nice(_NICENESS)
    requests, answers = sys.stdin.buffer, sys.stdout.buffer
    while line := requests.readline():
        asked = json.loads(line)
        text = requests.read(asked["size"]).decode("utf-8", "surrogatepass")
        found = colours_of(asked["name"], text)
        firsts, numbers = (b"", b"") if found is None else found.as_bytes()
        head = json.dumps({"firsts": len(firsts), "numbers": len(numbers)})
        answers.write(head.encode() + b"\n" + firsts + numbers)
        answers.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main())
