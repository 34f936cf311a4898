"""Questions to a person at the terminal: whether a call may run, and what the model wants to know.

What was typed before a question is no answer to it. A call is shown as what it would do.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from siding.assistant.front_end import (
    Call,
    NobodyAnswers,
    PermissionQuestion,
    PermissionUpdate,
    PersonAllows,
    PersonDenies,
    Scope,
    Use,
)
from siding.faces.cli.assistant.terminal import Output, TypedLines
from siding.faces.cli.screen.screen import inert, shorten

_WIDE = 100


_MOST_OFFERS = 6


_LASTS = {Scope.SESSION: "in this conversation", Scope.PROJECT: "in this project"}


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


_MOST = 40  # lines


Shown = tuple[str, str]  # a line, and its style


def preview(call: Call, use: Use) -> list[Shown]:
    """Return a command whole, and the beginning of what would be written to a file."""
    if use.command:
        return [(line, "bold") for line in use.command.splitlines()]
    lines = [(use.text, "bold"), *_changed(call.given)]
    if len(lines) <= _MOST:
        return lines
    return [*lines[: _MOST - 1], (f"… and {len(lines) - _MOST + 1} more lines", "dim")]


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
