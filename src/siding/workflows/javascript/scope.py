"""Names of a script: where each is declared, and what it is called in Python."""

import builtins
import keyword

from siding.ground.namedtuples import NamedTuple
from siding.workflows.allowed import INJECTED, MODULES
from siding.workflows.javascript.generated import HELPERS
from siding.workflows.javascript.kinds import ANY, Kind

_TAKEN = frozenset(
    [*INJECTED, *MODULES, *HELPERS, *vars(builtins), *keyword.kwlist, "meta", "main", "match"]
)


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
