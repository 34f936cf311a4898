"""Running commands in tests: in this process, or in a recorder that can be signalled and killed."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from siding.ground.process.command import (
    Command,
    Outcome,
    OutputScreen,
    StdinPlan,
    StreamPlan,
    WindowSize,
)
from siding.ground.process.ender import end_token
from siding.ground.process.output.reading import Output, read_output
from siding.ground.process.output.recording import OutputFiles
from siding.ground.process.ports import Child
from siding.ground.process.record import run_recorded
from siding.ground.process.side import Plan, RunSandbox
from siding.ground.process.tree import ProcessTree

PYTHON = sys.executable
ENVIRONMENT = {"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8", "TERM": "xterm"}


class Run(NamedTuple):
    """A finished run: what came of it, what was recorded and what was shown."""

    outcome: Outcome
    path: Path
    output: Output
    shown: bytes
    shown_stderr: bytes

    @property
    def stdout(self) -> bytes:
        return b"".join(self.output.stdout.chunks())

    @property
    def stderr(self) -> bytes:
        return b"".join(self.output.stderr.chunks())


class Place:
    """A folder to run commands in, whose processes can all be found by one token."""

    def __init__(self, folder: Path, token: str) -> None:
        folder.mkdir(exist_ok=True)
        self.folder = folder
        self.token = token
        self._runs = 0

    def artifact(self) -> Path:
        self._runs += 1
        return self.folder / f"{self._runs:04d}.output"

    def run(
        self,
        *argv: str,
        streams: StreamPlan = StreamPlan.PIPED,
        stdin: StdinPlan = StdinPlan.NULL,
        stdin_fd: int = 0,
        timeout_s: float | None = 30.0,
        grace_s: float = 2.0,
        env: Mapping[str, str] = ENVIRONMENT,
        size: WindowSize | None = None,
        max_bytes: int | None = None,
        on_started: Callable[[Child], None] | None = None,
        sandbox: RunSandbox | None = None,
    ) -> Run:
        """Run a command with its output shown in two files."""
        path = self.artifact()
        screens = [self.folder / "shown.out", self.folder / "shown.err"]
        fds = [os.open(screen, os.O_WRONLY | os.O_CREAT | os.O_TRUNC) for screen in screens]
        try:
            plan = Plan(
                Command(argv=argv, cwd=self.folder, env=dict(env)),
                recorder=OutputFiles(path, streams=streams, max_bytes=max_bytes),
                screen=OutputScreen(
                    stdin=stdin_fd,
                    stdout=fds[0],
                    stderr=fds[1],
                    size=size or WindowSize(rows=24, columns=80),
                ),
                stdin=stdin,
                timeout_s=timeout_s,
                token=self.token,
                on_started=on_started,
                grace_s=grace_s,
                sandbox=sandbox,
            )
            outcome = run_recorded(plan)
        finally:
            for fd in fds:
                os.close(fd)
        return Run(
            outcome=outcome,
            path=path,
            output=read_output(path, outcome.stdout_bytes, outcome.stderr_bytes),
            shown=screens[0].read_bytes(),
            shown_stderr=screens[1].read_bytes(),
        )

    def python(self, source: str, **options: Any) -> Run:
        """Run a Python program given as its source."""
        return self.run(PYTHON, "-c", source, **options)

    def recorder_argv(self, *argv: str, **options: Any) -> tuple[list[str], Path, Path]:
        """Return a command line that records `argv`, its artifact, and the outcome's file."""
        path = self.artifact()
        outcome = path.with_suffix(".json")
        spec = {
            "argv": argv,
            "cwd": str(self.folder),
            "env": ENVIRONMENT,
            "path": str(path),
            "outcome": str(outcome),
            "token": self.token,
            **options,
        }
        program = Path(__file__).with_name("recorder.py")
        return [PYTHON, str(program), json.dumps(spec)], path, outcome

    @contextmanager
    def recorder(
        self, *argv: str, popen: Mapping[str, Any] | None = None, **options: Any
    ) -> Iterator["Recorder"]:
        """Start a recorder in a process of its own; it is killed in the end if need be."""
        line, path, outcome = self.recorder_argv(*argv, **options)
        process = subprocess.Popen(
            line,
            **{"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, **(popen or {})},
        )
        try:
            yield Recorder(process, path, outcome)
        finally:
            process.kill()
            process.wait()
            if process.stdout is not None:
                process.stdout.close()

    def living(self) -> list[str]:
        """Return the names of the place's processes that live."""
        return sorted(found.name for found in ProcessTree(self.token).living())

    def end(self) -> None:
        end_token(self.token, grace_s=0.0)


class Recorder(NamedTuple):
    """A recorder at work in a process of its own."""

    process: "subprocess.Popen[bytes]"
    path: Path
    outcome_path: Path

    def outcome(self) -> dict[str, Any]:
        """Wait for the end and return the outcome."""
        if self.process.stdout is not None and not self.process.stdout.closed:
            self.process.stdout.read()
        self.process.wait(timeout=30)
        loaded: dict[str, Any] = json.loads(self.outcome_path.read_text())
        return loaded


def wait_until(condition: Callable[[], object]) -> None:
    """Wait for something that must come true; the suite's time limit is what bounds it."""
    while not condition():
        time.sleep(0.01)
