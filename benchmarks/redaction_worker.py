"""Redacts a file as a run's output is, piece by piece; prints what it came to.

With ``scan`` it only counts line feeds: the floor of anything that looks at every byte.
"""

import sys
from pathlib import Path

from siding.secretmask.face import Redactor

PIECE = 1 << 16


def main(path: str, how: str = "redact") -> None:
    stream = Redactor().stream()
    kept = 0
    with Path(path).open("rb", buffering=0) as file:
        while piece := file.read(PIECE):
            kept += piece.count(b"\n") if how == "scan" else len(stream.feed(piece))
    print(kept + len(stream.close()))


if __name__ == "__main__":
    main(*sys.argv[1:])
