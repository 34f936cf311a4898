"""What a figure is given, and what it gives back."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from enum import Enum
from pathlib import Path
from typing import NamedTuple

from benchmarks import repositories
from benchmarks.measure import Timing


class Goal(Enum):
    """What a row's goal bounds."""

    TIMES = "the ratio of the times, from above"
    THROUGHPUT = "the ratio of bytes a second, from below"
    OVER = "the milliseconds above the floor, from above"
    MEMORY = "the megabytes of ours, from above"
    P95 = "the milliseconds of 95 of 100 runs, from above"


class Row(NamedTuple):
    """Ours against a floor at one size. Rows of one `series` make a curve over `size`."""

    series: str
    case: str
    size: int
    ours: Timing
    floor: Timing
    floor_name: str
    goal: float | None = None  # None: shown to explain another row
    bounds: Goal = Goal.TIMES
    note: str = ""

    @property
    def ratio(self) -> float:
        return self._of(self.ours.median_ms, self.floor.median_ms)

    @property
    def ratio_of_minima(self) -> float:
        return self._of(self.ours.min_ms, self.floor.min_ms)

    @property
    def ratio_of_cpu(self) -> float:
        return self._of(self.ours.cpu_ms, self.floor.cpu_ms)

    @property
    def over_ms(self) -> float:
        """How much longer ours takes than the floor."""
        return self.ours.median_ms - self.floor.median_ms

    @property
    def shown_goal(self) -> str:
        return "" if self.goal is None else _GOALS[self.bounds].format(self.goal)

    @property
    def meets_goal(self) -> bool | None:
        if self.goal is None:
            return None
        if self.bounds is Goal.THROUGHPUT:
            return self.ratio >= self.goal
        measured = {
            Goal.OVER: self.over_ms,
            Goal.MEMORY: self.ours.rss_mb,
            Goal.P95: self.ours.p95_ms,
        }
        return measured.get(self.bounds, self.ratio) <= self.goal

    def _of(self, ours: float, floor: float) -> float:
        above, below = (floor, ours) if self.bounds is Goal.THROUGHPUT else (ours, floor)
        return times(above, below)


_GOALS = {
    Goal.TIMES: "≤ {:g}",
    Goal.THROUGHPUT: "≥ {:g}",
    Goal.OVER: "≤ +{:g} ms",
    Goal.MEMORY: "≤ {:g} MB",
    Goal.P95: "p95 ≤ {:g}",
}


def times(above: float, below: float) -> float:
    """Return how many times as much one is as the other.

    Infinity where the other was too short for the clock: the processor's ticks in milliseconds.
    """
    return above / below if below else float("inf")


class Bench:
    """Where and how thoroughly to measure."""

    def __init__(self, directory: Path, *, quick: bool, sizes: int = 3) -> None:
        self.directory = directory
        self.quick = quick
        self._sizes = sizes
        tools = Path(sys.executable).parent
        self.siding = tools / "siding"
        self.python = Path(sys.executable)
        home = directory / "home"
        home.mkdir(parents=True, exist_ok=True)
        # Nothing of the machine: above all no PYTHON* variable, so that compiled modules are
        # written and used as a user's are.
        self.env: Mapping[str, str] = {
            "PATH": os.pathsep.join([str(tools), os.environ.get("PATH", os.defpath)]),
            "HOME": str(home),
            "SIDING_HOME": str(directory / "siding-home"),
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_AUTHOR_NAME": "Ada",
            "GIT_AUTHOR_EMAIL": "ada@example.org",
            "GIT_COMMITTER_NAME": "Ada",
            "GIT_COMMITTER_EMAIL": "ada@example.org",
            "LC_ALL": "C.UTF-8",
            "TMPDIR": str(directory),
            "TZ": "UTC",
        }

    def rounds(self, wanted: int, quick: int = 3) -> int:
        """Return how many rounds to run."""
        return quick if self.quick else wanted

    def sizes(self, *three: int, quick: int = 1) -> tuple[int, ...]:
        """Return the sizes to measure: all three, or only the first `quick` in a quick run."""
        return three[: quick if self.quick else self._sizes]

    def scratch(self, name: str) -> Path:
        """Return a new empty directory."""
        path = self.directory / name
        path.mkdir(parents=True)
        return path

    def repository(self, files: int) -> Path:
        """Return the repository with this many files, made on first use."""
        path = self.directory / f"repository-{files}"
        if not path.exists():
            self.say(f"making a repository of {files:,} files")
            repositories.make(path, files=files, env=self.env)
        return path

    def home(self, name: str) -> dict[str, str]:
        """Return an environment with a Siding home of its own."""
        return {**self.env, "SIDING_HOME": str(self.directory / name)}

    @contextmanager
    def task(self, name: str, files: int) -> "Iterator[tuple[Path, dict[str, str]]]":
        """Give a workspace with this many files and the environment of its home, for a block."""
        repository, env = self.repository(files), self.home(f"{name}-{files}")
        self.run([self.siding, "task", "start", "measured"], cwd=repository, env=env)
        (workspace,) = Path(env["SIDING_HOME"]).glob("projects/*/workspaces/*")
        yield workspace, env
        # The disk back, and the repository as it was: the next figure uses it too.
        shutil.rmtree(env["SIDING_HOME"])
        self.run(["git", "worktree", "prune"], cwd=repository)

    def run(
        self, argv: Sequence[str | Path], *, cwd: Path, env: Mapping[str, str] | None = None
    ) -> str:
        """Run a command that is not measured; return what it printed."""
        done = subprocess.run(
            [str(word) for word in argv],
            cwd=cwd,
            env=self.env if env is None else env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
        )
        if done.returncode != 0:
            said = done.stderr.decode("utf-8", "replace")
            raise RuntimeError(f"{' '.join(map(str, argv))}: {said}")
        return done.stdout.decode("utf-8", "surrogateescape").strip()

    def say(self, text: str) -> None:
        """Tell whoever waits what is going on."""
        print(f"  … {text}", file=sys.stderr, flush=True)


class Figure(NamedTuple):
    """One line of the quality bars, measured. `sizes` says what is varied."""

    title: str
    goal: str
    floor: str  # the floor's or peer's commands, written out
    follows: str  # what the cost grows with, and why
    measure: Callable[[Bench], Iterator[Row]]
