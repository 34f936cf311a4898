"""Choose by typing: what to go to, of everything, and what to do, of this place.

Every entry of the list has its key, so that who chooses it here learns it.
"""

from collections.abc import Sequence
from typing import TypeAlias

from rich.segment import Segment
from textual.app import ComposeResult
from textual.events import Click, MouseScrollDown, MouseScrollUp, Paste
from textual.events import Key as KeyEvent
from textual.message import Message
from textual.screen import ModalScreen
from textual.strip import Strip
from textual.widget import Widget

from siding.faces.tui.keys import Key, KeyTable, spoken
from siding.faces.tui.rows.styles import Look, Styles
from siding.faces.tui.text import cells, cut, inert
from siding.feed.model import Feed, Row
from siding.feed.state import ordered
from siding.ground.namedtuples import NamedTuple

_WIDEST, _TALLEST = 90, 22
_MARGIN = 4
_MOST_TYPED = 200

Value: TypeAlias = Key | Row | str


class Entry(NamedTuple):
    """What can be chosen: its line, what stands at the right of it, and what it is."""

    text: str
    beside: str
    value: Value


class Choices(NamedTuple):
    """The entries, what was typed, and which of those that fit is chosen. Keys make new ones.

    An entry fits if it has every word that was typed, in any order and in either case.
    """

    entries: tuple[Entry, ...]
    typed: str = ""
    at: int = 0

    def fitting(self) -> list[Entry]:
        """Return the entries that fit; one whose key is exactly what was typed comes first."""
        words = self.typed.casefold().split()
        typed = self.typed.strip()
        found = [each for each in self.entries if _has(each, words)]
        return sorted(found, key=lambda each: not typed or typed != each.beside)

    def chosen(self) -> Entry | None:
        """Return the entry that Enter takes."""
        found = self.fitting()
        return found[min(self.at, len(found) - 1)] if found else None

    def type(self, text: str) -> "Choices":
        """Add to what was typed."""
        return self._replace(typed=(self.typed + text)[:_MOST_TYPED], at=0)

    def rub(self, *, word: bool = False) -> "Choices":
        """Take the last character away, or the last word."""
        left = self.typed.rstrip().rpartition(" ")[0] if word else self.typed[:-1]
        return self._replace(typed=left, at=0)

    def move(self, by: int) -> "Choices":
        """Choose another entry; it stops at both ends."""
        return self._replace(at=max(0, min(self.at + by, len(self.fitting()) - 1)))


def _has(entry: Entry, words: Sequence[str]) -> bool:
    text = f"{entry.text} {entry.beside}".casefold()
    return all(word in text for word in words)


def keys_of(table: KeyTable) -> tuple[Entry, ...]:
    """Return the acts of a place, with all their keys."""
    return tuple(Entry(each.says, "  ".join(each.keys), each) for each in table.entries)


def everything(feed: Feed, table: KeyTable) -> tuple[Entry, ...]:
    """Return the rows of all projects, then the acts of a place."""
    rows = tuple(
        Entry(inert(f"{row.project_name}  {row.name}  {row.what}".rstrip()), row.state.value, row)
        for row in ordered(feed.rows)
    )
    return (*rows, *keys_of(table))


_MOVES = {
    "up": -1,
    "down": 1,
    "ctrl+p": -1,
    "ctrl+n": 1,
    "pageup": -10,
    "pagedown": 10,
    "home": -1_000_000,
    "end": 1_000_000,
    "tab": 1,
    "shift+tab": -1,
}


class ChoiceList(Widget):
    """Draws what was typed, and the entries that fit around the chosen one."""

    can_focus = False

    class Taken(Message):
        """An entry was clicked; `index` is its place among those that fit."""

        def __init__(self, index: int) -> None:
            super().__init__()
            self.index = index

    def __init__(self, title: str, look: Look) -> None:
        super().__init__()
        self._title = title
        self._choices = Choices(())
        self._fitting: list[Entry] = []
        self._top = 0
        self._looks = Styles(look.palette)
        self._look = look

    def show(self, choices: Choices) -> None:
        """Show these choices, with the chosen one in sight."""
        self._choices = choices
        self._fitting = choices.fitting()
        height = self._height()
        self._top = max(min(self._top, choices.at), choices.at - height + 1, 0)
        self.styles.width = max(10, min(_WIDEST, self.app.size.width - _MARGIN))
        self.styles.height = min(height, max(1, len(self._fitting))) + 2
        self.refresh()

    def _height(self) -> int:
        return max(1, min(_TALLEST, self.app.size.height - _MARGIN) - 2)

    def render_line(self, y: int) -> Strip:
        width = self.size.width
        if y == 0:
            said = f"{self._title}: {self._choices.typed}"
            count = f" {len(self._fitting)} of {len(self._choices.entries)}"
            text = cut(said, max(0, width - len(count)))
            text += " " * (width - cells(text) - len(count)) + count
            return Strip([Segment(cut(text, width), self._looks["notice"])])
        index = self._top + y - 1
        if index >= len(self._fitting):
            said = "" if self._fitting or y > 1 else "nothing has all of these words"
            return Strip([Segment(f"  {said}".ljust(width)[:width], self._looks["dim"])])
        entry = self._fitting[index]
        beside = cut(entry.beside, width // 3)
        mark = self._look.mark("cursor") if index == self._choices.at else " "
        text = cut(f"{mark} {entry.text}", max(0, width - cells(beside) - 2))
        gap = " " * max(0, width - cells(text) - cells(beside) - 1)
        style = self._looks["selected" if index == self._choices.at else "text"]
        return Strip([Segment(cut(f"{text}{gap}{beside} ", width), style)])

    def on_click(self, event: Click) -> None:
        """Take the entry that was clicked."""
        index = self._top + event.y - 1
        if event.y > 0 and index < len(self._fitting):
            self.post_message(self.Taken(index))


class Chooser(ModalScreen[Value]):
    """A list over the place. It is left with what was chosen, or with nothing."""

    DEFAULT_CSS = """
    Chooser { align: center middle; background: transparent; }
    """

    def __init__(self, title: str, entries: Sequence[Entry], look: Look) -> None:
        super().__init__()
        self.choices = Choices(tuple(entries))
        self._list = ChoiceList(title, look)

    def compose(self) -> ComposeResult:
        yield self._list

    def on_mount(self) -> None:
        """Show all of them."""
        self._list.show(self.choices)

    def on_key(self, event: KeyEvent) -> None:
        """Filter by what is typed; choose; leave."""
        event.stop()
        event.prevent_default()
        key = spoken(event.key, event.character)
        if key in ("escape", "ctrl+c", "ctrl+q"):
            self.dismiss(None)
        elif key == "enter":
            self._take()
        elif key in _MOVES:
            self._show(self.choices.move(_MOVES[key]))
        elif key == "backspace":
            self._show(self.choices.rub())
        elif key == "ctrl+w":
            self._show(self.choices.rub(word=True))
        elif key == "ctrl+u":
            self._show(self.choices._replace(typed="", at=0))
        elif event.character is not None and event.character.isprintable():
            self._show(self.choices.type(event.character))

    def on_paste(self, event: Paste) -> None:
        """Filter by the first line of what is pasted."""
        event.stop()
        self._show(self.choices.type(inert(event.text.splitlines()[0]) if event.text else ""))

    def on_choice_list_taken(self, message: ChoiceList.Taken) -> None:
        """Take the entry that was clicked."""
        self._show(self.choices._replace(at=message.index))
        self._take()

    def on_mouse_scroll_down(self, event: MouseScrollDown) -> None:
        """Choose a later entry."""
        event.stop()
        self._show(self.choices.move(1))

    def on_mouse_scroll_up(self, event: MouseScrollUp) -> None:
        """Choose an earlier entry."""
        event.stop()
        self._show(self.choices.move(-1))

    def _take(self) -> None:
        chosen = self.choices.chosen()
        if chosen is not None:
            self.dismiss(chosen.value)

    def _show(self, choices: Choices) -> None:
        self.choices = choices
        self._list.show(choices)
