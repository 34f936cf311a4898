"""What a script may send: plain values of a bounded size that are the same in each run."""

import gc
import math
import re
from typing import Any

from siding.workflows.child.wire import encode

MAX_BYTES = 16 << 20  # of a prompt or a result, as JSON
MAX_DEPTH = 200  # what our files can hold
_ADDRESS = re.compile(r" at 0x([0-9a-f]+)")


def problem_of(value: Any) -> str:
    """Return why a value cannot leave the script; "" if it can."""
    try:
        text = encode(value)
    except TypeError as error:
        place = place_of_other(value)
        awaited = " (is an `await` missing?)" if "Future" in str(error) else ""
        return f"JSON cannot hold {place or 'it'}: {error}{awaited}"
    except (ValueError, RecursionError) as error:
        return f"JSON cannot hold it: {error}"
    if len(text) > MAX_BYTES:
        return f"it has {len(text):,} bytes; at most {MAX_BYTES:,} are possible"
    if text.count("{") + text.count("[") > MAX_DEPTH and _depth(value) > MAX_DEPTH:
        return f"it is nested more than {MAX_DEPTH} deep"
    return ""


def has_infinite(value: Any) -> bool:
    """Tell whether JSON could hold a value but for numbers that are infinite, or none at all."""
    try:
        encode(value)
    except ValueError as error:
        return str(error).startswith("Out of range")
    except (TypeError, RecursionError):
        return False
    return False


def finite(value: Any) -> Any:
    """Return a value with null for each number that JSON cannot hold (`budget.remaining()` is
    infinite without a budget): it is no reason to lose what was paid for."""
    match value:
        case float():
            return value if math.isfinite(value) else None
        case dict():
            return {key: finite(inner) for key, inner in value.items()}
        case list() | tuple():
            return [finite(inner) for inner in value]
    return value


def place_of_other(value: Any, place: str = "result") -> str:
    """Return where in a value the first thing is that JSON has no form for; "" if there is none."""
    match value:
        case None | str() | int() | float():
            return ""
        case dict():
            inner = [(f"{place}[{key!r}]", each) for key, each in value.items()]
        case list() | tuple():
            inner = [(f"{place}[{number}]", each) for number, each in enumerate(value)]
        case _:
            return place
    return next((found for name, each in inner if (found := place_of_other(each, name))), "")


def has_address(text: str) -> bool:
    """Tell whether a text shows where in memory an object of the script lies.

    What an agent said may have addresses of another process: those are the same in each run.
    """
    found = {int(address, 16) for address in _ADDRESS.findall(text)}
    if not found:
        return False
    gc.unfreeze()  # what was loaded before the script is among them
    return any(id(thing) in found for thing in gc.get_objects())


def _depth(value: Any) -> int:
    depth, level = 0, [value]
    while level:
        depth += 1
        level = [inner for outer in level for inner in _within(outer)]
    return depth


def _within(value: Any) -> list[Any]:
    inner = value.values() if isinstance(value, dict) else value
    return [one for one in inner if isinstance(one, dict | list | tuple)]
