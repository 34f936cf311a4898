"""Encode and decode JSON so that everything written can be read back.

Writing: UTF-8, never NaN or Infinity. A lone surrogate has no UTF-8 form; Python makes one of each
byte of a file name that is not UTF-8. It is written as its ``\\udcXX`` escape, so that every text
can be stored.

Reading: strict. NaN, Infinity and numbers beyond a float are refused, because other JSON readers
refuse them and they could not be written back. A byte order mark is ignored (RFC 8259, section
8.1). When a key is given twice, the last value counts, as in Python's `json`.
"""

import json
from collections.abc import Iterable, Mapping
from typing import Any, NoReturn

from siding.ground.storage.errors import NotStorable

MAX_DEPTH = 200  # far below the parser's recursion limit, however deep the caller's stack is
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
_LINE = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))
_DOCUMENT = json.JSONEncoder(ensure_ascii=False, allow_nan=False, indent=2)


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


def encode_line(record: Mapping[str, Any]) -> bytes:
    """Return the object on one line, without the newline; raises `NotStorable`."""
    return _encode(_LINE, record)


def encode_document(data: Mapping[str, Any]) -> bytes:
    """Return the object indented by two, with a final newline; raises `NotStorable`."""
    return _encode(_DOCUMENT, data) + b"\n"


def _encode(encoder: json.JSONEncoder, data: Mapping[str, Any]) -> bytes:
    try:
        # Only lone surrogates inside strings cannot be encoded. backslashreplace writes them as
        # \udcXX, which is also JSON's escape.
        raw = encoder.encode(dict(data)).encode("utf-8", "backslashreplace")
    except RecursionError:
        raise NotStorable("a record is nested too deeply to be stored") from None
    except ValueError as error:  # NaN, a circular reference, an int of more than 4300 digits
        raise NotStorable(f"a record has no JSON form: {error}") from None
    # The number of brackets is an upper bound of the depth, and counting them is fast.
    if raw.count(b"{") + raw.count(b"[") > MAX_DEPTH and _depth(data) > MAX_DEPTH:
        raise NotStorable(f"a record is nested more than {MAX_DEPTH} deep")
    return raw


def _depth(value: object) -> int:
    depth = 0
    level = [value]
    while level:
        depth += 1
        level = [child for parent in level for child in _containers_in(parent)]
    return depth


def _containers_in(value: object) -> list[object]:
    children: Iterable[object] = value.values() if isinstance(value, dict) else _items(value)
    return [child for child in children if isinstance(child, dict | list | tuple)]


def _items(value: object) -> Iterable[object]:
    return value if isinstance(value, list | tuple) else ()
