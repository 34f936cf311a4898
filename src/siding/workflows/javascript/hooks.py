"""Calls of what a workflow has: agents, lanes, phases, the log."""

from siding.workflows.javascript.kinds import (
    ANY,
    INT,
    NULL,
    STR,
    TEXT,
    both,
    inner,
    list_of,
    promise_of,
)
from siding.workflows.javascript.layout import Code
from siding.workflows.javascript.nodes import (
    Call,
    Expression,
    Function,
    Name,
    Object,
    Property,
    Spread,
    Text,
)
from siding.workflows.javascript.texts import as_text
from siding.workflows.javascript.translator import Translator, refuse
from siding.workflows.javascript.values import LAMBDA, Value, called

OPTIONS = {
    "schema": "schema",
    "model": "model",
    "maxTokens": "max_tokens",
    "agentType": "agent_type",
    "isolation": "isolation",
    "allowedTools": "allowed_tools",
    "label": "label",
    "phase": "phase",
    "effort": "effort",
}
_SCRIPTS = (".js", ".mjs", ".ts")


def hook(t: Translator, name: str, node: Call) -> Value | None:
    """Translate a call of a hook; None if it is none."""
    arguments = node.arguments
    match name:
        case "agent":
            return _agent(t, arguments)
        case "parallel":
            return _parallel(t, arguments)
        case "pipeline":
            return _pipeline(t, arguments)
        case "workflow":
            return _workflow(t, node)
        case "phase" if len(arguments) == 1:
            return called("phase", t.value(arguments[0]).code, kind=NULL)
        case "log":
            return said(t, arguments)
        case _:
            return None


def said(t: Translator, arguments: tuple[Expression, ...]) -> Value:
    """Translate what is written to the log."""
    if any(isinstance(argument, Spread) for argument in arguments):
        raise refuse("`...` in what is logged")
    return called("log", *[as_text(t, t.value(one)).code for one in arguments], kind=NULL)


def _agent(t: Translator, arguments: tuple[Expression, ...]) -> Value:
    if not 1 <= len(arguments) <= 2 or isinstance(arguments[0], Spread):
        raise refuse(f"`agent` with {len(arguments)} arguments")
    prompt = t.value(arguments[0])
    options: list[Code] = []
    kind = TEXT
    if len(arguments) == 2:
        given = arguments[1]
        if isinstance(given, Object):
            options = [_option(t, each) for each in given.properties]
            plain = [each for each in given.properties if isinstance(each, Property)]
            has_schema = any(
                isinstance(each.key, Text) and each.key.value == "schema" for each in plain
            )
            kind = ANY if has_schema or len(plain) < len(given.properties) else TEXT
        else:
            options = [("**", *t.helper("options", t.value(given).code).code)]
            kind = ANY
    return called("agent", prompt.code, *options, kind=promise_of(kind))


def _option(t: Translator, each: Property | Spread) -> Code:
    if isinstance(each, Spread):
        return ("**", *t.helper("options", t.value(each.value).code).code)
    name = each.key.value if isinstance(each.key, Text) else ""
    if name not in OPTIONS:
        raise refuse(f"the option {name!r} of agent" if name else "an option with a computed name")
    return (f"{OPTIONS[name]}=", *t.value(each.value).code)


def _parallel(t: Translator, arguments: tuple[Expression, ...]) -> Value:
    if len(arguments) != 1:
        raise refuse(f"`parallel` with {len(arguments)} arguments")
    thunks = t.value(arguments[0])
    made = inner(thunks.kind)
    result = inner(made) if made.name == "function" else ANY
    settled = inner(result) if result.name == "promise" else result
    return called("parallel", thunks.code, kind=promise_of(list_of(both(settled, NULL))))


def _pipeline(t: Translator, arguments: tuple[Expression, ...]) -> Value:
    if not arguments or any(isinstance(argument, Spread) for argument in arguments):
        raise refuse("`pipeline` with such arguments")
    items = t.value(arguments[0])
    item = inner(items.kind) if items.kind.name == "list" else ANY
    before, stages = item, []
    for argument in arguments[1:]:
        if isinstance(argument, Function):
            stage = t.function(argument, "stage", (before, item, INT))
        else:
            stage = t.value(argument)
        result = inner(stage.kind) if stage.kind.name == "function" else ANY
        before = inner(result) if result.name == "promise" else result
        stages.append(stage.at(LAMBDA))
    kind = promise_of(list_of(both(before, NULL)))
    return called("pipeline", items.code, *stages, kind=kind)


def _workflow(t: Translator, node: Call) -> Value:
    arguments = node.arguments
    if not 1 <= len(arguments) <= 2:
        raise refuse(f"`workflow` with {len(arguments)} arguments")
    first = arguments[0]
    more: list[Code] = [t.value(argument).code for argument in arguments[1:]]
    if isinstance(first, Object):
        path = _script_path(first)
        if isinstance(path, Text) and path.value.endswith(_SCRIPTS):
            t.note(node.at, f"{path.value} is JavaScript, too: convert it, and name the .py here")
        code: Code = ("script_path=", *t.value(path).code)
        return called("workflow", code, *[("args=", *one) for one in more], kind=promise_of(ANY))
    name = t.value(first)
    if name.kind != STR:
        raise refuse("`workflow` whose name is not known to be a text")
    return called("workflow", name.code, *more, kind=promise_of(ANY))


def _script_path(node: Object) -> Expression:
    match node.properties:
        case [Property(key=Text(value="scriptPath"), value=path)]:
            return path
    raise refuse("`workflow` with more than a scriptPath")


def waits_for_all(node: Expression) -> bool:
    """Tell whether a call is over only when all functions that were given to it are."""
    return (
        isinstance(node, Call)
        and isinstance(node.function, Name)
        and node.function.name in {"parallel", "pipeline"}
    )
