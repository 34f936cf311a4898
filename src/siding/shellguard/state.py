"""What is known at one place of a line: the shell's state, and the program that is about to run."""

from collections.abc import Mapping

from siding.ground.namedtuples import NamedTuple
from siding.shellguard.fields import UNKNOWN, PrintedText
from siding.shellguard.tree import Command

MOST_ELEMENTS = 500


class ShellState:
    """Directory, variables and functions; the examiner updates them command by command."""

    def __init__(self, *, cwd: str | None, variables: dict[str, str]) -> None:
        self.cwd = cwd  # None: not known
        self.other_cwds: frozenset[str] = frozenset()  # where the shell may be instead of `cwd`
        self.variables = variables
        self.arrays: dict[str, tuple[str, ...]] = {}
        self.integers: set[str] = set()  # variables whose values are arithmetic
        self.functions: dict[str, Command] = {}
        self.aliases: dict[str, str] = {}
        self.positional: tuple[str, ...] | None = None  # None: not known
        self.links: set[str] = set()  # links this line makes to places outside
        self.loaded: set[str] = set()  # variables set here that make programs run other programs
        self.plain_splitting = True  # False once the line has set IFS
        self.calls: tuple[str, ...] = ()  # functions being called

    def copy(self) -> "ShellState":
        """Return a copy that changes independently, as a subshell's state does."""
        other = ShellState(cwd=self.cwd, variables=dict(self.variables))
        other.other_cwds = self.other_cwds
        other.arrays = dict(self.arrays)
        other.integers = set(self.integers)
        other.functions = dict(self.functions)
        other.aliases = dict(self.aliases)
        other.positional = self.positional
        other.links = self.links  # shared: files outlive a subshell
        other.loaded = set(self.loaded)
        other.plain_splitting = self.plain_splitting
        other.calls = self.calls
        return other

    def hold(self, name: str, elements: list[str], *, append: bool) -> None:
        """Remember the elements of array `name`; their indexes are not kept."""
        before = self.arrays.get(name, ()) if append else ()
        several = (*before, *elements)
        self.arrays[name] = several if len(several) <= MOST_ELEMENTS else (UNKNOWN,)

    def merge(self, other: "ShellState") -> None:
        """Keep only what holds in both states, when the line may have reached here by two ways."""
        if other.cwd is None or self.cwd is None:
            self.cwd = None
        else:
            self.other_cwds = (self.other_cwds | other.other_cwds | {other.cwd}) - {self.cwd}
        for name in {*self.variables, *other.variables}:
            if self.variables.get(name) != other.variables.get(name):
                self.variables[name] = UNKNOWN
        for name in {*self.arrays, *other.arrays}:
            if self.arrays.get(name) != other.arrays.get(name):
                self.arrays[name] = (UNKNOWN,)
        for name, body in other.functions.items():
            self.functions.setdefault(name, body)
        for name, text in other.aliases.items():
            self.aliases.setdefault(name, text)
        if self.positional != other.positional:
            self.positional = None
        self.loaded |= other.loaded
        self.integers |= other.integers
        self.plain_splitting = self.plain_splitting and other.plain_splitting


# -- One program that is about to run --------------------------------------------------------------


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
