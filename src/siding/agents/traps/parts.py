"""The part of a file that is run, where only a part is.

``lines:EXPRESSION`` are the lines in which it is found. ``json:a,b`` and ``toml:a,b.c`` are the
values below these keys. Content that cannot be parsed counts as a whole.
"""

import json
import re
from typing import Any

LARGEST = 1 << 20  # bytes; of a larger file, all of it counts


def part_of(content: bytes, part: str) -> bytes:
    """Return the part of the content that counts; b"" if it has none."""
    kind, _, wanted = part.partition(":")
    if not part or len(content) > LARGEST:
        return content
    try:
        return _PARTS[kind](content, wanted)
    except (ValueError, RecursionError):
        return content


def _lines(content: bytes, wanted: str) -> bytes:
    found = re.compile(wanted.encode())
    return b"\n".join(line for line in content.splitlines() if found.search(line))


def _json(content: bytes, wanted: str) -> bytes:
    return _values(json.loads(content), wanted)


def _toml(content: bytes, wanted: str) -> bytes:
    import tomllib  # 5 ms

    return _values(tomllib.loads(content.decode()), wanted)


def _values(document: Any, wanted: str) -> bytes:
    """Return the values below the keys, in a form in which their order does not count."""
    if not isinstance(document, dict):
        raise ValueError("not an object")  # noqa: TRY004 - as of what cannot be parsed
    found = {}
    for key in wanted.split(","):
        value: Any = document
        for name in key.split("."):
            value = value.get(name) if isinstance(value, dict) else None
        if value is not None:
            found[key] = value
    return json.dumps(found, sort_keys=True, default=str).encode() if found else b""


_PARTS = {"lines": _lines, "json": _json, "toml": _toml}
