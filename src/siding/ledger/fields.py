"""Read one field of a JSON object, whatever is in it.

A ledger is read for ever, and lines come from older and newer versions and from other tools. A
field of another type than expected counts as missing: one odd field must not hide a step.
"""

from collections.abc import Mapping
from typing import Any


def mapping(value: object) -> Mapping[str, Any]:
    """Return a JSON object; an empty one for anything else."""
    return value if isinstance(value, dict) else {}


def mappings(value: object) -> list[Mapping[str, Any]]:
    """Return the objects of a JSON array."""
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def words(value: object) -> tuple[str, ...]:
    """Return the items of a JSON array as text."""
    return tuple(str(word) for word in value) if isinstance(value, list) else ()


def strings(value: object) -> tuple[str, ...]:
    """Return the strings of a JSON array."""
    return tuple(each for each in value if isinstance(each, str)) if isinstance(value, list) else ()


def text(value: object) -> str:
    """Return a string; "" for what has none."""
    return "" if value is None else str(value)


def text_or_none(value: object) -> str | None:
    """Return a string that is not empty."""
    return value if isinstance(value, str) and value else None


def whole(value: object) -> int:
    """Return a number, 0 for what is none."""
    return value if isinstance(value, int) else 0


def whole_or_none(value: object) -> int | None:
    """Return a number; True and False are none."""
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def said(**fields: Any) -> dict[str, Any]:
    """Return the fields that say something: without None, empty texts, lists and objects."""
    return {name: value for name, value in fields.items() if value not in (None, "", [], {}, ())}
