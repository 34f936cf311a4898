"""Expressions that change something: statements in Python."""

from siding.workflows.javascript.nodes import (
    Array,
    Assign,
    Binary,
    Call,
    Expression,
    Index,
    Member,
    Name,
    Number,
    Spread,
    Unary,
    Update,
)
from siding.workflows.javascript.operators import binary_value
from siding.workflows.javascript.translator import Translator, refuse
from siding.workflows.javascript.values import ATOM, STR, Code, Group, Value, laid_out, quoted

_GROWING = frozenset(["push", "unshift"])
_OF_COLLECTIONS = frozenset(["add", "set", "delete", "clear"])


def is_act(node: Expression) -> bool:
    """Tell whether an expression is a statement in Python."""
    if isinstance(node, Assign | Update) or (isinstance(node, Unary) and node.sign == "delete"):
        return True
    if not isinstance(node, Call) or not isinstance(node.function, Member):
        return False
    return node.function.name in _GROWING | _OF_COLLECTIONS | {"forEach"}


def act(t: Translator, node: Expression) -> list[str]:
    """Return the lines of an expression that changes something."""
    match node:
        case Assign():
            return _assign(t, node)
        case Update():
            one = Number(value=1.0, at=node.at)
            return _assign(
                t, Assign(target=node.target, sign=f"{node.sign[0]}=", value=one, at=node.at)
            )
        case Unary(value=Member() as gone):
            value = t.value(gone.value)
            return [f"{_flat(value.at(ATOM))}.pop({quoted(gone.name)}, None)"]
        case Unary(value=Index() as gone):
            value, key = t.value(gone.value), t.value(gone.key)
            if key.kind != STR:
                raise refuse("`delete` of what is not known to be a name")
            return [f"{_flat(value.at(ATOM))}.pop({key.text}, None)"]
        case Call(function=Member() as method) if not node.is_optional and not method.is_optional:
            return _called(t, method, node.arguments)
    raise refuse("such a change")


def _flat(code: Code) -> str:
    return laid_out(code, 0)


def _assign(t: Translator, node: Assign) -> list[str]:
    value = _new_value(t, node)
    match node.target:
        case Name(name=name):
            python = settable(t, name)
            return [_line((f"{python} = ", *value.code))]
        case Member(value=of, name=name, is_optional=False):
            if name == "length":
                raise refuse("`length` that is set")
            return [_line((*t.value(of).at(ATOM), f"[{quoted(name)}] = ", *value.code))]
        case Index(value=of, key=index, is_optional=False):
            held, key = t.value(of), t.value(index)
            if key.kind == STR:
                return [_line((*held.at(ATOM), "[", *key.code, "] = ", *value.code))]
            return [_line(t.helper("put", held.code, key.code, value.code).code)]
        case Array(items=items) if node.sign == "=":
            names = [settable(t, one.name) for one in items if isinstance(one, Name)]
            values = node.value.items if isinstance(node.value, Array) else ()
            if len(names) == len(items) == len(values):
                parts = [t.value(one).text for one in values]
                return [f"{', '.join(names)} = {', '.join(parts)}"]
    raise refuse("such an assignment")


def _new_value(t: Translator, node: Assign) -> Value:
    if node.sign == "=":
        return t.value(node.value)
    sign = node.sign[:-1]
    if not t.value(node.target).is_pure:
        raise refuse(f"`{node.sign}` to what is not a simple name")
    return binary_value(t, Binary(left=node.target, sign=sign, right=node.value, at=node.at))


def settable(t: Translator, name: str) -> str:
    """Return the Python name of a variable that is set here."""
    binding = t.scopes.find(name)
    if binding is None or not binding.python.isidentifier() or binding.is_const:
        raise refuse(f"{name!r} is not a variable that can be set")
    if binding.frame is not t.scopes.frame:
        t.scopes.frame.outer.add(binding.python)
    return binding.python


def _line(code: Code) -> str:
    return laid_out(code, 0)


def _called(t: Translator, method: Member, arguments: tuple[Expression, ...]) -> list[str]:
    value = t.value(method.value)
    if not value.is_pure:
        raise refuse(f"`{method.name}` of what is not a simple name")
    held = value.at(ATOM)
    if value.kind.name in {"set", "map"}:
        return _of_collection(t, value, method.name, arguments)
    match method.name, arguments:
        case "push", (Spread(value=more),):
            return [_line((*held, ".extend", _group(t.value(more))))]
        case "push", (_,):
            return [_line((*held, ".append", _group(t.value(arguments[0]))))]
        case "push", _ if arguments and not any(isinstance(one, Spread) for one in arguments):
            lines = [t.value(one) for one in arguments]
            return [_line((*held, ".append", _group(one))) for one in lines]
        case "unshift", (one,) if not isinstance(one, Spread):
            return [_line((*held, ".insert(0, ", *t.value(one).code, ")"))]
    raise refuse(f"`{method.name}` of what is not known, or with such arguments")


def _group(value: Value) -> Group:
    return Group(opening="(", items=(value.code,), closing=")")


def _of_collection(
    t: Translator, value: Value, name: str, arguments: tuple[Expression, ...]
) -> list[str]:
    held, given = value.text, [t.value(argument) for argument in arguments]
    match name, given:
        case "add", [key] if value.kind.name == "set":
            return [f"{held}[{key.text}] = True"]
        case "set", [key, new] if value.kind.name == "map":
            return [_line((f"{held}[{key.text}] = ", *new.code))]
        case "delete", [key]:
            return [f"{held}.pop({key.text}, None)"]
        case "clear", []:
            return [f"{held}.clear()"]
    raise refuse(f"`{name}` of a {value.kind.name}")
