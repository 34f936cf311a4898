"""Run one script: ``main(fd_in, fd_out)``.

The first message has the source and what is recorded of earlier attempts. Whenever every coroutine
waits, the calls that were made go to the engine in one write, and the next answer is awaited. One
answer is given at a time, and all that it sets going is run before the next one: so the order of
the answers decides everything, and the record has that order.
"""

import traceback
from collections.abc import Callable, Coroutine
from typing import Any

from siding.workflows.child.body import body_of, compile_body
from siding.workflows.child.budget import Budget
from siding.workflows.child.builtins import names_for
from siding.workflows.child.calls import Calls
from siding.workflows.child.commands import Commands
from siding.workflows.child.errors import NOT_DETERMINISTIC, NotDeterministic, WorkflowError
from siding.workflows.child.hooks import Hooks
from siding.workflows.child.modules import Modules
from siding.workflows.child.past import Past, Selection
from siding.workflows.child.scheduler import Future, Scheduler
from siding.workflows.child.wire import Wire

_SCRIPT = "<workflow>"


def main(fd_in: int, fd_out: int) -> None:
    """Run the script that the engine sends, and tell it how it ended."""
    wire = Wire(fd_in, fd_out)
    start = wire.receive()
    scheduler = Scheduler()
    calls = Calls(
        scheduler,
        Past(start["records"]),
        Selection(start["policy"]),
        wire.send,
        wire.request,
        max_agents=start["max_agents"],
    )
    try:
        ending = _run(wire, scheduler, calls, start)
    except NotDeterministic as error:
        ending = {"t": "failed", "error": str(error), "kind": NOT_DETERMINISTIC}
    calls.say_replayed()
    wire.send({**ending, "unfinished": calls.unfinished()})
    wire.flush()


def _run(wire: Wire, scheduler: Scheduler, calls: Calls, start: dict[str, Any]) -> dict[str, Any]:
    budget = Budget(calls, start["budget"])

    async def run_child(source: str, args: Any) -> Any:
        return await prepare(source, args)()

    hooks = Hooks(scheduler, calls, run_child)
    commands = Commands(scheduler, calls)
    modules = Modules(hooks.gather, hooks.sleep)

    def prepare(source: str, args: Any) -> Callable[[], Coroutine[Any, Any, Any]]:
        names = {
            "__builtins__": names_for(modules.import_, hooks.log),
            "__name__": "workflow",
            "agent": hooks.agent,
            "parallel": hooks.parallel,
            "pipeline": hooks.pipeline,
            "phase": hooks.phase,
            "log": hooks.log,
            "workflow": hooks.workflow,
            "ask": hooks.ask,
            "sleep": hooks.sleep,
            "run": commands.run,
            "bring_back": commands.bring_back,
            "args": args,
            "budget": budget,
        }
        return body_of(compile_body(source, _SCRIPT), names)

    try:
        body = prepare(start["source"], start["args"])
        whole = scheduler.start(body(), scheduler.lane)
        _turn(wire, scheduler, calls, whole)
        return _returned(whole.result())
    except WorkflowError as error:
        return {"t": "failed", "error": str(error), "kind": error.kind, "where": _where(error)}
    except Exception as error:
        return {"t": "failed", "error": _told(error), "kind": "script", "where": _where(error)}


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


def _returned(value: Any) -> dict[str, Any]:
    from json import dumps

    try:
        dumps(value, allow_nan=False)
    except (TypeError, ValueError) as error:
        return {
            "t": "failed",
            "error": f"the script returned what JSON cannot hold: {error}",
            "kind": "script",
        }
    return {"t": "done", "value": value}


def _told(error: Exception) -> str:
    text = str(error)
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def _where(error: BaseException) -> int:
    """Return the script's line at which an error arose; 0 if it is none of the script's."""
    frames = traceback.extract_tb(error.__traceback__)
    lines = [frame.lineno or 0 for frame in frames if frame.filename == _SCRIPT]
    return lines[-1] if lines else 0
