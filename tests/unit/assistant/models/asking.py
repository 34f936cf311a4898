"""What the tests of models share: a request, and an answer read to its end."""

import asyncio
from collections.abc import Sequence
from typing import Any

from siding.assistant.loop.model import (
    BlockEnded,
    Ended,
    Message,
    Model,
    ModelError,
    ModelEvent,
    Request,
    Started,
)
from siding.assistant.models.any_model import AnyModel
from siding.ground.namedtuples import NamedTuple


class Answer(NamedTuple):
    """A whole answer."""

    events: list[ModelEvent]

    @property
    def started(self) -> Started:
        first = self.events[0]
        assert isinstance(first, Started)
        return first

    @property
    def ended(self) -> Ended:
        last = self.events[-1]
        assert isinstance(last, Ended)
        return last

    @property
    def blocks(self) -> list[dict[str, Any]]:
        found = [each for each in self.events if isinstance(each, BlockEnded)]
        assert [each.at for each in found] == list(range(len(found)))
        return [each.block for each in found]

    @property
    def text(self) -> str:
        return "".join(block["text"] for block in self.blocks if block["type"] == "text")


def user(*content: str | dict[str, Any]) -> Message:
    blocks = [{"type": "text", "text": it} if isinstance(it, str) else it for it in content]
    return Message("user", blocks)


def said(*content: str | dict[str, Any], **kept: Any) -> Message:
    return Message("assistant", user(*content).content, kept)


def returned(call: str, content: Any, **more: Any) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": call, "content": content, **more}


def ask(model: Model, request: Request) -> Answer:
    """Read an answer to its end."""

    async def read() -> list[ModelEvent]:
        try:
            return [event async for event in model.answer(request)]
        finally:
            await _close(model)

    return Answer(asyncio.run(read()))


def failure(model: Model, request: Request) -> tuple[ModelError, list[ModelEvent]]:
    """Return how a request fails, and what it had yielded before."""

    async def read() -> tuple[ModelError, list[ModelEvent]]:
        events: list[ModelEvent] = []
        try:
            async for event in model.answer(request):
                events.append(event)  # noqa: PERF401 -- what came before it failed is kept
        except ModelError as error:
            return error, events
        finally:
            await _close(model)
        raise AssertionError(f"it did not fail: {events}")

    return asyncio.run(read())


async def _close(model: Model) -> None:
    if isinstance(model, AnyModel):
        await model.aclose()


def request(model: str, *messages: Message | str, **more: Any) -> Request:
    """Return a request with one prompt or several messages."""
    turns: Sequence[Message] = [
        user(each) if isinstance(each, str) else each for each in messages or ("Hello",)
    ]
    return Request(model, more.pop("system", ("You are a test.",)), turns, **more)
