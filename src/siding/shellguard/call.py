"""One program that is about to run."""

from collections.abc import Mapping

from siding.ground.namedtuples import NamedTuple
from siding.shellguard.fields import PrintedText
from siding.shellguard.state import ShellState


class Call(NamedTuple):
    """One program that is about to run, as its judge gets it."""

    words: tuple[str, ...]  # fields; the first names the program
    state: ShellState
    stdin: PrintedText
    env: Mapping[str, str] = {}  # assignments before it

    @property
    def name(self) -> str:
        return self.words[0].rpartition("/")[2]

    @property
    def arguments(self) -> tuple[str, ...]:
        return self.words[1:]

    @property
    def cost(self) -> int:
        """The units of the budget that judging it takes."""
        return 10 + sum(map(_cost, self.words))


def _cost(word: str) -> int:
    """Return the units that judging one argument takes.

    A word of joined flags (``-abc``) is matched once for each flag, which counts when there are
    hundreds of them.
    """
    flags = len(word) if word[:1] == "-" and len(word) > 300 else 0
    return 8 + len(word) // 16 + 4 * flags
