"""What the next request of a conversation would consist of, in tokens.

All figures are estimated by the length of the text, but what the model itself counted of the last
request.
"""

import asyncio
import json
import os
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path

from siding.agents.transcripts.reading.views import Context
from siding.assistant.briefing import (
    Briefing,
    Facts,
    SystemPrompt,
    briefing,
    context_parts,
    system_prompt,
)
from siding.assistant.loop.compaction import estimated
from siding.assistant.loop.context import ContextPart as ContextPart
from siding.assistant.models.names import limits_of
from siding.assistant.starting import model_or_none
from siding.assistant.tools.factory import Memory, tools_of
from siding.assistant.tools.place import Place
from siding.assistant.tools.port import ToolSpec
from siding.assistant.views.conversation import Looked, looked_at, requests_of, workspace_here
from siding.ground.errors import NotFound
from siding.ground.namedtuples import NamedTuple
from siding.ground.storage.fields import mapping, text
from siding.record.place.project import Project

IMAGE_TOKENS = 1_600  # of an image, whatever its size: providers make large ones smaller
_KINDS = {
    "text": "texts",
    "thinking": "thoughts",
    "redacted_thinking": "thoughts",
    "tool_use": "calls of tools",
    "tool_result": "results of tools",
}
_IMAGES = "images and documents"


class ContextUse(NamedTuple):
    """What the context consists of. Sizes are in tokens, estimated.

    `session` is "" where no conversation has begun. `counted`: what the model counted of the last
    request and its answer, None without one.
    """

    session: str
    title: str
    model: str
    window: int
    parts: tuple[ContextPart, ...]
    tools: tuple[ContextPart, ...]
    messages: tuple[ContextPart, ...]
    counted: int | None

    @property
    def tokens(self) -> int:
        """All parts together."""
        return sum(each.tokens for each in (*self.parts, *self.tools, *self.messages))


def context_use(project: Project, named: str) -> ContextUse:
    """Return what the context consists of. Without any conversation, of a new one."""
    try:
        looked = looked_at(project, named)
    except NotFound:
        if named:
            raise
        looked = None
    requests = [] if looked is None else requests_of(looked.live)
    model = requests[-1].model if requests else model_or_none(project.app)
    told = asyncio.run(told_here(project, model))
    return ContextUse(
        session="" if looked is None else looked.id,
        title="" if looked is None else looked.title,
        model=model,
        window=limits_of(model.partition(":")[2] or model).window,
        parts=context_parts(told.briefing),
        tools=_tools(told),
        messages=() if looked is None else _messages(looked),
        counted=requests[-1].prompt + requests[-1].output if requests else None,
    )


class Told(NamedTuple):
    """What the model is told beside the conversation."""

    briefing: Briefing
    prompt: SystemPrompt
    tools: tuple[ToolSpec, ...]


async def told_here(project: Project, model: str) -> Told:
    """Return what the agent would tell a model in the workspace."""
    app = project.app
    workspace = Path(os.path.realpath(workspace_here(project)))
    home = Path(os.path.realpath(app.env.get("HOME") or os.path.expanduser("~")))
    place = Place(workspace, Path(tempfile.gettempdir()), home, app.env)
    told = await briefing(Facts(place, model=model, directory=workspace))
    memory = Memory.of(place)
    try:
        specs = [tool.spec for tool in tools_of(place, memory).values()]
    finally:
        await memory.close()
    return Told(told, system_prompt(told), tuple(specs))


def _tools(told: Told) -> tuple[ContextPart, ...]:
    texts = {spec.name: json.dumps(spec._asdict()) for spec in told.tools}
    return tuple(_part(name, "Siding", text) for name, text in texts.items())


def _messages(looked: Looked) -> tuple[ContextPart, ...]:
    sums: dict[tuple[str, str], list[int]] = {}
    for message in Context(looked.live, looked.replacements).spoken():
        who = "the model" if message.role == "assistant" else "you and Siding"
        for kind, characters, tokens in _blocks(message.content):
            whose = "tools" if kind == _KINDS["tool_result"] else who
            found = sums.setdefault((kind, whose), [0, 0])
            found[0] += characters
            found[1] += tokens
    return tuple(ContextPart(*key, characters=of[0], tokens=of[1]) for key, of in sums.items())


def _blocks(content: object) -> Iterable[tuple[str, int, int]]:
    """Yield of each block its kind, its characters and its tokens."""
    if isinstance(content, str):
        yield _KINDS["text"], len(content), estimated(content)
        return
    for block in content if isinstance(content, list) else []:
        yield from _block(mapping(block))


def _block(block: Mapping[str, object]) -> Iterable[tuple[str, int, int]]:
    kind = _KINDS.get(text(block.get("type")))
    if kind is None:
        yield _IMAGES, 0, IMAGE_TOKENS
        return
    inner = block.get("content")
    if kind == _KINDS["tool_result"] and isinstance(inner, list):
        for each in inner:
            is_text = mapping(each).get("type") == "text"
            words = text(mapping(each).get("text"))
            yield (kind, len(words), estimated(words)) if is_text else (_IMAGES, 0, IMAGE_TOKENS)
        return
    words = text(block.get("text") or block.get("thinking") or inner)
    if kind == _KINDS["tool_use"]:
        words = text(block.get("name")) + json.dumps(block.get("input"))
    yield kind, len(words), estimated(words)


def _part(name: str, origin: str, words: str) -> ContextPart:
    return ContextPart(name, origin, characters=len(words), tokens=estimated(words))
