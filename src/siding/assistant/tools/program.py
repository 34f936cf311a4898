"""Running a helper program: ended after a time, and when it has printed too much."""

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path

from siding.ground.namedtuples import NamedTuple
from siding.ground.process.job import Job

_MOST_ERRORS = 1 << 16


class Limits(NamedTuple):
    """How long a program may take, and how many bytes it may print."""

    longest_s: float = 20.0
    most_bytes: int = 20 << 20


USUAL = Limits()


class Output(NamedTuple):
    """What a program has printed. `code` is None if it was ended; `cut` says why."""

    code: int | None
    stdout: bytes
    stderr: str
    cut: str = ""


async def run(
    argv: Sequence[str],
    *,
    cwd: Path,
    env: Mapping[str, str],
    limits: Limits,
) -> Output:
    """Run a program to its end or a limit. Cancelled, it ends the program. Raises CannotStart."""
    stdout, stderr = bytearray(), bytearray()
    is_full = asyncio.Event()

    def out(data: bytes) -> None:
        if len(stdout) < limits.most_bytes:
            stdout.extend(data)
        else:
            is_full.set()

    def err(data: bytes) -> None:
        if len(stderr) < _MOST_ERRORS:
            stderr.extend(data)

    job = Job.start(argv, cwd=cwd, env=env, stdout=out, stderr=err)
    ending = asyncio.create_task(job.wait(limits.longest_s))
    filling = asyncio.create_task(is_full.wait())
    try:
        await asyncio.wait((ending, filling), return_when=asyncio.FIRST_COMPLETED)
        ended = ending.result() if ending.done() else None
    finally:
        for each in (ending, filling):
            each.cancel()
        await asyncio.gather(ending, filling, return_exceptions=True)
        await job.close()
    said = stderr.decode("utf-8", "replace")
    if is_full.is_set():
        return Output(
            None, bytes(stdout), said, f"more than {limits.most_bytes >> 20} MB were printed"
        )
    if ended is None:
        return Output(None, bytes(stdout), said, f"it took more than {limits.longest_s:g} s")
    return Output(ended.code, bytes(stdout), said)
