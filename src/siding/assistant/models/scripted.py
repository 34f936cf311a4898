"""A model whose answers are written down, and which says so. For demos, tests and dry runs."""

import asyncio
import json
import os
import re
from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from siding.assistant.loop.model import (
    Block,
    BlockEnded,
    Ended,
    Folding,
    InputDelta,
    Limits,
    Message,
    ModelError,
    ModelEvent,
    Request,
    Started,
    StopReason,
    TextDelta,
    ThinkingDelta,
    Trouble,
    Usage,
)
from siding.ground.errors import SidingError, UsageError
from siding.ground.files.regular import read_bytes
from siding.ground.namedtuples import NamedTuple

# -- The script of the scripted model: which answer a conversation gets. Pure ----------------------
#
# The choice depends on the conversation alone, so a process that resumes one gets the same answers.
# See docs/reference/agent-models.md for the format.


_REMINDER = "<system-reminder>"  # a text that the loop adds to a message: no prompt
_CONDITIONS = {"prompt", "match", "turn", "system"}
_CONTENT = {
    *("thinking", "text", "tools", "blocks", "wait", "pace", "used", "stop"),
    *("fail", "times", "after", "begun", "status"),
}
_OF_STEP = {"results", "lacks", "otherwise"}
_TOP = {"answers", "otherwise", "limits", "prices"}


class Chosen(NamedTuple):
    """What the model is to say next. `at`: the keys and numbers that lead to it in the script."""

    step: Mapping[str, Any]
    at: tuple[str | int, ...]


class AskedTurn(NamedTuple):
    """Where a conversation stands."""

    prompt: str
    number: int  # of prompts so far, 1 for the first
    answered: int  # how many answers the model has given since
    results: str  # what the tools that it called last have returned


def check(document: object, name: str) -> Mapping[str, Any]:
    """Return a script. Raises UsageError if it is none."""
    if not isinstance(document, dict) or not isinstance(document.get("answers", []), list):
        raise UsageError(
            f"{name}: a script has a list of `answers`, and may have `otherwise`",
            hint="answers: [{match: hello, text: Hello}]",
        )
    _known(document, _TOP, name)
    for at, answer in enumerate(document.get("answers", ())):
        _check_answer(answer, f"{name}: answer {at + 1}")
    if "otherwise" in document:
        _check_step(document["otherwise"], f"{name}: otherwise", _CONTENT)
    return document


def _check_answer(answer: object, where: str) -> None:
    if isinstance(answer, dict) and "steps" in answer:
        _known(answer, _CONDITIONS | {"steps"}, where)
        steps = answer["steps"]
        if not isinstance(steps, list) or not steps:
            raise UsageError(f"{where}: `steps` should be a list")
        for at, step in enumerate(steps):
            _check_step(step, f"{where}, step {at + 1}", _CONTENT | _OF_STEP)
    else:
        _check_step(answer, where, _CONTENT | _CONDITIONS)
    for key in ("match", "system"):
        _check_pattern(answer, key, where)


def _check_step(step: object, where: str, allowed: set[str]) -> None:
    _known(step, allowed, where)
    assert isinstance(step, dict)
    for key in ("results", "lacks"):
        _check_pattern(step, key, where)
    for tool in step.get("tools", ()):
        if not isinstance(tool, dict) or len(tool) != 1:
            raise UsageError(f"{where}: a tool should be {{NAME: INPUT}}", hint="{Read: {path: a}}")
    for key, words in (("fail", Trouble), ("stop", StopReason)):
        if key in step and step[key] not in list(words):
            raise UsageError(f"{where}: {key} should be one of {', '.join(words)}")
    if "used" in step:
        _known(step["used"], set(Usage._fields), f"{where}: used")
    if "otherwise" in step:
        _check_step(step["otherwise"], f"{where}, otherwise", _CONTENT)


def _known(given: object, known: set[str], where: str) -> None:
    if not isinstance(given, dict):
        raise UsageError(f"{where} should be an object, not {given!r}")
    if unknown := sorted(str(key) for key in given.keys() - known):
        raise UsageError(
            f"{where} has no {', '.join(unknown)}", hint=f"it may have {', '.join(sorted(known))}"
        )


def _check_pattern(given: Any, key: str, where: str) -> None:
    try:
        re.compile(str(given.get(key, "")))
    except re.error as error:
        raise UsageError(f"{where}: {key} is no regular expression: {error}") from None


def choose(script: Mapping[str, Any], turn: AskedTurn, system: Sequence[str]) -> Chosen | None:
    """Return what comes next in a conversation; None if the script has nothing for it."""
    for at, answer in enumerate(script.get("answers", ())):
        places = _fits(answer, turn, "\n".join(system))
        if places is None:
            continue
        steps = answer.get("steps", [answer])
        if turn.answered >= len(steps):
            continue
        return _step(steps[turn.answered], turn, places, ("answers", at, turn.answered))
    if "otherwise" not in script:
        return None
    return _step(script["otherwise"], turn, {"prompt": turn.prompt}, ("otherwise",))


def _fits(answer: Mapping[str, Any], turn: AskedTurn, system: str) -> dict[str, str] | None:
    """Return the places of an answer that fits, else None."""
    places = {"prompt": turn.prompt}
    if "turn" in answer and answer["turn"] != turn.number:
        return None
    if "prompt" in answer and str(answer["prompt"]).strip() != turn.prompt.strip():
        return None
    if "system" in answer and not re.search(str(answer["system"]), system):
        return None
    found = re.search(str(answer.get("match", "")), turn.prompt)
    return None if found is None else places | _groups(found)


def _step(
    step: Mapping[str, Any], turn: AskedTurn, places: dict[str, str], path: tuple[str | int, ...]
) -> Chosen:
    places = {**places, "results": turn.results}
    found = re.search(str(step.get("results", "")), turn.results)
    is_right = found is not None and not (
        "lacks" in step and re.search(str(step["lacks"]), turn.results)
    )
    if not is_right:
        step, path = step.get("otherwise", _WRONG), (*path, "otherwise")
    elif found is not None:
        named = {key: value for key, value in _groups(found).items() if not key.isdigit()}
        places |= named
    filled = {
        key: value if key == "otherwise" else _filled(value, places) for key, value in step.items()
    }
    return Chosen(filled, path)


_WRONG: Mapping[str, Any] = {"text": "The tools did not return what the script expects."}


def _groups(found: "re.Match[str]") -> dict[str, str]:
    numbered = {str(at): group or "" for at, group in enumerate(found.groups(), 1)}
    return numbered | {key: value or "" for key, value in found.groupdict().items()}


def _filled(value: Any, places: Mapping[str, str]) -> Any:
    """Return a value in whose texts the places are filled."""
    if isinstance(value, str):
        return re.sub(r"\{(\w+)\}", lambda found: places.get(found[1], found[0]), value)
    if isinstance(value, list):
        return [_filled(each, places) for each in value]
    if isinstance(value, dict):
        return {key: _filled(each, places) for key, each in value.items()}
    return value


BEGINNING = AskedTurn("", 0, 0, "")


def turn_with(turn: AskedTurn, message: Message) -> AskedTurn:
    """Return where a conversation stands with one message more."""
    if message.role == "assistant":
        return turn._replace(answered=turn.answered + 1)
    results = "\n".join(_results(message.content))
    said = "\n".join(_said(message.content))
    if said or not results:
        return AskedTurn(said, turn.number + 1, 0, results)
    return turn._replace(results=results)


def _said(content: Sequence[Block]) -> Iterator[str]:
    for block in content:
        if block.get("type") == "text" and not block["text"].lstrip().startswith(_REMINDER):
            yield block["text"]


def _results(content: Sequence[Block]) -> Iterator[str]:
    for block in content:
        if block.get("type") == "tool_result":
            inner = block.get("content", "")
            if isinstance(inner, str):
                yield inner
            else:
                yield "\n".join(each.get("text", "") for each in inner)


# -- A model whose answers are written down, and which says so. For demos, tests and dry runs ------


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
            hint="scripted:PATH names such a script; its format: docs/reference/agent-models.md",
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
