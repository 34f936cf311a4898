"""Hold the agent of a run at a limit of what may be used: warn, wait for a person, or end the run.

It is looked at when a prompt begins, before a command of the agent's shell, and when a turn ends.
Counting reads what agents wrote since the last time, of all conversations of the machine. So
between two prompts it takes a twentieth of the time at most, and a limit may be passed by what is
used meanwhile.
"""

import time
from contextlib import suppress
from threading import Lock, Timer
from typing import Any

from siding.agents.transcripts.kinds import moment
from siding.asking.kinds import key_of_limit
from siding.asking.notices import notify
from siding.asking.question import Cancelled
from siding.asking.views import agent_entry
from siding.broker.desk import REPORTING, Desk
from siding.broker.messages import AskRequest
from siding.broker.questions import ask_person, collect
from siding.ground.errors import SidingError
from siding.record.runs.reported import Reported, read_reported, write_reported
from siding.record.runs.store import Runs
from siding.running.stop import tell_to_end
from siding.usage.limits import NO_LIMIT, AtLimit, UsageLimits, usage_limits
from siding.usage.reached import Measured, Passed, Place, measure, passed

_SHARE = 20  # counting takes at most about this part of the time between two prompts
_AT_LEAST_S = 2.0
_LAST_WORD_S = 0.3
_MORE, _ALL, _END = "more", "all", "end"


class _Count:
    """What was measured last, and when it is to be measured again."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._newest = Measured()
        self._again = 0.0

    def newest(self, desk: Desk, limits: UsageLimits, *, at_once: bool) -> Measured:
        """Return what was used, measured anew if it is time for that, or `at_once`."""
        with self._lock:
            began = time.monotonic()
            if at_once or began >= self._again:
                self._newest = measure(desk.app, _place(desk), limits)
                ended = time.monotonic()
                self._again = ended + max(_AT_LEAST_S, _SHARE * (ended - began))
            return self._newest


_count = _Count()  # a broker serves one run


def is_limited(desk: Desk) -> bool:
    """Tell whether a limit may keep prompts of this run waiting, or end it."""
    limits = _limits(desk)
    return limits.is_set and limits.at_limit is not AtLimit.WARN


def held(desk: Desk, *, is_prompt: bool = False) -> str:
    """Wait, where a limit is reached, for a person's word; return why the agent must not go on.

    "" if it may. Raises RunOver and PeerGone.
    """
    limits = _limits(desk)
    if not limits.is_set:
        return ""
    measured = _count.newest(desk, limits, at_once=is_prompt)
    for each in _reached(desk, limits, measured):
        if limits.at_limit is AtLimit.WARN:
            _warn(desk, each)
        elif limits.at_limit is AtLimit.STOP or not _goes_on(desk, each):
            return _end(desk, each)
    return ""


def noticed(desk: Desk) -> None:
    """Look at the limits as a turn ends: warn, or end the run. The next prompt may be held."""
    limits = _limits(desk)
    if not limits.is_set or limits.at_limit is AtLimit.PAUSE:
        return
    measured = _count.newest(desk, limits, at_once=True)
    for each in _reached(desk, limits, measured):
        if limits.at_limit is AtLimit.STOP:
            _end(desk, each)
            return
        _warn(desk, each)


def _limits(desk: Desk) -> UsageLimits:
    return UsageLimits() if desk.run.over_limit else usage_limits(desk.project)


def _place(desk: Desk) -> Place:
    reported = _reported(desk)
    sessions = {*reported.used, reported.session} - {""}
    return Place(desk.task.name, desk.workspace, sessions, moment(desk.run.started_at) or 0)


def _reached(desk: Desk, limits: UsageLimits, measured: Measured) -> list[Passed]:
    return passed(limits, measured, desk.task.name, _reported(desk).granted)


def _reported(desk: Desk) -> Reported:
    return read_reported(desk.layout, desk.run.id) or Reported()


def _warn(desk: Desk, reached: Passed) -> None:
    """Call the person, once for each limit of a run: after that it counts no more."""
    with REPORTING:
        before = _reported(desk)
        if reached.name in before.granted:
            return
        _note(desk, before, reached, reached.sentence, NO_LIMIT)
    told = before._replace(waits=reached.sentence, waits_since=desk.app.now())
    notify(desk.project, agent_entry(desk.project, desk.task.id, desk.task.name, desk.run, told))


def _goes_on(desk: Desk, reached: Passed) -> bool:
    """Ask a person whether the agent goes on, and keep what they said."""
    before = _reported(desk).granted.get(reached.name, "")
    key = key_of_limit(desk.task.id, desk.run.id, reached.name, str(before))
    try:
        answered = ask_person(desk, AskRequest(_question(desk, reached), key=key))
    except Cancelled:
        return False
    output = answered["output"] or {}
    chosen = next((each.get("chosen") for each in output.get("decisions", ())), _END)
    if chosen != _END:
        with REPORTING:
            granted = NO_LIMIT if chosen == _ALL else reached.next
            sentence = f"{reached.sentence}; a person let it go on"
            _note(desk, _reported(desk), reached, sentence, granted)
    collect(desk, answered["session"])
    return bool(chosen != _END)


def _question(desk: Desk, reached: Passed) -> dict[str, Any]:
    agent = desk.run.agent or "the agent"
    return {
        "task": desk.task.name,
        "source": f"{desk.run.id}, {agent}",
        "items": [
            {
                "id": 1,
                "title": f"A limit is reached. May {agent} go on?",
                "context": f"{reached.sentence[:1].upper()}{reached.sentence[1:]}.",
                "options": [
                    {"value": _MORE, "label": "Go on, with as much again"},
                    {"value": _ALL, "label": "Go on, in this run without this limit"},
                    {"value": _END, "label": "End the run"},
                ],
            }
        ],
    }


def _end(desk: Desk, reached: Passed) -> str:
    """Have the run ended as `siding stop` does it, and return why.

    A moment later: the agent has to read that its command does not run before it is told to end.
    """
    with REPORTING:
        _note(desk, _reported(desk), reached, f"{reached.sentence}, so the run was ended")
    ender = Timer(_LAST_WORD_S, _tell_to_end, (desk,))
    ender.daemon = True
    ender.start()
    return f"Siding ends this run: {reached.sentence}"


def _tell_to_end(desk: Desk) -> None:
    with suppress(SidingError, OSError):  # it has ended meanwhile, or its host is gone
        tell_to_end(Runs(desk.layout), desk.run, now=False)


def _note(
    desk: Desk, before: Reported, reached: Passed, sentence: str, granted: float | None = None
) -> None:
    """Have the run's step tell of a limit. `granted`: what counts in its place from now on."""
    now = before._replace(limits=(*before.limits, sentence))
    if granted is not None:
        now = now._replace(granted={**before.granted, reached.name: granted})
    write_reported(desk.layout, desk.run.id, now)
