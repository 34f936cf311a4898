"""A model whose answers are written down, and which says so. For demos, tests and dry runs."""

import asyncio
import json
import os
from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from siding.assistant.loop.folding import Folding
from siding.assistant.loop.messages import Block, Usage
from siding.assistant.loop.model import (
    BlockEnded,
    Ended,
    InputDelta,
    Limits,
    ModelError,
    ModelEvent,
    Request,
    Started,
    StopReason,
    TextDelta,
    ThinkingDelta,
    Trouble,
)
from siding.assistant.models.script import BEGINNING, Chosen, check, choose, turn_with
from siding.ground.errors import SidingError
from siding.ground.files.regular import read_bytes

PROVIDER = "scripted"
MODEL = "scripted"  # what it says that it is
_LARGEST = 16 << 20  # bytes of a script
_DEFAULT = Limits(window=200_000, output=32_000, most_output=64_000)


class ScriptedModel:
    """Answers from the script whose path the model's name has: ``scripted:PATH``."""

    def __init__(self) -> None:
        self._failed: dict[tuple[object, ...], int] = {}  # how often a step has failed
        # One conversation is answered again and again, which grows.
        self._turn = Folding(BEGINNING, turn_with)
        self._letters = Folding(0, lambda total, message: total + _size(message.content))

    async def answer(self, request: Request) -> AsyncGenerator[ModelEvent, None]:
        """See `Model.answer`."""
        path = _path(request.model)
        turn = self._turn.of(request.messages)
        chosen = choose(_script(path), turn, request.system)
        if chosen is None:
            shown = " ".join(turn.prompt.split())[:100]
            raise ModelError(
                Trouble.REQUEST,
                f"the scripted model has no answer for {shown!r}",
                status=400,
                hint=f"add one to {path}, or `otherwise`",
            )
        step = chosen.step
        await asyncio.sleep(float(step.get("wait", 0)))
        is_failing = self._is_failing(path, chosen, request)
        if is_failing and not step.get("begun"):
            raise _failure(step)
        blocks = list(_blocks(step))
        usage = _usage(step, request, blocks, self._letters.of(request.messages))
        yield Started(f"msg_scripted_{_random()}", MODEL, usage._replace(output=0))
        pace = float(step.get("pace", 0))
        for at, block in enumerate(blocks):
            for event in _streamed(at, block, request.is_streamed):
                await asyncio.sleep(pace)
                yield event
            if is_failing:
                raise _failure(step, has_begun=True)
            yield BlockEnded(at, _whole(block))
        yield Ended(_reason(step, blocks), usage)

    def _is_failing(self, path: Path, chosen: Chosen, request: Request) -> bool:
        if "fail" not in chosen.step:
            return False
        key = (path, chosen.at, len(request.messages))
        self._failed[key] = self._failed.get(key, 0) + 1
        times = chosen.step.get("times")
        return times is None or self._failed[key] <= times

    def limits(self, model: str) -> Limits:
        """Return the `limits` of the script."""
        given = _script(_path(model)).get("limits", {})
        return Limits(
            **{key: int(given.get(key, getattr(_DEFAULT, key))) for key in Limits._fields}
        )

    def dollars(self, model: str, usage: Usage) -> float | None:
        """Return what the script's `prices` come to, in dollars for a million tokens: 0 if none."""
        prices = _script(_path(model)).get("prices", {})
        return sum(
            float(prices.get(kind, 0)) * count / 1_000_000
            for kind, count in zip(Usage._fields, usage, strict=True)
        )


def _path(model: str) -> Path:
    return Path(model.removeprefix(f"{PROVIDER}:")).expanduser()


def _script(path: Path) -> Mapping[str, Any]:
    """Read a script. It is read for each request, so that it may be changed meanwhile."""
    try:
        return check(_parsed(path, read_bytes(path, limit=_LARGEST)), str(path))
    except SidingError as error:
        raise ModelError(Trouble.SETUP, error.message, hint=error.hint or "") from None
    except (OSError, ValueError) as error:
        raise ModelError(
            Trouble.SETUP,
            f"the script {str(path)!r} cannot be read: {error}",
            hint="a scripted model is named scripted:PATH; docs/agent-models.md has the format",
        ) from None


def _parsed(path: Path, raw: bytes) -> object:
    if path.suffix == ".json":
        return json.loads(raw)
    import yaml

    try:
        return yaml.load(raw, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    except yaml.YAMLError as error:
        raise ValueError(str(error)) from None


def _failure(step: Mapping[str, Any], *, has_begun: bool = False) -> ModelError:
    trouble = Trouble(step["fail"])
    return ModelError(
        trouble,
        str(step.get("text") or "as the script says"),
        status=step.get("status", _STATUS.get(trouble)),
        after_s=step.get("after"),
        has_begun=has_begun,
    )


_STATUS = {
    Trouble.OVERLOADED: 529,
    Trouble.RATE: 429,
    Trouble.SERVER: 500,
    Trouble.TOO_LONG: 400,
    Trouble.LOGIN: 401,
    Trouble.CREDIT: 400,
    Trouble.REQUEST: 400,
}


def _blocks(step: Mapping[str, Any]) -> Iterator[Block]:
    """Yield the blocks of a step: `blocks` in their order, else `thinking`, `text`, `tools`."""
    if "blocks" in step:
        pieces = step["blocks"]
    else:
        pieces = [{key: step[key]} for key in ("thinking", "text") if step.get(key)]
        pieces += [{"tool": tool} for tool in step.get("tools", ())]
    for piece in pieces:
        if "tool" in piece:
            ((name, given),) = piece["tool"].items()
            call_id = piece.get("id") or f"toolu_scripted_{_random()}"
            yield {"type": "tool_use", "id": call_id, "name": name, "input": given}
        elif "thinking" in piece:
            yield {"type": "thinking", "thinking": str(piece["thinking"]), "signature": "scripted"}
        else:
            yield {"type": "text", "text": str(piece["text"])}


def _whole(block: Block) -> Block:
    """Return a block as it is told; an input that is a text is one that is no JSON object."""
    if block["type"] == "tool_use" and not isinstance(block["input"], dict):
        return {**block, "input": {"_invalid": str(block["input"])}}
    return block


def _streamed(at: int, block: Block, is_streamed: bool) -> Iterator[ModelEvent]:
    """Yield the deltas of a block: word by word, or all at once if it is not streamed."""
    kind = block["type"]
    if kind == "tool_use":
        given = block["input"]
        text = json.dumps(given) if isinstance(given, dict) else str(given)
    else:
        text = block[kind]
    for piece in _words(text) if is_streamed else [text]:
        if kind == "tool_use":
            yield InputDelta(at, block["id"], block["name"], piece)
        elif kind == "thinking":
            yield ThinkingDelta(at, piece)
        else:
            yield TextDelta(at, piece)


def _words(text: str) -> Iterator[str]:
    start = 0
    while start < len(text):
        end = text.find(" ", start + 1)
        end = len(text) if end < 0 else end
        yield text[start:end]
        start = end


def _usage(
    step: Mapping[str, Any], request: Request, blocks: Sequence[Block], letters: int
) -> Usage:
    """Return the usage that the script tells; what it does not tell is guessed from the letters."""
    told = step.get("used", {})
    prompt = sum(map(len, request.system)) + letters
    prompt += sum(len(each.name) + len(each.description) for each in request.tools)
    guess = Usage(input=max(1, prompt // 4), output=max(1, _size(blocks) // 4))
    return Usage(**{key: int(told.get(key, getattr(guess, key))) for key in Usage._fields})


def _size(content: Sequence[Block]) -> int:
    return sum(len(str(value)) for block in content for value in block.values())


def _reason(step: Mapping[str, Any], blocks: Sequence[Block]) -> StopReason:
    if "stop" in step:
        return StopReason(step["stop"])
    calls = any(block["type"] == "tool_use" for block in blocks)
    return StopReason.TOOLS if calls else StopReason.END


def _random() -> str:
    return os.urandom(6).hex()
