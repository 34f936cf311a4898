"""The card of what is no question: a conflict, a failure, a workflow, hooks, an agent's own screen.

Each choice names what it does. One that takes something away needs its key twice, one that lets
something of a repository run needs the code that the card shows.
"""

from enum import StrEnum

from siding.faces.tui.cards.card import (
    FOREIGN,
    LEAVES,
    OURS,
    CardAct,
    Reply,
    Wanted,
    wrapped,
)
from siding.faces.tui.cards.codes import Codes
from siding.faces.tui.rows.lines import Pieces
from siding.ground.namedtuples import NamedTuple


class Guard(StrEnum):
    """What a choice needs besides its key."""

    NOTHING = "nothing"
    TWICE = "twice"
    CODE = "code"


class Choice(NamedTuple):
    """One thing that can be done. `names` is what a second press or a code agrees to.

    `value` goes with it: what exactly was shown.
    """

    label: str
    act: CardAct
    guard: Guard = Guard.NOTHING
    names: str = ""
    value: str = ""


class ActCard:
    """A title, lines about it, and up to nine choices."""

    def __init__(
        self,
        ask: str,
        title: str,
        lines: tuple[str, ...],
        choices: tuple[Choice, ...],
        codes: Codes,
    ) -> None:
        self._ask = ask
        self._title = title
        self._lines = lines
        self._choices = choices
        self._codes = codes
        self._pending: Choice | None = None  # whose second press or code is waited for

    @property
    def ask(self) -> str:
        return self._ask

    @property
    def lines(self) -> tuple[str, ...]:
        """What is said of it."""
        return self._lines

    @property
    def choices(self) -> tuple[Choice, ...]:
        """What can be done."""
        return self._choices

    @property
    def takes_text(self) -> bool:
        return self._pending is not None and self._pending.guard is Guard.CODE

    def key(self, key: str, character: str | None) -> Reply:
        if key == "escape":
            self.rest()
            return LEAVES
        if self.takes_text:
            return self._code(key, character)
        number = int(key) if key.isdecimal() else 0
        if not 1 <= number <= len(self._choices):
            self.rest()
            return FOREIGN if number == 0 else Reply(said=f"there is no choice {number}")
        choice, before = self._choices[number - 1], self._pending
        self._pending = None
        if choice.guard is Guard.NOTHING or (choice.guard is Guard.TWICE and choice == before):
            return Reply(Wanted(choice.act, reason=choice.value))
        if choice.guard is Guard.CODE and not self._codes.new():
            return Reply(said=locked(self._codes))
        self._pending = choice
        if choice.guard is Guard.CODE:
            return OURS
        return Reply(said=f"{number} again {choice.names}")

    def rest(self) -> None:
        self._pending = None
        self._codes.drop()

    def rows(self, width: int) -> list[Pieces]:
        rows = wrapped(self._title, width, "bold")
        for line in self._lines:
            rows += wrapped(line, width, "text")
        for number, choice in enumerate(self._choices, start=1):
            rows += wrapped(choice.label, width, "text", first=(f" {number} ", "code"))
        if self._pending is not None and self._pending.guard is Guard.CODE:
            rows += code_rows(self._codes, self._pending.names, width)
        return rows

    def hints(self) -> str:
        if self.takes_text:
            return "type the letters · esc goes back"
        last = len(self._choices)
        return f"{'1' if last == 1 else f'1-{last}'} answer · esc leaves it open"

    def _code(self, key: str, character: str | None) -> Reply:
        assert self._pending is not None
        choice = self._pending
        reply = typed_code(self._codes, key, character)
        if not self._codes.shown:
            self._pending = None
        return Reply(Wanted(choice.act, reason=choice.value)) if reply is None else reply


def typed_code(codes: Codes, key: str, character: str | None) -> Reply | None:
    """Give a key to the code that is shown. Return None if that was right."""
    if key in ("backspace", "ctrl+h"):
        codes.erase()
        return OURS
    if not character or not character.isprintable():
        return OURS
    is_right = codes.type(character)
    if is_right is None:
        return OURS
    if is_right:
        return None
    return Reply(said=locked(codes) if codes.locked_s else "those are not the letters")


def code_rows(codes: Codes, names: str, width: int) -> list[Pieces]:
    """Return the rows that show a code and what it agrees to."""
    rows = wrapped(f"type {' '.join(codes.shown)} : that {names}", width, "warn")
    return [*rows, [(f" > {codes.typed}_", "bold")]]


def locked(codes: Codes) -> str:
    """Return the sentence after too many wrong codes."""
    return f"too many wrong letters: no code is shown for {codes.locked_s} s, nothing was done"
