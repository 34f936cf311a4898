"""What Claude Code says of its tools, as events: the calls, what they change, what it asks.

Its own texts are kept as they are; a path stays as the model has written it.
"""

from collections.abc import Mapping
from typing import Any

from siding.agents.talking.port import Asked, Choice, Edit, PlanStep, ToolEnded, ToolStarted
from siding.ground.storage.fields import mapping, mappings, strings, text, whole

QUESTION = "AskUserQuestion"
_SHELL = "Bash"
# What a call does, in the words of ACP. Helpers, skills and plans are "think".
_KINDS = {
    **dict.fromkeys(("Read", "NotebookRead", "ReadMcpResourceTool"), "read"),
    **dict.fromkeys(("Edit", "MultiEdit", "Write", "NotebookEdit"), "edit"),
    **dict.fromkeys(("Glob", "Grep", "LS", "ToolSearch"), "search"),
    **dict.fromkeys((_SHELL, "BashOutput", "KillShell", "Monitor", "PowerShell"), "execute"),
    **dict.fromkeys(("Task", "Agent", "TodoWrite", "TaskCreate", "TaskUpdate"), "think"),
    **dict.fromkeys(("WebFetch", "WebSearch"), "fetch"),
}
# The field of a call's input that tells a person most, first that is there.
_TELLS = ("description", "command", "file_path", "notebook_path", "pattern", "query", "url", "path")
_LONGEST_TITLE = 200
# The name of a session's own rule: what was allowed once is not asked again until it ends.
_RULES = "addRules"


def started(block: Mapping[str, Any], inside: str) -> ToolStarted:
    """Return the event for a block of type `tool_use`."""
    name, given = text(block.get("name")), mapping(block.get("input"))
    return ToolStarted(
        call=text(block.get("id")),
        name=name,
        title=_title(name, given),
        kind=_KINDS.get(name, "other"),
        input=given,
        edits=edits_of(name, given),
        inside=inside,
    )


def ended(block: Mapping[str, Any], result: Mapping[str, Any]) -> ToolEnded:
    """Return the event for a block of type `tool_result`; `result` is what is said beside it."""
    return ToolEnded(
        call=text(block.get("tool_use_id")),
        failed=block.get("is_error") is True,
        text=_text_of(block.get("content")),
        edits=_edits_done(result),
    )


def asked(request_id: str, request: Mapping[str, Any], cwd: str) -> Asked:
    """Return the event for a request of type `can_use_tool`."""
    name, given = text(request.get("tool_name")), mapping(request.get("input"))
    is_shell = name == _SHELL
    return Asked(
        ask=request_id,
        title=text(request.get("title")) or _title(name, given),
        tool=name,
        call=text(request.get("tool_use_id")),
        kind=_KINDS.get(name, "other"),
        command=text(given.get("command")) if is_shell else "",
        cwd=cwd if is_shell else "",
        reason=text(given.get("description")) if is_shell else text(given.get("plan")),
        input=given,
        edits=edits_of(name, given),
        choices=_choices(given) if name == QUESTION else (),
        can_always=session_rules(request) is not None,
    )


def edits_of(name: str, given: Mapping[str, Any]) -> tuple[Edit, ...]:
    """Return what the input of a call says that it changes."""
    path = text(given.get("file_path"))
    match name:
        case "Write":
            return (Edit(path=path, new=text(given.get("content"))),)
        case "Edit":
            return (_edit(path, given),)
        case "MultiEdit":
            return tuple(_edit(path, each) for each in mappings(given.get("edits")))
        case "NotebookEdit":
            cell = text(given.get("notebook_path"))
            return (Edit(path=cell, new=text(given.get("new_source"))),)
    return ()


def session_rules(request: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the suggestion that allows the same again until the session ends; None for none.

    The client suggests its rule for a file in the workspace (`localSettings`); in the session it
    holds as well and writes nothing. The other suggestions allow far more than what was asked: all
    edits, or a whole directory.
    """
    for each in mappings(request.get("permission_suggestions")):
        if each.get("type") == _RULES and each.get("behavior") == "allow":
            return {**each, "destination": "session"}
    return None


def answers(given: Mapping[str, Any], choices: Mapping[str, str]) -> dict[str, Any]:
    """Return the input of a question with what a person has chosen."""
    known = {text(each.get("question")) for each in mappings(given.get("questions"))}
    return {**given, "answers": {each: said for each, said in choices.items() if each in known}}


class Tasks:
    """The model's list of what there is to do. Older versions say it whole, newer ones by task."""

    def __init__(self) -> None:
        self._by_id: dict[str, PlanStep] = {}

    def told(self, call: ToolStarted, result: Mapping[str, Any]) -> tuple[PlanStep, ...] | None:
        """Take the result of a call; return the list if the call has changed it."""
        match call.name:
            case "TodoWrite":
                return tuple(
                    PlanStep(text=text(each.get("content")), status=_status(each, "pending"))
                    for each in mappings(call.input.get("todos"))
                )
            case "TaskCreate":
                task = mapping(result.get("task"))
                subject = text(task.get("subject")) or text(call.input.get("subject"))
                self._by_id[text(task.get("id"))] = PlanStep(text=subject, status="pending")
            case "TaskUpdate":
                self._update(call.input)
            case _:
                return None
        return tuple(self._by_id.values())

    def _update(self, given: Mapping[str, Any]) -> None:
        key = text(given.get("taskId"))
        task = self._by_id.get(key)
        if given.get("status") == "deleted":
            self._by_id.pop(key, None)
        elif task is not None:
            subject = text(given.get("subject")) or task.text
            self._by_id[key] = PlanStep(text=subject, status=_status(given, task.status))


def _status(given: Mapping[str, Any], usual: str) -> str:
    return text(given.get("status")) or usual


def _title(name: str, given: Mapping[str, Any]) -> str:
    if name == QUESTION:
        questions = [text(each.get("question")) for each in mappings(given.get("questions"))]
        return " ".join(questions)[:_LONGEST_TITLE]
    about = next((text(given[field]) for field in _TELLS if given.get(field)), "")
    if name == _SHELL:
        return (text(given.get("command")) or name)[:_LONGEST_TITLE]
    return f"{name} {' '.join(about.split())}".strip()[:_LONGEST_TITLE]


def _choices(given: Mapping[str, Any]) -> tuple[Choice, ...]:
    return tuple(
        Choice(
            question=text(each.get("question")),
            options=tuple(
                (text(option.get("label")), text(option.get("description")))
                for option in mappings(each.get("options"))
            ),
            several=each.get("multiSelect") is True,
        )
        for each in mappings(given.get("questions"))
    )


def _edit(path: str, given: Mapping[str, Any]) -> Edit:
    return Edit(path=path, old=text(given.get("old_string")), new=text(given.get("new_string")))


def _edits_done(result: Mapping[str, Any]) -> tuple[Edit, ...]:
    """Return what a tool says that it has changed: a patch, or a new file as a whole."""
    path = text(result.get("filePath"))
    if not path or "structuredPatch" not in result:
        return ()
    hunks = mappings(result["structuredPatch"])
    if hunks:
        return (Edit(path=path, patch=_patch(path, hunks)),)
    if result.get("type") == "create":
        return (Edit(path=path, new=text(result.get("content"))),)
    return ()


def _patch(path: str, hunks: list[Mapping[str, Any]]) -> str:
    lines = [f"--- {path}", f"+++ {path}"]
    for hunk in hunks:
        old = f"-{whole(hunk.get('oldStart'))},{whole(hunk.get('oldLines'))}"
        new = f"+{whole(hunk.get('newStart'))},{whole(hunk.get('newLines'))}"
        lines += [f"@@ {old} {new} @@", *strings(hunk.get("lines"))]
    return "\n".join(lines) + "\n"


def _text_of(content: object) -> str:
    if isinstance(content, str):
        return content
    said = [text(each.get("text")) for each in mappings(content) if each.get("type") == "text"]
    return "\n".join(said)
