"""Having one answer: its blocks are stored as they are whole, and its calls run meanwhile."""

from collections.abc import Awaitable, Callable
from contextlib import aclosing

from siding.assistant.loop.events import Answered, AnswerStarted, Event, Said
from siding.assistant.loop.executing import Execution
from siding.assistant.loop.messages import Block
from siding.assistant.loop.model import (
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
from siding.assistant.loop.setup import Setup
from siding.assistant.tools.port import Call


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
