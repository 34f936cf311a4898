"""What all parts of the translation share: the script, its names, what was noted.

Of a name: where it is declared, what it is called in Python, and whether it is set again.
"""

import builtins
import keyword
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import fields, is_dataclass

from siding.ground.namedtuples import NamedTuple
from siding.workflows.allowed import INJECTED, MODULES
from siding.workflows.javascript.errors import ByHand
from siding.workflows.javascript.generated import HELPERS
from siding.workflows.javascript.nodes import (
    Array,
    Assign,
    Call,
    Expression,
    Function,
    Index,
    Member,
    Name,
    Number,
    Statement,
    Update,
)
from siding.workflows.javascript.tokens import Places
from siding.workflows.javascript.values import (
    ANY,
    INT,
    NUM,
    STR,
    Code,
    Kind,
    Value,
    called,
    list_of,
)

_GROW = frozenset(["push", "unshift", "splice", "fill", "sort", "reverse", "pop", "shift"])
_TAKEN = frozenset(
    [*INJECTED, *MODULES, *HELPERS, *vars(builtins), *keyword.kwlist, "meta", "main", "match"]
)


class Assigned:
    """What a script does to its names."""

    def __init__(self, nodes: tuple[object, ...]) -> None:
        self.signs: dict[str, set[str]] = {}
        self.grown: set[str] = set()
        self.properties: set[str] = set()
        left: list[object] = [nodes]
        while left:
            node = left.pop()
            self._read(node)
            if isinstance(node, tuple):
                left.extend(node)
            elif is_dataclass(node):
                left.extend(getattr(node, field.name) for field in fields(node))

    def _read(self, node: object) -> None:
        match node:
            case Assign(target=target, sign=sign, value=value):
                is_count = sign == "+=" and isinstance(value, Number)
                self._set(target, "++" if is_count else sign)
            case Update(target=target, sign=sign):
                self._set(target, sign)
            case Call(function=Member(value=Name(name=name), name=does)) if does in _GROW:
                self.grown.add(name)

    def _set(self, target: Expression, sign: str) -> None:
        match target:
            case Name(name=name):
                self.signs.setdefault(name, set()).add(sign)
            case Member(name=name):
                self.properties.add(name)
            case Index(value=Name(name=name)):
                self.grown.add(name)
            case Array(items=items):
                for each in items:
                    self._set(each, sign)

    def is_set(self, name: str) -> bool:
        """Tell whether a name is given another value somewhere."""
        return bool(self.signs.get(name))

    def kind_of(self, name: str, kind: Kind) -> Kind:
        """Return what is known of a name that begins with a value of this kind."""
        signs = self.signs.get(name, set())
        if signs & {"=", "&&=", "||=", "??="}:
            return ANY
        if signs and kind in (INT, NUM):
            if "+=" in signs:
                return ANY
            return INT if kind == INT and signs == {"++"} else NUM
        if signs and kind != STR:
            return ANY
        if name in self.grown and kind.name == "list":
            return list_of(ANY)
        return kind


# -- The names of a script -------------------------------------------------------------------------


class Binding(NamedTuple):
    """What a name stands for. `loop` is the loop in whose body it is made anew each time."""

    python: str
    kind: Kind
    frame: "Frame"
    loop: int | None = None
    is_const: bool = True


class Frame:
    """A function of the script. An `immediate` one is over before its surroundings go on."""

    def __init__(self, around: "Frame | None" = None, *, immediate: bool = False) -> None:
        self.around = around
        self.immediate = immediate
        self.depth = 1  # how many blocks there are when its body begins
        self.names: set[str] = set()
        self.outer: set[str] = set()  # names of functions around it that it sets
        self.awaits = False
        self.hoisted: list[str] = []  # lines to stand before the statement


class Scopes:
    """The blocks around what is being translated, the innermost last."""

    def __init__(self) -> None:
        self.frame = Frame()
        self.blocks: list[dict[str, Binding]] = [{}]
        self.captured: set[int] = set()  # loops whose names a function keeps
        self.contained: list[int] = []  # loops that wait for the functions made in them

    def find(self, name: str) -> Binding | None:
        """Return what a name stands for, and note if a function keeps a loop's name."""
        for block in reversed(self.blocks):
            if name in block:
                binding = block[name]
                if binding.loop is not None and binding.loop not in self.contained:
                    self._note(binding)
                return binding
        return None

    def _note(self, binding: Binding) -> None:
        frame: Frame | None = self.frame
        while frame is not None and frame is not binding.frame:
            if not frame.immediate:
                assert binding.loop is not None
                self.captured.add(binding.loop)
                return
            frame = frame.around

    def declare(
        self, name: str, kind: Kind = ANY, *, loop: int | None = None, is_const: bool = True
    ) -> str:
        """Declare a name in the innermost block; return what it is called in Python."""
        python = self.free(name)
        self.blocks[-1][name] = Binding(
            python=python, kind=kind, frame=self.frame, loop=loop, is_const=is_const
        )
        return python

    def free(self, name: str) -> str:
        """Return a Python name for a JavaScript one, which nothing around it has."""
        base = name.replace("$", "_")
        if base.startswith("__"):
            base = f"n{base}"
        taken = {binding.python for block in self.blocks for binding in block.values()}
        taken |= self.frame.names
        found, number = base, 2
        while found in taken or found in _TAKEN or not found.isidentifier():
            found = f"{base.rstrip('_') or 'name'}_{number}"
            number += 1
        self.frame.names.add(found)
        return found

    def parameter(self, name: str, kind: Kind = ANY, loop: int | None = None) -> str:
        """Declare a name that a call or a comprehension sets: it may hide one of its own name."""
        around = self.find_quietly(name)
        others = {
            binding.python
            for block in self.blocks
            for known, binding in block.items()
            if known != name
        }
        can_hide = name.isidentifier() and name not in _TAKEN and name not in others
        if can_hide and name not in self.frame.names and (around is None or around.python == name):
            python = name
            self.frame.names.add(name)
        else:
            python = self.free(name)
        self.blocks[-1][name] = Binding(python=python, kind=kind, frame=self.frame, loop=loop)
        return python

    def find_quietly(self, name: str) -> Binding | None:
        return next((block[name] for block in reversed(self.blocks) if name in block), None)

    def bind(self, name: str, python: str, kind: Kind, loop: int | None = None) -> None:
        """Let a name stand for an expression."""
        self.blocks[-1][name] = Binding(python=python, kind=kind, frame=self.frame, loop=loop)

    def set_kind(self, name: str, kind: Kind) -> None:
        for block in reversed(self.blocks):
            if name in block:
                block[name] = block[name]._replace(kind=kind)
                return


# -- What all parts share --------------------------------------------------------------------------


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
