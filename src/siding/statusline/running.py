"""One run of the command: a shell that reads the document, with a time in which it has to end."""

import os
from collections.abc import Mapping
from pathlib import Path

from siding.ground.namedtuples import NamedTuple
from siding.ground.process.capture import CannotStart
from siding.ground.process.job import Job
from siding.statusline.words import shown

TIMEOUT_S = 5.0
_GRACE_S = 0.2  # between SIGTERM and SIGKILL: a line has nothing to tidy up
_LARGEST = 64 << 10  # bytes of output that are kept
_SHOWN_OF_MISTAKES = 200  # characters


class Outcome(NamedTuple):
    """What a run came to: its text, or why it has none."""

    text: str = ""
    failure: str = ""


class _Kept:
    """The beginning of an output."""

    def __init__(self) -> None:
        self._data = bytearray()

    def take(self, data: bytes) -> None:
        self._data += data[: _LARGEST - len(self._data)]

    @property
    def text(self) -> str:
        return self._data.decode("utf-8", "surrogateescape")


async def run_command(
    command: str,
    document: bytes,
    *,
    cwd: Path,
    env: Mapping[str, str],
    timeout_s: float = TIMEOUT_S,
) -> Outcome:
    """Run a line of shell that reads `document`, and return what it came to.

    What it has left running is ended. When the caller is cancelled, it is ended with all that it
    has started before that is passed on.
    """
    printed, mistakes = _Kept(), _Kept()
    try:
        job = Job.start(
            ("/bin/sh", "-c", command),
            cwd=cwd,
            env={**env, "PWD": os.fspath(cwd)},
            stdin=document,
            stdout=printed.take,
            stderr=mistakes.take,
        )
    except CannotStart as error:
        return Outcome(failure=error.message)
    try:
        ended = await job.wait(timeout_s)
    finally:
        await job.close(grace_s=_GRACE_S)
    if ended is None:
        return Outcome(failure=f"it took longer than {timeout_s:g} s and was ended")
    if ended.code:
        return Outcome(failure=_told(ended.code, mistakes.text))
    return Outcome(shown(printed.text))


def _told(code: int, mistakes: str) -> str:
    lines = mistakes.strip().splitlines()
    first = lines[0][:_SHOWN_OF_MISTAKES] if lines else ""
    return f"it ended with exit {code}{f': {first}' if first else ''}"
