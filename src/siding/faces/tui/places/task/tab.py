"""What the tabs of the task's screen have in common, and what they ask of the screen."""

from collections.abc import Callable, Sequence
from typing import ClassVar, Protocol

from textual.app import App
from textual.containers import Container

from siding.faces.plans.plan import ActRequest
from siding.faces.tui.keys import Key, KeyTable
from siding.faces.tui.places.task.changes import Since
from siding.faces.tui.places.task.reading import Opened
from siding.faces.tui.places.task.sheet import Choice
from siding.faces.tui.ports import AppPort
from siding.faces.tui.rows.base import Rows
from siding.faces.tui.rows.styles import Look


class TaskPage(Protocol):
    """The screen around the tabs."""

    @property
    def port(self) -> AppPort:
        """The app."""

    @property
    def opened(self) -> Opened:
        """The task that is shown."""

    def ask_text(self, title: str, then: Callable[[str], None], *, text: str = "") -> None:
        """Have the person type a text."""

    def choose(self, title: str, choices: Sequence[Choice], then: Callable[[str], None]) -> None:
        """Have the person choose one of several lines."""

    def find(self, title: str, choices: Sequence[Choice], then: Callable[[str], None]) -> None:
        """Have the person choose one of many lines by words."""

    @property
    def key_table(self) -> KeyTable:
        """The keys that count now."""

    def run_key(self, key: Key) -> None:
        """Run the act of a key."""

    def hush(self) -> None:
        """Take away what was said at the foot."""

    def plan(self, wish: ActRequest) -> None:
        """Show what an act would do, and do it if the person says so."""

    def show_patch(self, since: Since) -> None:
        """Show a change in the tab of the patch."""

    def show_output(self, step: str) -> None:
        """Show the output of a step, or of a run that lives."""

    def told(self) -> None:
        """Draw the head anew: what it says of the tab has changed."""


class ActPage(TaskPage, Protocol):
    """The screen around what carries acts out."""

    @property
    def siding_app(self) -> App[int]:
        """The app, as Textual knows it."""

    def open_sheet(self, lines: Sequence[Choice]) -> None:
        """Show lines above the foot; keys go to them until they are closed."""

    def show_lines(self, lines: Sequence[Choice]) -> None:
        """Show lines that nothing is done with."""

    def close_sheet(self) -> None:
        """Close the sheet; keys go to the tab again."""

    @property
    def is_taken(self) -> bool:
        """Whether the keys go to something else than the tab or a plan."""

    @property
    def said(self) -> str:
        """What is said at the foot."""

    def acted(self, said: str) -> None:
        """Take in that an act was done: say so, and read again what is shown."""

    def retry(self, wish: ActRequest, digest: str) -> None:
        """Do a step again, as the plan with this digest says."""


class Tab(Container):
    """A tab: its keys with a method `act_NAME` each, and its main widget."""

    NAME: ClassVar[str] = ""
    KEYS: ClassVar[tuple[Key, ...]] = ()
    DEFAULT_CSS = "Tab { height: 1fr; layout: horizontal; display: none; }"

    def __init__(self, page: TaskPage) -> None:
        super().__init__(id=f"tab-{self.NAME}")
        self.page = page

    @property
    def state(self) -> str:
        """Which of its parts has the keys; "" for the main one."""
        return ""

    @property
    def is_alone(self) -> bool:
        """Whether letters are typed into the tab: the keys of the task do not count then."""
        return False

    def keys_now(self) -> tuple[Key, ...]:
        """Return the keys of the part that has them."""
        return self.KEYS

    def noticed(self) -> None:
        """Take in that the keys have gone to another part."""

    def back(self) -> None:
        """Take the keys again after a sheet or a field had them."""
        self.rows.focus()

    @property
    def rows(self) -> Rows:
        """The widget that keys and searches are about."""
        raise NotImplementedError

    def read(self) -> None:
        """Read what is shown, or read it again."""

    def changed(self) -> None:
        """Take in that something of the task has changed."""

    def entered(self) -> None:
        """Take in that the tab is shown now."""
        self.rows.focus()

    def left(self) -> None:
        """Take in that another tab is shown, or none."""

    def may_leave(self) -> bool:
        """Tell whether `back` may leave the place now; something in the tab may end instead."""
        return True

    def fit(self, columns: int) -> None:
        """Take the present width of the screen."""

    def use(self, look: Look) -> None:
        """Draw with other colours."""
        for each in self.children:
            if isinstance(each, Rows):
                each.use(look)

    def status(self) -> str:
        """Return what the head says of the tab."""
        return ""

    def about(self) -> str:
        """Return what the first line of the head says of the tab."""
        return ""

    def act_down(self) -> None:
        self.rows.move(1) if self.rows.cursor >= 0 else self.rows.scroll_rows(1)

    def act_up(self) -> None:
        self.rows.move(-1) if self.rows.cursor >= 0 else self.rows.scroll_rows(-1)
