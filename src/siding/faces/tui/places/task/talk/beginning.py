"""A task without a conversation: with whom one can begin, and which run could go on as one."""

from collections.abc import Sequence
from functools import partial
from typing import Protocol

from siding.chat.abilities import installed_here
from siding.chat.takeover import Screen, find_screen
from siding.faces.tui.places.task.reading import Opened
from siding.faces.tui.places.task.sheet import Choice
from siding.faces.tui.places.task.talk.port import TalkPort
from siding.faces.tui.rows.transcript import Notes, Transcript
from siding.ground.errors import SidingError
from siding.ground.namedtuples import NamedTuple
from siding.running.apart import act_in_chat, begin_chat

_TAKE = "~take"


class Ways(NamedTuple):
    """How a conversation can begin in a task."""

    agents: Sequence[str]
    screen: Screen | None = None


class BeginningPort(TalkPort, Protocol):
    """The tab, with its story."""

    view: Transcript

    def begun(self, said: str) -> None:
        """Take in that a conversation was begun."""

    def to_field(self) -> None:
        """Give the keys to the field."""


class Beginning:
    """Begins conversations, or takes a run over."""

    def __init__(self, tab: BeginningPort) -> None:
        self._tab = tab
        self.agent = ""  # with whom the next one begins
        self._ways = Ways(())

    def offer(self) -> None:
        """Show with whom a conversation can begin."""
        opened = self._tab.page.opened
        self._tab.page.port.work(partial(ways, opened), then=self._offered)

    def _offered(self, found: Ways) -> None:
        self._ways = found
        if self._tab.chat is not None:
            return
        self.agent = self.agent or next(iter(found.agents), "")
        lines = [("There is no conversation in this task yet.", "text")]
        if found.agents:
            lines.append((f"What you type begins one with {self.agent}.", "text"))
            others = ", ".join(found.agents)
            lines.append((f"With nothing typed, enter chooses another one of {others}.", "dim"))
        else:
            lines.append(("No agent that can be held is installed: siding chat abilities", "warn"))
        if found.screen is not None:
            lines.append((f"Or: {_takes(found.screen)}", "dim"))
        self._tab.view.put("none", Notes(lines))

    def choose(self) -> None:
        """Let the agent be chosen, or the run that goes on as a conversation."""
        rows = [Choice([(each, "text")], each) for each in self._ways.agents]
        if self._ways.screen is not None:
            rows.append(Choice([(_takes(self._ways.screen), "text")], _TAKE))
        if rows:
            self._tab.page.choose("Begin a conversation with", rows, self._chosen)
        else:
            self.offer()

    def _chosen(self, chosen: str) -> None:
        if chosen == _TAKE:
            self._take()
            return
        self.agent = chosen
        if self._tab.chat is None:
            self._offered(self._ways)
            self._tab.to_field()
            return
        self._tab.page.ask_text(f"first prompt for {chosen}", self._begin_another)

    def _begin_another(self, words: str) -> None:
        if words.strip():
            self.begin(words)

    def begin(self, words: str) -> bool:
        """Begin a conversation with a first prompt; tell whether there is an agent for it."""
        if not self.agent:
            self._tab.page.port.say("no agent that can be held is installed", "error")
            return False
        opened, agent = self._tab.page.opened, self.agent
        app, root = opened.project.app, opened.project.paths.root
        self._tab.page.port.say(f"{agent} is started")
        self._tab.page.port.work(
            lambda: begin_chat(app, root, opened.task.id, agent, words), then=self._begun
        )
        return True

    def _take(self) -> None:
        screen, opened = self._ways.screen, self._tab.page.opened
        assert screen is not None
        app, root = opened.project.app, opened.project.paths.root
        words = ["take", screen.run, "-t", opened.task.id, "--yes"]
        self._tab.page.port.say(f"{screen.run} goes on as a conversation when its turn has ended")
        self._tab.page.port.work(lambda: act_in_chat(app, root, words), then=self._begun)

    def _begun(self, said: str) -> None:
        self._tab.begun(next(iter(said.splitlines()), "").removeprefix("siding: "))


def ways(opened: Opened) -> Ways:
    """Return how a conversation can begin."""
    app = opened.project.app
    agents = installed_here(app.env)
    try:
        screen = find_screen(opened.project, opened.task.id, "")
    except SidingError:
        screen = None
    return Ways(agents, screen)


def _takes(screen: Screen) -> str:
    lives = ": its screen is ended at its turn's end" if screen.live is not None else ""
    return f"take over {screen.run}, with {screen.agent}{lives}"
