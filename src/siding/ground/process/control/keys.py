"""Names of keys, and the bytes that a terminal sends for them."""

import re

from siding.ground.process.terminal import APPLICATION_CURSOR, BRACKETED_PASTE

_PLAIN = {
    "enter": b"\r",
    "tab": b"\t",
    "escape": b"\x1b",
    "space": b" ",
    "backspace": b"\x7f",
    "shift-tab": b"\x1b[Z",
    "insert": b"\x1b[2~",
    "delete": b"\x1b[3~",
    "page-up": b"\x1b[5~",
    "page-down": b"\x1b[6~",
    "f1": b"\x1bOP",
    "f2": b"\x1bOQ",
    "f3": b"\x1bOR",
    "f4": b"\x1bOS",
    "f5": b"\x1b[15~",
    "f6": b"\x1b[17~",
    "f7": b"\x1b[18~",
    "f8": b"\x1b[19~",
    "f9": b"\x1b[20~",
    "f10": b"\x1b[21~",
    "f11": b"\x1b[23~",
    "f12": b"\x1b[24~",
}
# In the application mode of the cursor keys these begin with SS3, else with CSI.
_CURSOR = {"up": b"A", "down": b"B", "right": b"C", "left": b"D", "home": b"H", "end": b"F"}
_OTHER_NAMES = {"esc": "escape", "return": "enter", "pageup": "page-up", "pagedown": "page-down"}
_CONTROL = re.compile(r"(?:ctrl-|c-|\^)(.|space)", re.IGNORECASE)
_META = re.compile(r"(?:alt-|meta-|m-)(.+)", re.IGNORECASE)

NAMES = (*_PLAIN, *_CURSOR)


class UnknownKey(ValueError):
    """No key has this name."""


def key_bytes(name: str, modes: frozenset[int] = frozenset()) -> bytes:
    """Return what a key sends in a terminal with these modes; raise UnknownKey.

    A name is one character, ``enter``, ``up``, ``f1``, ``ctrl-c``, ``alt-x`` and the like.
    """
    if len(name) == 1:
        return name.encode()
    plain = _OTHER_NAMES.get(name.lower(), name.lower())
    if plain in _PLAIN:
        return _PLAIN[plain]
    if plain in _CURSOR:
        return (b"\x1bO" if APPLICATION_CURSOR in modes else b"\x1b[") + _CURSOR[plain]
    if found := _CONTROL.fullmatch(name):
        return _control(found[1])
    if found := _META.fullmatch(name):
        return b"\x1b" + key_bytes(found[1], modes)
    raise UnknownKey(name)


def _control(character: str) -> bytes:
    if character == "?":
        return b"\x7f"
    code = ord("@" if character.lower() in (" ", "space") else character.upper())
    if not 0x40 <= code <= 0x5F:
        raise UnknownKey(f"ctrl-{character}")
    return bytes([code & 0x1F])


def text_bytes(text: str, modes: frozenset[int]) -> bytes:
    """Return what a terminal sends when a text is pasted; several lines are marked as pasted, if
    the program asked for that."""
    data = text.encode("utf-8", "surrogateescape").replace(b"\n", b"\r")
    if b"\r" in data and BRACKETED_PASTE in modes:
        return b"\x1b[200~" + data.replace(b"\x1b", b"") + b"\x1b[201~"
    return data
