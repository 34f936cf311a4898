"""Having one answer: its blocks are stored as they are whole, and its calls run meanwhile."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import aclosing

from siding.assistant.loop.events import (
    Answered,
    AnswerStarted,
    Denial,
    Event,
    Said,
    ToolDenied,
    ToolEnded,
    ToolStarted,
)
from siding.assistant.loop.model import (
    Block,
    BlockEnded,
    Ended,
    InputDelta,
    ModelError,
    Request,
    Started,
    TextDelta,
    ThinkingDelta,
    Trouble,
)
from siding.assistant.loop.setup import Denied, Setup
from siding.assistant.tools.port import Call, Result, Tool
from siding.assistant.tools.spec import checked

# -- Running the calls of one answer, some of them while the answer still comes --------------------
#
# Calls that change nothing run side by side. Any other call waits for all before it, and what comes
# behind it waits for it: the model wrote them in that order.


INTERRUPTED = Result("[Interrupted by the user before it had ended]", is_error=True)
_MOST_AT_ONCE = 10


class Execution:
    """The calls of one answer.

    `has_acted`: one of them may have changed something, so the answer cannot be taken back.
    `ends_turn`: somebody who refused a call wants the model to stop.
    """

    def __init__(self, setup: Setup, tell: Callable[[Event], Awaitable[None]]) -> None:
        self.has_acted = False
        self.ends_turn = False
        self.denials: list[Denial] = []
        self.calls = 0
        self._setup = setup
        self._tell = tell
        self._open: dict[str, Call] = {}
        self._tasks: list[tuple[bool, asyncio.Task[None]]] = []
        self._free = asyncio.Semaphore(_MOST_AT_ONCE)

    def add(self, call: Call) -> None:
        """Run a call, which is on the disk, as soon as those before it allow."""
        tool = self._setup.tools.get(call.name)
        is_safe = tool is None or self._is_safe(tool, call)
        before = [task for safe, task in self._tasks if not (safe and is_safe)]
        self._open[call.id] = call
        self.calls += 1
        task = asyncio.create_task(self._run(call, tool, before, is_safe=is_safe))
        self._tasks.append((is_safe, task))

    async def finish(self) -> None:
        """Return when all calls have their results."""
        await asyncio.gather(*(task for _, task in self._tasks))

    async def discard(self) -> None:
        """End what runs without results: the answer is taken back."""
        for _, task in self._tasks:
            task.cancel()
        await asyncio.gather(*(task for _, task in self._tasks), return_exceptions=True)

    async def interrupt(self) -> None:
        """End what runs; each call that has no result gets one that says so."""
        await self.discard()
        for call in list(self._open.values()):
            await self._end(call, INTERRUPTED, 0.0)

    def _is_safe(self, tool: Tool, call: Call) -> bool:
        return checked(tool.spec, call.given) is not None or tool.is_safe(call.given)

    async def _run(
        self, call: Call, tool: Tool | None, before: list[asyncio.Task[None]], *, is_safe: bool
    ) -> None:
        if before:
            await asyncio.wait(before)
        async with self._free:
            begun = self._setup.monotonic()
            result = await self._result(call, tool, is_safe=is_safe)
            await self._end(call, result, self._setup.monotonic() - begun)

    async def _end(self, call: Call, result: Result, wall_s: float) -> None:
        # What the tool did is done: an interrupt must not come between that and its line.
        self._open.pop(call.id, None)
        await asyncio.shield(asyncio.ensure_future(self._store(call, result, wall_s)))

    async def _store(self, call: Call, result: Result, wall_s: float) -> None:
        stored = await self._setup.conversation.result(call, result)
        await self._tell(ToolEnded(id=stored, call=call, result=result, wall_s=wall_s))

    async def _result(self, call: Call, tool: Tool | None, *, is_safe: bool) -> Result:
        if tool is None:
            known = ", ".join(sorted(self._setup.tools))
            return Result(f"There is no tool {call.name!r}. There are: {known}", is_error=True)
        problem = checked(tool.spec, call.given)
        if problem is not None:
            return problem
        ruling = await self._setup.guard.rule(call, tool)
        if isinstance(ruling, Denied):
            self.ends_turn = self.ends_turn or ruling.ends_turn
            self.denials.append(Denial(call=call, reason=ruling.reason))
            await self._tell(ToolDenied(call=call, reason=ruling.reason))
            return Result(ruling.reason, is_error=True, shown="not allowed")
        allowed = call._replace(given=ruling.given)
        self.has_acted = self.has_acted or not is_safe
        await self._tell(ToolStarted(call=allowed, use=tool.use(allowed.given)))
        result = await _used(tool, allowed)
        await self._setup.guard.ended(allowed, tool, result)
        return result


async def _used(tool: Tool, call: Call) -> Result:
    try:
        return await tool.run(call)
    except Exception as error:  # noqa: BLE001 - the conversation has to go on with a result
        text = f"{call.name} failed by a mistake of Siding: {type(error).__name__}: {error}"
        return Result(text, is_error=True, shown="failed")


# -- Having one answer: its blocks are stored as they are whole, and its calls run meanwhile -------


class Answering:
    """One answer, as far as it has come.

    A block is stored when the next event shows that it was not the last, or with the end: then the
    line of the last block has what is known only at the end.
    """

    def __init__(
        self, setup: Setup, execution: Execution, tell: Callable[[Event], Awaitable[None]]
    ) -> None:
        self.execution = execution
        self.started: Started | None = None
        self.text = ""  # of the whole text blocks
        self._asked = ""  # the model as the request names it
        self._setup = setup
        self._tell = tell
        self._waiting: Block | None = None
        self._partial = ""  # text of the block that is not whole

    async def receive(self, request: Request) -> Ended:
        """Have the answer; return how it ended. Raises ModelError."""
        ended: Ended | None = None
        self._asked = request.model
        async with aclosing(self._setup.model.answer(request)) as events:
            async for event in events:
                match event:
                    case Started():
                        self.started = event
                        await self._tell(AnswerStarted(*event))
                    case BlockEnded(block=block):
                        await self._store(None)
                        self._waiting, self._partial = block, ""
                    case Ended():
                        ended = event
                    case TextDelta() | ThinkingDelta() | InputDelta():
                        await self._store(None)
                        self._partial += event.text if isinstance(event, TextDelta) else ""
                        await self._tell(event)
        if ended is None or self.started is None:
            raise ModelError(
                Trouble.CONNECTION, "the answer ended before it was whole", has_begun=True
            )
        await self._store(ended)
        return ended

    async def end(self, ended: Ended) -> None:
        """Tell that the answer is whole."""
        assert self.started is not None
        dollars = self._setup.model.dollars(self._asked, ended.usage)
        answer, model, _ = self.started
        await self._tell(Answered(answer, model, ended.reason, ended.usage, dollars))

    async def keep_partial(self) -> None:
        """Store the text that had come when the answer was interrupted."""
        await self._store(None)
        if self._partial.strip():
            self._waiting = {"type": "text", "text": self._partial}
            await self._store(None)

    async def _store(self, ended: Ended | None) -> None:
        block, self._waiting = self._waiting, None
        if block is None:
            return
        assert self.started is not None, "a block came before its answer"
        usage = self.started.usage if ended is None else ended.usage
        stored = await self._setup.conversation.said(self.started, block, usage, ended)
        answer, model, _ = self.started
        await self._tell(Said(stored, answer, model, block, usage))
        if block["type"] == "text":
            self.text += block["text"]
        if block["type"] == "tool_use":
            self.execution.add(Call(id=block["id"], name=block["name"], given=block["input"]))
