"""What every answer card is: rows to draw, and a reply to each key that it may take.

A card holds what a person has chosen so far. It knows nothing of the clock, of focus and of
storage: `Arming` decides whether it gets a key, and whoever shows it carries out what it asks for.
"""

from enum import StrEnum
from typing import Any, Protocol

from siding.faces.tui.rows.lines import Pieces, line_of, rows_of
from siding.ground.namedtuples import NamedTuple

Piece = tuple[str, str]  # a text that is inert, and the name of its style


class CardAct(StrEnum):
    """What an answer does."""

    ANSWER = "answer"
    CANCEL = "cancel"  # the question is taken back
    OPEN = "open"  # what is asked about, in its place
    ATTACH = "attach"  # the person goes to the agent's own screen
    CONTINUE = "continue"  # a conflict is resolved: apply
    TAKE_BACK = "take back"  # a conflict is given up: the workspace is as before
    RETRY = "retry"
    PUT_AWAY = "put away"  # a failure is seen: it waits no more
    RESUME = "resume"
    KILL = "kill"
    TRUST = "trust"
    CHAT = "chat"  # something is done to a conversation: its command


class Wanted(NamedTuple):
    """What a person has answered: to be carried out."""

    act: CardAct
    answers: tuple[dict[str, Any], ...] = ()  # as `asking.answer` takes them
    reason: str = ""


class Reply(NamedTuple):
    """What a key did.

    `wanted` is set when the card is done. `said` is a sentence for the person. A key that `is_ours`
    is not is for what had the focus before, and `leaves` gives the focus back.
    """

    wanted: Wanted | None = None
    said: str = ""
    is_ours: bool = True
    leaves: bool = False


OURS = Reply()
FOREIGN = Reply(is_ours=False, leaves=True)
LEAVES = Reply(leaves=True)


class Card(Protocol):
    """One ask as it is shown."""

    @property
    def ask(self) -> str:
        """The id of what is asked."""

    @property
    def takes_text(self) -> bool:
        """Whether letters are text for it now."""

    def key(self, key: str, character: str | None) -> Reply:
        """Take a key, as Textual names it, with the character that it types."""

    def rest(self) -> None:
        """Forget what a next key would confirm: the card is not armed any more."""

    def rows(self, width: int) -> list[Pieces]:
        """Return its rows: what is asked, and what can be answered."""

    def hints(self) -> str:
        """Return its keys, in a few words, as they are while it is armed."""


def wrapped(text: str, width: int, look: str, *, first: Piece | None = None) -> list[Pieces]:
    """Return a text of any lines as rows; `first` stands before the first one.

    The rows below it are as far from the edge.
    """
    lead = first or ("", "text")
    room = max(8, width - len(lead[0]))
    rows: list[Pieces] = []
    for line in text.split("\n"):
        for pieces in rows_of(line_of(line), room, look):
            before = lead if not rows else (" " * len(lead[0]), "text")
            rows.append([before, *pieces] if before[0] else pieces)
    return rows


class Line:
    """One line, or several, that a person types into a card."""

    def __init__(self, text: str = "") -> None:
        self.text = text

    def key(self, key: str, character: str | None) -> bool:
        """Take a key; return whether it was one for the text."""
        if key in ("backspace", "ctrl+h"):
            self.text = self.text[:-1]
        elif key in ("ctrl+j", "shift+enter"):
            self.text += "\n"
        elif key == "ctrl+u":
            self.text = ""
        elif character and character.isprintable():
            self.text += character
        else:
            return False
        return True
