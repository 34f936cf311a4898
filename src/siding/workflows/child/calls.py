"""The calls of a script: taken from the record where that counts, else sent to the engine."""

import heapq
from collections import deque
from collections.abc import Callable
from typing import Any

from siding.workflows.child.errors import CAP, CONFIG, WorkflowError
from siding.workflows.child.past import (
    DEAD,
    EDITED,
    OK,
    REFUSED,
    Past,
    Record,
    Selection,
    fingerprint,
    is_same,
)
from siding.workflows.child.scheduler import Future, Lane, Scheduler
from siding.workflows.child.wire import has_address

# Why a call is made again whose result is compared with the one that is recorded.
_COMPARED = frozenset({"dead", "refused", "selected", "cut off again"})
MAX_NOTES = 10_000


class _Call:
    __slots__ = ("asked", "fingerprint", "future", "kind", "lane", "path")

    def __init__(
        self, kind: str, path: str, lane: Lane, asked: dict[str, Any], print_: str
    ) -> None:
        self.kind, self.path, self.lane, self.asked = kind, path, lane, asked
        self.fingerprint = print_
        self.future = Future()


class _Live:
    """A call that the engine works on. `before` is the record that it is to be compared with."""

    __slots__ = ("before", "call")

    def __init__(self, call: _Call, before: Record | None) -> None:
        self.call, self.before = call, before


class Calls:
    """All calls of one attempt. `send` and `request` take messages for the engine."""

    def __init__(
        self,
        scheduler: Scheduler,
        past: Past,
        selection: Selection,
        send: Callable[[dict[str, Any]], None],
        request: Callable[[dict[str, Any]], dict[str, Any]],
        *,
        max_agents: int,
    ) -> None:
        self.tell = send
        self.tokens = 0  # that the agents of this attempt have used
        self._scheduler = scheduler
        self._past = past
        self._selection = selection
        self._request = request
        self._max_agents = max_agents
        self._agents = 0  # that were really run
        self._live: dict[str, _Live] = {}
        self._undecided: deque[_Call] = deque()
        self._recorded: list[tuple[int, int, Future, Any]] = []  # a heap, by the order of then
        self._order = 0
        self._replayed: list[tuple[str, str, str]] = []
        self._is_as_before = True
        self._notes = 0

    def agent(self, asked: dict[str, Any]) -> Future:
        """Run an agent, or take what is recorded of it."""
        if has_address(asked["prompt"]):
            raise WorkflowError(
                "the prompt has the address of an object in it (' at 0x…'), which is another one in"
                " each run; put the object's contents into the text",
                CONFIG,
            )
        lane = self._scheduler.lane
        return self.call("agent", lane.take(), lane, asked)

    def call(self, kind: str, path: str, lane: Lane, asked: dict[str, Any]) -> Future:
        """Make a call that the engine answers, or take what is recorded of it."""
        try:
            print_ = fingerprint(kind, asked)
        except (TypeError, ValueError, RecursionError) as error:
            said = f"{kind}(): JSON cannot hold its arguments: {error}"
            raise WorkflowError(said, CONFIG) from None
        call = _Call(kind, path, lane, asked, print_)
        if lane.is_undecided():
            self._undecided.append(call)
        else:
            self._decide(call)
        return call.future

    def note(self) -> None:
        """Count something that the script can do without waiting. Raises WorkflowError."""
        self._notes += 1
        if self._notes > MAX_NOTES:
            raise WorkflowError(
                f"the script began phases or read its budget more than {MAX_NOTES:,} times", CAP
            )

    def read(self, what: str, value: Any) -> Any:
        """Return what the script was told here before, or tell it `value` and have it recorded."""
        self.note()
        lane = self._scheduler.lane
        path = lane.take()
        print_ = fingerprint("read", {"what": what})
        record = self._past.at(
            path, "read", print_, {"prompt": what}, is_as_before=self._is_as_before
        )
        counts = record is not None and record.kind == OK and not lane.is_stale()
        if record is not None and counts and record.fingerprint == print_:
            self._replayed.append((path, "", ""))
            return record.value
        self.tell({"t": "read", "path": path, "fp": print_, "value": value})
        return value

    def answer(self, message: dict[str, Any]) -> None:
        """Give a call the answer of the engine."""
        live = self._live.pop(message["path"])
        self.tokens += message.get("tokens", 0)
        if live.before is not None:
            self._compare(live, message)
        if "error" in message:
            live.call.future.fail(WorkflowError(message["error"], message.get("kind", "")))
        else:
            live.call.future.settle(message["value"])
        self._decide_waiting()

    def settle_recorded(self) -> bool:
        """Give the next recorded answer, in the order of then; False if there is none."""
        if not self._recorded:
            return False
        _seq, _order, future, value = heapq.heappop(self._recorded)
        future.settle(value)
        return True

    def leave(self, lane: Lane, around: Lane) -> None:
        """Go on in the lane around one that has ended: what changed in it changes what follows."""
        if lane.is_stale():
            self._turn_stale(around, lane.path)

    def say_replayed(self) -> None:
        """Tell the engine which calls were taken from the record since the last time."""
        if self._replayed:
            self.tell({"t": "replayed", "calls": self._replayed})
            self._replayed = []

    @property
    def is_awaiting(self) -> bool:
        """Whether an answer of the engine is still to come."""
        return bool(self._live)

    def unfinished(self) -> list[str]:
        """Return the paths of the calls that nobody waits for any more: the script has ended."""
        return [*self._live, *(call.path for call in self._undecided)]

    def _decide(self, call: _Call) -> None:
        record = self._past.at(
            call.path,
            call.kind,
            call.fingerprint,
            call.asked,
            is_as_before=self._is_as_before,
        )
        why = self._why_again(call, record)
        if not why and record is not None:
            self._take(call, record)
            return
        if why not in {"new", "cut off"}:
            self._is_as_before = False
        before = record if why in _COMPARED else None
        if why in {"changed", "misfit"}:
            self._turn_stale(call.lane, call.path)
        self._send(call, record, before, why)

    def _why_again(self, call: _Call, record: Record | None) -> str:
        """Return why a call is made though there may be a record of it; "" to take the record."""
        if record is None:
            return "new"
        if record.fingerprint != call.fingerprint:
            return "changed"
        if not record.kind:
            return "cut off"
        if call.lane.is_stale():
            return "follows a change"
        if record.is_open:
            return "cut off again"
        if call.kind == "agent" and self._selection.has(record.number):
            return "selected"
        if record.kind in {DEAD, REFUSED, EDITED}:
            return record.kind
        return "" if self._fits(call, record) else "misfit"

    def _fits(self, call: _Call, record: Record) -> bool:
        """Tell whether a recorded object still has the form that is asked for."""
        if record.kind != OK or "schema" not in call.asked:
            return True
        question = {"t": "check", "path": call.path, "schema": call.asked["schema"]}
        return bool(self._request(question)["reply"])

    def _take(self, call: _Call, record: Record) -> None:
        shown = call.asked.get("label", ""), call.asked.get("phase", "")
        self._replayed.append((call.path, *shown))
        value = record.value if record.kind == OK else None
        self._order += 1
        heapq.heappush(self._recorded, (record.seq, self._order, call.future, value))

    def _send(self, call: _Call, record: Record | None, before: Record | None, why: str) -> None:
        message: dict[str, Any] = {
            "t": "call",
            "kind": call.kind,
            "path": call.path,
            "fp": call.fingerprint,
            "asked": call.asked,
            "why": why,
        }
        if call.kind == "agent":
            if self._agents >= self._max_agents:
                call.future.fail(
                    WorkflowError(f"the cap of {self._max_agents} agents in a run is reached", CAP)
                )
                return
            self._agents += 1
            message["id"] = self._past.number_for(record)
        if before is not None and not self._selection.takes_nothing:
            call.lane.begin_deciding()
        self._live[call.path] = _Live(call, before)
        self.tell(message)

    def _compare(self, live: _Live, message: dict[str, Any]) -> None:
        """Let what follows run again if the call came out differently than it is recorded.

        One that was refused did nothing, so what follows it is as true as it was.
        """
        lane, before = live.call.lane, live.before
        assert before is not None
        if not self._selection.takes_nothing:
            lane.end_deciding()
        if "error" in message:
            return
        was = before.value if before.kind == OK else None
        if before.kind == REFUSED or not is_same(message["value"], was):
            self._turn_stale(lane, live.call.path)

    def _turn_stale(self, lane: Lane, after: str) -> None:
        if lane.turn_stale():
            self._is_as_before = False
            self.say_replayed()  # what was taken so far stays
            self.tell({"t": "stale", "path": lane.path, "after": after})

    def _decide_waiting(self) -> None:
        waiting, self._undecided = self._undecided, deque()
        for call in waiting:
            if call.lane.is_undecided():
                self._undecided.append(call)
            else:
                self._decide(call)
