"""Methods of lists, texts, sets and maps."""

from collections.abc import Callable, Mapping

from siding.ground.errors import counted
from siding.workflows.javascript.functions import mapped, predicate, with_function
from siding.workflows.javascript.nodes import Expression, Number, Spread, Text
from siding.workflows.javascript.operators import as_text
from siding.workflows.javascript.translator import Translator, refuse
from siding.workflows.javascript.values import (
    ADD,
    ANY,
    ATOM,
    BOOL,
    COMPARE,
    MULTIPLY,
    NUM,
    STR,
    Kind,
    Value,
    atom,
    binary,
    both,
    called,
    inner,
    list_of,
    method,
    quoted,
)

Arguments = tuple[Expression, ...]
Method = Callable[[Translator, Value, Arguments], Value]


def _map(t: Translator, value: Value, arguments: Arguments) -> Value:
    return mapped(t, value, _one(arguments, "map"))


def _filter(t: Translator, value: Value, arguments: Arguments) -> Value:
    return predicate(t, value, _one(arguments, "filter"), "[{}]", keeps=True)


def _some(t: Translator, value: Value, arguments: Arguments) -> Value:
    return predicate(t, value, _one(arguments, "some"), "any({})")


def _every(t: Translator, value: Value, arguments: Arguments) -> Value:
    return predicate(t, value, _one(arguments, "every"), "all({})")


def _find(t: Translator, value: Value, arguments: Arguments) -> Value:
    return predicate(t, value, _one(arguments, "find"), "next(({}), None)", keeps=True)._replace(
        kind=ANY
    )


def _flat(t: Translator, value: Value, arguments: Arguments) -> Value:
    if arguments and not (isinstance(arguments[0], Number) and arguments[0].value == 1):
        raise refuse("`flat` deeper than one level")
    kind = inner(value.kind)
    is_of_lists = kind.name == "list"
    return t.helper("flat", value.code)._replace(
        kind=list_of(inner(kind) if is_of_lists else ANY), is_pure=value.is_pure
    )


def _flat_map(t: Translator, value: Value, arguments: Arguments) -> Value:
    return _flat(t, mapped(t, value, _one(arguments, "flatMap")), ())


def _join(t: Translator, value: Value, arguments: Arguments) -> Value:
    separator = t.value(arguments[0]) if arguments else atom('","', STR, is_pure=True)
    if inner(value.kind) == STR and separator.kind == STR:
        return method(separator, "join", value.code, kind=STR)._replace(is_pure=value.is_pure)
    found = t.helper("joined", value.code, separator.code)
    return found._replace(kind=STR, is_pure=value.is_pure)


def _slice(t: Translator, value: Value, arguments: Arguments) -> Value:
    parts = [t.value(argument) for argument in arguments]
    if len(parts) > 2 or not all(part.is_pure for part in parts):
        raise refuse("`slice` with such arguments")
    ends: list[str] = [part.text for part in parts] or [""]
    if ends == ["0"]:
        ends = [""]
    code = (*value.at(ATOM), "[", ends[0], ":", ends[1] if len(ends) > 1 else "", "]")
    kind = value.kind if value.kind.name in {"list", "str"} else ANY
    return Value(code=code, kind=kind, is_pure=value.is_pure)


def _includes(t: Translator, value: Value, arguments: Arguments) -> Value:
    wanted = t.value(_one(arguments, "includes"))
    is_pure = value.is_pure and wanted.is_pure
    if wanted.kind == STR:
        return binary(
            wanted.at(COMPARE + 1), "in", value.at(COMPARE + 1), COMPARE, BOOL, is_pure=is_pure
        )
    found = t.helper("includes", value.code, wanted.code)
    return found._replace(kind=BOOL, is_pure=is_pure)


def _index_of(t: Translator, value: Value, arguments: Arguments) -> Value:
    wanted = t.value(_one(arguments, "indexOf"))
    found = t.helper("index_of", value.code, wanted.code)
    return found._replace(kind=NUM, is_pure=value.is_pure and wanted.is_pure)


def _concat(t: Translator, value: Value, arguments: Arguments) -> Value:
    others = [t.value(argument) for argument in arguments]
    if value.kind.name == "list" and all(other.kind.name == "list" for other in others):
        kind, found = value.kind, value
        for other in others:
            kind = list_of(both(inner(kind), inner(other.kind)))
            found = binary(found.at(ADD), "+", other.at(ADD + 1), ADD, kind, is_pure=False)
        return found
    return t.helper("concat", value.code, *[other.code for other in others])


def _reduce(t: Translator, value: Value, arguments: Arguments) -> Value:
    function = with_function(t, arguments[0], (ANY, inner(value.kind)), 2) if arguments else None
    if function is None:
        raise refuse("`reduce` without a function")
    t.module("functools")
    begin = [t.value(argument).code for argument in arguments[1:]]
    return called("functools.reduce", function.code, value.code, *begin)


def _sort(t: Translator, value: Value, arguments: Arguments) -> Value:
    if not arguments:
        return t.helper("sort", value.code)._replace(kind=value.kind)
    of = inner(value.kind)
    function = with_function(t, _one(arguments, "sort"), (of, of), 2)
    return t.helper("sort", value.code, function.code)._replace(kind=value.kind)


def _reverse(t: Translator, value: Value, arguments: Arguments) -> Value:
    raise refuse("`reverse`, whose list is another one afterwards; `xs[::-1]` is a new one")


def _split(t: Translator, value: Value, arguments: Arguments) -> Value:
    if len(arguments) != 1 or not isinstance(arguments[0], Text):
        raise refuse("`split` by other than a text")
    if not arguments[0].value:
        return called("list", value.code, kind=list_of(STR))
    return method(value, "split", (quoted(arguments[0].value),), kind=list_of(STR))


def _replace(t: Translator, value: Value, arguments: Arguments, *, count: str) -> Value:
    if len(arguments) != 2 or not isinstance(arguments[0], Text):
        raise refuse("`replace` of other than a text")
    new = t.value(arguments[1])
    if new.kind != STR or (isinstance(arguments[1], Text) and "$" in arguments[1].value):
        raise refuse("`replace` by other than a text without `$`")
    if not isinstance(arguments[1], Text):
        raise refuse("`replace` by a text that may have `$` in it")
    old = (quoted(arguments[0].value),)
    more = ((count,),) if count else ()
    return method(value, "replace", old, new.code, *more, kind=STR)


def _pad(t: Translator, value: Value, arguments: Arguments, *, name: str) -> Value:
    letter = arguments[1] if len(arguments) > 1 else Text(value=" ", at=0)
    if not arguments or not isinstance(letter, Text) or len(letter.value) != 1:
        raise refuse("a padding of more than one letter")
    return method(value, name, t.value(arguments[0]).code, (quoted(letter.value),), kind=STR)


def _repeat(t: Translator, value: Value, arguments: Arguments) -> Value:
    count = t.value(_one(arguments, "repeat"))
    return binary(value.at(MULTIPLY), "*", count.at(MULTIPLY + 1), MULTIPLY, STR, is_pure=False)


def _plain(name: str, kind: Kind, takes: int) -> Method:
    """Return the translation of a method that Python has, too, with text arguments."""

    def translate(t: Translator, value: Value, arguments: Arguments) -> Value:
        values = [t.value(argument) for argument in arguments]
        if len(values) != takes or not all(one.kind == STR for one in values):
            raise refuse(f"`{name}` with such arguments")
        found = method(value, name, *[one.code for one in values], kind=kind)
        return found._replace(is_pure=value.is_pure and all(one.is_pure for one in values))

    return translate


def _starts(name: str) -> Method:
    def translate(t: Translator, value: Value, arguments: Arguments) -> Value:
        wanted = t.value(_one(arguments, name))
        return method(value, name, wanted.code, kind=BOOL)._replace(is_pure=value.is_pure)

    return translate


def _entries(t: Translator, value: Value, arguments: Arguments) -> Value:
    if value.kind.name == "map":
        return called("list", method(value, "items").code, kind=list_of(list_of(ANY)))
    if value.kind.name != "list":
        raise refuse("`entries` of what is not known to be a list")
    return called("list", called("enumerate", value.code).code, kind=list_of(list_of(ANY)))


def _at(t: Translator, value: Value, arguments: Arguments) -> Value:
    raise refuse("`at`")


def _to_string(t: Translator, value: Value, arguments: Arguments) -> Value:
    if arguments:
        raise refuse("`toString` with an argument")
    return as_text(t, value)


METHODS: Mapping[str, Method] = {
    "map": _map,
    "filter": _filter,
    "some": _some,
    "every": _every,
    "find": _find,
    "flat": _flat,
    "flatMap": _flat_map,
    "join": _join,
    "slice": _slice,
    "includes": _includes,
    "indexOf": _index_of,
    "concat": _concat,
    "reduce": _reduce,
    "sort": _sort,
    "reverse": _reverse,
    "split": _split,
    "replace": lambda t, value, arguments: _replace(t, value, arguments, count="1"),
    "replaceAll": lambda t, value, arguments: _replace(t, value, arguments, count=""),
    "padStart": lambda t, value, arguments: _pad(t, value, arguments, name="rjust"),
    "padEnd": lambda t, value, arguments: _pad(t, value, arguments, name="ljust"),
    "repeat": _repeat,
    "trim": _plain("strip", STR, 0),
    "trimStart": _plain("lstrip", STR, 0),
    "trimEnd": _plain("rstrip", STR, 0),
    "toUpperCase": _plain("upper", STR, 0),
    "toLowerCase": _plain("lower", STR, 0),
    "startsWith": _starts("startswith"),
    "endsWith": _starts("endswith"),
    "toString": _to_string,
    "entries": _entries,
    "at": _at,
}


def collection_method(t: Translator, value: Value, name: str, arguments: Arguments) -> Value | None:
    """Translate a method of a Set or a Map, both of which are dictionaries here."""
    if value.kind.name not in {"set", "map"}:
        return None
    given = [t.value(argument) for argument in arguments]
    match name, given:
        case "has", [key]:
            return binary(
                key.at(COMPARE + 1),
                "in",
                value.at(COMPARE + 1),
                COMPARE,
                BOOL,
                is_pure=value.is_pure and key.is_pure,
            )
        case "get", [key] if value.kind.name == "map":
            return method(value, "get", key.code)._replace(is_pure=value.is_pure and key.is_pure)
        case (("keys" | "values"), []) if value.kind.name == "set" or name == "keys":
            return called("list", value.code, kind=list_of(ANY))
        case "values", []:
            return called("list", method(value, "values").code, kind=list_of(ANY))
        case "entries", [] if value.kind.name == "map":
            return called("list", method(value, "items").code, kind=list_of(list_of(ANY)))
        case _:
            raise refuse(f"`{name}` of a {value.kind.name}")


def _one(arguments: Arguments, name: str) -> Expression:
    if len(arguments) != 1 or isinstance(arguments[0], Spread):
        raise refuse(f"`{name}` with {counted(len(arguments), 'argument')}")
    return arguments[0]
