"""What the terminal can show: which colours, on which background, and whether more than ASCII.

Only the standard library, and decided before anything is drawn. The terminal is asked for its
background once, with a question behind it that every terminal answers, so that nobody waits for one
that does not know the first.
"""

import os
import re
import select
import time
from collections.abc import Mapping

from siding.ground.namedtuples import NamedTuple

_ASKS = b"\x1b]11;?\x07\x1b[c"  # OSC 11, then DA1, whose answer ends in `c`
_ANSWERED = re.compile(rb"\x1b\[\?[0-9;]*c")
_BACKGROUND = re.compile(rb"\x1b\]11;rgba?:([0-9a-fA-F]+)/([0-9a-fA-F]+)/([0-9a-fA-F]+)")
_WITHIN_S = 0.2
_MOST = 4_096
_DEEP = ("truecolor", "24bit")
_DEEP_TERMS = ("256color", "direct", "kitty", "alacritty", "ghostty", "wezterm", "foot")
_LIGHT_FROM = 7  # of the sixteen colours, as COLORFGBG counts them
_DARK_INDEX = 8

DARK, LIGHT, SIXTEEN, NONE = "dark", "light", "sixteen", "none"


class Answer(NamedTuple):
    """What the terminal said. `typed` is what was no answer: a person typed it meanwhile."""

    background: str = ""  # dark, light, or "" if it did not say
    typed: bytes = b""


def ask_background(write_fd: int) -> float:
    """Ask a terminal in raw mode for its background; return the moment of asking."""
    os.write(write_fd, _ASKS)
    return time.monotonic()


def answered(read_fd: int, asked_at: float, *, within_s: float = _WITHIN_S) -> Answer:
    """Return what the terminal has answered; wait no longer than `within_s` after the asking."""
    end = asked_at + within_s
    data = b""
    while _ANSWERED.search(data) is None and len(data) < _MOST:
        left = max(0.0, end - time.monotonic())
        if not select.select([read_fd], [], [], left)[0]:
            break
        more = os.read(read_fd, _MOST)
        if not more:
            break
        data += more
    return answer_in(data)


def answer_in(data: bytes) -> Answer:
    """Return what the terminal's answers say, and what is none of them."""
    found = _BACKGROUND.search(data)
    background = "" if found is None else _of_rgb(*(_part(each) for each in found.groups()))
    rest = _ANSWERED.sub(b"", data)
    rest = re.sub(rb"\x1b\]11;[^\x07\x1b]*(?:\x07|\x1b\\)?", b"", rest)
    return Answer(background, rest)


def _part(digits: bytes) -> float:
    return float(int(digits, 16)) / float(16 ** len(digits) - 1)


def _of_rgb(red: float, green: float, blue: float) -> str:
    return LIGHT if 0.2126 * red + 0.7152 * green + 0.0722 * blue > 0.5 else DARK


def background_of(env: Mapping[str, str]) -> str:
    """Return the background that the environment names; "" if it names none."""
    last = env.get("COLORFGBG", "").rpartition(";")[2]
    if not last.isdecimal():
        return ""
    number = int(last)
    return LIGHT if number >= _LIGHT_FROM and number != _DARK_INDEX else DARK


def palette_of(env: Mapping[str, str], background: str, wanted: str = "auto") -> str:
    """Return the palette: `wanted` by the settings, else what the terminal can show."""
    if env.get("NO_COLOR"):
        return NONE
    if wanted in (DARK, LIGHT, SIXTEEN, NONE):
        return wanted
    term = env.get("TERM", "")
    is_deep = env.get("COLORTERM", "") in _DEEP or any(each in term for each in _DEEP_TERMS)
    return (background or DARK) if is_deep else SIXTEEN


def is_ascii(env: Mapping[str, str]) -> bool:
    """Tell whether the locale has no more than ASCII. The first variable that is set says so."""
    said = next((env[name] for name in ("LC_ALL", "LC_CTYPE", "LANG") if env.get(name)), "")
    return "utf8" not in said.lower().replace("-", "")
