"""Run one script: ``main(fd_in, fd_out)``.

The first message has the source and what is recorded of earlier attempts. Whenever every coroutine
waits, the calls that were made go to the engine in one write, and the next answer is awaited. One
answer is given at a time, and all that it sets going is run before the next one: so the order of
the answers decides everything, and the record has that order.
"""

import gc
from collections.abc import Callable, Coroutine
from typing import Any

from siding.workflows.allowed import MEMORY_BYTES, PRIMITIVES
from siding.workflows.child.body import body_of, compile_body
from siding.workflows.child.builtins import names_for
from siding.workflows.child.calls import Calls
from siding.workflows.child.containment import (
    Forbidden,
    private_pipes,
    set_limits,
    watch,
)
from siding.workflows.child.errors import (
    FORBIDDEN,
    NOT_DETERMINISTIC,
    SCRIPT,
    NotDeterministic,
    WorkflowError,
)
from siding.workflows.child.hooks import Hooks, budget_for
from siding.workflows.child.modules import Modules
from siding.workflows.child.past import Past, Selection
from siding.workflows.child.scheduler import Future, Scheduler
from siding.workflows.child.wire import Wire, finite, has_infinite, problem_of

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
