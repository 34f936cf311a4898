"""The hash chain over a ledger's lines. Pure.

Each line carries ``prev``: the SHA-256 of the bytes of the line before it, without the newline. A
line binds its step's snapshot, output, command and verdict, so whoever changes any of them later
has to rewrite every line that follows, and the newest hash is also named by the newest snapshot.
Lines of the bar tool have no ``prev``; they may only stand before the first line that has one.
"""

from collections.abc import Iterable
from typing import Any, NamedTuple

from siding.hashing import sha256_hex

FIRST = "0" * 64  # `prev` of a ledger's first line


def link(previous_line: bytes | None) -> str:
    """Return the ``prev`` of the line that follows `previous_line`."""
    return FIRST if previous_line is None else sha256_hex(previous_line)


class Break(NamedTuple):
    """A place where the chain does not hold. `line` is 1-based."""

    line: int
    reason: str


def breaks(lines: Iterable[tuple[bytes, dict[str, Any] | None]]) -> list[Break]:
    """Return every place where the chain over (raw line, its record or None) is broken."""
    found: list[Break] = []
    before: bytes | None = None
    chained = False
    for number, (raw, record) in enumerate(lines, start=1):
        claimed = None if record is None else record.get("prev")
        if record is not None and claimed is None and chained:
            found.append(Break(number, "the line names no line before it"))
        elif claimed is not None:
            chained = True
            if claimed != link(before):
                found.append(
                    Break(number, "the line before it is not the one it was written after")
                )
        before = raw
    return found
