"""Record the workspace of a run while its command lives, in processes of their own."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from siding.ground.ids import TaskId
from siding.ground.process.capture import Running, start
from siding.ground.process.command import Outcome, TurnTimes
from siding.ground.process.tree import ProcessTree
from siding.record.place.project import Project
from siding.record.place.settings import Settings
from siding.record.runs.run import Run
from siding.running.request import RunRequest

if TYPE_CHECKING:
    from siding.ground.process.turns import TurnWatch


def turn_times(settings: Settings, request: RunRequest) -> TurnTimes:
    """Return when turns of a run are recorded: as asked for, else as set. 0 is never."""
    every_s, quiet_s = request.turns
    return TurnTimes(
        every_s=(settings.turns_every_s if every_s is None else every_s) or None,
        quiet_s=(settings.turns_quiet_s if quiet_s is None else quiet_s) or None,
    )


class Turns:
    """Records the turns of one run, by ``siding checkpoint --run``.

    That is a process of its own and not a thread: what it loads and waits for never stalls the
    command's output, and a fork of this process would share its locks and the command's pipes.
    """

    def __init__(self, project: Project, task_id: TaskId, run: Run, times: TurnTimes) -> None:
        self._project = project
        self._task_id = task_id
        self._run = run
        self._times = times
        self._watch: TurnWatch | None = None

    @contextmanager
    def told(self) -> Iterator[None]:
        """Warn the person, when the command has ended, of turns that were not recorded."""
        yield
        if self._watch is not None and self._watch.failures.times:
            self._project.app.warn(f"{self._run.id}: {self._failed(self._watch)}")

    def watch(self, tree: ProcessTree) -> "TurnWatch":
        """Return what decides when a turn is recorded, for a command that was started."""
        from siding.ground.process.turns import TurnWatch

        self._watch = TurnWatch(self._times, tree, self._begin)
        return self._watch

    def noted(self, outcome: Outcome) -> Outcome:
        """Return the outcome with sentences about turns that failed or came late."""
        watch, notes = self._watch, list(outcome.notes)
        if watch is not None and watch.failures.times:
            notes.append(self._failed(watch))
        if watch is not None and watch.backed_off_s:
            notes.append(
                f"recording a turn took up to {watch.slowest_s:.1f} s, so there were pauses of "
                f"{watch.backed_off_s:.0f} s and more between turns"
            )
        return outcome._replace(notes=tuple(notes))

    def _begin(self, moment: str) -> Running:
        app, root = self._project.app, self._project.layout.root
        words = ["-C", str(self._project.paths.root), "-q", "checkpoint", "--run", self._run.id]
        return start(
            # With -m, Python looks for the package in the directory first: it must be one of ours.
            [sys.executable, "-m", "siding", *words, "-t", self._task_id, "--moment", moment],
            env={**app.env, "SIDING_HOME": str(app.home.root)},
            cwd=root,
        )

    def _failed(self, watch: "TurnWatch") -> str:
        count, reason, is_open = watch.failures
        often = "once" if count == 1 else f"{count} times"
        later = "what changed since is only in its end" if is_open else "a later one made up for it"
        return f"a turn could not be recorded, {often}: {reason}; {later}"
