"""The hash chain over a ledger's lines. Pure.

Each line carries ``prev``: the SHA-256 of the bytes of the line before it, without the newline. A
line binds its step's snapshot, output, command and verdict, so a change to any of them would need
every later line to be rewritten. The newest line, which no line names, is anchored (`anchor.py`).
Lines that another tool wrote have no ``prev``; they may only precede the first line that has one.
"""

from collections.abc import Iterable
from typing import Any

from siding.ground.hashing import sha256_hex
from siding.ground.namedtuples import NamedTuple

FIRST = "0" * 64  # `prev` of the first line, which has no line before it


def link(previous_line: bytes | None) -> str:
    """Return the ``prev`` of the line that follows `previous_line`."""
    return FIRST if previous_line is None else sha256_hex(previous_line)


class Break(NamedTuple):
    """A line whose ``prev`` is missing or wrong. `line` is its 1-based number."""

    line: int
    reason: str


def breaks(lines: Iterable[tuple[bytes, dict[str, Any] | None]]) -> list[Break]:
    """Return every break in the chain. Each item is a raw line and its record.

    The record is None if the line does not parse.
    """
    found: list[Break] = []
    before: bytes | None = None
    chained = False
    for number, (raw, record) in enumerate(lines, start=1):
        claimed = None if record is None else record.get("prev")
        if record is not None and claimed is None and chained:
            found.append(Break(number, "it has no `prev`, unlike the lines before it"))
        elif claimed is not None:
            chained = True
            if claimed != link(before):
                found.append(Break(number, "its `prev` is not the SHA-256 of the line before it"))
        before = raw
    return found
