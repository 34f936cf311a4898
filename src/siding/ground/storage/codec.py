"""Read JSON objects strictly; `writes` makes their bytes.

NaN, Infinity and numbers beyond a float are refused, because other JSON readers refuse them and
they could not be written back. A byte order mark is ignored (RFC 8259, section 8.1). When a key is
given twice, the last value counts, as in Python's `json`.
"""

import json
from typing import Any, NoReturn

_BOM = "\ufeff"
_INFINITIES = (float("inf"), float("-inf"))


class NotJson(ValueError):
    """The bytes are not a JSON object; the message tells a person why.

    `is_cut_off` is True when only the end is missing, as after a write that was cut off.
    """

    def __init__(self, reason: str, *, is_cut_off: bool = False) -> None:
        super().__init__(reason)
        self.is_cut_off = is_cut_off


def _refuse_constant(name: str) -> NoReturn:
    raise NotJson(f"it contains {name}")


def _finite(text: str) -> float:
    value = float(text)
    if value in _INFINITIES:
        raise NotJson("it contains a number that is too large")
    return value


_DECODER = json.JSONDecoder(parse_constant=_refuse_constant, parse_float=_finite)


def parse_object(raw: bytes) -> dict[str, Any]:
    """Return the JSON object in `raw`; raise `NotJson`, and nothing else, if there is none."""
    try:
        value = _decoded(raw.decode("utf-8").removeprefix(_BOM))
    except UnicodeDecodeError as error:
        raise NotJson(f"it is not UTF-8 (byte {error.start})") from None
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        cut_off = error.pos >= len(error.doc.rstrip()) or error.msg.startswith("Unterminated")
        raise NotJson(f"it is not JSON ({error.msg}: {where})", is_cut_off=cut_off) from None
    except NotJson:
        raise
    except ValueError:  # int() of more than 4300 digits
        raise NotJson("it contains a number that is too long") from None
    except RecursionError:
        raise NotJson("it is nested too deeply") from None
    except MemoryError:
        raise NotJson("it is too large for the memory there is") from None
    if not isinstance(value, dict):
        raise NotJson("it is not a JSON object")
    return value


def _decoded(text: str) -> Any:
    """Return the value in a text. What we have written has nothing before and behind it."""
    try:
        value, end = _DECODER.raw_decode(text)
    except json.JSONDecodeError:
        end = -1  # it may begin with white space
    return value if end == len(text) else _DECODER.decode(text)
