"""Run one script: ``main(fd_in, fd_out)``.

The first message has the source and what is recorded of earlier attempts. Whenever every coroutine
waits, the calls that were made go to the engine in one write, and the next answer is awaited. One
answer is given at a time, and all that it sets going is run before the next one: so the order of
the answers decides everything, and the record has that order.

The script is kept within its process: by limits of the kernel, and without a way to files and
programs. The check refuses what would lead out of a script, and the script's modules do not have
it. This is for what gets past both: a script that means well does not need it.
"""

import gc
import os
import resource
import sys
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any

from siding.workflows.allowed import CPU_S, MEMORY_BYTES, PRIMITIVES
from siding.workflows.child.body import body_of, compile_body
from siding.workflows.child.builtins import Modules, names_for
from siding.workflows.child.calls import Calls
from siding.workflows.child.errors import (
    FORBIDDEN,
    NOT_DETERMINISTIC,
    SCRIPT,
    NotDeterministic,
    WorkflowError,
)
from siding.workflows.child.hooks import Hooks, budget_for
from siding.workflows.child.past import Past, Selection
from siding.workflows.child.scheduler import Future, Scheduler
from siding.workflows.child.wire import Wire, finite, has_infinite, problem_of

_LIMITS = (
    (resource.RLIMIT_AS, MEMORY_BYTES),
    (resource.RLIMIT_CPU, CPU_S),
    (resource.RLIMIT_CORE, 0),
    (resource.RLIMIT_FSIZE, 0),  # no file can be written; pipes are none
    (resource.RLIMIT_NPROC, 0),  # no process can be started, but by root
)
_REFUSED = (
    *("os.", "subprocess.", "shutil.", "glob.", "tempfile.", "mmap.", "fcntl.", "pty."),
    *("socket.", "urllib.", "http.client.", "webbrowser.", "sqlite3.", "syslog."),
    *("ctypes.", "signal.", "resource.", "cpython.run_", "builtins.input", "builtins.breakpoint"),
)
_LIBRARY = os.path.dirname(os.__file__) + os.sep
_SCRIPT = "<workflow>"
_MOST_TOLD = 10_000  # letters of an error


def main(fd_in: int, fd_out: int) -> None:
    """Run the script that the engine sends, and tell it how it ended."""
    set_limits()
    wire = Wire(*private_pipes(fd_in, fd_out))
    start = wire.receive()
    past = Past(start["records"])
    gc.freeze()  # what is recorded stays until the end; each collection would look at all of it
    forbidden: list[str] = []
    watch(forbidden.append)
    scheduler = Scheduler()
    calls = Calls(
        scheduler,
        past,
        Selection(start["policy"]),
        wire.send,
        wire.request,
        max_agents=start["max_agents"],
    )
    try:
        ending = _run(wire, scheduler, calls, start)
    except NotDeterministic as error:
        ending = {"t": "failed", "error": str(error), "kind": NOT_DETERMINISTIC}
    except Forbidden as error:
        ending = {"t": "failed", "where": _where(error)}
    if forbidden:  # also if the script has caught it
        ending["t"], ending["kind"] = "failed", FORBIDDEN
        ending["error"] = f"the script reached for what is outside of it: {forbidden[0]}"
    calls.say_replayed()
    wire.send({**ending, "unfinished": calls.unfinished()})
    wire.flush()


def _run(wire: Wire, scheduler: Scheduler, calls: Calls, start: dict[str, Any]) -> dict[str, Any]:
    budget = budget_for(calls, start["budget"])

    async def run_child(source: str, args: Any) -> Any:
        return await prepare(source, args)()

    hooks = Hooks(scheduler, calls, run_child)
    modules = Modules(hooks.gather, hooks.sleep)

    def prepare(source: str, args: Any) -> Callable[[], Coroutine[Any, Any, Any]]:
        names = {
            "__builtins__": names_for(modules.import_, hooks.log),
            "__name__": "workflow",
            **{name: getattr(hooks, name) for name in PRIMITIVES},
            "args": args,
            "budget": budget,
        }
        return body_of(compile_body(source, _SCRIPT), names)

    try:
        body = prepare(start["source"], start["args"])
        whole = scheduler.start(body(), scheduler.lane)
        _turn(wire, scheduler, calls, whole)
        return _returned(whole.result(), calls)
    except WorkflowError as error:
        return {"t": "failed", "error": str(error), "kind": error.kind, "where": _where(error)}
    except Exception as error:
        return {"t": "failed", "error": _told(error), "kind": SCRIPT, "where": _where(error)}


def _turn(wire: Wire, scheduler: Scheduler, calls: Calls, whole: Future) -> None:
    """Run and answer until the script has ended."""
    while True:
        scheduler.run_ready()
        if whole.is_done:
            return
        if calls.settle_recorded():
            continue
        if not calls.is_awaiting:
            raise WorkflowError("the script waits for something that cannot come")
        calls.say_replayed()
        wire.send({"t": "waiting"})
        wire.flush()
        calls.answer(wire.receive())


def _returned(value: Any, calls: Calls) -> dict[str, Any]:
    if has_infinite(value):
        value = finite(value)
        said = "the result has numbers that JSON cannot hold: null stands for them"
        calls.tell({"t": "warn", "message": said})
    if problem := problem_of(value):
        error = f"the script cannot return its result: {problem}"
        return {"t": "failed", "error": error, "kind": SCRIPT}
    return {"t": "done", "value": value}


def _told(error: Exception) -> str:
    if isinstance(error, MemoryError):
        return f"the script needs more than the {MEMORY_BYTES >> 20} MB that it may have"
    try:
        text = str(error)[:_MOST_TOLD]
    except Exception:
        text = ""  # a class of the script whose text is another error
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def _where(error: BaseException) -> int:
    """Return the script's line at which an error arose; 0 if it is none of the script's."""
    line, at = 0, error.__traceback__
    while at is not None:
        if at.tb_frame.f_code.co_filename == _SCRIPT:
            line = at.tb_lineno
        at = at.tb_next
    return line


# -- Keeping a script within its process -----------------------------------------------------------


class Forbidden(BaseException):
    """The script reached for what is outside of it. No `except Exception` hides it."""


def set_limits() -> None:
    """Let the kernel bound what this process can use."""
    for limit, value in _LIMITS:
        with suppress(OSError, ValueError):  # lower already, or unknown to this system
            resource.setrlimit(limit, (value, value))


def private_pipes(fd_in: int, fd_out: int) -> tuple[int, int]:
    """Move the two pipes away from the numbers that everybody knows; those lead nowhere then."""
    moved = os.dup(fd_in), os.dup(fd_out)
    nowhere = os.open(os.devnull, os.O_RDWR)
    for fd in (0, 1, 2):
        os.dup2(nowhere, fd)
    os.close(nowhere)
    return moved


def watch(note: Callable[[str], None]) -> None:
    """Refuse files, programs and the network from here on; `note` is told what was tried.

    Python's own library can be read, because modules load others when they are first used.
    """

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        if event == "open":
            if _is_library(arguments):
                return
        elif not event.startswith(_REFUSED) or _is_listing(event, arguments):
            return
        tried = f"{event} {arguments[0]!r}" if arguments else event
        note(tried)
        raise Forbidden(tried)

    sys.addaudithook(hook)


def _is_library(arguments: tuple[Any, ...]) -> bool:
    path, mode, flags = arguments
    reads = mode in {"r", "rb"} or (mode is None and flags & os.O_ACCMODE == os.O_RDONLY)
    return reads and isinstance(path, str) and _is_below(path)


def _is_listing(event: str, arguments: tuple[Any, ...]) -> bool:
    return event == "os.listdir" and isinstance(arguments[0], str) and _is_below(arguments[0] + "/")


def _is_below(path: str) -> bool:
    return path.startswith(_LIBRARY) and ".." not in path
