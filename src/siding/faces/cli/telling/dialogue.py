"""Ask a person the questions of a decision in the terminal, one after the other.

Input is read by lines, so that any terminal, a screen reader or a pipe will do: a number chooses,
Enter alone takes what is recommended, and ``:b``, ``:n TEXT``, ``:q`` go back, add a note, leave.
"""

from collections.abc import Callable
from typing import Any

from siding.asking.views import DecisionView, ItemView
from siding.faces.cli.screen.pick import numbers_in
from siding.faces.cli.screen.screen import Screen, inert
from siding.faces.cli.telling.decisions import print_item, range_of
from siding.ground.errors import SidingError, UsageError
from siding.record.place.project import Project

HELP = "Enter takes what is recommended · :n TEXT adds a note · :b goes back · :q leaves"


class NothingRecorded(SidingError):
    """The person left before everything was answered."""

    code = "nothing_recorded"


class _Back(Exception):
    """The person typed ``:b``: back to the question before this one."""


class Dialogue:
    """One person answering one decision. `read` returns a line, "" at the end of the input."""

    def __init__(
        self, screen: Screen, project: Project, decision: DecisionView, read: Callable[[], str]
    ) -> None:
        self._screen = screen
        self._project = project
        self._decision = decision
        self._read = read
        self._chosen: dict[int, tuple[str, ...]] = {}
        self._notes: dict[int, str] = {}

    def hold(self) -> list[dict[str, Any]]:
        """Return the answers once the person has confirmed them; raises NothingRecorded."""
        items = self._decision.items
        self._screen.print(self._screen.style(HELP, "dim"))
        at = 0
        while True:
            while at < len(items):
                try:
                    self._chosen[items[at].id] = self._answer(items[at])
                    at += 1
                except _Back:
                    at = max(0, at - 1)
            try:
                if self._confirmed():
                    return [self._document(item) for item in items]
            except _Back:
                at = len(items) - 1

    def _answer(self, item: ItemView) -> tuple[str, ...]:
        print_item(self._screen, self._project, self._decision, item)
        while True:
            try:
                given = self._text(item) if item.kind == "text" else self._choice(item)
            except UsageError as error:
                self._screen.print(self._screen.style(inert(error.message), "red"))
                continue
            if given is not None:
                return given

    def _choice(self, item: ItemView) -> tuple[str, ...] | None:
        """Read one line; return what it chooses, None if it was a command such as a note."""
        default = self._default(item)
        numbers = [str(n) for n, each in enumerate(item.options, 1) if each.value in default]
        shown = f" [{' '.join(numbers)}]" if numbers else ""
        what = "1" if len(item.options) == 1 else f"1-{len(item.options)}"
        which = f"{range_of(item)} of " if item.kind == "multiple" else ""
        line = self._line(f"choose {which}{what}{shown}: ", item)
        if line is None:
            return None
        if not line:
            if not default and item.least > 0:
                raise UsageError("nothing is recommended here: type a number")
            return default
        chosen = numbers_in(line, len(item.options))
        if item.kind == "single" and len(chosen) != 1:
            raise UsageError("one number, please")
        if item.kind == "multiple" and not item.least <= len(chosen) <= item.most:
            raise UsageError(f"{range_of(item)} of them, please")
        return tuple(item.options[number - 1].value for number in chosen)

    def _default(self, item: ItemView) -> tuple[str, ...]:
        before = self._chosen.get(item.id)
        if before is not None:
            return before
        return tuple(each.value for each in item.options if each.recommended)

    def _text(self, item: ItemView) -> tuple[str, ...] | None:
        """Read lines up to an empty one and return them; with none, return the suggestion."""
        suggested = "".join(self._chosen.get(item.id, (item.suggested,)))
        lines: list[str] = []
        while True:
            prompt = "  more (Enter ends it): " if lines else "your answer: "
            line = self._line(prompt, item)
            if line is None:
                return None
            if not line:
                break
            lines.append(line)
        if not lines and not suggested:
            raise UsageError("nothing is suggested here: type an answer")
        return ("\n".join(lines) if lines else suggested,)

    def _confirmed(self) -> bool:
        screen = self._screen
        screen.print()
        for item in self._decision.items:
            said = inert(", ".join(self._chosen[item.id])) or "none of them"
            note = f"  (note: {inert(self._notes[item.id])})" if item.id in self._notes else ""
            screen.print(f"  {item.id}. {inert(item.title)}: {screen.style(said, 'bold')}{note}")
        line = self._line("record this [Y/n]? ", None)
        if line is not None and line.lower() in ("n", "no"):
            raise _Back
        return line is not None and line.lower() in ("", "y", "yes")

    def _line(self, prompt: str, item: ItemView | None) -> str | None:
        """Read a line. Carry it out and return None if it is a command, otherwise return it."""
        self._screen.out.write(prompt)
        self._screen.out.flush()
        raw = self._read()
        if not raw:
            raise NothingRecorded("the input ended, so nothing was recorded")
        line = raw.strip()
        if line == ":q":
            raise NothingRecorded("nothing was recorded", hint="the question stays open")
        if line == ":b":
            raise _Back
        if line == ":n" or line.startswith(":n "):
            self._note(item, line[2:].strip())
            return None
        return line

    def _note(self, item: ItemView | None, text: str) -> None:
        if item is None:
            raise UsageError("a note belongs to a question: go back with :b")
        if text:
            self._notes[item.id] = text
        else:
            self._notes.pop(item.id, None)
        self._screen.print(self._screen.style("note kept" if text else "note dropped", "dim"))

    def _document(self, item: ItemView) -> dict[str, Any]:
        chosen = self._chosen[item.id]
        document: dict[str, Any] = {
            "id": item.id,
            "chosen": list(chosen) if item.kind == "multiple" else chosen[0],
        }
        if item.id in self._notes:
            document["note"] = self._notes[item.id]
        return document
