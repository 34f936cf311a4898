"""The conversation of plain mode: the list, and what is chosen in it; each choice ends with Enter.

Nothing is drawn again, nothing moves, and nothing is said before it was asked for. What cannot be
taken back by the next word is asked for by its whole word; what needs a person's code, by a code.
"""

import itertools
from collections.abc import Callable
from functools import partial
from typing import TextIO

from siding.faces.tui.acts.starting import start_task
from siding.faces.tui.acts.tasks import project_of_row
from siding.faces.tui.found import Found, is_first, remember
from siding.faces.tui.plain import reading
from siding.faces.tui.plain.answering import Answering
from siding.faces.tui.plain.talk import NOTHING, Leave, Stopped, Talk
from siding.faces.tui.plain.task import TaskTalk
from siding.faces.tui.text import inert
from siding.faces.tui.theme import is_ascii
from siding.feed.fold import HomeFold
from siding.feed.model import AskKind, Feed, Row
from siding.guard.guard import Guard, answer_guard, guard
from siding.record.place.wiring import App
from siding.running.installed_agents import installed

_WATCH_EVERY_S = 1.0
FIRST = "siding: plain mode is on. Type a number or a word, then Enter. h: help. q: leave."
_HELP = (
    "a number: open that task, or answer that question",
    "n: answer what waits longest",
    "l: the list again",
    "a: the list with what rests and is done",
    "w: say what changes, until Enter",
    "new: start a task",
    "guard: whether agents run guarded, and change it",
    "first: what the first start said",
    "q: leave; what runs goes on",
)


class Plain:
    """Talks with a person over two streams of text."""

    def __init__(self, app: App, typed: TextIO, shown: TextIO) -> None:
        self._talk = Talk(typed, shown, is_ascii=is_ascii(app.env))
        self._app = app._replace(
            tell=self._talk.doing,
            warn=lambda text: self._talk.say(f"warning: {inert(text)}"),
            choose=None,
        )
        self._fold = HomeFold(self._app)
        self._feed = Feed(0, 0, (), (), (), 0)
        self._choices: list[Callable[[], None]] = []
        self._words: dict[str, Callable[[], None]] = {
            "n": self._next,
            "l": partial(self._list, everything=False),
            "a": partial(self._list, everything=True),
            "w": self._watch,
            "new": self._new,
            "guard": self._guard,
            "first": self._first,
            "h": lambda: self._talk.say_all(_HELP),
        }

    def run(self) -> int:
        """Talk until the person leaves; return the exit status."""
        self._talk.say(FIRST)
        try:
            self._look()
            if is_first(self._app):
                self._first()
                remember(self._app)
            self._talk.guarded(partial(self._list, everything=False))
            while True:
                self._choose()
        except Leave:
            self._talk.say("left; what runs goes on")
        return 0

    def _choose(self) -> None:
        try:
            word = self._talk.ask("choose")
        except Stopped:
            self._talk.say("q leaves")
            return
        if word.isdecimal() and 1 <= int(word) <= len(self._choices):
            self._talk.guarded(self._choices[int(word) - 1])
        elif word in self._words:
            self._talk.guarded(self._words[word])
        else:
            self._talk.say(reading.no_choice(word))

    # What there is.

    def _list(self, *, everything: bool) -> None:
        self._look()
        self._talk.say(reading.counts(self._feed, everything=everything))
        self._talk.say_all(f"cannot be read: {inert(each)}" for each in self._feed.problems)
        self._choices = []
        number = itertools.count(1)
        for ask in reading.loose_asks(self._feed):
            self._talk.say(f"{next(number)}: {reading.ask_line(ask)}")
            self._choices.append(partial(Answering(self._app, self._talk).answer, ask))
        for row in reading.shown_rows(self._feed, everything=everything):
            self._talk.say(f"{next(number)}: {reading.row_line(row)}")
            self._choices.append(partial(self._open, row))

    def _look(self) -> Feed:
        self._fold.touched([])
        self._feed = self._fold.look()
        return self._feed

    def _open(self, row: Row) -> None:
        TaskTalk(self._app, self._talk, row, self._look).run()

    def _next(self) -> None:
        asks = self._look().asks
        if not asks:
            self._talk.say("nothing waits")
            return
        oldest = min(asks, key=lambda ask: ask.entry.since or "")
        Answering(self._app, self._talk).answer(oldest)

    def _watch(self) -> None:
        self._talk.say("watching; Enter ends it")
        while not self._talk.has_line(_WATCH_EVERY_S):
            before = self._feed
            self._talk.say_all(reading.changes(before, self._look()))
        self._talk.line()
        self._talk.say("no longer watching")

    # A new task, and what a first start is about.

    def _new(self) -> None:
        self._look()
        rows = {row.project: row for row in self._feed.rows}
        places = list(rows.values())
        self._talk.say(f"0: {inert(str(self._app.cwd))}, where you are")
        for number, row in enumerate(places, 1):
            self._talk.say(f"{number}: {inert(row.project_name)}")
        typed = self._talk.ask("a number: in which repository") or "0"
        if not typed.isdecimal() or int(typed) > len(places):
            self._talk.say(f"there is no repository {typed!r}; {NOTHING}")
            return
        at = int(typed)
        where = project_of_row(self._app, places[at - 1]).paths.root if at else self._app.cwd
        line = self._talk.ask("the command, such as: claude -p 'fix the parser'")
        if not line:
            self._talk.say(NOTHING)
            return
        self._talk.say(inert(start_task(self._app, where, line)))

    def _first(self) -> None:
        hooks = sum(ask.kind is AskKind.HOOKS for ask in self._feed.asks)
        agents = installed(self._app.env, self._app.cwd)
        found = Found(agents=agents, guard=guard(self._app), hooks=hooks)
        self._talk.say_all(map(inert, reading.first_lines(found)))

    def _guard(self) -> None:
        now = guard(self._app)
        self._talk.say(f"guard: {now}. Guarded agents run in a sandbox, and their commands are")
        self._talk.say("judged before they run. It counts for all projects.")
        wanted = Guard.OFF if now is Guard.ON else Guard.ON
        if self._talk.ask_anew(f"type {wanted.value} to turn it {wanted.value}") != wanted.value:
            self._talk.say(NOTHING)
            return
        answer_guard(self._app, wanted)
        self._talk.say(f"the guard is {wanted.value}; siding guard changes that, too")
