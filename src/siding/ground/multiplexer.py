"""tmux and screen, which keep from the terminal around them what they do not know themselves.

A sequence that is wrapped for them goes through: in tmux if `allow-passthrough` is on.
"""

from collections.abc import Mapping

_MOST = 250  # characters a piece: screen forgets a sequence that is longer


def wrapped(said: str, env: Mapping[str, str]) -> str:
    """Return a sequence as the terminal gets it that is around the multiplexer of `env`."""
    if env.get("TMUX"):
        return f"\x1bPtmux;{said.replace(chr(27), chr(27) * 2)}\x1b\\"
    if env.get("STY"):
        pieces = [said[at : at + _MOST] for at in range(0, len(said), _MOST)]
        return "".join(f"\x1bP{each}\x1b\\" for each in pieces)
    return said
