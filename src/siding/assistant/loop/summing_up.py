"""Have the model sum a conversation up."""

from collections.abc import Callable
from contextlib import aclosing

from siding.agents.transcripts.writing.compaction import clean_summary
from siding.assistant.loop.compacting import MOST_SHORTENED, asking, shortened
from siding.assistant.loop.messages import Usage
from siding.assistant.loop.model import (
    BlockEnded,
    Ended,
    Model,
    ModelError,
    Request,
    Started,
    Trouble,
)


async def summed_up(model: Model, request: Request, count: Callable[[str, Usage], None]) -> str:
    """Return the summary of the messages of a request. Raises ModelError.

    If all of them are too long, the oldest are left out. `count` is told the name of the model that
    answered, and what it used.
    """
    messages = list(request.messages)
    for _ in range(MOST_SHORTENED + 1):
        if not messages:
            break
        try:
            return await _once(model, request._replace(messages=asking(messages)), count)
        except ModelError as error:
            if error.trouble is not Trouble.TOO_LONG:
                raise
            messages = shortened(messages)
    raise ModelError(Trouble.TOO_LONG, "even a part of the conversation is too long")


async def _once(model: Model, request: Request, count: Callable[[str, Usage], None]) -> str:
    text, name = "", request.model
    async with aclosing(model.answer(request)) as events:
        async for event in events:
            match event:
                case Started():
                    name = event.model
                case BlockEnded(block={"type": "text", "text": str(said)}):
                    text += said
                case Ended():
                    count(name, event.usage)
    if not text.strip():
        raise ModelError(Trouble.REQUEST, "the model wrote no summary")
    return clean_summary(text)
