"""Shells: one command after the other in the foreground, others in the background."""

import asyncio
import os
import shlex
import shutil
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from enum import StrEnum
from pathlib import Path

from siding.assistant.tools.place import Place, file_name
from siding.ground.namedtuples import NamedTuple
from siding.ground.process.job import Ended, Job

# -- Keeping what a command prints: the beginning and the end in memory, all of it in a file -------


_MOST_IN_MEMORY = 1 << 20  # bytes; what is more goes to the file from there on
_MOST_STORED = 256 << 20  # bytes of a file
_TAIL = 1 << 18


class OutputKeeper:
    """The output of one stream. It is in memory until it is too large, then also in a file."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._head = bytearray()
        self._tail = bytearray()
        self._file: int | None = None
        self._failed = self._is_stored = self._is_closed = False
        self._has_gap = False  # between the beginning and the end that are in memory
        self.size = 0
        self._shown = 0  # how much `fresh` has returned

    def add(self, data: bytes) -> None:
        """Take what was printed."""
        self.size += len(data)
        if self.size <= _MOST_IN_MEMORY:
            self._head += data
            if self._is_stored:
                self._store(data)
            return
        if not self._is_stored:
            self._store(bytes(self._head))
        self._tail += data
        if len(self._tail) > 2 * _TAIL:
            del self._tail[:-_TAIL]
            self._has_gap = True
        self._store(data)

    def text(self, most: int) -> str:
        """Return the output; of more than `most` characters the beginning and the end."""
        whole = _decoded(bytes(self._head + self._tail))
        if self.size <= _MOST_IN_MEMORY and len(whole) <= most:
            return whole
        half = most // 2
        end = whole[-half:]
        left_out = (
            "" if self.size > _MOST_IN_MEMORY else f"{len(whole) - 2 * half:,} characters of "
        )
        where = self.keep()
        told = f" All of it is in {where}: look there with Read or Grep." if where else ""
        return f"{whole[:half]}\n\n[… {left_out}the output is left out here.{told}]\n\n{end}"

    @property
    def has_news(self) -> bool:
        """Tell whether there is output that `fresh` has not returned."""
        return self.size > self._shown

    def fresh(self, most: int) -> str:
        """Return what was printed since the last call, its end if it is more than `most`."""
        new = self.size - self._shown
        self._shown = self.size
        if not new:
            return ""
        text = _decoded(bytes((self._head + self._tail)[-new:]))
        if len(text) <= most and not (self._has_gap and new > len(self._tail)):
            return text
        where = self.keep()
        return f"[… only the end is shown. All of it is in {where}.]\n{text[-most:]}"

    def keep(self) -> Path | None:
        """Store all of the output; return where, None if that failed."""
        if not self._is_stored:
            self._store(bytes(self._head))
            if self._is_closed:
                self.close()
        return self.path

    @property
    def path(self) -> Path | None:
        """Where all of the output is; None if it was not stored."""
        return self._path if self._is_stored and not self._failed else None

    def close(self) -> None:
        """Close the file: no more output comes."""
        if self._file is not None:
            os.close(self._file)
            self._file = None
        self._is_closed = True

    def _store(self, data: bytes) -> None:
        if self._failed:
            return
        try:
            if self._file is None:
                self._is_stored = True
                self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC
                self._file = os.open(self._path, flags, 0o600)
            if os.lseek(self._file, 0, os.SEEK_CUR) < _MOST_STORED:
                view = memoryview(data)
                while view:
                    view = view[os.write(self._file, view) :]
        except OSError:  # no space: the command goes on, and its end is still shown
            self._failed = True
            if self._file is not None:
                with suppress(OSError):
                    os.close(self._file)
                self._file = None


def _decoded(data: bytes) -> str:
    return data.decode("utf-8", "replace").replace("\r\n", "\n")


# -- Shells: one command after the other in the foreground, others in the background ---------------


LONGEST_COMMAND = 120_000  # bytes: Linux takes no argument of more than 128 KiB
_MOST_IN_BACKGROUND = 32


class State(StrEnum):
    """How it stands with a command in the background."""

    RUNNING = "running"
    COMPLETED = "completed"
    FAILED = "failed"  # it ended with another exit code than 0
    KILLED = "killed"


class TooManyShells(Exception):
    """More commands run in the background than are allowed."""


class Outputs(NamedTuple):
    """Both outputs of a command."""

    stdout: OutputKeeper
    stderr: OutputKeeper

    def close(self) -> None:
        """Close their files."""
        self.stdout.close()
        self.stderr.close()


class Foreground(NamedTuple):
    """How a command in the foreground ended; `ended` is None if it took too long."""

    ended: Ended | None
    outputs: Outputs
    moved_back: bool  # it had left the directories that may be changed


class Background:
    """A command in the background."""

    def __init__(self, name: str, command: str, job: Job, outputs: Outputs) -> None:
        self.name, self.command, self.outputs = name, command, outputs
        self.code: int | None = None
        self.is_killed = False
        self._job = job
        self._waiting = asyncio.create_task(self._wait())

    @property
    def state(self) -> State:
        """How it stands."""
        if self.is_killed:
            return State.KILLED
        if self.code is None:
            return State.RUNNING
        return State.COMPLETED if self.code == 0 else State.FAILED

    async def settle(self) -> None:
        """Take note of its end, if it has ended."""
        if self._job.has_ended:
            await asyncio.wait([self._waiting], timeout=5)

    async def kill(self) -> None:
        """End it, with all that it has started."""
        self.is_killed = self.is_killed or self.code is None
        await self.close()

    async def close(self) -> None:
        """End what is left of it."""
        await self._job.close()
        self._waiting.cancel()
        with suppress(asyncio.CancelledError):
            await self._waiting
        self.outputs.close()

    async def _wait(self) -> None:
        ended = await self._job.wait()
        assert ended is not None
        self.code = ended.code


class Shells:
    """The shells of one conversation. Call `close` when it ends: all that still runs ends then."""

    def __init__(self, place: Place) -> None:
        self._place = place
        self.cwd = place.workspace
        self._left: list[tuple[Job, Outputs]] = []  # jobs whose command left something
        self._one_by_one = asyncio.Lock()
        self._background: dict[str, Background] = {}
        self._count = 0

    async def run(self, command: str, name: str, timeout_s: float, progress: "Tail") -> Foreground:
        """Run a command in the foreground, in the directory where the last one ended."""
        async with self._one_by_one:
            with tempfile.TemporaryDirectory(prefix="siding-shell.") as scratch:
                told = Path(scratch, "cwd")
                outputs = self._outputs(name)
                tell = f"pwd -P >|{shlex.quote(str(told))} 2>/dev/null"
                script = f"trap {shlex.quote(tell)} EXIT\n{command}"
                ended = await self._end_of(script, outputs, progress, timeout_s)
                return Foreground(ended, outputs, self._moved(told))

    async def _end_of(
        self, script: str, outputs: Outputs, progress: "Tail", timeout_s: float
    ) -> Ended | None:
        job = self._start(script, outputs, progress)
        is_kept = False
        try:
            ended = await job.wait(timeout_s)
            if ended is not None and ended.left:
                self._left.append((job, outputs))
                is_kept = True
            return ended
        finally:
            if not is_kept:
                await job.close()
                outputs.close()

    def begin(self, command: str, call: str) -> Background:
        """Start a command in the background. Raises TooManyShells."""
        running = [each for each in self._background.values() if each.state is State.RUNNING]
        if len(running) >= _MOST_IN_BACKGROUND:
            raise TooManyShells(
                f"{len(running)} commands run in the background already. End one with KillShell."
            )
        self._count += 1
        name = f"bash_{self._count}"
        outputs = self._outputs(f"{call}.{name}")
        job = self._start(command, outputs, Tail())
        self._background[name] = Background(name, command, job, outputs)
        return self._background[name]

    def background(self) -> Mapping[str, Background]:
        """Return the commands in the background, also those that have ended, by their names."""
        return self._background

    async def close(self) -> None:
        """End all that still runs, and return when it has ended."""
        left, self._left = self._left, []
        closing = [job.close() for job, _outputs in left]
        closing += [each.close() for each in self._background.values()]
        for failure in await asyncio.gather(*closing, return_exceptions=True):
            if isinstance(failure, BaseException):
                raise failure
        for _job, outputs in left:
            outputs.close()

    def _start(self, script: str, outputs: Outputs, progress: "Tail") -> Job:
        def out(data: bytes) -> None:
            outputs.stdout.add(data)
            progress.add(data)

        def err(data: bytes) -> None:
            outputs.stderr.add(data)
            progress.add(data)

        if not self.cwd.is_dir():
            self.cwd = self._place.workspace
        argv = (*_shell(self._place.env), "-c", script)
        return Job.start(argv, cwd=self.cwd, env=self._environment(), stdout=out, stderr=err)

    def _environment(self) -> Mapping[str, str]:
        # Nobody is there to page through a text, to edit one, or to type a password.
        quiet = {
            "GIT_EDITOR": "true",
            "PAGER": "cat",
            "GIT_PAGER": "cat",
            "GIT_TERMINAL_PROMPT": "0",
        }
        return {**quiet, **self._place.env, "PWD": str(self.cwd), "TERM": "dumb"}

    def _outputs(self, name: str) -> Outputs:
        base = self._place.results / file_name(name)
        return Outputs(OutputKeeper(Path(f"{base}.stdout")), OutputKeeper(Path(f"{base}.stderr")))

    def _moved(self, told: Path) -> bool:
        """Go on where the command ended; return whether that would be outside."""
        try:
            path = Path(told.read_text("utf-8", "surrogateescape").removesuffix("\n"))
        except OSError:
            return False  # killed, or replaced by another program
        if path.is_absolute() and any(path.is_relative_to(root) for root in self._place.roots):
            self.cwd = path
            return False
        self.cwd = self._place.workspace
        return path.is_absolute()


class Tail:
    """The last that a command has printed, for whoever waits for it."""

    def __init__(self) -> None:
        self._last = b""

    def add(self, data: bytes) -> None:
        """Take what was printed."""
        self._last = (self._last + data)[-1000:]

    @property
    def line(self) -> str:
        """The last line that is not empty."""
        lines = self._last.decode("utf-8", "replace").split("\n")
        return next((line.strip() for line in reversed(lines) if line.strip()), "")[:200]


def _shell(env: Mapping[str, str]) -> tuple[str, ...]:
    found = shutil.which("bash", path=env.get("PATH"))
    return (found, "--noprofile", "--norc") if found else ("/bin/sh",)
