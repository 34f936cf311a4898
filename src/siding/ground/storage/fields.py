"""Read one field of a JSON object whose type is not certain.

Ledgers are read for years, and their lines come from older and newer versions and from other tools.
A field of an unexpected type counts as missing: one odd field must not hide a whole step.
"""

from collections.abc import Mapping
from typing import Any


def mapping(value: object) -> Mapping[str, Any]:
    """Return `value` if it is a JSON object, else an empty one."""
    return value if isinstance(value, dict) else {}


def mappings(value: object) -> list[Mapping[str, Any]]:
    """Return the objects in a JSON array; other items are left out."""
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def words(value: object) -> tuple[str, ...]:
    """Return the items of a JSON array, each converted to text."""
    return tuple(str(word) for word in value) if isinstance(value, list) else ()


def strings(value: object) -> tuple[str, ...]:
    """Return the strings in a JSON array; other items are left out."""
    return tuple(each for each in value if isinstance(each, str)) if isinstance(value, list) else ()


def text(value: object) -> str:
    """Return `value` converted to text; "" for None."""
    return "" if value is None else str(value)


def text_or_none(value: object) -> str | None:
    """Return `value` if it is a non-empty string, else None."""
    return value if isinstance(value, str) and value else None


def whole(value: object) -> int:
    """Return `value` if it is an integer, else 0."""
    return value if isinstance(value, int) else 0


def whole_or_none(value: object) -> int | None:
    """Return `value` if it is an integer, else None; True and False do not count as integers."""
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def said(**fields: Any) -> dict[str, Any]:
    """Return the fields that have a value: None and empty texts, lists and objects are left out."""
    return {name: value for name, value in fields.items() if value not in (None, "", [], {}, ())}
