"""What Codex asks over its protocol, and what it is answered.

Tried with 0.169: ``acceptForSession`` is taken although `availableDecisions` does not name it, and
no file is written for it. ``acceptWithExecpolicyAmendment`` is never the answer: it writes a rule.
"""

from collections.abc import Callable, Mapping
from typing import Any

from siding.agents.codex.thread_items import (
    Item,
    edits_of,
    kind_of_command,
    line_for_the_shell,
    tool_started,
)
from siding.agents.talking.port import Answer, Asked, Choice
from siding.ground.storage.fields import mapping, mappings, said, strings, text

_Params = Mapping[str, Any]
_YES, _NO = "yes", "no"
_SESSION = "session"


def asked(method: str, params: _Params, ask: str, item: Item) -> Asked | None:
    """Return what is asked; `item` is the one that it is about, if that is known.

    None if this is nothing that a person is asked.
    """
    found = _ASKED.get(method)
    return None if found is None else found(params, ask, item)


def answered(method: str, params: _Params, answer: Answer) -> Mapping[str, Any]:
    """Return what goes back for the answer of a person, or of the policy."""
    match method:
        case "item/permissions/requestApproval":
            granted = mapping(params.get("permissions")) if answer.allows else {}
            return {"permissions": granted, "scope": _SESSION if answer.always else "turn"}
        case "item/tool/requestUserInput":
            return {"answers": _answers(params, answer)}
        case "mcpServer/elicitation/request":
            return _elicited(params, answer)
    if not answer.allows:
        return {"decision": "decline"}
    return {"decision": "acceptForSession" if answer.always else "accept"}


def takes_reason(method: str, params: _Params) -> bool:
    """Tell whether it is about what the model does, which goes on and can be told why not."""
    return method.endswith("/requestApproval") or bool(_tool_of(params))


# -- May it? ---------------------------------------------------------------------------------------


def _command(params: _Params, ask: str, _item: Item) -> Asked:
    line = line_for_the_shell(text(params.get("command")))
    host = text(mapping(params.get("networkApprovalContext")).get("host"))
    title, kind = line, kind_of_command(params.get("commandActions"))
    types = params.get("kind") == "writeStdin"
    if host:
        title, kind = f"reach {host}", "fetch"
    elif types:
        title = f"type into a command that runs: {line}"
    return Asked(
        ask=ask,
        title=title,
        tool="shell",
        call=text(params.get("itemId")),
        kind=kind,
        command=line,
        cwd=text(params.get("cwd")),
        reason=text(params.get("reason")),
        input=said(command=line, host=host),
        can_always=True,
        gives_more=bool(host) or types,
    )


def _file_change(params: _Params, ask: str, item: Item) -> Asked:
    started = tool_started(item)
    root = text(params.get("grantRoot"))
    return Asked(
        ask=ask,
        title=f"write below {root}" if root else started.title if started else "edit files",
        tool="apply_patch",
        call=text(params.get("itemId")),
        kind=started.kind if started else "edit",
        reason=text(params.get("reason")),
        input=said(**(started.input if started else {}), grantRoot=root),
        edits=edits_of(item),
        can_always=True,
        gives_more=bool(root),
    )


def _permissions(params: _Params, ask: str, _item: Item) -> Asked:
    wanted = mapping(params.get("permissions"))
    files = mapping(wanted.get("fileSystem"))
    names = [
        *(f"write {path}" for path in strings(files.get("write"))),
        *(f"read {path}" for path in strings(files.get("read"))),
        *(["reach the network"] if mapping(wanted.get("network")).get("enabled") else []),
    ]
    return Asked(
        ask=ask,
        title=", ".join(names) or "more permissions",
        tool="request_permissions",
        call=text(params.get("itemId")),
        cwd=text(params.get("cwd")),
        reason=text(params.get("reason")),
        input=wanted,
        can_always=True,
        gives_more=True,
    )


# -- What does a person choose? --------------------------------------------------------------------


def _question(params: _Params, ask: str, _item: Item) -> Asked:
    questions = mappings(params.get("questions"))
    choices = tuple(
        Choice(
            question=text(each.get("question")),
            options=tuple(
                (text(option.get("label")), text(option.get("description")))
                for option in mappings(each.get("options"))
            ),
        )
        for each in questions
    )
    return Asked(
        ask=ask,
        title=choices[0].question if choices else "a question",
        tool="request_user_input",
        call=text(params.get("itemId")),
        choices=choices,
    )


def _answers(params: _Params, answer: Answer) -> Mapping[str, Any]:
    """Return the answers by the questions' ids; a question without one is left out."""
    found = {}
    for each in mappings(params.get("questions")):
        chosen = answer.choices.get(text(each.get("question")))
        if answer.allows and chosen is not None:
            found[text(each.get("id"))] = {"answers": [chosen]}
    return found


def _elicitation(params: _Params, ask: str, _item: Item) -> Asked:
    """A server of tools asks: with a form, an address to open, or for a yes alone.

    As such a server's question Codex asks as well whether one of its tools may run.
    """
    server, message = text(params.get("serverName")), text(params.get("message"))
    address, tool = text(params.get("url")), _tool_of(params)
    if tool:
        meta = mapping(params.get("_meta"))
        return Asked(
            ask=ask,
            title=message,
            tool=f"{server}.{tool}",
            input=mapping(meta.get("tool_params")),
            can_always=_SESSION in strings(meta.get("persist")),
        )
    return Asked(
        ask=ask,
        title=f"{server}: {message}",
        tool=server,
        kind="fetch" if address else "other",
        input=said(url=address),
        choices=tuple(
            Choice(question=_label(name, field), options=_options(field))
            for name, field in _fields(params).items()
        ),
    )


def _tool_of(params: _Params) -> str:
    """Return the tool that may run or not; "" if a server itself asks something."""
    meta = mapping(params.get("_meta"))
    is_call = meta.get("codex_approval_kind") == "mcp_tool_call"
    return text(meta.get("tool_name")) if is_call else ""


def _fields(params: _Params) -> Mapping[str, Mapping[str, Any]]:
    properties = mapping(mapping(params.get("requestedSchema")).get("properties"))
    return {name: mapping(field) for name, field in properties.items()}


def _label(name: str, field: Mapping[str, Any]) -> str:
    return text(field.get("title") or field.get("description") or name)


def _options(field: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    if field.get("type") == "boolean":
        return ((_YES, ""), (_NO, ""))
    named = [text(each.get("const")) for each in mappings(field.get("oneOf"))]
    return tuple((each, "") for each in (*strings(field.get("enum")), *named))


def _elicited(params: _Params, answer: Answer) -> Mapping[str, Any]:
    if not answer.allows:
        return {"action": "decline", "content": None}
    content = {}
    for name, field in _fields(params).items():
        chosen = answer.choices.get(_label(name, field))
        if chosen is not None:
            content[name] = _typed(chosen, text(field.get("type")))
    kept = {"_meta": {"persist": _SESSION}} if answer.always and _tool_of(params) else {}
    return {"action": "accept", "content": content, **kept}


def _typed(chosen: str, kind: str) -> Any:
    """Return what was typed as the form wants it; as it is if it cannot be that."""
    if kind == "boolean":
        return chosen == _YES
    try:
        return {"integer": int, "number": float}.get(kind, str)(chosen)
    except ValueError:
        return chosen


_ASKED: Mapping[str, Callable[[_Params, str, Item], Asked]] = {
    "item/commandExecution/requestApproval": _command,
    "item/fileChange/requestApproval": _file_change,
    "item/permissions/requestApproval": _permissions,
    "item/tool/requestUserInput": _question,
    "mcpServer/elicitation/request": _elicitation,
}
