"""What the parts of the tab ask of it."""

from collections.abc import Callable
from typing import Protocol

from siding.chat.acts import Acts
from siding.chat.store import Chat
from siding.chat.talk import Talk
from siding.faces.tui.places.task.tab import TaskPage


class TalkPort(Protocol):
    """The tab around what is typed and what waits."""

    page: TaskPage

    @property
    def chat(self) -> Chat | None:
        """The conversation that is shown; None before there is one."""

    @property
    def talk(self) -> Talk:
        """Where it stands."""

    @property
    def acts(self) -> Acts:
        """What can be asked of it. There is a conversation."""

    def begin(self, words: str) -> bool:
        """Begin a conversation with a first prompt; tell whether there is an agent for it."""

    def choose(self) -> None:
        """Let the agent be chosen with whom one begins."""

    def asked(self, work: Callable[[], str]) -> None:
        """Carry out an act in a thread, and say what came of it."""

    def to_story(self) -> None:
        """Give the keys to the story."""

    def to_field(self) -> None:
        """Give the keys to the field."""

    def to_queue(self) -> None:
        """Give the keys to what waits."""

    def scroll(self, pages: int) -> None:
        """Scroll the story."""
