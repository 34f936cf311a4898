"""Text for the terminal: what comes from outside made inert, and measured and cut in cells.

A cell is one column of the terminal. Wide characters take two, combining ones none. What no two
terminals measure alike (joined emoji, skin tones, variation selectors) is taken apart, so that
columns stay where they are.
"""

import re

from rich.cells import cell_len, get_character_cell_size, split_graphemes

from siding.ground.namedtuples import NamedTuple

TAB = 4  # cells between the stops that tabs go to

# What stands for characters of our own; each as wide as what it replaces.
_INSTEAD = str.maketrans(
    {
        **dict.fromkeys("─━┄┈╌═\u2013—\u2212", "-"),
        **dict.fromkeys("│┃┆╎║", "|"),
        **dict.fromkeys("╭╮╰╯┌┐└┘├┤┬┴┼", "+"),
        **dict.fromkeys("•●○◆◇■□", "o"),
        **dict.fromkeys("\u203a▸▶→", ">"),
        **dict.fromkeys("\u2039◀←↺", "<"),
        **dict.fromkeys("▾▼↓", "v"),
        **dict.fromkeys("▲↑", "^"),
        "·": "-",
        "…": "~",
        "✓": "v",
        "✗": "x",
        "\u00d7": "x",
        "\u00a0": " ",
    }
)
# Controls draw nothing and may change what is drawn; bidirectional controls reorder the text
# after them; others are invisible. See `faces/web/text.py`.
_HIDDEN = {
    *range(0x20),
    *range(0x7F, 0xA0),
    0xAD,
    0x061C,
    0x1160,
    0x180E,
    *range(0x200B, 0x2010),
    *range(0x2028, 0x202F),
    *range(0x2060, 0x2070),
    0x3164,
    0xFEFF,
    0xFFA0,
    *range(0xFFF9, 0xFFFC),
    *range(0xE0000, 0xE0080),
}
_SPELLED = {code: f"\\u{code:04x}" if code > 0xFF else f"\\x{code:02x}" for code in _HIDDEN}
_SPELLED |= {ord("\t"): "\\t", ord("\n"): "\\n", ord("\r"): "\\r"}
_SPELLED_LINES = {code: text for code, text in _SPELLED.items() if chr(code) not in "\t\n"}
# Pictures joined to one: the joiner, the selectors of their form and their tones are left out.
_PICTURE = "\u2190-\u2bff\U0001f000-\U0001faff"
_LEFT_OUT = re.compile(
    f"(?<=[{_PICTURE}\ufe0f])\u200d(?=[{_PICTURE}])|[\ufe00-\ufe0f\U0001f3fb-\U0001f3ff]"
)
_ODD = re.compile("[\ufe00-\ufe0f\U0001f3fb-\U0001f3ff\u1160\u3164\uffa0]")  # and printable
# Characters that are not drawn as they are, as far as a line may have them and is printed so.
SPELLED = frozenset(map(chr, _HIDDEN - set(b"\t\n\r")))
LEFT_OUT = frozenset(map(chr, (0x200D, *range(0xFE00, 0xFE10), *range(0x1F3FB, 0x1F400))))
_RIGHT_TO_LEFT = re.compile(
    "[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\U00010800-\U00010fff\U0001e800-\U0001efff]"
)


class Span(NamedTuple):
    """A range of a line that has a style of its own."""

    start: int
    end: int
    style: str


def inert(text: str, *, lines: bool = False) -> str:
    """Return `text` with every control, bidirectional and hidden character spelled out.

    Bytes that were not UTF-8 are spelled ``\\xNN``. `lines` keeps line feeds and tabs.
    """
    if is_inert(text):
        return text
    if not text.isascii():
        text = _LEFT_OUT.sub("", text)
    safe = text.translate(_SPELLED_LINES if lines else _SPELLED)
    return safe.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def is_inert(text: str) -> bool:
    """Tell whether a text is drawn as it is."""
    return text.isprintable() and (text.isascii() or not _ODD.search(text))


def left_out(text: str) -> set[int]:
    """Return the places of the characters that `inert` leaves out."""
    return set() if text.isascii() else {found.start() for found in _LEFT_OUT.finditer(text)}


def cells(text: str) -> int:
    """Return how many columns a text takes."""
    return len(text) if text.isascii() else cell_len(text)


def cut(text: str, width: int, *, end: str = "…") -> str:
    """Return the text if it fits into `width` cells, else its beginning and `end`."""
    if (len(text) <= width and text.isascii()) or cells(text) <= width:
        return text
    room = width - cells(end)
    if room < 0:
        return head(end, width)
    return head(text, room) + end


def head(text: str, width: int) -> str:
    """Return as much of the beginning of a text as fits into `width` cells."""
    if text.isascii():
        return text[: max(0, width)]
    used = 0
    for start, _end, size in split_graphemes(text)[0]:
        used += size
        if used > width:
            return text[:start]
    return text


def fit(text: str, width: int, *, right: bool = False, end: str = "…") -> str:
    """Return the text cut or filled with spaces to exactly `width` cells."""
    shown = cut(text, width, end=end)
    room = " " * (width - cells(shown))
    return room + shown if right else shown + room


def isolated(text: str) -> str:
    """Return the text so that its direction changes nothing beside it on the row.

    Text that goes from right to left is put between FSI and PDI, which take no cells.
    """
    if text.isascii() or not _RIGHT_TO_LEFT.search(text):
        return text
    return f"\u2068{text}\u2069"


def in_ascii(text: str) -> str:
    """Return a text in ASCII, as wide as it was."""
    return "".join(
        each if each.isascii() else "?" * get_character_cell_size(each)
        for each in text.translate(_INSTEAD)
    )
