"""Read single fields of another program's JSON, whatever is in them."""

import math
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from siding.ground.clock import iso
from siding.record.tasks.names import MAX_NAME_LENGTH


def text_in(document: Mapping[str, Any], name: str, default: str = "") -> str:
    """Return a text field; `default` if it is missing or null. Raises ValueError otherwise."""
    value = document.get(name)
    if value is None:
        return default
    if not isinstance(value, str):
        raise ValueError(f"`{name}` is not a text")  # noqa: TRY004 - about the file
    return value


def identifier_in(document: Mapping[str, Any], name: str) -> str:
    """Return an id, which is a whole number or a text, as a text; "" if it is missing or null."""
    value = document.get(name)
    if value is None:
        return ""
    found = identifier(value)
    if not found:
        raise ValueError(f"`{name}` is neither a whole number nor a text")
    return found


def identifier(value: object) -> str:
    """Return an id as a text; "" for what cannot be one."""
    if isinstance(value, bool) or not isinstance(value, int | str):
        return ""
    return str(value).strip()


def identifiers_in(document: Mapping[str, Any], name: str) -> tuple[str, ...]:
    """Return a list of ids, each once; raises ValueError for anything else."""
    value = document.get(name)
    if value is None:
        return ()
    if not isinstance(value, list):
        raise ValueError(f"`{name}` is not a list")  # noqa: TRY004 - about the file
    found = [identifier(each) for each in value]
    if not all(found):
        raise ValueError(f"`{name}` has an entry that is neither a whole number nor a text")
    return tuple(dict.fromkeys(found))


def time_in(document: Mapping[str, Any], name: str) -> str:
    """Return a time as ISO 8601; "" if it is missing or makes no sense.

    Numbers are seconds since 1970. Texts must be ISO 8601 with an offset.
    """
    value = document.get(name)
    try:
        if isinstance(value, str):
            moment = datetime.fromisoformat(value)
            return iso(moment) if moment.tzinfo is not None else ""
        if isinstance(value, bool) or not isinstance(value, int | float):
            return ""
        if not math.isfinite(value):
            return ""
        return iso(datetime.fromtimestamp(value, UTC))
    except (ValueError, OverflowError, OSError):
        return ""


def fitting_name(text: str, otherwise: str) -> str:
    """Return a name that a task can have, made of `text`; `otherwise` if nothing is left of it."""
    plain = "".join(each if each.isprintable() else " " for each in text)
    words = " ".join(plain.split()).lstrip("- ")
    if len(words) > MAX_NAME_LENGTH:
        words = words[: MAX_NAME_LENGTH - 1].rstrip() + "…"
    return words or otherwise


def without(document: Mapping[str, Any], known: tuple[str, ...]) -> dict[str, Any]:
    """Return the fields that are not among the known ones."""
    return {key: value for key, value in document.items() if key not in known}
