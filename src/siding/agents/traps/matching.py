"""Match paths against the patterns of traps.

A pattern names the end of a path, in whole components: ``.vscode/tasks.json`` matches in any
directory. With a ``/`` before it, it has to be the whole path. One that ends in ``/`` matches
everything below a directory of that name. ``*`` and ``?`` stand for letters of one component,
``{a,b}`` for either; case does not count, because some file systems ignore it.
"""

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache

from siding.agents.traps.table import TABLE, TrapRow
from siding.ground.namedtuples import NamedTuple

_BRACES = re.compile(r"\{([^{}]*)\}")
MOST_FORMS = 1000  # that the braces of one pattern may stand for


class BadPattern(ValueError):
    """The pattern can match no path, or too much."""


class Pattern(NamedTuple):
    """One pattern without braces, in lower case."""

    components: tuple[str, ...]
    is_anchored: bool
    is_directory: bool  # everything below it is meant

    @classmethod
    def parse(cls, text: str) -> "Pattern":
        lowered = text.casefold()
        components = tuple(lowered.strip("/").split("/"))
        if not {"", ".", ".."}.isdisjoint(components) or not lowered.strip("*?/") or "\0" in text:
            raise BadPattern(text)
        return cls(components, lowered.startswith("/"), lowered.endswith("/"))

    def matches(self, path: tuple[str, ...], at: int) -> bool:
        """Tell whether the pattern matches a path whose component `at` has the first one's form."""
        rest = len(path) - at - len(self.components)
        if rest < 0 or (self.is_anchored and at) or (rest > 0) is not self.is_directory:
            return False
        return self._agrees(path, at)

    def below(self, path: tuple[str, ...], at: int) -> tuple[str, ...] | None:
        """Return the components that are still to come below a directory; None if it does not fit.

        Empty where the directory is what the pattern means, or lies in it.
        """
        if (self.is_anchored and at) or not self._agrees(path, at):
            return None
        come = len(path) - at
        return self.components[come:] if come <= len(self.components) or self.is_directory else None

    def _agrees(self, path: tuple[str, ...], at: int) -> bool:
        pairs = zip(self.components[1:], path[at + 1 :], strict=False)
        return all(wanted == found or has_form(wanted, found) for wanted, found in pairs)


class _Entry(NamedTuple):
    number: int  # of the row
    pattern: Pattern
    row: TrapRow


class Below(NamedTuple):
    """Where a row's files are, seen from a path: the `components` below it.

    Without any it is the path itself. With `is_directory`, all that is below the last one.
    """

    components: tuple[str, ...]
    is_directory: bool
    row: TrapRow


class Table:
    """The rows in force, in an order in which a path is looked up fast."""

    def __init__(self, rows: Iterable[TrapRow]) -> None:
        self._plain: dict[str, list[_Entry]] = {}
        # With a wildcard in the first component: by what is before, else by what is behind it.
        self._by_start: dict[str, list[_Entry]] = {}
        self._by_end: dict[str, list[_Entry]] = {}
        for number, row in enumerate(rows):
            for text in row.patterns.split():
                for one in spread(text):
                    self._add(_Entry(number, Pattern.parse(one), row))
        # Directories come again and again.
        self._begins = lru_cache(maxsize=4096)(self._look_up)

    @classmethod
    def usual(cls) -> "Table":
        """Return the table as it comes."""
        return cls(TABLE)

    def row_of(self, path: bytes) -> TrapRow | None:
        """Return the first row of the table that matches a path; None if none does."""
        components = _components(path)
        found: _Entry | None = None
        for at, component in enumerate(components):
            for entry in self._begins(component):
                if found is None or entry.number < found.number:
                    found = entry if entry.pattern.matches(components, at) else found
        return None if found is None else found.row

    def below(self, path: bytes) -> list[Below]:
        """Return where files of rows are whose patterns begin with the end of a path.

        For directories that nobody walks through: what a pattern means that is wholly below them is
        not among it.
        """
        components = _components(path)
        found: dict[tuple[tuple[str, ...], bool], _Entry] = {}
        for at, component in enumerate(components):
            for entry in self._begins(component):
                rest = entry.pattern.below(components, at)
                if rest is None:
                    continue
                key = (rest, entry.pattern.is_directory)
                if key not in found or entry.number < found[key].number:
                    found[key] = entry
        return [Below(*key, entry.row) for key, entry in found.items()]

    def _add(self, entry: _Entry) -> None:
        first = entry.pattern.components[0]
        start, end = first[:1], first[-1:]
        if not _is_wild(first):
            self._plain.setdefault(first, []).append(entry)
        elif start not in "*?":
            self._by_start.setdefault(start, []).append(entry)
        else:
            self._by_end.setdefault("" if end in "*?" else end, []).append(entry)

    def _look_up(self, component: str) -> tuple[_Entry, ...]:
        wild = (
            *self._by_start.get(component[:1], ()),
            *self._by_end.get(component[-1:], ()),
            *self._by_end.get("", ()),
        )
        fitting = [each for each in wild if has_form(each.pattern.components[0], component)]
        return (*self._plain.get(component, ()), *fitting)


def spread(pattern: str) -> Iterator[str]:
    """Yield what a pattern with braces stands for. Raises BadPattern if that is too much."""
    if "{" not in pattern and "}" not in pattern:
        yield pattern
        return
    waiting = [pattern]
    left = MOST_FORMS
    while waiting:
        text = waiting.pop()
        braces = _BRACES.search(text)
        if braces is None:
            left -= 1
            if left < 0 or "{" in text or "}" in text:
                raise BadPattern(pattern)
            yield text
            continue
        before, after = text[: braces.start()], text[braces.end() :]
        waiting += [before + each + after for each in reversed(braces[1].split(","))]
        if len(waiting) > MOST_FORMS:
            raise BadPattern(pattern)


def _components(path: bytes) -> tuple[str, ...]:
    return tuple(path.decode("utf-8", "surrogateescape").casefold().split("/"))


def _is_wild(wanted: str) -> bool:
    return "*" in wanted or "?" in wanted


def has_form(wanted: str, found: str) -> bool:
    """Tell whether a component, in lower case, has a form: the letters around wildcards first."""
    if not _is_wild(wanted):
        return wanted == found
    star = wanted.find("*")
    if star >= 0 and "?" not in wanted:
        last = wanted.rfind("*")
        if not (found.startswith(wanted[:star]) and found.endswith(wanted[last + 1 :])):
            return False
        if star == last:
            return len(found) >= len(wanted) - 1
    return _form(wanted).fullmatch(found) is not None


@lru_cache(maxsize=1024)
def _form(wanted: str) -> re.Pattern[str]:
    # Several stars in a row would be tried in every division of the letters between them.
    once = re.sub(r"\*+", "*", wanted)
    letters = {"*": ".*", "?": "."}
    return re.compile("".join(letters.get(each) or re.escape(each) for each in once), re.DOTALL)
