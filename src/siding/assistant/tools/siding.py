"""The tool Siding: the record of the agent's own task, and questions that outlive the run."""

import json
from collections.abc import Callable, Mapping
from typing import Any

from siding.assistant.tools.place import Place
from siding.assistant.tools.port import Call, Result, Use
from siding.assistant.tools.spec import choice, failed, number, several, spec_of
from siding.assistant.tools.spec import text as text_field
from siding.ground.errors import counted
from siding.ground.storage.fields import mapping, mappings, strings, text, whole

USUAL_WAIT_S = 300
LONGEST_WAIT_S = 3600
_NOT_ANSWERED = "not_answered"
_READING = frozenset({"status", "steps", "patch"})
_NEEDED = {"patch": "step", "note": "text"}

Fields = Mapping[str, Any]


class Siding:
    """Passes what a run may ask to its broker."""

    def __init__(self, place: Place) -> None:
        self._place = place
        self.spec = spec_of(
            __file__,
            "Siding",
            {
                "action": choice("what to do", *_REQUESTS),
                "text": text_field("the question, message or note"),
                "step": number("the step whose patch is shown", minimum=1),
                "limit": number("how many steps (20)", minimum=1, maximum=200),
                "options": several("answers that a person can choose", text_field("an answer")),
                "timeout_s": number(
                    f"seconds to wait for the answer ({USUAL_WAIT_S})",
                    minimum=0,
                    maximum=LONGEST_WAIT_S,
                ),
                "session": text_field("a question that was asked before"),
            },
            "action",
        )

    def is_safe(self, given: Mapping[str, Any]) -> bool:
        return given["action"] in _READING

    def use(self, given: Mapping[str, Any]) -> Use:
        action = given["action"]
        text = f"Siding {action} {given.get('text', '')[:120]}".rstrip()
        return Use(action, text=text, in_conversation=True)

    async def run(self, call: Call) -> Result:
        given = call.given
        action = given["action"]
        if problem := _problem(given):
            return failed(f"{problem} Nothing was done.")
        broker = self._place.broker
        if broker is None:
            return failed("This agent is not in a run of Siding, so there is nothing to ask.")
        session = given.get("session", "")
        try:
            if action == "ask" and not session:
                put = await broker.request(_question(given))
                if put.get("ok") is not True:
                    return _refused(mapping(put.get("error")), session)
                session = text(mapping(put.get("result")).get("session"))
            answer = await broker.request(_REQUESTS[action]({**given, "session": session}))
        except OSError as error:
            return failed(f"The broker of the run does not answer: {error.strerror or error}")
        if answer.get("ok") is not True:
            return _refused(mapping(answer.get("error")), session)
        result = mapping(answer.get("result"))
        return Result(_SHOWN[action](result), shown=action, details={"result": dict(result)})


def _problem(given: Fields) -> str:
    action = given["action"]
    needed = _NEEDED.get(action, "")
    if needed and not given.get(needed):
        return f"{action} needs `{needed}`."
    if action == "ask" and not (given.get("text") or given.get("session")):
        return "ask needs `text`, or the `session` of a question that was asked."
    if len(given.get("options", ())) == 1:
        return "A question has two options or more, or none."
    return ""


def _question(given: Fields) -> Fields:
    """Return the request that puts a question and does not wait: so its session is known."""
    item: dict[str, Any] = {"id": 1, "title": given["text"]}
    if given.get("options"):
        item["options"] = [{"value": each, "label": each} for each in given["options"]]
    else:
        item["kind"] = "text"
    question = {"task": "a question of the agent", "source": "Siding", "items": [item]}
    return {"do": "ask", "question": question, "wait": False}


def _wait(given: Fields) -> Fields:
    timeout_s = given.get("timeout_s", USUAL_WAIT_S)
    return {"do": "ask", "session": given["session"], "timeout_s": timeout_s}


_REQUESTS: dict[str, Callable[[Fields], Fields]] = {
    "status": lambda _given: {"do": "status"},
    "steps": lambda given: {"do": "steps", "limit": given.get("limit", 20)},
    "patch": lambda given: {"do": "patch", "step": given["step"]},
    "checkpoint": lambda given: {"do": "checkpoint", "message": given.get("text", "")},
    "note": lambda given: {"do": "note", "text": given["text"]},
    "ask": _wait,
}


def _refused(error: Fields, session: str) -> Result:
    if error.get("code") == _NOT_ANSWERED:
        said = f"There is no answer yet. The question stays open: its session is {session}"
        return Result(said, shown="no answer yet", details={"session": session})
    hint = text(error.get("hint"))
    return failed(f"Siding refused: {text(error.get('message'))}" + (f" ({hint})" if hint else ""))


def _steps(result: Fields) -> str:
    lines = [_step(each) for each in mappings(result.get("steps"))]
    return "\n".join(lines) or "No step is recorded yet."


def _step(step: Fields) -> str:
    what = " ".join(strings(step.get("command"))) or text(step.get("message"))
    changed = counted(whole(step.get("files")), "file")
    words = (str(whole(step.get("step"))), text(step.get("kind")), text(step.get("status")))
    return " · ".join(each for each in (*words, changed, what[:200]) if each)


def _patch(result: Fields) -> str:
    note = "\n(The patch is longer.)" if result.get("cut") else ""
    return (text(result.get("patch")) or "The step changed nothing.") + note


def _checkpoint(result: Fields) -> str:
    step = result.get("step")
    return "Nothing has changed, so nothing was recorded." if step is None else f"step {step}"


def _answer(result: Fields) -> str:
    decision = next(iter(mappings(mapping(result.get("output")).get("decisions"))), {})
    note = text(decision.get("note"))
    return text(decision.get("chosen")) + (f"\nThe person adds: {note}" if note else "")


def _noted(_result: Fields) -> str:
    return "It was noted."


def _status(result: Fields) -> str:
    return json.dumps(result, indent=1, ensure_ascii=False, default=str)


_SHOWN: dict[str, Callable[[Fields], str]] = {
    "status": _status,
    "steps": _steps,
    "patch": _patch,
    "checkpoint": _checkpoint,
    "note": _noted,
    "ask": _answer,
}
