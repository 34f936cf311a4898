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
        match kind:
            case "lines":
                found = re.compile(wanted.encode())
                return b"\n".join(filter(found.search, content.splitlines()))
            case "json":
                return _values(json.loads(content), wanted)
            case "toml":
                import tomllib  # 5 ms

                return _values(tomllib.loads(content.decode()), wanted)
            case _:
                raise AssertionError(part)
    except (ValueError, RecursionError):
        return content


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
