"""Recordings of real agents that speak ACP, played to a talker.

A recording has what an agent printed, by sections (`# name`). The id of an answer is `LAST` in it:
the id of the last request that the talker has sent.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from siding.agents.acp.talking import ANY
from siding.agents.talking.port import TALKING, Answer, Asked, Event, Hold

HERE = Path(__file__).parent
VERSIONS = {
    "gemini": "0.61.0",
    "opencode": "1.18.33",
    "copilot": "1.0.102",
    "qwen": "0.24.4",
}
AGENTS = tuple(VERSIONS)
ALLOWS = Answer(allows=True)
DENIES = Answer(allows=False, reason="because of the moon")


def recorded(agent: str) -> dict[str, list[str]]:
    """Return the lines of each section of an agent's recording."""
    path = HERE / f"talks-{agent}-{VERSIONS[agent]}.txt"
    found: dict[str, list[str]] = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("# "):
            section = found.setdefault(line[2:], [])
        else:
            section.append(line)
    return found


class Played:
    """A talker, and what it has said so far."""

    def __init__(self, talker: Any) -> None:
        self.talker = talker
        self.sent: list[dict[str, Any]] = []
        self.events: list[Event] = []
        self._pump()

    def _pump(self) -> None:
        lines = self.talker.to_send().splitlines()
        self.sent += [json.loads(line) for line in lines]

    def is_quiet(self) -> list[Event]:
        """Let the time pass after which the talker wants to know that nothing has come."""
        events: list[Event] = self.talker.quiet() if self.talker.quiet_s is not None else []
        self.events += events
        return events

    @property
    def last_id(self) -> int:
        return int([each["id"] for each in self.sent if "method" in each and "id" in each][-1])

    def bytes_of(self, lines: Sequence[str]) -> bytes:
        said = "".join(f"{line}\n" for line in lines)
        return said.replace('"id":"LAST"', f'"id":{self.last_id}').encode()

    def hears(self, *lines: str, answer: Answer | None = ALLOWS) -> list[Event]:
        """Give it lines, one after the other; whatever is asked gets the answer."""
        events: list[Event] = []
        for line in lines:
            new = self.talker.receive(self.bytes_of([line]))
            events += new
            for event in new:
                if isinstance(event, Asked) and answer is not None:
                    self.talker.answer(event.ask, answer)
            self._pump()
        self.events += events
        return events

    def says(self, **message: Any) -> list[Event]:
        """Have the agent say something that is not in a recording."""
        return self.hears(json.dumps({"jsonrpc": "2.0", **message}))

    def updates(self, kind: str, /, **fields: Any) -> list[Event]:
        update = {"sessionUpdate": kind, **fields}
        session = "a-session"
        return self.says(method="session/update", params={"sessionId": session, "update": update})

    def does(self, name: str, *words: Any, **fields: Any) -> list[Event]:
        """Ask something of the talker; return what happens with it."""
        getattr(self.talker, name)(*words, **fields)
        self._pump()
        return list(self.talker.receive(b""))

    @property
    def last(self) -> dict[str, Any]:
        """The last message that it has sent."""
        return self.sent[-1]


def hold(**fields: Any) -> Hold:
    return Hold(program=("agent",), cwd=Path("/w"), env={"HOME": "/nowhere"})._replace(**fields)


def begun(agent: str, **fields: Any) -> Played:
    """Return an agent that is open, as it was recorded."""
    talking = TALKING.of(agent)
    assert talking is not None
    played = Played(talking.opened(hold(**fields)).talker)
    said = recorded(agent)
    played.hears(*said["initialize"])
    played.hears(*said["new"])
    if agent == "qwen":
        played.hears(*said["mode"])
    return played


def turn(played: Played, lines: Sequence[str], answer: Answer | None = ALLOWS) -> list[Event]:
    """Have one prompt answered as it was recorded."""
    played.does("prompt", "p1", ["Words"])
    return played.hears(*lines, answer=answer)


def of(kind: Any, events: Sequence[Event]) -> list[Any]:
    return [each for each in events if isinstance(each, kind)]


def opened(can: dict[str, Any] | None = None, **session: Any) -> Played:
    """Return an agent that nobody knows; `can` is what it says at first, `session` the answer."""
    played = Played(ANY.opened(hold()).talker)
    played.says(id=1, result={"protocolVersion": 1, "agentCapabilities": can or {}})
    played.says(id=2, result={"sessionId": "a-session", **session})
    return played
