"""Answer a decision: question by question in the terminal, or at once with the flags.

  siding decide answer              the only one that waits
  siding decide answer DECISION --choose 1=jwt --choose 2=a --choose 2=b --note '1=ask me again'
  siding decide answer DECISION --recommended
  siding decide answer DECISION --answers answers.json

The file has JSON: [{"id": 1, "chosen": "jwt"}]; `-` is standard input.
"""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from siding.faces.cli.formats import print_json
from siding.faces.cli.globals import Context
from siding.faces.cli.screen.screen import Screen, inert
from siding.ground.errors import NotFound, SidingError, UsageError

if TYPE_CHECKING:
    from siding.asking.views import DecisionView, ItemView
    from siding.record.place.project import Project


LONGEST_INPUT = 1 << 20  # bytes


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "session",
        nargs="?",
        metavar="DECISION",
        help="its id, here or in `siding inbox --json` (default: the only one that waits)",
    )
    how = parser.add_argument_group("without questions")
    how.add_argument(
        "-c",
        "--choose",
        action="append",
        default=[],
        metavar="ID=VALUE",
        help="what an item is answered with (repeat for a multiple choice)",
    )
    how.add_argument(
        "-n", "--note", action="append", default=[], metavar="ID=TEXT", help="a note on an item"
    )
    how.add_argument(
        "--recommended", action="store_true", help="take what is recommended where nothing is named"
    )
    how.add_argument("--answers", metavar="FILE", help="read all of it as JSON from a file, or -")
    parser.add_argument("--json", action="store_true", help="print the decision as JSON")


def run(arguments: Namespace, context: Context) -> int:
    from siding.asking.answer import answer
    from siding.asking.decisions.record import Via
    from siding.asking.views import as_record
    from siding.record.place.project import require_project

    project = require_project(context.app)
    decision = _which(project, arguments.session)
    flags = bool(arguments.choose or arguments.note or arguments.recommended)
    if arguments.answers is not None and flags:
        raise UsageError("--answers says everything; leave out the other flags")
    if arguments.answers is not None:
        answers = _from_file(arguments.answers, context)
    elif flags:
        answers = _from_flags(arguments, decision)
    else:
        answers = _from_dialogue(context, project, decision)
    via = Via.FLAG if flags or arguments.answers is not None else Via.TERMINAL
    recorded = answer(project, decision.session_id, answers, via=via)
    if arguments.json:
        print_json(context.screen, as_record(recorded))
        return 0
    for item in recorded.items:
        said = inert(", ".join(item.values)) or "none of them"
        context.screen.detail(f"{item.id}. {inert(item.title)}: {said}")
    context.screen.note(f"recorded the answer to {recorded.session_id}", "green")
    return 0


def _which(project: Project, named: str | None) -> DecisionView:
    from siding.asking.lookup import find, list_decisions

    if named is not None:
        try:
            return find(project, named)
        except NotFound:
            from siding.chat.answers import ask_anywhere

            found = ask_anywhere(project, named)  # as a conversation calls it
            if found is None or not found.ask.decision:
                raise
            return find(project, found.ask.decision)
    waiting, _ = list_decisions(project)
    if not waiting:
        raise NotFound("no decision waits", hint="`siding decide list --all` shows closed ones")
    if len(waiting) > 1:
        raise UsageError(
            f"{len(waiting)} decisions wait: {', '.join(each.session_id for each in waiting[:8])}",
            hint="name one; `siding decide list` shows them",
        )
    return waiting[0]


def _from_dialogue(
    context: Context, project: Project, decision: DecisionView
) -> list[dict[str, Any]]:
    from siding.faces.cli.asking.decisions import print_effect_of, print_head

    if decision.state != "open":
        return []  # `answer` refuses it and names its state
    print_head(context.screen, decision)
    print_effect_of(context.screen, project, decision)
    return Dialogue(context.screen, project, decision, sys.stdin.readline).hold()


def _from_file(name: str, context: Context) -> object:
    from siding.asking.question import read_answers

    if name == "-":
        return read_answers(sys.stdin.buffer.read(LONGEST_INPUT), "standard input")
    path = context.app.cwd / name
    try:
        return read_answers(path.read_bytes()[:LONGEST_INPUT], repr(name))
    except FileNotFoundError:
        raise NotFound(f"there is no file {name!r}") from None


def _from_flags(arguments: Namespace, decision: DecisionView) -> list[dict[str, Any]]:
    chosen: dict[int, list[str]] = {}
    for text in arguments.choose:
        item, value = _pair(text, decision, "--choose")
        chosen.setdefault(item.id, []).append(value)
    notes = {}
    for text in arguments.note:
        item, value = _pair(text, decision, "--note")
        notes[item.id] = value
    documents = []
    for item in decision.items:
        values = chosen.get(item.id)
        if values is None and arguments.recommended:
            values = _recommended(item)
        if values is not None:
            documents.append(_document(item, values, notes.get(item.id)))
    if not documents:
        raise UsageError("nothing is answered", hint="--choose 1=VALUE, or --recommended")
    return documents


def _pair(text: str, decision: DecisionView, flag: str) -> tuple[ItemView, str]:
    number, equals, value = text.partition("=")
    items = {str(item.id): item for item in decision.items}
    if not equals:
        raise UsageError(f"{flag} {text!r} names no item", hint=f"{flag} 1=…")
    if number.strip() not in items:
        raise UsageError(
            f"{flag} {text!r}: there is no item {number!r}",
            hint=f"the items are {', '.join(items)}",
        )
    return items[number.strip()], value


def _recommended(item: ItemView) -> list[str] | None:
    if item.kind == "text":
        return [item.suggested] if item.suggested else None
    return [each.value for each in item.options if each.recommended] or None


def _document(item: ItemView, values: list[str], note: str | None) -> dict[str, Any]:
    if item.kind != "multiple" and len(values) > 1:
        raise UsageError(f"item {item.id} takes one answer, and {len(values)} were given")
    document: dict[str, Any] = {
        "id": item.id,
        "chosen": values if item.kind == "multiple" else values[0],
    }
    return {**document, "note": note} if note else document


HELP = ":n TEXT adds a note · :b goes back · :q leaves"
RECOMMENDED = "Enter takes what is recommended"


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
        words = f"{RECOMMENDED} · {HELP}" if any(map(_recommended, items)) else HELP
        self._screen.print(self._screen.style(words, "dim"))
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
        from siding.faces.cli.asking.decisions import print_item

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
        from siding.faces.cli.asking.decisions import range_of
        from siding.faces.cli.screen.questions import numbers_in

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
