"""What works for an agent beside its own words: helpers, and what it has in the background. Pure.

Helpers are the calls in which others are made: lines of these say `inside` which call they belong
to. What an agent has running in the background it lists by its description alone, so that the same
words are the same entry.
"""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from siding.ground.namedtuples import NamedTuple
from siding.ground.storage.fields import text, words

MOST_ENDED = 100  # that are still told of
# Lines that an agent causes: what it had when its host was killed ended at the last of these.
_OF_AGENT = frozenset(
    "text thought tool-started tool-output tool-ended in-background turn-started turn-ended "
    "ended".split()
)


class HelperState(StrEnum):
    """How far it is."""

    RUNS = "runs"
    DONE = "done"
    FAILED = "failed"


class Helper(NamedTuple):
    """One of them. Moments are ISO 8601, as the story has them."""

    key: str  # unique in the conversation
    name: str  # what it is: its type
    about: str  # what it is to do
    started_at: str
    ended_at: str = ""  # "" while it runs
    state: HelperState = HelperState.RUNS
    part: str = ""  # the key of the part that its words stand below; "" for the background

    def over(self, at: str, state: HelperState = HelperState.DONE) -> "Helper":
        """Return it as it is when it has ended."""
        return self._replace(ended_at=at, state=state)


class Helpers:
    """Takes the lines of a story, in their order."""

    def __init__(self) -> None:
        self._calls: dict[str, Helper] = {}  # of the turn that runs
        self._helpers: dict[str, Helper] = {}  # by their calls
        self._background: dict[str, Helper] = {}  # by their descriptions: what runs
        self._ended: list[Helper] = []  # oldest first, the newest alone
        self._at = ""  # when the agent was heard last

    def take(self, line: Mapping[str, Any]) -> None:
        """Take the next line."""
        event = text(line.get("event"))
        if event in _OF_AGENT:
            self._at = text(line.get("at")) or self._at
        match event:
            case "tool-started":
                self._started(line)
            case "text" | "thought":
                self._works(text(line.get("inside")))
            case "tool-ended":
                failed = line.get("failed") is True
                self._over(text(line.get("call")), failed=failed)
            case "in-background":
                self._listed(words(line.get("running")))
            case "turn-ended":
                self._turn_over()
            case "ended" | "hosted":
                self._turn_over()
                self._listed(())

    def found(self, *, is_live: bool) -> tuple[Helper, ...]:
        """Return those that run, and the newest that have ended. Without a host all have."""
        running = (*self._helpers.values(), *self._background.values())
        if not is_live:
            running = tuple(each.over(self._at) for each in running)
        return (*self._ended, *running)

    def _started(self, line: Mapping[str, Any]) -> None:
        call, inside = text(line.get("call")), text(line.get("inside"))
        given = line.get("input")
        kind = text(given.get("subagent_type")) if isinstance(given, Mapping) else ""
        name, title = text(line.get("name")), text(line.get("title"))
        around = self._calls.get(inside)
        self._calls[call] = Helper(
            key=f"call:{call}",
            name=kind or name or "agent",
            about=title.removeprefix(f"{name} "),
            started_at=self._at,
            # What a helper of a helper does is below the outermost call.
            part=f"c-{call}" if around is None else around.part,
        )
        self._works(inside)

    def _works(self, call: str) -> None:
        if call in self._calls:
            self._helpers.setdefault(call, self._calls[call])

    def _over(self, call: str, *, failed: bool = False) -> None:
        self._calls.pop(call, None)
        helper = self._helpers.pop(call, None)
        if helper is not None:
            self._keep(helper.over(self._at, HelperState.FAILED if failed else HelperState.DONE))

    def _turn_over(self) -> None:
        for call in [*self._calls]:
            self._over(call)

    def _listed(self, running: tuple[str, ...]) -> None:
        for about in [each for each in self._background if each not in running]:
            self._keep(self._background.pop(about).over(self._at))
        for about in running:
            key = f"background:{self._at}:{about}"
            self._background.setdefault(about, Helper(key, "background", about, self._at))

    def _keep(self, helper: Helper) -> None:
        self._ended = [*self._ended, helper][-MOST_ENDED:]
