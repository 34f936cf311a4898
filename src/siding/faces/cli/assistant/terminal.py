"""``siding agent`` at a terminal: line by line, with nothing drawn.

A line is a prompt. Ctrl-C ends the turn that is under way, Ctrl-D the conversation. A question is
put where it comes up: whether a call may run, shown as what it would do, and what the model wants
to know. What was typed before a question is no answer to it.
"""

import asyncio
import sys
import threading
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import aclosing
from typing import Any, TextIO

from siding.assistant.agent import Agent
from siding.assistant.front_end import (
    Call,
    Compacted,
    CompactingFailed,
    Event,
    NobodyAnswers,
    PermissionQuestion,
    PermissionUpdate,
    PersonAllows,
    PersonDenies,
    Scope,
    TextDelta,
    ToolDenied,
    ToolEnded,
    ToolStarted,
    TurnEnded,
    Use,
    Withdrawn,
)
from siding.faces.cli.assistant.printing import say_trouble
from siding.faces.cli.assistant.stream_json import exit_status
from siding.faces.cli.screen.screen import Screen, inert, shorten
from siding.ground.errors import counted

PROMPT = "> "
_WIDE = 100
_QUESTION = "AskUserQuestion"  # it shows itself
_WIDE = 100
_MOST_OFFERS = 6
_LASTS = {Scope.SESSION: "in this conversation", Scope.PROJECT: "in this project"}
_MOST = 40  # lines
Shown = tuple[str, str]  # a line, and its style
_LONGEST = 64 << 20  # characters of a line: images come in them


class TypedLines:
    """Lines of a stream, one after the other; None at its end."""

    def __init__(self, source: TextIO | None = None) -> None:
        self._source = sys.stdin if source is None else source
        self._loop = asyncio.get_running_loop()
        self._lines: asyncio.Queue[str | None] = asyncio.Queue()
        self._early: deque[str] = deque()  # typed before a question, and no answer to it
        # A daemon: a read that waits for a person cannot be ended, and must not keep the process.
        threading.Thread(target=self._read, name="input", daemon=True).start()

    async def next(self) -> str | None:
        """Return the next line with its newline; None at the end, again and again."""
        if self._early:
            return self._early.popleft()
        line = await self._lines.get()
        if line is None:
            self._lines.put_nowait(None)
        return line

    async def fresh(self) -> str | None:
        """Return the next line that is typed from now on; None at the end.

        Lines that are there already are left to `next`.
        """
        while not self._lines.empty():
            line = self._lines.get_nowait()
            if line is None:
                self._lines.put_nowait(None)
                return None
            self._early.append(line)
        line = await self._lines.get()
        if line is None:
            self._lines.put_nowait(None)
        return line

    def _read(self) -> None:
        try:
            while line := self._source.readline(_LONGEST):
                self._loop.call_soon_threadsafe(self._lines.put_nowait, line)
        except (OSError, ValueError):
            pass
        finally:
            try:
                self._loop.call_soon_threadsafe(self._lines.put_nowait, None)
            except RuntimeError:
                pass  # the loop is closed: nobody waits for a line any more


class Output:
    """Writes text as it comes, and lines of their own between."""

    def __init__(self, screen: Screen) -> None:
        self._screen = screen
        self._at_start = True

    def line(self, text: str, style: str) -> None:
        """Write a line, on a line of its own."""
        self.fresh()
        self.write(self._screen.style(text, style) + "\n")

    def ask(self, text: str) -> None:
        """Write what stands before something that is typed."""
        self.fresh()
        self.write(self._screen.style(text, "bold"))
        self._at_start = True  # the person's newline ends it

    def fresh(self) -> None:
        """End a line that has begun."""
        if not self._at_start:
            self.write("\n")

    def write(self, text: str) -> None:
        """Write text."""
        if text:
            sys.stdout.write(text)
            sys.stdout.flush()
            self._at_start = text.endswith("\n")


class Lines:
    """A conversation at a terminal."""

    def __init__(self, agent: Agent, typed: TypedLines, output: Output, screen: Screen) -> None:
        self._agent = agent
        self._typed = typed
        self._screen = screen
        self._output = output
        self._denied = ""  # the call that was denied last; its end says nothing more

    async def serve(self, first: str) -> int:
        """Answer `first`, if it is not blank, and each line that is typed."""
        about = f"{self._agent.model} · mode {self._agent.mode}"
        self._output.line(f"{inert(about)} · Ctrl-C interrupts, Ctrl-D ends", "dim")
        status = 0
        if first.strip():
            status = await self._answer(first)
        while True:
            self._output.ask(PROMPT)
            line = await self._typed.next()
            if line is None:
                self._output.write("\n")
                return status
            if line.strip():
                status = await self._answer(line.strip())

    async def _answer(self, prompt: str) -> int:
        status = 1
        async with aclosing(self._agent.say(prompt)) as events:
            async for event in events:
                self._show(event)
                if isinstance(event, TurnEnded):
                    status = exit_status(event.ending)
        return status

    def _show(self, event: Event) -> None:
        match event:
            case TextDelta():
                self._output.write(inert(event.text, lines=True))
            case ToolStarted() if event.call.name != _QUESTION:
                text = event.use.text or event.call.name
                self._output.line(f"· {inert(shorten(text, _WIDE))}", "cyan")
            case ToolDenied():
                self._denied = event.call.id
                self._output.line(f"  not allowed: {inert(event.reason)}", "yellow")
            case ToolEnded() if event.call.id == self._denied:
                pass
            case ToolEnded() if event.result.is_error:
                shown = event.result.shown or str(event.result.content)
                self._output.line(f"  {inert(shorten(shown, _WIDE))}", "red")
            case ToolEnded() if event.result.shown:
                self._output.line(f"  {inert(shorten(event.result.shown, _WIDE))}", "dim")
            case Withdrawn():
                self._output.line("the answer broke off and is asked for again", "yellow")
            case Compacted():
                self._output.line("summed up, to make room", "dim")
            case CompactingFailed():
                self._output.line(f"could not be summed up: {inert(event.why)}", "yellow")
            case TurnEnded():
                self._ended(event)
            case _:
                say_trouble(self._screen, event)

    def _ended(self, event: TurnEnded) -> None:
        if event.error:
            self._output.line(inert(event.error, lines=True), "red")
        spent = "" if event.dollars is None else f" · ${event.dollars:.2f}"
        usage = event.usage
        figures = f"{usage.prompt:,} tokens sent, {usage.output:,} written{spent}"
        self._output.line(f"{event.ending.value} · {event.wall_s:.1f} s · {figures}", "dim")


class TerminalPermissions:
    """Asks whether calls may run."""

    def __init__(self, typed: TypedLines, output: Output) -> None:
        self._typed = typed
        self._output = output

    async def ask(self, question: PermissionQuestion) -> PersonAllows | PersonDenies:
        """See `PermissionAsker.ask`."""
        offers = question.offers[:_MOST_OFFERS]
        self._output.line(f"May {question.call.name} be used? {inert(question.why)}", "yellow")
        for line, style in preview(question.call, question.use):
            self._output.line(f"  {inert(line)}", style)
        for number, offer in enumerate(offers, 1):
            self._output.line(f"  {number}  yes, and from now on: {_offered(offer)}", "dim")
        self._output.ask(f"{_keys(len(offers))}, or say what to do instead: ")
        return answer_of(await self._typed.fresh(), offers)


def answer_of(line: str | None, offers: Sequence[PermissionUpdate]) -> PersonAllows | PersonDenies:
    """Return what a line means: yes, no, a number of an offer, or what to do instead."""
    said = (line or "").strip()
    word = said.lower()
    if word in ("y", "yes"):
        return PersonAllows()
    if word.isascii() and word.isdigit() and 1 <= int(word) <= len(offers):
        return PersonAllows(updates=(offers[int(word) - 1],))
    if word in ("", "n", "no"):
        return PersonDenies(ends_turn=True)
    return PersonDenies(said)


def _keys(offers: int) -> str:
    numbers = {0: "", 1: ", 1"}.get(offers, f", 1-{offers}")
    return f"[y]es, [N]o{numbers}"


def _offered(offer: PermissionUpdate) -> str:
    if offer.mode is not None:
        return f"the mode {offer.mode}"
    rules = ", ".join(rule.text for rule in offer.rules) or ", ".join(offer.directories)
    return f"{inert(shorten(rules, _WIDE))} {_LASTS[offer.scope]}"


class TerminalQuestions:
    """Asks the questions of the tool AskUserQuestion."""

    def __init__(self, typed: TypedLines, output: Output) -> None:
        self._typed = typed
        self._output = output

    async def ask(self, _call: str, questions: Sequence[Mapping[str, Any]]) -> Mapping[str, str]:
        """See `Asker.ask`."""
        answers = {}
        for question in questions:
            self._output.line(inert(question["question"]), "yellow")
            for number, option in enumerate(question["options"], 1):
                told = f"  {number}  {inert(option['label'])}: {inert(option['description'])}"
                self._output.line(told, "bold")
            several = bool(question.get("multiSelect"))
            self._output.ask("numbers, or an answer: " if several else "a number, or an answer: ")
            line = await self._typed.fresh()
            if line is None or not line.strip():
                raise NobodyAnswers("The person has not answered.")
            labels = [option["label"] for option in question["options"]]
            answers[question["question"]] = chosen(line, labels, several=several)
        return answers


def chosen(line: str, labels: Sequence[str], *, several: bool) -> str:
    """Return the labels whose numbers a line has, or the line if it is an answer of its own."""
    words = line.replace(",", " ").split()
    numbers = [int(word) for word in words if word.isascii() and word.isdigit()]
    are_numbers = len(numbers) == len(words) and all(1 <= each <= len(labels) for each in numbers)
    if are_numbers and (several or len(numbers) == 1):
        return ", ".join(labels[each - 1] for each in dict.fromkeys(numbers))
    return line.strip()


def preview(call: Call, use: Use) -> list[Shown]:
    """Return a command whole, and the beginning of what would be written to a file."""
    if use.command:
        return [(line, "bold") for line in use.command.splitlines()]
    lines = [(use.text, "bold"), *_changed(call.given)]
    if len(lines) <= _MOST:
        return lines
    return [*lines[: _MOST - 1], (f"… and {counted(len(lines) - _MOST + 1, 'more line')}", "dim")]


def _changed(given: Mapping[str, Any]) -> Iterator[Shown]:
    for change in _changes(given):
        yield from (("- " + line, "red") for line in _lines(change.get("old_string")))
        yield from (("+ " + line, "green") for line in _lines(change.get("new_string")))
    for name in ("content", "new_source"):
        yield from (("+ " + line, "green") for line in _lines(given.get(name)))


def _changes(given: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    edits = given.get("edits")
    if isinstance(edits, list):
        return [each for each in edits if isinstance(each, dict)]
    return [given]


def _lines(value: object) -> list[str]:
    return value.splitlines() if isinstance(value, str) else []
