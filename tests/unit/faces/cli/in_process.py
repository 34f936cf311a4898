"""The command line in this process: `main` is called, and what it changes is put back.

Standard output and error are files, because some verbs write to their descriptors. Commands that
start a person's command (`siding run`) write to descriptor 1: have them done by a `Desk`.
"""

import gc
import io
import json
import os
import signal
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from integration.undo.desk import Desk
from siding.faces.cli.main import main
from siding.ground.storage.locks import Holder
from siding.record.ledger.draft import Draft
from siding.record.ledger.intents import Intent, Intents
from siding.record.ledger.run_details import RunDetail

STARTED = "2026-01-01T00:00:00.000Z"


class Said(NamedTuple):
    """What a command printed, and its exit status."""

    status: int
    out: str
    err: str


class CommandLine:
    """Runs command lines with an environment and in a directory of their own."""

    def __init__(self, env: dict[str, str], cwd: Path) -> None:
        self.env, self.cwd = env, cwd

    def __call__(self, *words: str, status: int = 0) -> Said:
        """Run `siding WORDS` and require this exit status."""
        with _restored(), _streams() as (out, err):
            os.environ.clear()
            os.environ.update(self.env)
            os.chdir(self.cwd)
            sys.argv = ["siding", *words]
            ended = main(list(words))
            said = Said(ended, _text(out), _text(err))
        assert ended == status, said
        return said

    def json(self, *words: str, status: int = 0) -> Any:
        """Run a command line and return the JSON that it printed."""
        return json.loads(self(*words, status=status).out)


def cut_off(desk: Desk, *command: str) -> Intent:
    """Leave what a `siding run` leaves whose process was killed: an intent that nobody holds."""
    last = desk.project.ledger(desk.task.id).last()
    intent = Intent(
        act="a0123456789ab",
        number=1 if last is None else last.number + 1,
        kind="run",
        started_at=STARTED,
        pid=1,
        token="",
        parent=None if last is None else last.snapshot,
        draft=Draft(RunDetail(cmd=command)),
    )
    intents = Intents(desk.project.task_layout(desk.task.id))
    intents.write(intent, Holder(pid=1, since="", what="run"))
    intents.release()
    return intent


@contextmanager
def _restored() -> Iterator[None]:
    """Put the environment, the directory, the words, Ctrl-C and the collector back."""
    env, cwd, argv = dict(os.environ), Path.cwd(), sys.argv
    on_ctrl_c, collects = signal.getsignal(signal.SIGINT), gc.isenabled()
    threshold = gc.get_threshold()
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(env)
        os.chdir(cwd)
        sys.argv = argv
        signal.signal(signal.SIGINT, on_ctrl_c)
        gc.unfreeze()
        gc.set_threshold(*threshold)
        if collects:
            gc.enable()


@contextmanager
def _streams() -> Iterator[tuple[io.TextIOWrapper, io.TextIOWrapper]]:
    before = sys.stdin, sys.stdout, sys.stderr
    with (
        open(os.devnull, encoding="utf-8") as nothing,
        tempfile.TemporaryFile("w+", encoding="utf-8") as out,
        tempfile.TemporaryFile("w+", encoding="utf-8") as err,
    ):
        sys.stdin, sys.stdout, sys.stderr = nothing, out, err
        try:
            yield out, err
        finally:
            sys.stdin, sys.stdout, sys.stderr = before


def _text(stream: io.TextIOWrapper) -> str:
    stream.flush()
    stream.seek(0)
    return stream.read()
