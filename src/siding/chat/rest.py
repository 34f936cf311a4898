"""Wait until a conversation rests: its agent has done what it was given, or waits for a person."""

import time
from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from siding.agents.talking.port import How
from siding.chat.state import after
from siding.chat.store import Chat
from siding.chat.talk import Standing, Talk
from siding.chat.watching import Watch
from siding.ground.namedtuples import NamedTuple
from siding.ground.storage.fields import text

_LOOKS_EVERY_S = 0.5  # whether the host is still there
_RECORDED_WITHIN_S = 30.0  # a turn that has ended; it is waited for no longer
_COMPACTS_WITHIN_S = 60.0  # an agent that has done all else
# With these nothing is left of a compaction that was asked for.
_NO_COMPACTION = frozenset({"compacted", "troubled", "stop-asked", "ended", "hosted"})


class Kind(StrEnum):
    """Why nothing goes on."""

    DONE = "done"
    STOPPED = "stopped"
    FAILED = "failed"
    PERSON = "person"  # it asks, or something is held or unsure


class Rest(NamedTuple):
    """How a conversation rests, and in which words that is said."""

    kind: Kind
    why: str
    talk: Talk


def await_rest(chat: Chat, *, timeout_s: float | None, turn: bool = False) -> Rest | None:
    """Wait until it rests; None if that has taken too long.

    With `turn` it is enough that one turn has ended since this was called.
    """
    end = None if timeout_s is None else time.monotonic() + timeout_s
    watch, talk, turns = Watch(chat), Talk(), _Turns()
    try:
        while True:
            watch.connect()
            # Before the lines are read: what is not there any more has left its lines.
            given, has_host = len(chat.requests.waiting()), chat.has_host()
            for record in watch.records():
                talk = after(talk, record)
                turns.take(record)
            rest = rest_of(talk, given=given, has_host=has_host)
            if turn and turns.have_ended:
                rest = _turn(talk)
            if rest is not None and not (has_host and turns.have_more_to_do(rest)):
                return rest
            turns.is_new = True
            left = _LOOKS_EVERY_S if end is None else end - time.monotonic()
            if left <= 0:
                return None
            watch.wait(min(left, _LOOKS_EVERY_S))
    finally:
        watch.close()


class _Turns:
    """Which turns have ended, and what comes after the last one: it is recorded, and can be undone
    then; the agent makes its conversation shorter, if it was told to."""

    def __init__(self) -> None:
        self.is_new = False  # what comes is new to whoever waits
        self.have_ended = False
        self._recorded_from: float | None = None  # when the last one ended that is not recorded
        self._compacts_from: float | None = None  # when it was told to, and nothing ran

    def take(self, line: Mapping[str, Any]) -> None:
        event, now = text(line.get("event")), time.monotonic()
        if event == "turn-ended":
            self._recorded_from = now
            self.have_ended = self.have_ended or self.is_new
        elif event in ("recorded", "turn-started", "hosted"):
            self._recorded_from = None
        if event == "compact-asked":
            self._compacts_from = now
        elif event in _NO_COMPACTION:
            self._compacts_from = None
        elif self._compacts_from is not None:
            self._compacts_from = now

    def have_more_to_do(self, rest: Rest) -> bool:
        now, compacts = time.monotonic(), self._compacts_from
        if rest.kind is not Kind.PERSON and compacts is not None:
            return now < compacts + _COMPACTS_WITHIN_S
        recorded = self._recorded_from
        return recorded is not None and now < recorded + _RECORDED_WITHIN_S


def rest_of(talk: Talk, *, given: int, has_host: bool) -> Rest | None:
    """Return how a conversation rests; None if something goes on by itself.

    `given` is how many requests its host has not taken.
    """
    if not has_host:
        talk = talk.left_behind()
    given += len(talk.queue)
    match talk.standing:
        case Standing.WAITS if any(each.decision for each in talk.asks):
            return Rest(Kind.PERSON, f"it asks: {talk.asks[0].title}", talk)
        case Standing.UNSURE:
            return Rest(Kind.PERSON, "nobody knows whether the agent has a prompt", talk)
        case Standing.HELD if not talk.until:
            return Rest(Kind.PERSON, f"it is held: {talk.trouble}", talk)
        case Standing.IDLE if not given:
            return _turn(talk)
        case Standing.ENDED if given and not has_host:
            why = f" ({talk.trouble})" if talk.trouble else ""
            return Rest(Kind.PERSON, f"its agent has ended{why}, and prompts wait", talk)
        case Standing.ENDED if not has_host:
            return _ended(talk)
        case Standing.HANDED_OVER:
            return Rest(Kind.PERSON, "a person has it on the agent's own screen", talk)
    return None


def _turn(talk: Talk) -> Rest:
    how = Kind(talk.how) if talk.how in {each.value for each in How} else Kind.DONE
    return Rest(how, talk.why, talk)


def _ended(talk: Talk) -> Rest:
    """Return how it rests without an agent, which may have died."""
    if talk.trouble and not talk.is_wanted_end:
        return Rest(Kind.FAILED, f"it has ended: {talk.trouble}", talk)
    return _turn(talk)
