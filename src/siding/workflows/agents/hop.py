"""The one place where a coroutine and the thread of a run meet.

A run is hosted in a thread of its own (`running.hosting`). What it prints is read in that
thread; the loop is told of the newest only, and never has more than one such message waiting.
"""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import Any, TypeVar

from siding.ground.namedtuples import NamedTuple
from siding.guard.ruling import Asker
from siding.record.place.project import Project
from siding.running.hosting import InputClosed, RunEvent, host
from siding.running.request import RunRequest, RunResult


class Bell:
    """Has a function called in the loop, soon: many rings before it is called are one."""

    def __init__(self, loop: asyncio.AbstractEventLoop, call: Callable[[], None]) -> None:
        self._loop, self._call = loop, call
        self._is_rung = False

    def ring(self) -> None:
        """Called in any thread."""
        if not self._is_rung:
            self._is_rung = True
            with suppress(RuntimeError):  # the loop is closed: nobody listens any more
                self._loop.call_soon_threadsafe(self._answer)

    def _answer(self) -> None:
        self._is_rung = False
        self._call()


Got = TypeVar("Got")


async def in_thread(work: Callable[[], Got], undo: Callable[[Got], object] | None = None) -> Got:
    """Return what a function returns that would keep the loop waiting.

    It is not cut off: if this is cancelled meanwhile, what it has made is undone before
    CancelledError goes on.
    """
    task = asyncio.ensure_future(asyncio.to_thread(work))
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        await _over(task)
        if undo is not None and task.exception() is None:
            await _over(asyncio.ensure_future(asyncio.to_thread(undo, task.result())))
        raise


async def _over(future: "asyncio.Future[Any]") -> bool:
    """Wait until a future is done, whoever cancels; return whether somebody has."""
    cancelled = False
    while not future.done():
        try:
            await asyncio.wait([future])
        except asyncio.CancelledError:
            cancelled = True
    return cancelled


class Hosted(NamedTuple):
    """A run that is over. `gave_up`: it was ended because nothing happened. `cancelled`: somebody
    wanted it ended, and it was."""

    result: RunResult
    gave_up: bool
    cancelled: bool


async def hosted(
    project: Project,
    request: RunRequest,
    *,
    stdin: str,
    observe: Callable[[RunEvent], None],
    ask: Asker | None,
    idle_s: Callable[[], float],
    most_idle_s: float | None,
) -> Hosted:
    """Run a command until it is over.

    `observe` is called in the thread of the run. `idle_s` says for how long it has done nothing; at
    `most_idle_s` seconds it is ended. If this is cancelled, the run is ended with all that it has
    started, and recorded. No CancelledError is raised then: the caller looks at what there is, and
    raises it. Raises what refused the run, CancelledError for one that was refused meanwhile.
    """
    run = host(project, request, observe=observe, ask=ask)
    try:
        if stdin:
            run.send(stdin.encode("utf-8", "surrogateescape"))
        run.end_input()
    except InputClosed:
        pass  # it was refused, or has ended already: its result says so
    over = asyncio.wrap_future(run.future())
    gave_up = cancelled = False
    try:
        while not over.done():
            left_s = None if most_idle_s is None else max(0.05, most_idle_s - idle_s())
            await asyncio.wait([over], timeout=left_s)
            if most_idle_s is not None and not over.done() and idle_s() >= most_idle_s:
                gave_up = True
                run.cancel()
                cancelled = await _over(over)
    except asyncio.CancelledError:
        run.cancel()
        cancelled = True
        await _over(over)
    if cancelled and over.exception() is not None:
        raise asyncio.CancelledError
    return Hosted(result=over.result(), gave_up=gave_up, cancelled=cancelled)
