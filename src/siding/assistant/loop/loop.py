"""The loop: ask the model, run its calls, ask again, until it is done.

`converse` yields what happens. Everything that must last is stored, by the port `Conversation`,
before it is told. Whatever ends a turn (a limit, an error, an interrupt), the conversation is one
that a model accepts: each call has a result.

| what the answer was                      | what follows                                      |
|------------------------------------------|---------------------------------------------------|
| it has calls                             | their results, then the next request              |
| it was cut at the limit of output        | once: asked for again with the model's highest    |
|                                          | limit; then three times: it is told to go on      |
| the provider paused it                   | the same again                                    |
| the prompt was too long                  | once: summed up, and asked again                  |
| it has the object that was asked for     | the end                                           |
| it ends without that object              | five times: it is told to hand the object over    |
| a hook objects to the end                | the objection, and the next request               |
| anything else                            | the end                                           |
"""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine, Mapping
from contextlib import suppress
from typing import Any, TypeVar

from siding.agents.transcripts.compaction import Breaker
from siding.assistant.loop.answer import Answering, Execution
from siding.assistant.loop.compaction import asked_for, estimated, is_long, summed_up
from siding.assistant.loop.events import (
    Compacted,
    Compacting,
    CompactingFailed,
    Continued,
    Denial,
    Ending,
    Event,
    FellBack,
    ModelUse,
    Retrying,
    Transition,
    TurnEnded,
    TurnStarted,
    Withdrawn,
)
from siding.assistant.loop.model import (
    Again,
    Ended,
    Failures,
    GiveUp,
    ModelError,
    OtherModel,
    Request,
    StopReason,
    Trouble,
    Usage,
    next_step,
)
from siding.assistant.loop.setup import Content, Setup
from siding.assistant.tools.port import Call, Result, ToolSpec, Use
from siding.ground.errors import UsageError

_MOST_WAITING = 256  # events that are not taken yet; then the loop waits
T = TypeVar("T")
INTERRUPTED = "[Request interrupted by user]"
GO_ON = (
    "The answer was cut off at the limit of output. Go on exactly where it ended, without an"
    " apology and without repeating anything. Do what is left in smaller pieces."
)
OBJECT_TOOL = "StructuredOutput"
NO_OBJECT = f"Hand over the result with the tool {OBJECT_TOOL}, once and complete."
_MOST_GO_ON = 3
_MOST_REMINDERS = 5


async def converse(
    setup: Setup, prompt: Content, stop: asyncio.Event
) -> AsyncGenerator[Event, None]:
    """Answer a prompt; yield what happens, at last `TurnEnded`.

    Setting `stop` interrupts the turn, which then ends in order. Closing the generator, or
    cancelling who iterates over it, ends everything at once and stores nothing more.
    """
    events: asyncio.Queue[Event | None] = asyncio.Queue(_MOST_WAITING)

    async def work() -> None:
        try:
            await Turn(setup, stop, events.put).run(prompt)
        finally:
            await events.put(None)

    worker = asyncio.create_task(work())
    try:
        while (event := await events.get()) is not None:
            yield event
        await worker
    finally:
        if not worker.done():
            worker.cancel()
            while not events.empty():
                events.get_nowait()
            with suppress(asyncio.CancelledError):
                await worker


class _Stopped(Exception):
    """The turn was interrupted."""


class _Over(Exception):
    """The turn ends."""

    def __init__(self, ending: Ending, error: str = "", status: int | None = None) -> None:
        super().__init__(error)
        self.ending = ending
        self.error = error
        self.status = status


class Turn:
    """One turn of a conversation."""

    def __init__(
        self, setup: Setup, stop: asyncio.Event, tell: Callable[[Event], Awaitable[None]]
    ) -> None:
        self._object = None if setup.schema is None else ObjectTool(setup.schema)
        if self._object is not None:
            setup = setup._replace(tools={**setup.tools, OBJECT_TOOL: self._object})
        self._setup = setup
        self._stop = stop
        self._tell = tell
        self._name = setup.name
        self._fallback = setup.fallback
        self._breaker = Breaker()
        self._tokens = 0  # about how many the next request has
        self._most_output: int | None = None
        self._by_model: dict[str, ModelUse] = {}
        self._denials: list[Denial] = []
        self._requests = 0
        self._model_s = 0.0
        self._text = ""
        self._reason: StopReason | None = None
        self._told_to_go_on = 0
        self._reminders = 0
        self._has_summed_up = False
        self._prompt: str | None = None  # while nothing was said after it

    async def run(self, prompt: Content) -> None:
        """Store the prompt, and go on until the turn is over."""
        begun = self._setup.monotonic()
        over = _Over(Ending.COMPLETED)
        more = asked_for(prompt)
        if more is None:
            self._prompt = await self._setup.conversation.user(prompt)
        await self._tell(TurnStarted(prompt=self._prompt or ""))
        self._tokens = self._measured()
        try:
            if more is not None:
                await self._compact(more)
            while more is None and await self._goes_on():
                pass
        except _Over as found:
            over = found
        except _Stopped:
            await self._setup.conversation.user(INTERRUPTED, hidden=True)
            over = _Over(Ending.INTERRUPTED)
        await self._tell(
            TurnEnded(
                ending=over.ending,
                text=self._text,
                requests=self._requests,
                by_model=dict(self._by_model),
                denials=tuple(self._denials),
                wall_s=self._setup.monotonic() - begun,
                model_s=self._model_s,
                error=over.error,
                status=over.status,
                reason=self._reason,
                object=None if self._object is None else self._object.value,
            )
        )

    async def _goes_on(self) -> bool:
        """Make one request and do what follows from it; return whether another one is to follow."""
        self._require_limits()
        for content in self._setup.queued():
            await self._setup.conversation.user(content)
            self._tokens += estimated(content)
        for text in await self._setup.reminders():
            await self._setup.conversation.user(text, hidden=True)
            self._tokens += estimated(text)
        if self._setup.compacts and is_long(self._tokens, self._limits()):
            await self._sum_up()
        try:
            answer, ended = await self._answer()
        except ModelError as error:
            await self._recover(error)
            return True
        self._prompt = None
        following = await self._following(answer, ended)
        if following is not None:
            await self._tell(Continued(following))
        return following is not None

    def _require_limits(self) -> None:
        setup = self._setup
        if self._stop.is_set():
            raise _Stopped
        if setup.most_requests is not None and self._requests >= setup.most_requests:
            raise _Over(Ending.MAX_TURNS)
        spent = [each.dollars or 0.0 for each in self._by_model.values()]
        if setup.most_dollars is not None and sum(spent) >= setup.most_dollars:
            raise _Over(Ending.MAX_BUDGET)
        used = sum(each.usage.prompt + each.usage.output for each in self._by_model.values())
        if setup.most_tokens is not None and used >= setup.most_tokens:
            raise _Over(Ending.MAX_TOKENS)

    async def _recover(self, error: ModelError) -> None:
        """Sum the conversation up if it was too long, and that is new; else the turn is over."""
        if error.trouble is not Trouble.TOO_LONG:
            raise _Over(Ending.MODEL_ERROR, error.message, error.status) from error
        if self._has_summed_up or not await self._sum_up():
            raise _Over(Ending.TOO_LONG, error.message, error.status) from error
        self._has_summed_up = True
        await self._tell(Continued(Transition.COMPACTED))

    async def _following(self, answer: Answering, ended: Ended) -> Transition | None:
        """Return why the model is asked again; None if the turn is over."""
        conversation = self._setup.conversation
        if self._object is not None and self._object.is_there:
            return None
        if answer.execution.ends_turn:
            raise _Over(Ending.STOPPED)
        if answer.execution.calls:
            return Transition.NEXT
        if ended.reason is StopReason.PAUSED:
            return Transition.PAUSED
        if ended.reason is StopReason.MAX_OUTPUT:
            return await self._after_cut(answer)
        if self._object is not None:
            if self._reminders == _MOST_REMINDERS:
                raise _Over(Ending.NO_OBJECT, "the object that was asked for was not handed over")
            self._reminders += 1
            await conversation.user(NO_OBJECT, hidden=True)
            return Transition.SCHEMA
        objection = await self._until_stopped(self._setup.stop_hooks(self._text))
        if objection:
            await conversation.user(objection, hidden=True)
            return Transition.STOP_HOOK
        return None

    async def _after_cut(self, answer: Answering) -> Transition | None:
        if self._most_output is None:
            self._most_output = self._limits().most_output
            await self._withdraw(answer)
            return Transition.MORE_OUTPUT
        if self._told_to_go_on == _MOST_GO_ON:
            return None
        self._told_to_go_on += 1
        await self._setup.conversation.user(GO_ON, hidden=True)
        return Transition.GO_ON

    async def _answer(self) -> tuple[Answering, Ended]:
        """Have one whole answer and the results of its calls. Raises ModelError, _Stopped."""
        failures = Failures()
        is_streamed = True
        self._requests += 1
        while True:
            execution = Execution(self._setup, self._tell)
            answer = Answering(self._setup, execution, self._tell)
            try:
                return answer, await self._attempt(answer, self._request(is_streamed=is_streamed))
            except ModelError as error:
                if execution.has_acted:
                    return answer, await self._keep_begun(answer)
                await self._withdraw(answer)
                failures = failures.with_error(error)
                step = next_step(
                    error,
                    failures,
                    fallback=self._fallback,
                    most=self._setup.most_tries,
                    spread=self._setup.spread(),
                )
                if isinstance(step, GiveUp):
                    raise
                if isinstance(step, OtherModel):
                    await self._fall_back(step, error)
                    failures = Failures()
                else:
                    await self._wait(step, failures, error)
                    is_streamed = step.is_streamed

    async def _attempt(self, answer: Answering, request: Request) -> Ended:
        begun = self._setup.monotonic()
        try:
            try:
                ended = await self._until_stopped(answer.receive(request))
            finally:
                self._model_s += self._setup.monotonic() - begun
            self._count(answer, ended)
            await answer.end(ended)
            await self._until_stopped(answer.execution.finish())
        except _Stopped:
            await answer.keep_partial()
            await answer.execution.interrupt()
            self._take(answer)
            raise
        self._take(answer)
        return ended

    async def _keep_begun(self, answer: Answering) -> Ended:
        """Go on with the part of an answer that has acted already: it must not act again."""
        try:
            await self._until_stopped(answer.execution.finish())
        except _Stopped:
            await answer.execution.interrupt()
            raise
        finally:
            self._take(answer)
        return Ended(reason=StopReason.TOOLS, usage=Usage())

    async def _withdraw(self, answer: Answering) -> None:
        await answer.execution.discard()
        if answer.started is None:
            return
        messages = await self._setup.conversation.withdraw(answer.started.id)
        await self._tell(Withdrawn(answer=answer.started.id, messages=tuple(messages)))

    async def _fall_back(self, step: OtherModel, error: ModelError) -> None:
        await self._tell(FellBack(model=step.model, instead_of=self._name, why=error.message))
        self._name, self._fallback = step.model, None

    async def _wait(self, step: Again, failures: Failures, error: ModelError) -> None:
        await self._tell(
            Retrying(
                attempt=failures.times,
                most=self._setup.most_tries,
                after_s=step.after_s,
                trouble=error.trouble,
                status=error.status,
                message=error.message,
            )
        )
        await self._until_stopped(self._setup.sleep(step.after_s))

    def _take(self, answer: Answering) -> None:
        """Take over what an answer has come to."""
        self._denials += answer.execution.denials
        self._text = answer.text or self._text

    def _count(self, answer: Answering, ended: Ended) -> None:
        assert answer.started is not None
        model = answer.started.model
        self._add(model, ended.usage)
        self._reason = ended.reason
        self._tokens = ended.usage.prompt + ended.usage.output

    def _add(self, model: str, usage: Usage) -> None:
        before = self._by_model.get(model, ModelUse())
        # A server names its models in its own way; the price is known by the name that was asked.
        cost = self._setup.model.dollars(self._name, usage)
        is_known = cost is not None and before.dollars is not None
        self._by_model[model] = ModelUse(
            usage=before.usage.plus(usage),
            dollars=(before.dollars or 0.0) + (cost or 0.0) if is_known else None,
            requests=before.requests + 1,
        )

    def _measured(self) -> int:
        return self._setup.measure(self._setup.conversation.context())

    def _limits(self) -> Any:
        return self._setup.model.limits(self._name)

    def _request(self, *, is_streamed: bool) -> Request:
        setup = self._setup
        return Request(
            model=self._name,
            system=setup.system,
            messages=setup.conversation.context(),
            tools=[tool.spec for tool in setup.tools.values()],
            stable=setup.stable,
            max_output=self._most_output or self._limits().output,
            effort=setup.effort,
            thinking=setup.thinking,
            cache=setup.cache,
            is_streamed=is_streamed,
        )

    async def _compact(self, more: str) -> None:
        """Sum the conversation up because a person asked for it. The turn has no answer."""
        if not self._setup.conversation.context():
            raise _Over(Ending.MODEL_ERROR, "there is nothing to sum up: nothing was said yet")
        before = self._tokens
        try:
            await self._summed_up("manual", more)
        except (ModelError, UsageError) as error:
            raise _Over(Ending.MODEL_ERROR, f"it was not summed up: {error.message}") from None
        self._text = f"summed up: about {before:,} tokens before, and {self._tokens:,} now"

    async def _sum_up(self) -> bool:
        """Have the conversation summed up; return whether it was. After three failures never."""
        if self._breaker.is_open:
            return False
        try:
            await self._summed_up("auto")
        except (ModelError, UsageError):
            self._breaker.failed()
            return False
        self._breaker.succeeded()
        return True

    async def _summed_up(self, trigger: str, more: str = "") -> None:
        """Have the model write a summary, and go on with it. Raises ModelError and UsageError."""
        tokens = self._tokens
        await self._tell(Compacting(trigger, tokens))
        try:
            request = self._request(is_streamed=True)
            work = summed_up(self._setup.model, request, self._add, more)
            summary = await self._until_stopped(work)
            boundary = await self._setup.conversation.compact(
                summary, trigger=trigger, tokens=tokens, keep_from=self._prompt
            )
        except (ModelError, UsageError) as error:
            await self._tell(CompactingFailed(why=error.message))
            raise
        self._tokens = self._measured()
        await self._tell(Compacted(boundary, trigger, tokens, summary))

    async def _until_stopped(self, work: Coroutine[Any, Any, T] | Awaitable[T]) -> T:
        """Wait for some work, or raise _Stopped and cancel it when the turn is interrupted."""
        task = asyncio.ensure_future(work)
        stopped = asyncio.ensure_future(self._stop.wait())
        try:
            await asyncio.wait({task, stopped}, return_when=asyncio.FIRST_COMPLETED)
            if not task.done():
                stopped.result()
                raise _Stopped
            return await task
        finally:
            stopped.cancel()
            if not task.done():
                task.cancel()
                await asyncio.wait({task})


# -- The tool by which a model hands over the object that was asked for ----------------------------


class ObjectTool:
    """Takes one object that fits a schema. `is_there`: it was handed over."""

    def __init__(self, schema: Mapping[str, Any]) -> None:
        self.value: Any = None
        self.is_there = False
        self._spec = ToolSpec(
            name=OBJECT_TOOL,
            description="Hand over the result of the whole task. Call it once, at the end.",
            schema=schema,
        )

    @property
    def spec(self) -> ToolSpec:
        return self._spec

    def is_safe(self, _given: Mapping[str, Any], /) -> bool:
        return True

    def use(self, _given: Mapping[str, Any], /) -> Use:
        return Use(text="hands over the result")

    async def run(self, call: Call) -> Result:
        self.value, self.is_there = call.given, True
        return Result("It was taken. The task is done.", shown="the result")
