"""One traced run of an act that moves files, stopped at most once, for a writer."""

import os
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple

from .arena import Arena, Command
from .syscalls import Effect
from .tracer import RUN, RUN_AND_REPORT, Action, Call, Ending, Tracer
from .trial import TIMEOUT_S
from .victims import run_traced
from .writers import Saved, Way, Writer

_CHANGES = (Effect.OPEN, Effect.WRITE, Effect.SIZE, Effect.NAME, Effect.REMOVE, Effect.META)
_ON_NAMES = (Effect.OPEN, Effect.NAME, Effect.REMOVE)


class Stage(StrEnum):
    """How far the act is at a stop."""

    EARLY = "it looks, records and prepares, and has moved nothing yet"
    MOVING = "a call below the root"
    LATER = "a call in a trash, after it has begun to move"


class Stop(NamedTuple):
    """A moment of the act: before or after its n-th call that counts."""

    number: int
    after: bool
    stage: Stage
    text: str
    names: tuple[str, ...]  # the paths of the call that are below the root, relative to it
    there: frozenset[str]  # which of the watched paths exist at this moment


class Shot(NamedTuple):
    """One case: who saves what, when."""

    stop: Stop
    way: Way
    target: str

    def __str__(self) -> str:
        when = "after" if self.stop.after else "before"
        return f"{when} #{self.stop.number} {self.stop.text}: one that {self.way}: {self.target}"


class AimedRun:
    """Counts the calls of an act (`stops`), and lets a writer save at the one of its shot.

    `root` is where the act moves files. At each stop it is noted which of `watched`, paths relative
    to the root, are there.
    """

    def __init__(self, arena: Arena, root: Path, watched: Sequence[str] = ()) -> None:
        self.arena, self.root, self.watched = arena, str(root), watched
        self.stops: list[Stop] = []
        self.ending = Ending(status=0, timed_out=False)
        self.saved = Saved.NOT_YET
        self._calls = 0
        self._is_moving = False
        self._shot: Shot | None = None
        self._writer: Writer | None = None
        self._tracer = Tracer([str(arena.case)], self._on_call, self._on_return)

    def run(self, command: Command, shot: Shot | None = None, token: bytes = b"") -> "AimedRun":
        self._shot = shot
        if shot is not None:
            path = Path(self.root, shot.target)
            self._writer = Writer(shot.way, path, token, self._tracer.strangers)
        try:
            self.ending = run_traced(self._tracer, self.arena, command, timeout_s=TIMEOUT_S)
        finally:
            if self._writer is not None:
                self.saved = self._writer.end()
        return self

    def _on_call(self, call: Call) -> Action:
        stage = self._stage(call)
        if stage is None:
            return RUN
        self._calls += 1
        self._is_moving = self._is_moving or stage is Stage.MOVING
        has_after = stage is not Stage.EARLY and call.effect in _ON_NAMES
        if self._shot is None:
            self._note(call, stage, after=False)
            return RUN_AND_REPORT if has_after else RUN
        if self._shot.stop.number != self._calls:
            return RUN
        if self._shot.stop.after:
            return RUN_AND_REPORT
        return self._strike()

    def _on_return(self, call: Call) -> Action:
        if self._shot is None:
            self._note(call, self.stops[-1].stage, after=True)
            return RUN
        return self._strike()

    def _note(self, call: Call, stage: Stage, *, after: bool) -> None:
        near = [os.path.relpath(path, self.root) for path in call.paths if self._is_near(path)]
        there = (name for name in self.watched if os.path.lexists(f"{self.root}/{name}"))
        text = call.describe(str(self.arena.case))
        self.stops.append(Stop(self._calls, after, stage, text, tuple(near), frozenset(there)))

    def _strike(self) -> Action:
        assert self._writer is not None
        self._writer.save()
        return RUN

    def _stage(self, call: Call) -> Stage | None:
        """None for a call that does not count."""
        if call.effect not in _CHANGES or not call.changes:
            return None
        if any(map(self._is_near, call.paths)):
            return Stage.MOVING
        if not self._is_moving:
            return Stage.EARLY
        in_trash = any("trash" in path.split("/") for path in call.paths)
        return Stage.LATER if in_trash else None

    def _is_near(self, path: str) -> bool:
        below = path.removeprefix(self.root)
        if below == path or below[:1] not in ("", "/"):
            return False
        return below != "/.git" and not below.startswith("/.git/")
