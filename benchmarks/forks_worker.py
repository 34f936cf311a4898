"""Fork, view and drop in a process that lives, and let git and cp do the same by turns.

``forks_worker.py TASK ROUNDS FILE`` in the repository. The task has two states. Writes the samples,
elapsed and processor milliseconds, as JSON into FILE.
"""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from time import perf_counter_ns

from siding.forks.forks import Fork, ForkRequest, drop, fork
from siding.forks.state import ForkState, recorded
from siding.forks.sweep import sweep
from siding.forks.views import View, view
from siding.record.place.named_task import resolve
from siding.record.place.project import Project, require_project
from siding.record.place.wiring import open_app

AT_ONCE, CALLS = 16, 96
Samples = dict[str, list[tuple[float, float]]]


class Turns:
    """The contenders, and the place in which they work."""

    def __init__(self, project: Project, states: list[ForkState]) -> None:
        self._project = project
        self._states = states
        self._trees = Path(os.environ["TMPDIR"]) / "forks-of-git"
        self.samples: Samples = {}

    def timed(self, name: str, act: Callable[[], object]) -> object:
        """Do it, and note what it took, with the processes that it waited for."""
        os.sync()  # what others have written is not on its account
        cpu, wall = _cpu_ms(), perf_counter_ns()
        result = act()
        took = ((perf_counter_ns() - wall) / 1e6, _cpu_ms() - cpu)
        self.samples.setdefault(name, []).append(took)
        return result

    def forks(self) -> None:
        """One of the state that a worktree waits in, and one of another state."""
        for name, state in (("same", self._states[0]), ("other", self._states[1])):
            found = self.timed(name, partial(fork, self._project, state))
            assert isinstance(found, Fork)
            self.timed("drop", partial(drop, self._project, found))

    def back(self) -> None:
        """Let the worktree wait in the first state again."""
        drop(self._project, fork(self._project, self._states[0]))

    def views(self) -> None:
        state = self._states[0]
        first = self.timed("view", lambda: view(self._project, state))
        again = self.timed("again", lambda: view(self._project, state))
        assert isinstance(first, View)
        assert isinstance(again, View)
        self.timed("return", again.close)
        first.close()
        sweep(self._project)

    def git(self) -> None:
        path = self._trees / "git"
        add = ["git", "worktree", "add", "-q", "--detach", str(path)]
        self.timed("git", lambda: subprocess.run(add, check=True))
        self.timed("git status", lambda: _status(path))
        self.timed("git status", lambda: _status(path))
        copy = self._trees / "copy"
        argv = ["cp", "-r", "--reflink=auto", str(path), str(copy)]
        self.timed("cp", lambda: subprocess.run(argv, check=True))
        remove = ["git", "worktree", "remove", "--force", str(path)]
        subprocess.run(remove, check=True)
        shutil.rmtree(self._trees)

    def many(self) -> None:
        """Calls with a workspace each, sixteen at a time, and the same without one."""

        def call(number: int) -> None:
            request = ForkRequest(group="many", call=str(number))
            drop(self._project, fork(self._project, self._states[0], request))

        with ThreadPoolExecutor(AT_ONCE) as pool:
            list(pool.map(call, range(AT_ONCE)))  # the pool fills
            self.timed("many", lambda: list(pool.map(call, range(CALLS))))
            self.timed("none", lambda: list(pool.map(str, range(CALLS))))

    def readers(self) -> None:
        """The same as readers of one view."""
        with ThreadPoolExecutor(AT_ONCE) as pool:
            first = view(self._project, self._states[0])

            def call(_number: int) -> None:
                view(self._project, self._states[0]).close()

            self.timed("readers", lambda: list(pool.map(call, range(CALLS))))
            first.close()


def _status(path: Path) -> None:
    subprocess.run(["git", "status", "--porcelain"], cwd=path, check=True, capture_output=True)


def _cpu_ms() -> float:
    return sum(os.times()[:4]) * 1e3


def main(task: str, rounds: int, told: Path) -> None:
    """Let the contenders take turns, and write down what they took."""
    project = require_project(open_app(env=os.environ, cwd=Path.cwd()))
    states = [recorded(project, resolve(project, task), step) for step in ("1", "base")]
    turns = Turns(project, states)
    for number in range(-1, rounds):
        turns.back()
        turns.forks()
        turns.views()
        turns.git()
        if number < 0:
            turns.samples.clear()  # the first round warms up
    for _ in range(min(rounds, 3)):
        turns.many()
        turns.readers()
    told.write_text(json.dumps(turns.samples), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), Path(sys.argv[3]))
