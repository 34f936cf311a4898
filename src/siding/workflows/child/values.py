"""What a script may send: plain values of a bounded size that are the same in each run."""

import gc
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
    except (TypeError, ValueError, RecursionError) as error:
        return f"JSON cannot hold it: {error}"
    if len(text) > MAX_BYTES:
        return f"it has {len(text):,} bytes; at most {MAX_BYTES:,} are possible"
    if text.count("{") + text.count("[") > MAX_DEPTH and _depth(value) > MAX_DEPTH:
        return f"it is nested more than {MAX_DEPTH} deep"
    return ""


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
