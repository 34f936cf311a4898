"""Styles of terminal output: SGR ("select graphic rendition", ECMA-48 §8.3.117). Pure."""

import re

from siding.ground.namedtuples import NamedTuple

_FLAGS = {1: "bold", 2: "dim", 3: "italic", 4: "under", 7: "inverse", 9: "strike"}
_OFF = {22: ("bold", "dim"), 23: ("italic",), 24: ("under",), 27: ("inverse",), 29: ("strike",)}
DEFAULT = -1  # with inverse text: the default background as text colour, or the other way round


class Style(NamedTuple):
    """The look of text. Colours are numbers of the 256-colour table; None is the default.

    The flags are bold, dim, italic, under, inverse and strike. Text that asks to be hidden is not.
    """

    fore: int | None = None
    back: int | None = None
    flags: frozenset[str] = frozenset()

    def colours(self) -> tuple[int | None, int | None]:
        """Return the colours of text and background, inverse text turned round.

        Text on a background of its own colour would be invisible: it has no background.
        """
        fore, back = self.fore, self.back
        if "inverse" in self.flags:
            fore, back = _own(self.back), _own(self.fore)
        return fore, None if fore is not None and fore == back else back


def _own(colour: int | None) -> int:
    return DEFAULT if colour is None else colour


def styled(style: Style, parameters: str) -> Style:
    """Return the style after an SGR sequence with these parameters."""
    # Python's int() refuses more than 4300 digits, so longer numbers are cut.
    numbers = [int(each[:5]) if each else 0 for each in re.split("[;:]", parameters)]
    flags = set(style.flags)
    fore, back = style.fore, style.back
    while numbers:
        number = numbers.pop(0)
        if number == 0:
            flags, fore, back = set(), None, None
        elif number in _FLAGS:
            flags.add(_FLAGS[number])
        elif number in _OFF:
            flags.difference_update(_OFF[number])
        elif number in (38, 48):
            colour = _colour(numbers)
            numbers = colour.rest
            if number == 38:
                fore = colour.number if colour.number is not None else fore
            else:
                back = colour.number if colour.number is not None else back
        elif number in (39, 49):
            fore, back = (None, back) if number == 39 else (fore, None)
        elif 30 <= number <= 37 or 90 <= number <= 97:
            fore = number - 30 if number < 90 else number - 82
        elif 40 <= number <= 47 or 100 <= number <= 107:
            back = number - 40 if number < 100 else number - 92
    return Style(fore=fore, back=back, flags=frozenset(flags))


class _Colour(NamedTuple):
    number: int | None
    rest: list[int]


def _colour(numbers: list[int]) -> _Colour:
    """Read ``5;N`` or ``2;R;G;B`` from the front of `numbers`, and return the colour and the rest.

    An RGB colour becomes the nearest one of the colour cube; a malformed one is None.
    """
    if numbers[:1] == [5] and len(numbers) > 1:
        return _Colour(numbers[1] if numbers[1] < 256 else None, numbers[2:])
    if numbers[:1] == [2] and len(numbers) > 3:
        red, green, blue = (min(255, each) for each in numbers[1:4])
        return _Colour(16 + 36 * _level(red) + 6 * _level(green) + _level(blue), numbers[4:])
    return _Colour(None, [])


def _level(value: int) -> int:
    """Return the step of the colour cube nearest to a value of 0 to 255."""
    steps = (0, 95, 135, 175, 215, 255)
    return min(range(6), key=lambda step: abs(steps[step] - value))
