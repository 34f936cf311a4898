"""What all parts of the translation share: the script, its names, what was noted."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from siding.ground.namedtuples import NamedTuple
from siding.workflows.javascript.assigned import Assigned
from siding.workflows.javascript.errors import ByHand
from siding.workflows.javascript.kinds import Kind
from siding.workflows.javascript.layout import Code
from siding.workflows.javascript.nodes import Expression, Function, Statement
from siding.workflows.javascript.scope import Scopes
from siding.workflows.javascript.tokens import Places
from siding.workflows.javascript.values import Value, called


class Place(NamedTuple):
    """A line of the JavaScript file, and what is to be said of it."""

    line: int
    why: str


class Translator:
    """The state of one translation. The parts that know each other only by this are methods."""

    def __init__(self, source: str, assigned: Assigned) -> None:
        self.source = source
        self.places = Places(source)
        self.assigned = assigned
        self.scopes = Scopes()
        self.helpers: set[str] = set()
        self.modules: set[str] = set()
        self.notes: set[Place] = set()
        self.left: list[Place] = []
        self.translated = 0
        self.loops = 0
        self.discarded: Expression | None = None  # a call whose result nobody takes
        self.active: list[int] = []  # the loops around what is being translated

    def value(self, node: Expression) -> Value:
        """Translate an expression. Raises ByHand."""
        raise NotImplementedError

    def condition(self, node: Expression) -> Value:
        """Translate an expression of which only the truth counts. Raises ByHand."""
        raise NotImplementedError

    def function(
        self, node: Function, name: str, kinds: tuple[Kind, ...] = (), *, immediate: bool = False
    ) -> Value:
        """Translate a function that is a value; `kinds` are those of its arguments.

        An `immediate` one is called before its surroundings go on, and not kept. Raises ByHand.
        """
        raise NotImplementedError

    def body(self, statements: tuple[Statement, ...]) -> list[str]:
        """Translate the statements of a block to lines."""
        raise NotImplementedError

    def statement(self, node: Statement) -> list[str]:
        """Translate one statement, or leave it to a person."""
        raise NotImplementedError

    def inside(self, statements: tuple[Statement, ...]) -> list[str]:
        """Translate the statements of a block, one level deeper."""
        raise NotImplementedError

    def flushed(self) -> list[str]:
        """Return the functions that stand before the statement."""
        lines, self.scopes.frame.hoisted = self.scopes.frame.hoisted, []
        return lines

    def helper(self, name: str, *arguments: Code) -> Value:
        """Return the call of a helper, which the script then gets."""
        self.helpers.add(name)
        return called(name, *arguments)

    def module(self, name: str) -> str:
        self.modules.add(name)
        return name

    def note(self, at: int, why: str) -> None:
        """Say what a person should look at."""
        self.notes.add(Place(line=self.places.line(at), why=why))

    @contextmanager
    def contained(self) -> Iterator[None]:
        """What is made in here is over before the loops around it go on."""
        before = self.scopes.contained
        self.scopes.contained = [*before, *self.active]
        try:
            yield
        finally:
            self.scopes.contained = before

    @contextmanager
    def block(self) -> Iterator[None]:
        """Names that are declared in here are not known behind it."""
        depth = len(self.scopes.blocks)
        self.scopes.blocks.append({})
        try:
            yield
        finally:
            del self.scopes.blocks[depth:]

    def snapshot(self) -> Callable[[], None]:
        """Return what undoes the noting of all that is translated from now on."""
        frame = self.scopes.frame
        helpers, modules, notes = set(self.helpers), set(self.modules), set(self.notes)
        left, translated, names = list(self.left), self.translated, set(frame.names)
        hoisted, depth, outer = list(frame.hoisted), len(self.scopes.blocks), set(frame.outer)

        def undo() -> None:
            self.helpers, self.modules, self.notes = helpers, modules, notes
            self.left, self.translated = left, translated
            self.scopes.frame = frame
            frame.names, frame.hoisted, frame.outer = names, hoisted, outer
            del self.scopes.blocks[depth:]

        return undo

    def new_loop(self) -> int:
        self.loops += 1
        return self.loops


def refuse(why: str) -> ByHand:
    return ByHand(why)
