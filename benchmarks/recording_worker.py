"""Record states in one process that lives, and take the floor in turn: F12.

A process of its own: ``recording_worker.py WHAT WORKSPACE ROUNDS``. WHAT is one of

- ``edits``: 10 files are edited, then a checkpoint is recorded;
- ``staged``: 10 files are edited and staged with `git add`, then a checkpoint is recorded;
- ``nothing``: nothing is edited; the task is taken and looked at as every act does, and the act
  finds that there is nothing to do. It fails if a file of the home was written.

The floor is one `git status` on a copy of the task's private index, with the settings of the look
that a snapshot takes, and the hashes of the edited files. Prints the samples of both, and what the
rounds had in common, as JSON.
"""

import hashlib
import json
import os
import resource
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from statistics import median
from time import perf_counter_ns
from typing import Any
from unittest.mock import patch

from benchmarks.measure import Sample, settle_disk
from siding.record.acts.skeleton import Act, Done, Ended, Work, perform
from siding.record.ledger.draft import Draft
from siding.record.ledger.intents import Intent
from siding.record.place.project import Project, require_project
from siding.record.place.selection import select
from siding.record.place.wiring import open_app
from siding.record.snapshots.capture import CaptureWork
from siding.record.snapshots.git_state import MovedHeads
from siding.record.snapshots.status_look import STATUS
from siding.record.snapshots.tree_look import PrivateIndex
from siding.record.tasks.task import Task
from siding.running.checkpoint import checkpoint

EDITED = 10  # files
WARM_UPS = 2  # rounds that are not counted
# git takes a file for changed whose time is the second of the index, and looks again: what was
# written by the round before has to be older than that, where nothing is to be written.
SETTLED_S = 3


class NothingToDo(Act[None, None, bool]):
    """An act that finds nothing to do once the task is up to date."""

    what = "look"

    def plan(self, _work: Work) -> None:
        return None

    def draft(self, _work: Work, _plan: None) -> Draft | None:
        return None

    def carry_out(self, _work: Work, _plan: None, _intent: Intent) -> Ended[None]:
        raise AssertionError("there was something to do")

    def result(self, work: Work, _plan: None, _done: Done[None] | None) -> bool:
        return not work.settled


class Contenders:
    """The two that take turns, on one workspace."""

    def __init__(self, project: Project, task: Task, root: Path) -> None:
        self._project, self._task, self._root = project, task, root
        names = subprocess.check_output(["git", "ls-files"], cwd=root, text=True).split("\n")[:-1]
        self._names = [names[number * len(names) // EDITED] for number in range(EDITED)]
        self._index = project.snapshots.task(task.id).index_file
        self._copy = self._index.with_name("index-of-the-benchmark")
        self._round = 0

    def edit(self) -> None:
        """Add a line to each of the files; no two rounds write the same."""
        self._round += 1
        for name in self._names:
            with (self._root / name).open("a", encoding="utf-8") as file:
                file.write(f"edit {self._round} of {os.getpid()}\n")

    def edit_and_stage(self) -> None:
        """Edit the files and put them into the workspace's own index."""
        self.edit()
        subprocess.run(["git", "add", "--", *self._names], cwd=self._root, check=True)

    @contextmanager
    def floor_ready(self) -> Iterator[None]:
        """Give the floor the index that the snapshot begins with, for the length of a block."""
        shutil.copy2(self._index, self._copy)
        yield
        self._copy.unlink()

    def floor(self) -> None:
        """One `git status` as a snapshot takes it, and the hashes of the edited files."""
        store = self._project.snapshots
        index = PrivateIndex(store, store.task(self._task.id), self._root, ())
        store.git.run(index.place(index_file=self._copy), STATUS, doing="looking")
        for name in self._names:
            data = (self._root / name).read_bytes()
            hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).digest()

    def record(self) -> None:
        """Record what was edited."""
        step = checkpoint(self._project, self._task.id, "a turn", wait=False)
        assert step.files == EDITED, step.line

    def look(self) -> None:
        """Take the task, look at the workspace and find nothing to do."""
        assert perform(self._project, self._task.id, NothingToDo())

    def state_on_disk(self) -> dict[str, tuple[int, int, int]]:
        """Return what tells whether a file of the project was written, workspaces left out.

        The lock is left out as well: the note for people in it is written, and emptied again.
        """
        found = {}
        for directory, inside, names in os.walk(self._project.layout.root):
            if directory == str(self._project.layout.root):
                inside.remove("workspaces")
            for name in set(names) - {"lock"}:
                there = os.lstat(os.path.join(directory, name))
                found[f"{directory}/{name}"] = (there.st_ino, there.st_size, there.st_mtime_ns)
        return found


class Watch:
    """How much of the recordings is HEAD and the index, and how many processes they start."""

    def __init__(self) -> None:
        self.git_state_ms: list[float] = []
        self.processes: list[int] = []
        self._started = 0

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Count the processes that the block starts."""
        spawn, git_state = os.posix_spawn, CaptureWork.git_state

        def counted(*words: Any, **more: Any) -> int:
            self._started += 1
            return spawn(*words, **more)

        def timed(work: CaptureWork, moved: MovedHeads) -> Any:
            begun = perf_counter_ns()
            found = git_state(work, moved)
            self.git_state_ms.append((perf_counter_ns() - begun) / 1e6)
            return found

        self._started = 0
        with (
            patch.object(os, "posix_spawn", counted),
            patch.object(CaptureWork, "git_state", timed),
        ):
            yield
        self.processes.append(self._started)


def main(what: str, workspace: Path, rounds: int) -> None:
    """Let the two take turns and print what they took."""
    project = require_project(open_app(env=os.environ, cwd=workspace))
    both = Contenders(project, select(project, None), workspace)
    watch = Watch()
    time.sleep(SETTLED_S)
    both.look()
    ours: list[Sample] = []
    floor: list[Sample] = []
    for number in range(-WARM_UPS, rounds):
        _PREPARED[what](both)
        with both.floor_ready():
            turns = (partial(_ours, what, both, watch, ours), partial(_floor, both, floor))
            for turn in turns if number % 2 else reversed(turns):
                settle_disk()
                turn()
    told = {
        "ours": ours[WARM_UPS:],
        "floor": floor[WARM_UPS:],
        "git_state_ms": median(watch.git_state_ms),
        "processes": int(median(watch.processes)),
        "rss_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }
    print(json.dumps(told))


_PREPARED: dict[str, Callable[[Contenders], None]] = {
    "edits": Contenders.edit,
    "staged": Contenders.edit_and_stage,
    "nothing": lambda _both: None,
}


def _ours(what: str, both: Contenders, watch: Watch, samples: list[Sample]) -> None:
    found = both.state_on_disk()
    with watch.watching():
        samples.append(_timed(both.look if what == "nothing" else both.record))
    written = both.state_on_disk()
    if what == "nothing" and written != found:
        raise AssertionError(f"it has written {sorted(written.items() ^ found.items())}")


def _floor(both: Contenders, samples: list[Sample]) -> None:
    samples.append(_timed(both.floor))


def _timed(act: Callable[[], None]) -> Sample:
    cpu, wall = _cpu_ms(), perf_counter_ns()
    act()
    wall = perf_counter_ns() - wall
    return Sample(wall_ms=wall / 1e6, cpu_ms=_cpu_ms() - cpu)


def _cpu_ms() -> float:
    """Return the processor time of this process and of those it has waited for."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return 1e3 * sum(each.ru_utime + each.ru_stime for each in used)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]))
