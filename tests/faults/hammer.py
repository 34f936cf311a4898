"""The gate for concurrency: several processes work on one store while some are killed or frozen."""

import os
import random
import signal
import subprocess
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from .arena import (
    SEED,
    Arena,
    Check,
    Command,
    GateBroken,
    Report,
    Setup,
    in_workers,
    resolve,
    settle,
)

_HANG_S = 30.0


class _Worker(NamedTuple):
    process: "subprocess.Popen[bytes]"
    stdout: Path
    stderr: Path
    fate: str  # "work", "kill" or "stop"
    when: float  # seconds after its start


def hammer(
    setup: Setup,
    worker: Callable[[int], Command],
    check: Check,
    *,
    processes: int = 6,
    rounds: int = 4,
    kill: float = 0.3,
    stop: float = 0.2,
    reader: Callable[[Path], None] | None = None,
    seed: int = SEED,
) -> Report:
    """`rounds` times `processes` workers at once; `worker(number)` gives each its own command.

    A share `kill` of them is killed with its whole session at a random moment, a share `stop` is
    frozen for a while. `reader(case)` is called all the time beside them and must never raise.
    `check` gets the promises of all.
    """

    def work(arena: Arena, number: int, _count: int) -> Report:
        arena.prepare(setup)
        arena.fresh()
        chance = random.Random(seed + number)
        failures: list[str] = []
        promises: list[str] = []
        for turn in range(rounds):
            first = turn * processes
            numbers = range(first, first + processes)
            workers = [_start(arena, worker(n), n, chance, kill, stop) for n in numbers]
            reads = _watch(arena, workers, reader, failures)
            if reader is not None and reads == 0:
                raise GateBroken("hammer: the reader never ran")
            promises += _reap(workers, failures)
        if kill < 1 and not promises:
            raise GateBroken("hammer: no worker promised anything")
        wrong = arena.verdict(check, promises)
        if wrong:
            failures.append(f"  after {len(promises)} promises: {wrong}")
        return Report(cases=rounds * processes, calls=0, failures=tuple(failures))

    return settle("hammer", in_workers(work, workers=1))


def _start(
    arena: Arena, command: Command, number: int, chance: random.Random, kill: float, stop: float
) -> _Worker:
    argv, env, cwd = resolve(command, arena.case)
    stdout, stderr = arena.base / f"out-{number}", arena.base / f"err-{number}"
    draw = chance.random()
    fate = "kill" if draw < kill else "stop" if draw < kill + stop else "work"
    with stdout.open("wb") as out, stderr.open("wb") as err:
        process = subprocess.Popen(
            argv,
            cwd=cwd,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=err,
            start_new_session=True,
        )
    when = chance.uniform(0.01, 0.12)
    return _Worker(process=process, stdout=stdout, stderr=stderr, fate=fate, when=when)


def _watch(
    arena: Arena,
    workers: Sequence[_Worker],
    reader: Callable[[Path], None] | None,
    failures: list[str],
) -> int:
    """Deals out the fates and reads until all ended; how often it read."""
    begun = time.monotonic()
    due = sorted(
        [(w.when, w, signal.SIGKILL) for w in workers if w.fate == "kill"]
        + [(w.when, w, signal.SIGSTOP) for w in workers if w.fate == "stop"]
        + [(w.when + 0.08, w, signal.SIGCONT) for w in workers if w.fate == "stop"],
        key=lambda item: item[0],
    )
    reads, broken = 0, False
    while due or any(item.process.poll() is None for item in workers):
        while due and time.monotonic() - begun >= due[0][0]:
            _, struck, number = due.pop(0)
            with suppress(ProcessLookupError):
                os.killpg(struck.process.pid, number)
        if time.monotonic() - begun > _HANG_S:
            failures.append(f"  workers hung for {_HANG_S:.0f} s")
            for item in workers:
                with suppress(ProcessLookupError):
                    os.killpg(item.process.pid, signal.SIGKILL)
            break
        if reader is None or broken:
            time.sleep(0.005)
        else:
            wrong = arena.verdict(_as_check(reader), [])
            reads += 1
            broken = wrong is not None
            if wrong:
                failures.append(f"  the reader beside the writers: {wrong}")
    return reads


def _as_check(reader: Callable[[Path], None]) -> Check:
    return lambda case, _promises: reader(case)


def _reap(workers: Sequence[_Worker], failures: list[str]) -> list[str]:
    promises = []
    for item in workers:
        status = item.process.wait()
        complaints = item.stderr.read_text("utf-8", "replace")
        if item.fate != "kill" and status != 0:
            failures.append(f"  an unharmed worker ended with {status}: {complaints[-800:]}")
        elif "Traceback (most recent call last)" in complaints:
            failures.append(f"  a traceback: {complaints[-800:]}")
        promises += item.stdout.read_text("utf-8", "replace").split("\n")[:-1]
    return promises
