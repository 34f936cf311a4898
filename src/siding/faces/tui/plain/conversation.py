"""The conversation of plain mode: a list, a task, a question; each choice is typed, with Enter.

Nothing is drawn again, nothing moves, and nothing is said before it was asked for. What cannot be
taken back by the next word is asked for by its whole word; what needs a person's code, by a code.
"""

import itertools
import secrets
import select
from collections.abc import Callable, Iterable
from functools import partial
from typing import TextIO

from siding.asking.answer import answer
from siding.asking.decisions.record import Via
from siding.asking.lookup import get
from siding.faces.plans.acts import carry_out, plan
from siding.faces.plans.plan import ActRequest
from siding.faces.tui.plain import reading
from siding.faces.tui.text import inert
from siding.feed.fold import HomeFold
from siding.feed.model import Ask, AskKind, Feed, Row, RowKind
from siding.ground.errors import SidingError
from siding.ground.ids import TaskId
from siding.record.place.project import Project, named_project
from siding.record.place.wiring import App

_STEPS = 5
_MORE_STEPS = 50
_PAGE = 20  # lines
_WATCH_EVERY_S = 1.0
_ANSWERABLE = (AskKind.QUESTION, AskKind.PERMISSION, AskKind.GATE)
_CODED = (AskKind.PERMISSION, AskKind.GATE)
FIRST = "siding: plain mode is on. Type a number or a word, then Enter. h: help. q: leave."
_HELP_LIST = (
    "a number: open that task, or answer that question",
    "l: the list again",
    "a: the list with what rests and is done",
    "w: say what changes, until Enter",
    "q: leave; what runs goes on",
)
_HELP_TASK = (
    "a number: answer that question",
    "s: more steps",
    "p: the patch, by pages",
    "apply: what an apply would do; then it asks",
    "undo: what an undo would do; then it asks",
    "b: back to the list",
    "q: leave; what runs goes on",
)


class _Leave(Exception):
    """The person leaves, or nothing more can be read."""


class Plain:
    """Talks with a person over two streams of text."""

    def __init__(self, app: App, typed: TextIO, shown: TextIO) -> None:
        self._app = app._replace(
            tell=self._ignore, warn=lambda text: self._say(f"warning: {text}"), choose=None
        )
        self._typed = typed
        self._shown = shown
        self._fold = HomeFold(self._app)
        self._feed = Feed(0, 0, (), (), (), 0)

    def run(self) -> int:
        """Talk until the person leaves; return the exit status."""
        self._say(FIRST)
        try:
            self._list_and_choose()
        except _Leave:
            pass
        return 0

    # The list.

    def _list_and_choose(self) -> None:
        choices = self._list(everything=False)
        while True:
            word = self._ask("choose")
            if word in ("l", "a"):
                choices = self._list(everything=word == "a")
            elif word == "w":
                self._watch()
            elif word == "h":
                self._say_all(_HELP_LIST)
            elif word.isdecimal() and 1 <= int(word) <= len(choices):
                self._guarded(choices[int(word) - 1])
            elif word:
                self._say(f"there is no choice {word!r}; h is help")

    def _list(self, *, everything: bool) -> list[Callable[[], None]]:
        self._look()
        self._say(reading.counts(self._feed, everything=everything))
        self._say_all(f"cannot be read: {inert(each)}" for each in self._feed.problems)
        choices: list[Callable[[], None]] = []
        number = itertools.count(1)
        for ask in reading.loose_asks(self._feed):
            self._say(f"{next(number)}: {reading.ask_line(ask)}")
            choices.append(partial(self._answer, ask))
        for row in reading.shown_rows(self._feed, everything=everything):
            self._say(f"{next(number)}: {reading.row_line(row)}")
            choices.append(partial(self._task, row))
        return choices

    def _look(self) -> None:
        self._fold.touched([])
        self._feed = self._fold.look()

    def _watch(self) -> None:
        self._say("watching; Enter ends it")
        while not self._has_typed(_WATCH_EVERY_S):
            before = self._feed
            self._look()
            self._say_all(reading.changes(before, self._feed))
        self._read()
        self._say("no longer watching")

    # A task.

    def _task(self, row: Row) -> None:
        project = self._project(row.project)
        self._say(reading.row_line(row))
        is_task = row.kind is RowKind.TASK
        if is_task:
            self._say_all(reading.step_lines(project, row.id, _STEPS))
        asks = self._say_asks(row)
        while True:
            word = self._ask(inert(row.name))
            if word == "b":
                return
            if word == "h":
                self._say_all(_HELP_TASK)
            elif word.isdecimal() and 1 <= int(word) <= len(asks):
                self._guarded(partial(self._answer, asks[int(word) - 1]))
                self._look()
                asks = self._say_asks(row)
            elif is_task and word == "s":
                self._say_all(reading.step_lines(project, row.id, _MORE_STEPS))
            elif is_task and word == "p":
                self._guarded(lambda: self._pages(reading.patch_of(project, row.id)))
            elif is_task and word in ("apply", "undo"):
                self._guarded(partial(self._act, project, row, word))
            elif word:
                self._say(f"there is no choice {word!r} here; h is help")

    def _say_asks(self, row: Row) -> list[Ask]:
        asks = reading.asks_of(self._feed, row)
        self._say_all(f"{number}: {reading.ask_line(ask)}" for number, ask in enumerate(asks, 1))
        return asks

    def _pages(self, lines: Iterable[str]) -> None:
        shown = iter(lines)
        first = list(itertools.islice(shown, _PAGE))
        if not first:
            self._say("nothing is changed")
            return
        page = first
        while page:
            self._say_all(page)
            page = list(itertools.islice(shown, _PAGE))
            if page and self._ask("Enter for more, b to stop") == "b":
                return
        self._say("end of the patch")

    def _act(self, project: Project, row: Row, act: str) -> None:
        wish = ActRequest(act)
        found = plan(project, TaskId(row.id), wish)
        self._say_all(reading.plan_lines(found))
        if found.stops or found.nothing:
            self._say("nothing was done")
            return
        if found.concerns:
            self._say(f"this needs a decision that only `siding {act}` takes; nothing was done")
            return
        if self._ask(f"type {act} again to do it") != act:
            self._say("nothing was done")
            return
        done = carry_out(project, TaskId(row.id), wish, found.digest)
        self._say(f"done: {inert(done.said)}")

    # A question.

    def _answer(self, ask: Ask) -> None:
        entry = ask.entry
        if ask.kind not in _ANSWERABLE or not entry.session_id:
            self._say(reading.ask_line(ask))
            self._say(f"to do: {inert(entry.command)}")
            return
        project = self._project(entry.project_dir)
        decision = get(project, entry.session_id)
        self._say_all(reading.question_lines(decision))
        answers = []
        for item in decision.items:
            self._say_all(reading.item_lines(item))
            typed = self._ask(_asks_for(item.kind))
            chosen = reading.chosen_of(item, typed)
            if chosen is None:
                self._say("that is no answer; nothing was recorded")
                return
            answers.append({"id": item.id, "chosen": chosen})
        if ask.kind in _CODED and not self._has_typed_code():
            self._say("that is another code; nothing was recorded")
            return
        answer(project, entry.session_id, answers, via=Via.TERMINAL)
        self._say("answered")

    def _has_typed_code(self) -> bool:
        code = f"{secrets.randbelow(10_000):04}"
        return self._ask(f"this permits something: type the code {' '.join(code)}") == code

    # The streams.

    def _project(self, name: str) -> Project:
        return named_project(self._app._replace(project=name))

    def _guarded(self, act: Callable[[], None]) -> None:
        """Do something; say how it failed and go on."""
        try:
            act()
        except SidingError as error:
            self._say(f"error: {inert(error.message)}")
            if error.hint:
                self._say(f"what to do: {inert(error.hint)}")
        except OSError as error:
            self._say(f"error: {inert(str(error))}")

    def _ask(self, what: str) -> str:
        self._shown.write(f"{what}> ")
        self._shown.flush()
        word = self._read().strip()
        if word == "q":
            raise _Leave
        return word

    def _read(self) -> str:
        line = self._typed.readline()
        if not line:
            self._say("")
            raise _Leave
        return line

    def _ignore(self, doing: str) -> None:
        """Say nothing of progress: nobody asked for it."""

    def _has_typed(self, within_s: float) -> bool:
        return bool(select.select([self._typed], [], [], within_s)[0])

    def _say(self, text: str) -> None:
        self._shown.write(f"{text}\n")
        self._shown.flush()

    def _say_all(self, lines: Iterable[str]) -> None:
        for line in lines:
            self._say(line)


def _asks_for(kind: str) -> str:
    if kind == "text":
        return "your answer, one line"
    return "a number" if kind == "single" else "one number or several"
