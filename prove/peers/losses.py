"""Counts what each way loses: in quiet, with a writer beside it, and killed on the way."""

import os
import random
import subprocess
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from itertools import repeat
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from prove.peers import things
from prove.peers.ground import Ground, Way, kill
from prove.peers.ways import SIDING, WAYS

ROUNDS = 5  # of a writer, and of a kill, for each way
_FILES = 300  # beside the things, so that going back takes a while
_STEP_S = 0.002  # between two lines of the writer


class Loss(NamedTuple):
    """What a way lost.

    `quiet` names the things that did not come back as they were; `unreached` those that were not
    as in the state that was gone back to. `written` and `killed` are how many tries lost bytes.
    """

    way: str
    cases: int
    quiet: tuple[str, ...]
    unreached: tuple[str, ...]
    written: int
    killed: int
    tries: int

    @property
    def things(self) -> int:
        return self.cases - 2 * self.tries

    def named(self) -> tuple[tuple[str, tuple[str, ...]], ...]:
        """Return the things of each kind of loss."""
        return ("lost", self.quiet), ("not gone back", self.unreached)

    @property
    def lost(self) -> int:
        return len(self.quiet) + self.written + self.killed


def measure(seed: int) -> Iterator[Loss]:
    """Try every way on every case, as many ways at a time as there are processors."""
    with ProcessPoolExecutor(len(os.sched_getaffinity(0))) as workers:
        yield from workers.map(_loss_of, range(len(WAYS)), repeat(seed))


def _loss_of(number: int, seed: int) -> Loss:
    way = WAYS[number]
    quiet, unreached = in_quiet(way)
    chance = random.Random(seed)
    takes_s = _time_of(way)
    written = sum(beside_a_writer(way, takes_s * chance.random()) for _ in range(ROUNDS))
    killed = sum(when_killed(way, takes_s * chance.random(), quiet) for _ in range(ROUNDS))
    cases = len(things.THINGS) + 2 * ROUNDS
    return Loss(way.name, cases, quiet, unreached, written, killed, ROUNDS)


def in_quiet(way: Way) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Go back, and forth again if the way can: the things lost, and those not gone back."""
    with _directory() as directory:
        ground = _prepared(way, Path(directory))
        way.back(ground)
        wrong = _differing(ground.work, "before")
        if way.again is not None:
            way.again(ground)
        return _differing(ground.work, "after"), wrong


def beside_a_writer(way: Way, begins_s: float) -> bool:
    """Another process appends to a file while the way goes back: is a line that it wrote gone?"""
    with _directory() as directory:
        ground = _prepared(way, Path(directory), more=_FILES)
        lines: list[bytes] = []
        done = threading.Event()

        def write() -> None:
            time.sleep(begins_s)
            while not done.is_set() and len(lines) < 40:
                line = b"line %d of the writer, %f\n" % (len(lines), time.time())
                with (ground.work / "tracked").open("ab") as file:
                    file.write(line)
                lines.append(line)
                time.sleep(_STEP_S)

        writer = threading.Thread(target=write)
        ground.interrupt = lambda _process: writer.start()
        way.back(ground)
        done.set()
        writer.join()
        kept = _everything(ground)
        return not all(line in kept for line in lines)


def when_killed(way: Way, after_s: float, lost: Sequence[str]) -> bool:
    """Kill the way while it goes back, and go back again: is the content of a thing gone?

    Those that are `lost` in quiet do not count a second time.
    """
    with _directory() as directory:
        ground = _prepared(way, Path(directory), more=_FILES)

        def interrupt(process: "subprocess.Popen[bytes]") -> None:
            time.sleep(after_s)
            kill(process)

        ground.interrupt = interrupt
        way.back(ground)
        way.back(ground)
        kept = _everything(ground)
        wanted = [
            each.after.content
            for each in things.THINGS
            if isinstance(each.after, things.File) and each.name not in lost
        ]
        return not all(content in kept for content in wanted)


def _directory() -> "TemporaryDirectory[str]":
    """Return a directory in memory if there is room: what is lost here is lost without a power cut.

    On a disk most of the time of the row went by waiting for it.
    """
    return TemporaryDirectory(prefix="siding-prove-", dir=os.environ.get("PYTEST_DEBUG_TEMPROOT"))


def _prepared(way: Way, directory: Path, *, more: int = 0) -> Ground:
    """A ground in the state that a command left, with the one before it kept."""
    ground = Ground(directory)
    for number in range(more):
        (ground.repo / f"file{number}").write_bytes(b"%d one\n" % number)
    things.begin(ground.repo, ground.run)
    if way is SIDING:
        ground.run("siding", "task", "start", "work")
        ground.work = Path(ground.run("siding", "path"))
    things.before(ground.work, ground.env)
    way.keep(ground)
    for number in range(more):
        (ground.work / f"file{number}").write_bytes(b"%d two\n" % number)
    things.after(ground.work)
    return ground


def _differing(root: Path, when: str) -> tuple[str, ...]:
    return tuple(
        each.name for each in things.THINGS if things.found(root, each.path) != getattr(each, when)
    )


def _time_of(way: Way) -> float:
    with _directory() as directory:
        ground = _prepared(way, Path(directory), more=_FILES)
        begun = time.monotonic()
        way.back(ground)
        return time.monotonic() - begun


def _everything(ground: Ground) -> bytes:
    """Return the bytes of all that is left anywhere: files, kept files, and git's objects, also
    those that nothing refers to. That is more than a person would find."""
    kept = []
    stores = []
    for root in (ground.work, ground.repo, ground.store):
        for directory, _, files in os.walk(root):
            stores += [directory] if os.path.basename(directory) == "objects" else []
            kept += [_content(os.path.join(directory, name)) for name in files]
    for objects in dict.fromkeys(stores):
        git = ["git", "--git-dir", os.path.dirname(objects), "cat-file"]
        shown = subprocess.run(
            [*git, "--batch", "--batch-all-objects", "--unordered"],
            env=ground.env,
            capture_output=True,
            check=False,
        )
        kept.append(shown.stdout)
    return b"\0".join(kept)


def _content(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return b""
