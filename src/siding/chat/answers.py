"""A person's answer to what an agent asks, in the words of the decision as which it was put."""

from collections.abc import Mapping, Sequence
from typing import Any

from siding.chat.always_kept import AlwaysScope
from siding.chat.asks import NO, OPTIONS, YES
from siding.chat.conversations import Task, listed_everywhere
from siding.chat.store import Chat, Chats
from siding.chat.talk import OpenAsk, Talk
from siding.ground.errors import NotFound, UsageError
from siding.ground.namedtuples import NamedTuple
from siding.ground.storage.fields import text
from siding.record.place.project import Project


class AskOf(NamedTuple):
    """An ask, and where it is."""

    task: Task
    chat: Chat
    ask: OpenAsk


_ITEM = 1  # of a permission, which is all there is


def find_ask(talk: Talk, named: str | None) -> OpenAsk:
    """Return the ask that is meant: the only one, or by its decision's or its own id."""
    asks = talk.asks
    if named is not None:
        asks = tuple(each for each in asks if named in (each.ask, each.decision))
        asks = asks or tuple(each for each in talk.asks if each.decision.startswith(named))
    if not asks:
        what = "it asks nothing" if named is None else f"it asks nothing that is called {named!r}"
        raise NotFound(f"{what} now", hint="`siding chat show` says what it asked")
    if len(asks) > 1:
        ids = ", ".join(each.decision or each.ask for each in asks)
        raise UsageError(f"it asks several things: {ids}", hint="siding chat answer ASK …")
    return asks[0]


def ask_anywhere(project: Project, named: str) -> "AskOf | None":
    """Return the open ask of this name in whichever conversation of a project has it.

    `named` is its decision's id, or the agent's own one. None if there is none, or several.
    """
    found = [
        AskOf(task, Chats(project.task_layout(task.id)).find(each.id), ask)
        for task, chats in listed_everywhere(project)
        for each in chats
        for ask in each.talk.asks
        if named in (ask.ask, ask.decision)
    ]
    return found[0] if len(found) == 1 else None


def permission(
    ask: OpenAsk, *, allows: bool, always: AlwaysScope | None = None, reason: str = ""
) -> list[dict[str, Any]]:
    """Return the answer to whether it may do something; `always`: for how long, beside this once.

    Raises UsageError.
    """
    if ask.questions:
        raise UsageError(
            "it asks a question, and no permission",
            hint=f"--choose one of: {', '.join(_labels(ask.questions[0])) or 'TEXT'}",
        )
    if always is not None and always not in ask.always:
        offered = " or ".join(f"`--always {each}`" for each in ask.always)
        also = f"; {offered} is there" if offered else ""
        raise UsageError(
            f"this cannot be allowed always, {_HOW_LONG[always]}: no narrow rule says what it does",
            hint=f"--yes allows it once{also}",
        )
    value = (YES if always is None else OPTIONS[always]) if allows else NO
    note = {"note": reason} if reason else {}
    return [{"id": _ITEM, "chosen": value, **note}]


_HOW_LONG = {
    AlwaysScope.CONVERSATION: "in this conversation",
    AlwaysScope.TASK: "for this task",
    AlwaysScope.AGENT: "for this agent",
}


def scope_named(said: bool | str) -> AlwaysScope | None:
    """Return for how long somebody allows it; None for once. Raises UsageError."""
    if not said:
        return None
    if said is True:
        return AlwaysScope.CONVERSATION
    try:
        return AlwaysScope(said)
    except ValueError:
        raise UsageError(
            f"nothing is allowed always for {said!r}", hint=f"one of: {', '.join(AlwaysScope)}"
        ) from None


def choices(ask: OpenAsk, chosen: Sequence[str]) -> list[dict[str, Any]]:
    """Return the answer to its questions: a label or its number, `2=LABEL` for the second one."""
    questions = ask.questions
    if not questions:
        raise UsageError("it asks for a permission", hint="--yes, --always or --no")
    found: dict[int, list[str]] = {}
    for each in chosen:
        number, said = _parted(each, len(questions))
        found.setdefault(number, []).append(_value(questions[number - 1], said))
    missing = [n for n in range(1, len(questions) + 1) if n not in found]
    if missing:
        question = text(questions[missing[0] - 1].get("question"))
        raise UsageError(
            f"question {missing[0]} is not answered: {question!r}",
            hint=f"--choose {missing[0]}=LABEL",
        )
    return [_document(questions[number - 1], number, found[number]) for number in sorted(found)]


def _parted(said: str, questions: int) -> tuple[int, str]:
    number, equals, rest = said.partition("=")
    if equals and number.isdecimal() and 1 <= int(number) <= questions:
        return int(number), rest
    if questions > 1:
        raise UsageError(f"{said!r} does not say which question", hint="--choose 1=… --choose 2=…")
    return 1, said


def _value(question: Mapping[str, Any], said: str) -> str:
    labels = _labels(question)
    if len(labels) < 2:
        return said
    folded = [each.casefold() for each in labels]
    if said.casefold() in folded:
        return str(folded.index(said.casefold()) + 1)
    if said.isdecimal() and 1 <= int(said) <= len(labels):
        return said
    raise UsageError(f"{said!r} is none of its options", hint=f"one of: {', '.join(labels)}")


def _document(question: Mapping[str, Any], number: int, values: list[str]) -> dict[str, Any]:
    if question.get("several") is True:
        return {"id": number, "chosen": values}
    if len(values) > 1:
        raise UsageError(f"question {number} takes one answer, and {len(values)} were given")
    return {"id": number, "chosen": values[0]}


def _labels(question: Mapping[str, Any]) -> list[str]:
    options = question.get("options")
    return [str(each[0]) for each in options] if isinstance(options, list) else []
