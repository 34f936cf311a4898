"""F5: a new workspace, and taking one away."""

import shutil
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

from benchmarks.bench import Bench, Figure, Row
from benchmarks.measure import Sample, Timing, settle_disk, timed

ADD = 0.6
REMOVE = 0.01
GIT_ADD = "git worktree add"
GIT_REMOVE = "git worktree remove --force"


class _Place:
    """One repository, in which workspaces of ours and worktrees of git's come and go."""

    def __init__(self, bench: Bench, files: int) -> None:
        self._bench = bench
        self._repository = bench.repository(files)
        self._env = bench.home(f"workspaces-{files}")
        bench.run([bench.siding, "init"], cwd=self._repository, env=self._env)
        # A person's checkout has an index that knows its files.
        bench.run(["git", "status"], cwd=self._repository)

    def siding(self, *words: str) -> Sample:
        return self._timed([self._bench.siding, *words])

    def git(self, *words: str | Path) -> Sample:
        return self._timed(["git", *words])

    def git_worktree(self, name: str) -> Path:
        return self._bench.directory / f"worktree-{name}"

    def empty_trash(self) -> None:
        """Delete for good what was moved away: the disk is not endless."""
        for trash in (Path(self._env["SIDING_HOME"]) / "projects").glob("*/trash/*"):
            shutil.rmtree(trash)

    def _timed(self, argv: Sequence[str | Path]) -> Sample:
        settle_disk()
        return timed(argv, env=self._env, cwd=self._repository)


def _measure(bench: Bench) -> Iterator[Row]:
    for files in bench.sizes(1_000, 20_000, 100_000):
        rounds = bench.rounds({1_000: 15, 20_000: 7}.get(files, 3), quick=5)
        made, added, closed, removed = _rounds(_Place(bench, files), rounds)
        size = f"{files:,} files"
        yield Row("add", f"task start, {size}", files, made, added, GIT_ADD, ADD)
        yield Row("remove", f"task close, {size}", files, closed, removed, GIT_REMOVE, REMOVE)


def _rounds(place: _Place, rounds: int) -> list[Timing]:
    """Make both, then take both away, each first in every second round."""
    samples: list[list[Sample]] = [[], [], [], []]
    for number in range(-1, rounds):
        name = f"n{number + 1}"
        tree = place.git_worktree(name)
        acts = [
            partial(place.siding, "task", "start", name),
            partial(place.git, "worktree", "add", "-q", "-b", name, tree),
            partial(place.siding, "task", "close", "--force", name),
            partial(place.git, "worktree", "remove", "--force", tree),
        ]
        order = (0, 1, 2, 3) if number % 2 else (1, 0, 3, 2)
        for position in order:
            sample = acts[position]()
            if number >= 0:  # the first round warms up
                samples[position].append(sample)
        place.empty_trash()
    return [Timing(tuple(each)) for each in samples]


FIGURE = Figure(
    title="task start, task close --force",
    goal="at most 0.6 times git's own cold; at most 0.01 times git's own to take away",
    floor=f"{GIT_ADD} -q -b NAME PATH (its defaults), {GIT_REMOVE} PATH",
    follows="the number of files to write; taking away: one git status of the workspace, a rename",
    measure=_measure,
)
