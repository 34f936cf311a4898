"""Watch the keys for those that are for the viewer: the prefix, and what follows it."""

import re

from siding.ground.namedtuples import NamedTuple

# Ctrl-] as keyboards send it that a program has switched to another encoding.
_ENCODED = rb"\x1b\[%d;5u|\x1b\[27;5;%d~"


class Keys(NamedTuple):
    """Keys for the program, and whether the viewer is to be left after them."""

    typed: bytes
    leaves: bool


class Prefix:
    """The prefix is one control character. With `d` behind it the viewer is left; twice, it goes to
    the program once; anything else behind it goes there with it."""

    def __init__(self, key: bytes) -> None:
        assert len(key) == 1
        self._key = key
        code = key[0] | 0x40
        codes = sorted({code, code | 0x20})
        other = b"|".join(_ENCODED % (each, each) for each in codes)
        self._pattern = re.compile(re.escape(key) + b"|" + other)
        self._held = b""  # the prefix as it came, while the key behind it is waited for

    def feed(self, data: bytes) -> Keys:
        """Take keys; return those for the program."""
        typed = b""
        while data:
            if self._held:
                held, self._held = self._held, b""
                again = self._pattern.match(data)
                if again is not None:
                    typed, data = typed + again[0], data[again.end() :]
                elif data[:1] in (b"d", b"D", b"\x04"):
                    return Keys(typed, leaves=True)
                else:
                    typed, data = typed + held + data[:1], data[1:]
                continue
            found = self._pattern.search(data)
            if found is None:
                return Keys(typed + data, leaves=False)
            typed += data[: found.start()]
            self._held, data = found[0], data[found.end() :]
        return Keys(typed, leaves=False)
