"""What a script may call: `agent`, `parallel`, `pipeline`, `workflow`, `ask` and the others.

What it asks of a call is checked here, where it asks it.
"""

from collections.abc import Awaitable, Callable, Coroutine, Iterable
from inspect import isawaitable, signature
from itertools import islice
from math import inf
from types import CoroutineType, FunctionType, SimpleNamespace
from typing import Any

from siding.workflows.child.calls import Calls
from siding.workflows.child.errors import CAP, CONFIG, NESTING, WorkflowError
from siding.workflows.child.scheduler import Future, Lane, Scheduler

MAX_ITEMS = 4096  # of one `parallel` or `pipeline`
MAX_LOG_LINES = 10_000
MAX_LOG_LENGTH = 10_000
MAX_PROMPT_BYTES = 4 << 20
ISOLATIONS = ("turn", "read", "worktree")
EFFORTS = ("low", "medium", "high", "xhigh", "max")
# name -> the type that its value has; None is always taken as not given.
AGENT_OPTIONS: dict[str, tuple[type, ...]] = {
    "schema": (dict,),
    "model": (str,),
    "max_tokens": (int,),
    "agent_type": (str,),
    "isolation": (str,),
    "allowed_tools": (list, tuple),
    "label": (str,),
    "phase": (str,),
    "timeout": (int, float),
    "effort": (str,),
    "retries": (int,),
    "bring_back": (bool,),
    "details": (bool,),
}
_CHOICES = {"isolation": ISOLATIONS, "effort": EFFORTS}
_ASK_OPTIONS: dict[str, tuple[type, ...]] = {
    "options": (list, tuple),
    "context": (str,),
    "recommend": (str,),
    "multiple": (bool,),
    "timeout": (int, float),
}


class Hooks:
    """The functions of a script. `run_child` runs the source of another workflow."""

    def __init__(
        self,
        scheduler: Scheduler,
        calls: Calls,
        run_child: Callable[[str, Any], Coroutine[Any, Any, Any]],
    ) -> None:
        self._scheduler = scheduler
        self._calls = calls
        self._run_child = run_child
        self._phase = ""  # the one that is open in the script
        self._logged = 0

    def agent(self, prompt: str, **options: Any) -> Future:
        """Run an agent; await the text that it ends with, or its object if there is a `schema`.

        The result is None if the agent failed or was skipped; the run's log says why.
        """
        return self._calls.agent(agent_request(prompt, options, self._phase))

    def parallel(self, thunks: Iterable[Any]) -> Future:
        """Run functions, or things to await, at once; await the list of their results.

        One that raises gives None in its place.
        """
        items = _bounded(thunks, "parallel")
        call = self._scheduler.lane.take()
        lanes = [self._start(_called(item), call, key) for key, item in enumerate(items)]
        return self._joined(
            lanes, lambda key: f"parallel thunk #{key} failed{_place_of(items[key])}"
        )

    def pipeline(self, items: Iterable[Any], *stages: Callable[..., Any]) -> Future:
        """Pass each item through all stages, each item for itself; await the list of results.

        A stage gets the result of the one before, the item and its index, or as many of these as it
        takes. An item whose stage raises gives None.
        """
        bounded = _bounded(items, "pipeline")
        call = self._scheduler.lane.take()
        takes = [_parameters(stage) for stage in stages]
        lanes = [
            self._start(_staged(item, key, stages, takes), call, key)
            for key, item in enumerate(bounded)
        ]
        return self._joined(lanes, lambda key: f"pipeline item #{key} failed")

    def gather(self, *awaitables: Awaitable[Any], return_exceptions: bool = False) -> Future:
        """Do as `asyncio.gather` does: await all, and raise the first error there is."""
        call = self._scheduler.lane.take()
        lanes = [self._start(_awaited(item), call, key) for key, item in enumerate(awaitables)]
        return self._scheduler.start(
            self._gathered(lanes, return_exceptions=return_exceptions), self._scheduler.lane
        )

    def phase(self, title: Any) -> None:
        """Begin a phase: agents from here on belong to it, until the next one."""
        if not isinstance(title, str) or not title:
            raise WorkflowError("phase() takes the title of a phase", CONFIG)
        self._phase = title
        self._calls.note()
        self._calls.tell({"t": "phase", "phase": title})

    def log(self, *words: Any) -> None:
        """Say something to whoever watches the run. Only so many lines are kept, and letters."""
        self._logged += 1
        if self._logged > MAX_LOG_LINES:
            return
        text = " ".join(map(str, words))
        if len(text) > MAX_LOG_LENGTH:
            text = f"{text[:MAX_LOG_LENGTH]} … ({len(text):,} letters)"
        self._calls.tell({"t": "log", "message": text})
        if self._logged == MAX_LOG_LINES:
            said = f"the script has logged {MAX_LOG_LINES:,} lines; no more of them are kept"
            self._calls.tell({"t": "warn", "message": said})

    async def workflow(
        self, name: str | None = None, args: Any = None, *, script_path: str | None = None
    ) -> Any:
        """Run another workflow by name, or by the path of its script; return what it returns."""
        lane = self._scheduler.lane
        if lane.depth:
            raise WorkflowError("workflow() nesting allows only one level", NESTING)
        if (name is None) == (script_path is None):
            raise WorkflowError("workflow() takes a name, or script_path=…")
        call = lane.take()
        asked = {"name": name} if name is not None else {"script_path": script_path}
        source = await self._calls.call("workflow", call, lane, asked)
        before = self._phase
        inner = lane.open(call, "w", deeper=1)
        running = self._scheduler.start(self._run_child(source, args), inner)
        try:
            return await running
        finally:
            self._calls.leave(inner, lane)
            if self._phase != before:
                self._phase = before
                self._calls.tell({"t": "phase", "phase": before})

    def ask(self, question: str, **options: Any) -> Future:
        """Put a question to a person; await the answer."""
        lane = self._scheduler.lane
        return self._calls.call("ask", lane.take(), lane, ask_request(question, options))

    def sleep(self, seconds: float) -> Future:
        """Wait; a run that is resumed waits for what is left."""
        lane = self._scheduler.lane
        return self._calls.call("sleep", lane.take(), lane, sleep_request(seconds))

    def run(
        self,
        command: Any,
        *,
        fork: str | None = None,
        timeout: float | None = None,
        label: str | None = None,
    ) -> Future:
        """Run a shell command as a step, in the run's workspace or in a fork.

        Await ``{"exit": 0, "passed": True, "output": "…", "step": "0007"}``.
        """
        if not isinstance(command, str) or not command.strip():
            raise WorkflowError("run() takes a shell command", CONFIG)
        if timeout is not None and not timeout > 0:
            raise WorkflowError(f"run(timeout={timeout!r}): it is more than 0", CONFIG)
        given = {"fork": fork, "timeout": timeout, "label": label}
        asked = {name: value for name, value in given.items() if value is not None}
        return self._call("run", {"command": command, **asked})

    def bring_back(self, fork: Any) -> Future:
        """Bring what a fork has changed onto the run's workspace, as a step.

        Await ``{"step": "0008", "conflicts": [], "kept": []}``; with conflicts nothing was changed.
        `kept` are the files that hold what other programs wrote meanwhile.
        """
        if not isinstance(fork, str) or not fork:
            raise WorkflowError("bring_back() takes the id of a fork", CONFIG)
        return self._call("bring_back", {"fork": fork})

    def _call(self, kind: str, asked: dict[str, Any]) -> Future:
        lane = self._scheduler.lane
        return self._calls.call(kind, lane.take(), lane, asked)

    def _start(self, coroutine: Coroutine[Any, Any, Any], call: str, key: int) -> "_Started":
        lane = self._scheduler.lane.open(call, key)
        return _Started(lane, self._scheduler.start(coroutine, lane))

    def _joined(self, lanes: "list[_Started]", named: Callable[[int], str]) -> Future:
        return self._scheduler.start(self._join(lanes, named), self._scheduler.lane)

    async def _join(self, lanes: "list[_Started]", named: Callable[[int], str]) -> list[Any]:
        around = self._scheduler.lane
        results = []
        for key, (lane, future) in enumerate(lanes):
            try:
                results.append(await future)
            except Exception as error:
                results.append(None)
                self._calls.tell({"t": "warn", "message": f"{named(key)}: {error}"})
            self._calls.leave(lane, around)
        return results

    async def _gathered(self, lanes: "list[_Started]", *, return_exceptions: bool) -> list[Any]:
        around = self._scheduler.lane
        results: list[Any] = []
        first: Exception | None = None
        for lane, future in lanes:
            try:
                results.append(await future)
            except Exception as error:
                results.append(error)
                first = error if first is None else first
            self._calls.leave(lane, around)
        if first is not None and not return_exceptions:
            raise first
        return results


class _Started:
    __slots__ = ("_both",)

    def __init__(self, lane: Lane, future: Future) -> None:
        self._both = (lane, future)

    def __iter__(self) -> Any:
        return iter(self._both)


def _bounded(items: Iterable[Any], what: str) -> list[Any]:
    found = list(islice(items, MAX_ITEMS + 1))  # the items may have no end
    if len(found) > MAX_ITEMS:
        raise WorkflowError(f"{what}() takes at most {MAX_ITEMS} items, not more", CAP)
    return found


def _place_of(item: Any) -> str:
    """Return the name and line of a function of the script, or of a call that awaits; else ""."""
    code = getattr(item, "__code__", None) or getattr(item, "cr_code", None)
    if code is None:
        return ""
    name = "" if code.co_name.startswith("<") else f"{code.co_name}, "
    return f" ({name}line {code.co_firstlineno})"


async def _called(item: Any) -> Any:
    """Call a thunk and await what it returns; await what is no function."""
    if not isinstance(item, FunctionType):
        if _is_awaitable(item):
            return await item
        if not callable(item):
            raise TypeError(f"parallel() takes functions or things to await, not {item!r}")
    result = item()
    return await result if _is_awaitable(result) else result


async def _awaited(value: Any) -> Any:
    return await value if _is_awaitable(value) else value


def _is_awaitable(value: Any) -> bool:
    return isinstance(value, Future | CoroutineType) or isawaitable(value)


async def _staged(
    item: Any, key: int, stages: tuple[Callable[..., Any], ...], takes: list[int]
) -> Any:
    result = item
    for stage, count in zip(stages, takes, strict=True):
        result = stage(*(result, item, key)[:count])
        if _is_awaitable(result):
            result = await result
    return result


def _parameters(stage: Callable[..., Any]) -> int:
    """Return how many of its three arguments a stage takes."""
    try:
        parameters = signature(stage).parameters.values()
    except (TypeError, ValueError):
        return 1  # a built-in that does not say
    if any(parameter.kind is parameter.VAR_POSITIONAL for parameter in parameters):
        return 3
    positional = [
        parameter
        for parameter in parameters
        if parameter.kind in {parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD}
    ]
    return min(3, len(positional))


def budget_for(calls: Calls, total: int | None) -> SimpleNamespace:
    """Return what the agents of the run may use, in tokens: `total`, `spent()`, `remaining()`.

    `total` is None and `remaining()` infinite if there is no limit. What is read is recorded: it is
    a result. The functions are no methods, so that they do not lead to the calls.
    """

    def spent() -> int:
        value: int = calls.read("spent", calls.tokens)
        return value

    def remaining() -> float:
        if total is None:
            return inf
        value: int = calls.read("remaining", max(0, total - calls.tokens))
        return value

    functions: dict[str, Callable[[], float]] = {"spent": spent, "remaining": remaining}
    return SimpleNamespace(total=total, **functions)


def agent_request(prompt: Any, options: dict[str, Any], phase: str) -> dict[str, Any]:
    """Return what `agent` is to do, with the phase that is open. Raises WorkflowError."""
    if not isinstance(prompt, str):
        raise WorkflowError(f"agent() takes a text to begin with, not {_kind(prompt)}", CONFIG)
    asked = _checked("agent", options, AGENT_OPTIONS)
    if problem := _unsendable(prompt):
        raise WorkflowError(f"agent(): the prompt cannot be sent: {problem}", CONFIG)
    for name, choices in _CHOICES.items():
        if name in asked and asked[name] not in choices:
            raise WorkflowError(
                f"agent({name}={asked[name]!r}): it is one of {', '.join(choices)}", CONFIG
            )
    for name in ("max_tokens", "timeout"):
        if name in asked and asked[name] <= 0:
            raise WorkflowError(f"agent({name}={asked[name]!r}): it is more than 0", CONFIG)
    if phase and "phase" not in asked:
        asked["phase"] = phase
    return {"prompt": prompt, **asked}


def ask_request(question: Any, options: dict[str, Any]) -> dict[str, Any]:
    """Return what `ask` is to ask. Raises WorkflowError."""
    if not isinstance(question, str) or not question.strip():
        raise WorkflowError("ask() takes a question", CONFIG)
    asked = _checked("ask", options, _ASK_OPTIONS)
    if "options" in asked:
        asked["options"] = [str(option) for option in asked["options"]]
    return {"question": question, **asked}


def sleep_request(seconds: Any) -> dict[str, Any]:
    """Return how long `sleep` is to wait. Raises WorkflowError."""
    if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not seconds >= 0:
        raise WorkflowError(f"sleep() takes seconds, 0 or more, not {seconds!r}", CONFIG)
    return {"seconds": seconds}


def _checked(
    function: str, options: dict[str, Any], known: dict[str, tuple[type, ...]]
) -> dict[str, Any]:
    given = {name: value for name, value in options.items() if value is not None}
    for name, value in given.items():
        if name not in known:
            raise WorkflowError(
                f"{function}() has no option {name!r}; it has {', '.join(known)}", CONFIG
            )
        types = known[name]
        is_wrong = not isinstance(value, types) or (isinstance(value, bool) and bool not in types)
        if is_wrong:
            wanted = " or ".join(kind.__name__ for kind in types)
            raise WorkflowError(f"{function}({name}=…): it is {wanted}, not {_kind(value)}", CONFIG)
    return given


def _unsendable(text: str) -> str:
    try:
        size = len(text.encode())
    except UnicodeEncodeError as error:
        return f"its letter {error.start + 1} is half of one (a lone surrogate)"
    return f"it has {size:,} bytes" if size > MAX_PROMPT_BYTES else ""


def _kind(value: Any) -> str:
    return "None" if value is None else type(value).__name__
