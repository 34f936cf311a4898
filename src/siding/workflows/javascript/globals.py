"""Calls of what a script has without an import.

Of a workflow: agents, lanes, phases, the log. Of JavaScript: Math, JSON, Object, Array and others.
"""

from collections.abc import Sequence

from siding.ground.errors import counted
from siding.workflows.javascript.functions import single, with_function
from siding.workflows.javascript.nodes import (
    Call,
    Expression,
    Function,
    Member,
    Name,
    New,
    Number,
    Object,
    Property,
    Spread,
    Text,
    Word,
)
from siding.workflows.javascript.operators import as_text
from siding.workflows.javascript.targets import parameter
from siding.workflows.javascript.translator import Translator, refuse
from siding.workflows.javascript.values import (
    ADD,
    ANY,
    ATOM,
    BOOL,
    ERROR,
    INT,
    LAMBDA,
    MAP,
    NULL,
    NUM,
    SET,
    STR,
    TERNARY,
    TEXT,
    Code,
    Group,
    Kind,
    Value,
    binary,
    both,
    called,
    inner,
    list_of,
    promise_of,
)

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
GLOBALS = frozenset(["Math", "JSON", "Object", "Array", "Promise", "console", "budget", "Number"])
_ERRORS = frozenset(["Error", "TypeError", "RangeError"])


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
        raise refuse(f"`agent` with {counted(len(arguments), 'argument')}")
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
        raise refuse(f"`parallel` with {counted(len(arguments), 'argument')}")
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
        raise refuse(f"`workflow` with {counted(len(arguments), 'argument')}")
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


# -- What JavaScript has ---------------------------------------------------------------------------


def plain_call(t: Translator, name: str, arguments: tuple[Expression, ...]) -> Value | None:
    """Translate a call of a function of JavaScript's own; None if it is none."""
    if len(arguments) != 1 or isinstance(arguments[0], Spread):
        return None
    match name:
        case "String":
            return as_text(t, t.value(arguments[0]))
        case "Number":
            return t.helper("number", t.value(arguments[0]).code)._replace(kind=NUM)
        case "Boolean":
            value = t.condition(arguments[0])
            return value if value.kind == BOOL else called("bool", value.code, kind=BOOL)
        case _:
            return None


def global_call(t: Translator, name: str, does: str, node: Call) -> Value:
    """Translate a call such as ``Math.max(…)``."""
    arguments = node.arguments
    match name, does:
        case "Math", _:
            return _math(t, does, arguments)
        case "JSON", "stringify":
            return _stringify(t, arguments)
        case "JSON", "parse" if len(arguments) == 1:
            return called(f"{t.module('json')}.loads", t.value(arguments[0]).code)
        case "Object", _ if len(arguments) == 1:
            return _object(t, does, arguments[0])
        case "Object", "fromEntries":
            pass
        case "Array", "isArray" if len(arguments) == 1:
            value = t.value(arguments[0])
            code = ("isinstance(", *value.code, ", list)")
            return Value(code=code, kind=BOOL, is_pure=value.is_pure)
        case "Array", "from":
            return _array_from(t, arguments)
        case "Promise", "all" if len(arguments) == 1:
            return _all(t, arguments[0])
        case "Promise", "resolve" if len(arguments) == 1:
            raise refuse("`Promise.resolve`")
        case "console", "log" | "info" | "warn" | "error":
            return said(t, arguments)
        case "budget", "spent" | "remaining" if not arguments:
            return called(f"budget.{does}", kind=NUM)
        case "Number", "isInteger" if len(arguments) == 1:
            value = t.value(arguments[0])
            return t.helper("whole", value.code)._replace(kind=BOOL, is_pure=value.is_pure)
    raise refuse(f"`{name}.{does}`")


def _math(t: Translator, does: str, arguments: tuple[Expression, ...]) -> Value:
    if does == "random":
        raise refuse("`Math.random`: take a seed from args, and `random.Random(seed)`")
    values = [_spread(t, argument) for argument in arguments]
    kind = INT if values and all(value.kind == INT for value in values) else NUM
    is_pure = all(value.is_pure for value in values)
    codes = [value.code for value in values]
    match does, len(codes):
        case (("max" | "min"), count) if count:
            return called(does, *codes, kind=kind, is_pure=is_pure)
        case (("floor" | "ceil"), 1):
            name = f"{t.module('math')}.{does}"
            return called(name, *codes, kind=NUM, is_pure=is_pure)
        case "trunc", 1:
            return called(f"{t.module('math')}.trunc", *codes, kind=NUM, is_pure=is_pure)
        case "round", 1:
            half = binary(values[0].at(ADD), "+", ("0.5",), ADD, NUM, is_pure=is_pure)
            return called(f"{t.module('math')}.floor", half.code, kind=NUM, is_pure=is_pure)
        case "abs", 1:
            return called("abs", *codes, kind=kind, is_pure=is_pure)
        case "sqrt", 1:
            return called(f"{t.module('math')}.sqrt", *codes, kind=NUM, is_pure=is_pure)
        case "pow", 2:
            return called("pow", *codes, kind=NUM, is_pure=is_pure)
        case _:
            raise refuse(f"`Math.{does}`")


def _spread(t: Translator, node: Expression) -> Value:
    if isinstance(node, Spread):
        value = t.value(node.value)
        kind = inner(value.kind) if value.kind.name == "list" else ANY
        return Value(code=("*", *value.at(ATOM)), kind=kind, is_pure=value.is_pure)
    return t.value(node)


def _stringify(t: Translator, arguments: tuple[Expression, ...]) -> Value:
    value = t.value(arguments[0]) if arguments else None
    if value is not None and value.kind.name in {"set", "map", "error", "promise", "function"}:
        raise refuse(f"`JSON.stringify` of a {value.kind.name}")
    match arguments[1:]:
        case () if value is not None:
            return t.helper("to_json", value.code)._replace(kind=STR, is_pure=value.is_pure)
        case (Word(word="null" | "undefined"), Number() as indent) if value is not None:
            found = t.helper("to_json", value.code, (str(int(indent.value)),))
            return found._replace(kind=STR, is_pure=value.is_pure)
    raise refuse("`JSON.stringify` with a function or such an indent")


def _object(t: Translator, does: str, argument: Expression) -> Value:
    value = t.value(argument)
    if value.kind.name in {"set", "map"} and does != "fromEntries":
        raise refuse(f"`Object.{does}` of a {value.kind.name}")
    match does:
        case "keys":
            return t.helper("keys", value.code)._replace(kind=list_of(STR), is_pure=value.is_pure)
        case "values":
            item = t.scopes.free("entry")
            each: Code = (f"{item}[1] for {item} in ", *t.helper("entries", value.code).code)
            made = Group(opening="[", items=(each,), closing="]", separator="")
            return Value(code=(made,), kind=list_of(ANY))
        case "entries":
            return t.helper("entries", value.code)._replace(kind=list_of(list_of(ANY)))
        case "fromEntries":
            if value.kind.name == "map":
                return called("dict", value.code)
            return t.helper("from_entries", value.code)
        case "freeze":
            return value
        case _:
            raise refuse(f"`Object.{does}`")


def _array_from(t: Translator, arguments: tuple[Expression, ...]) -> Value:
    match arguments:
        case (Object(properties=(Property(key=Text(value="length"), value=length),)), *more):
            return _of_length(t, t.value(length), more)
        case (one,) if not isinstance(one, Spread):
            value = t.value(one)
            if value.kind.name == "map":
                raise refuse("`Array.from` of a map; `[...map]` is known")
            kind = list_of(inner(value.kind) if value.kind.name == "list" else ANY)
            return called("list", value.code, kind=kind, is_pure=value.is_pure)
        case _:
            raise refuse("`Array.from` with such arguments")


def _of_length(t: Translator, length: Value, more: Sequence[Expression]) -> Value:
    if not more:
        return Value(code=("[None] * ", *length.at(ATOM)), kind=list_of(ANY), level=ADD + 1)
    callback = more[0]
    if not isinstance(callback, Function) or len(callback.parameters) > 2:
        raise refuse("`Array.from` with such a function")
    expression = single(callback)
    source: Code = called("range", length.code).code
    if expression is not None and not callback.is_async:
        undo, loop = t.snapshot(), t.new_loop()
        hoisted = len(t.scopes.frame.hoisted)
        with t.block():
            for each in callback.parameters[:1]:
                parameter(t, each, ANY, loop)
            name = "_"
            if len(callback.parameters) == 2:
                name, _lines = parameter(t, callback.parameters[1], INT, loop)
            made = t.value(expression)
        if loop not in t.scopes.captured and len(t.scopes.frame.hoisted) == hoisted:
            item = (*made.at(TERNARY), f" for {name} in ", *source)
            group = Group(opening="[", items=(item,), closing="]", separator="")
            return Value(code=(group,), kind=list_of(made.kind))
        undo()
    function = with_function(t, callback, (ANY, INT), -1)
    name = t.scopes.free("index")
    given = ["None", name][: len(callback.parameters)]
    head = function.at(ATOM)
    code: Code = (*head, f"({', '.join(given)}) for {name} in ", *source)
    group = Group(opening="[", items=(code,), closing="]", separator="")
    return Value(code=(group,), kind=list_of(inner(function.kind)))


def _all(t: Translator, argument: Expression) -> Value:
    with t.contained():
        value = t.value(argument)
    kind = inner(value.kind) if value.kind.name == "list" else ANY
    settled: Kind = inner(kind) if kind.name == "promise" else ANY
    t.module("asyncio")
    return called("asyncio.gather", ("*", *value.at(ATOM)), kind=promise_of(list_of(settled)))


def new(t: Translator, node: New) -> Value:
    """Translate ``new X(…)``: errors, sets and maps."""
    name = getattr(node.function, "name", "") if not isinstance(node.function, Member) else ""
    arguments = node.arguments
    if name in _ERRORS:
        said_ = [as_text(t, t.value(argument)).code for argument in arguments[:1]]
        return called("Exception", *said_, kind=ERROR)
    if name in {"Set", "Map"} and len(arguments) <= 1:
        kind = SET if name == "Set" else MAP
        if not arguments:
            return Value(code=("{}",), kind=kind)
        function = "dict.fromkeys" if name == "Set" else "dict"
        return called(function, t.value(arguments[0]).code, kind=kind)
    if name == "Date":
        raise refuse("`new Date`: a workflow has no clock; take the time from args")
    raise refuse(f"`new {name or '…'}`")
