"""When a conversation is summed up, and what the model is asked then. Pure."""

from collections.abc import Callable, Sequence
from contextlib import aclosing

from siding.agents.transcripts.compaction import (
    CHARACTERS_PER_TOKEN,
    INSTRUCTIONS,
    clean_summary,
)
from siding.assistant.loop.model import (
    Block,
    BlockEnded,
    Ended,
    Folding,
    Limits,
    Message,
    Model,
    ModelError,
    Request,
    Started,
    Trouble,
    Usage,
)

_MARGIN = 13_000  # tokens that results of tools may take before anybody counts again
COMMAND = "/compact"  # a prompt that has the conversation summed up, and no answer
MOST_SHORTENED = 3  # times that the oldest third is left out, where even the summary is too long


def is_long(tokens: int, limits: Limits) -> bool:
    """Tell whether the next answer may not fit into the model's window."""
    return tokens >= longest(limits)


def longest(limits: Limits) -> int:
    """Return how many tokens a conversation may have before it is summed up."""
    reserved = min(limits.output, 20_000) + min(_MARGIN, limits.window // 10)
    return limits.window - reserved


def estimated(content: str | Sequence[Block]) -> int:
    """Return about how many tokens some content has."""
    return _characters(content) // CHARACTERS_PER_TOKEN


def measuring() -> Callable[[Sequence[Message]], int]:
    """Return what tells about how many tokens a conversation has, asked again and again."""
    return Folding(0, lambda total, message: total + estimated(message.content)).of


def asked_for(prompt: str | Sequence[Block]) -> str | None:
    """Return what a person adds to ``/compact``, "" for nothing; None if the prompt is another."""
    text = prompt
    if not isinstance(text, str):
        if any(each.get("type") != "text" for each in text):
            return None
        text = "".join(str(each.get("text", "")) for each in text)
    command, *more = text.split(maxsplit=1) or [""]
    return "".join(more).strip() if command == COMMAND else None


def asking(messages: Sequence[Message], more: str = "") -> list[Message]:
    """Return the messages with the request to sum them up; a person added `more` to it."""
    wanted = f"\n\nThe person adds: {more}" if more else ""
    ask: Block = {"type": "text", "text": f"{INSTRUCTIONS} Use no tools.{wanted}"}
    if messages and messages[-1].role == "user":
        last = messages[-1]
        return [*messages[:-1], last._replace(content=[*last.content, ask])]
    return [*messages, Message(role="user", content=[ask])]


def shortened(messages: Sequence[Message]) -> list[Message]:
    """Return the messages without the oldest third, beginning with a prompt.

    [] if there is no place to begin: a result must not come without its call.
    """
    for at in range(max(1, len(messages) // 3), len(messages)):
        kinds = {block.get("type") for block in messages[at].content}
        if messages[at].role == "user" and "tool_result" not in kinds:
            return list(messages[at:])
    return []


def _characters(content: object) -> int:
    if isinstance(content, str):
        return len(content)
    if isinstance(content, dict):
        return sum(_characters(value) for key, value in content.items() if key != "type")
    if isinstance(content, list | tuple):
        return sum(map(_characters, content))
    return 0


# -- Have the model sum a conversation up ----------------------------------------------------------


async def summed_up(
    model: Model, request: Request, count: Callable[[str, Usage], None], more: str = ""
) -> str:
    """Return the summary of the messages of a request. Raises ModelError.

    If all of them are too long, the oldest are left out. `count` is told the name of the model that
    answered, and what it used. `more`: what a person wants of the summary.
    """
    messages = list(request.messages)
    for _ in range(MOST_SHORTENED + 1):
        if not messages:
            break
        try:
            return await _once(model, request._replace(messages=asking(messages, more)), count)
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
