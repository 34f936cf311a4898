"""Lines of JSON to and from the process that runs the workflow, and what may go over them.

A script may send plain values of a bounded size that are the same in each run.
"""

import gc
import json
import math
import os
import re
from collections import deque
from typing import Any

encode = json.JSONEncoder(ensure_ascii=True, separators=(",", ":"), allow_nan=False).encode
MAX_BYTES = 16 << 20  # of a prompt or a result, as JSON
MAX_DEPTH = 200  # what our files can hold
_ADDRESS = re.compile(r" at 0x([0-9a-f]+)")


class Wire:
    """The two pipes. What is sent is held back until `flush`, so that many lines go at once."""

    def __init__(self, fd_in: int, fd_out: int) -> None:
        self._in = os.fdopen(fd_in, "rb")
        self._fd_out = fd_out
        self._held: list[str] = []
        self._later: deque[dict[str, Any]] = deque()

    def send(self, message: dict[str, Any]) -> None:
        """Send one message, with the next `flush`."""
        self._held.append(encode(message))
        if len(self._held) >= 512:
            self.flush()

    def flush(self) -> None:
        """Write all that is held back."""
        if not self._held:
            return
        data = memoryview(("\n".join(self._held) + "\n").encode())
        self._held.clear()
        while data:
            data = data[os.write(self._fd_out, data) :]

    def receive(self) -> dict[str, Any]:
        """Wait for the next message; SystemExit if there will be none."""
        return self._later.popleft() if self._later else self._read()

    def request(self, message: dict[str, Any]) -> dict[str, Any]:
        """Send a message at once, and wait for the reply to it; other messages wait meanwhile."""
        self.send(message)
        self.flush()
        while "reply" not in (reply := self._read()):
            self._later.append(reply)
        return reply

    def _read(self) -> dict[str, Any]:
        line = self._in.readline()
        if not line.endswith(b"\n"):
            raise SystemExit(0)  # the engine is gone; so is the reason to go on
        message: dict[str, Any] = json.loads(line)
        return message


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
