"""The script of the scripted model: which answer a conversation gets. Pure.

The choice depends on the conversation alone, so a process that resumes one gets the same answers.
See docs/agent-models.md for the format.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from siding.assistant.loop.messages import Block, Message, Usage
from siding.assistant.loop.model import StopReason, Trouble
from siding.ground.errors import UsageError
from siding.ground.namedtuples import NamedTuple

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
