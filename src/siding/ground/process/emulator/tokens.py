"""Take a terminal's output apart: text, control characters, sequences. Pure."""

import re
from collections.abc import Iterator

from siding.ground.namedtuples import NamedTuple

_TOKEN = re.compile(
    r"(?P<text>[^\x00-\x1f\x7f-\x9f]+)"
    r"|\x1b\[(?P<parameters>[0-?]{0,100})(?P<between>[ -/]*)(?P<csi>[@-~])"
    r"|(?P<string>\x1b[\]PX^_][^\x07\x1b\x18\x1a]*(?:\x07|\x1b\\|[\x18\x1a]|(?=\x1b)))"
    r"|\x1b(?P<charset>[()*+#%])(?P<which>[0-~])"
    r"|\x1b(?P<escape>[0-OQ-WYZ\\`-~])"
    r"|(?P<control>[\x00-\x1f\x7f-\x9f])",
    re.DOTALL,
)
_UNFINISHED = re.compile(r"\x1b(?:\[[0-?]*[ -/]*|[\]PX^_][^\x07\x1b\x18\x1a]*\x1b?|[()*+#%])?\Z")
_MOST = 9999


class Token(NamedTuple):
    """A piece of output.

    `kind` is "text" or "control" with the characters in `text`; "csi" with its last character
    there; "escape" and "charset", whose `marks` is the character between; the last one of a
    string (a title, say) is not kept.
    """

    kind: str
    text: str
    marks: str = ""  # of a sequence: "?" or ">" before its numbers, and what stands behind them
    numbers: tuple[int, ...] = ()

    def number(self, place: int = 0, usual: int = 1) -> int:
        """Return a number of a sequence; `usual` if it is missing or 0."""
        return self.numbers[place] or usual if place < len(self.numbers) else usual


def tokens(text: str) -> Iterator[Token]:
    """Yield the pieces of output; an unfinished sequence at its end is left out."""
    position = 0
    while found := _TOKEN.match(text, position):
        kind, position = found.lastgroup, found.end()
        if found["csi"]:
            marks = re.sub(r"[0-9;:]", "", found["parameters"]) + found["between"]
            numbers = tuple(_numbers(found["parameters"]))
            yield Token("csi", found["csi"], marks=marks, numbers=numbers)
        elif kind == "which":
            yield Token("charset", found["which"], marks=found["charset"])
        elif kind == "control" and found["control"] == "\x1b":
            if _UNFINISHED.match(text, found.start()):
                return
        elif kind in ("text", "control", "escape"):
            yield Token(kind, found[kind])


def _numbers(parameters: str) -> Iterator[int]:
    for each in re.split("[;:]", parameters.lstrip("<=>?")):
        yield min(_MOST, int(each[:5])) if each.isdigit() else 0
