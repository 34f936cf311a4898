"""Time whole processes side by side.

Contenders take turns in every round, in an order that turns around from round to round, so that
what else the machine does falls on all of them alike. What a figure says is the ratio of their
medians; the minimum is kept because it is what noise only ever adds to, and the processor time
because it does not count waiting for a disk or a processor that others use.
"""

import os
import signal
import subprocess
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from statistics import median
from time import perf_counter_ns
from typing import NamedTuple


class Sample(NamedTuple):
    """One run. `cpu_ms` is user and system time, of the process and of all it waited for."""

    wall_ms: float
    cpu_ms: float
    rss_mb: float = 0.0


class Timing(NamedTuple):
    """All runs of one contender."""

    samples: tuple[Sample, ...]

    @property
    def median_ms(self) -> float:
        return median(sample.wall_ms for sample in self.samples)

    @property
    def min_ms(self) -> float:
        return min(sample.wall_ms for sample in self.samples)

    @property
    def p95_ms(self) -> float:
        """What 95 of 100 runs do not exceed."""
        times = sorted(sample.wall_ms for sample in self.samples)
        return times[min(len(times) - 1, len(times) * 95 // 100)]

    @property
    def cpu_ms(self) -> float:
        """The median of the processor time."""
        return median(sample.cpu_ms for sample in self.samples)

    @property
    def rss_mb(self) -> float:
        """The most memory that any of the processes had."""
        return max(sample.rss_mb for sample in self.samples)


class CommandFailed(Exception):
    """A command under measurement failed: there is nothing to compare."""


Run = Callable[[], Sample]


def side_by_side(runs: Sequence[Run], *, rounds: int, warm_ups: int = 1) -> list[Timing]:
    """Run every contender once a round; return their timings in the order given."""
    for _ in range(warm_ups):
        for run in runs:
            run()
    samples: list[list[Sample]] = [[] for _ in runs]
    for number in range(rounds):
        order = range(len(runs)) if number % 2 == 0 else reversed(range(len(runs)))
        for position in order:
            samples[position].append(runs[position]())
    return [Timing(tuple(each)) for each in samples]


def command(
    argv: Sequence[str | Path],
    *,
    env: Mapping[str, str],
    cwd: Path,
    before: Callable[[], object] | None = None,
    after: Callable[[], object] | None = None,
) -> Run:
    """Return a contender that runs `argv`; `before` and `after` are not timed."""

    def run() -> Sample:
        if before is not None:
            before()
        sample = timed(argv, env=env, cwd=cwd)
        if after is not None:
            after()
        return sample

    return run


def timed(argv: Sequence[str | Path], *, env: Mapping[str, str], cwd: Path) -> Sample:
    """Run one process to its end; raise CommandFailed unless it exits with 0."""
    with tempfile.TemporaryFile() as complaints:
        begun = perf_counter_ns()
        process = subprocess.Popen(
            argv,
            env=env,
            cwd=cwd,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=complaints,
            process_group=0,
        )
        try:
            _pid, status, usage = os.wait4(process.pid, 0)
        except BaseException:  # we are being stopped: nothing may write where we clean up
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            raise
        ended = perf_counter_ns()
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            complaints.seek(0)
            said = complaints.read(4000).decode("utf-8", "replace")
            shown = " ".join(map(str, argv))
            raise CommandFailed(f"{shown}: exit status {process.returncode}\n{said}")
    return Sample(
        wall_ms=(ended - begun) / 1e6,
        cpu_ms=(usage.ru_utime + usage.ru_stime) * 1e3,
        rss_mb=usage.ru_maxrss / 1024,
    )


def settle_disk() -> None:
    """Let what was written reach the disk, so that the next contender does not pay for it."""
    os.sync()
