"""Commands of Siding that are typed behind a `/`. What is none of them goes to the agent as it is.

A table: a room of its own adds rows to it.
"""

from collections.abc import Callable, Iterable

from siding.chat.fuzzy import fitting
from siding.chat.mentions import Mention
from siding.ground.namedtuples import NamedTuple

_MOST = 20


class Slash(NamedTuple):
    """One command. `run` is given what stands behind its name."""

    name: str  # without the slash
    about: str
    run: Callable[[str], None]


class Slashes:
    """The commands there are."""

    def __init__(self, commands: Iterable[Slash] = ()) -> None:
        self._by_name: dict[str, Slash] = {}
        self.add(commands)

    def add(self, commands: Iterable[Slash]) -> None:
        """Have more commands; one with a name that is there replaces it."""
        self._by_name |= {each.name: each for each in commands}

    def like(self, letters: str) -> list[Mention]:
        """Return the commands that fit, best first."""
        return [
            Mention(f"/{name}", "command", self._by_name[name].about)
            for name in fitting([*self._by_name], letters, _MOST)
        ]

    def run(self, typed: str) -> bool:
        """Carry out a command; tell whether it is one of these."""
        first, _, rest = typed.partition(" ")
        found = self._by_name.get(first.removeprefix("/")) if first.startswith("/") else None
        if found is None:
            return False
        found.run(rest.strip())
        return True
