"""How many columns a character takes in a terminal."""

from functools import lru_cache
from unicodedata import category, east_asian_width

_ZERO_WIDTH = frozenset({"Mn", "Me", "Cf"})  # marks above a character, joiners
_SOFT_HYPHEN = "\u00ad"


@lru_cache(maxsize=4096)
def width(character: str) -> int:
    """Return 0, 1 or 2, as wcwidth(3) has it in a UTF-8 locale."""
    if character < "\u0300":
        return 1
    if category(character) in _ZERO_WIDTH and character != _SOFT_HYPHEN:
        return 0
    if "\u1160" <= character <= "\u11ff":  # the second and third part of a Korean syllable
        return 0
    return 2 if east_asian_width(character) in "WF" else 1
