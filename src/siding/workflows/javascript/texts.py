"""Texts: template literals, what is added to a text, values inside of texts."""

from siding.workflows.javascript.escapes import inside_quotes, quoted
from siding.workflows.javascript.kinds import INT, STR
from siding.workflows.javascript.layout import Code, Group, flat
from siding.workflows.javascript.translator import Translator
from siding.workflows.javascript.values import ADD, Value, atom, binary

_LONG = 60


def as_text(t: Translator, value: Value) -> Value:
    """Return what JavaScript makes of a value in a text."""
    if value.kind == STR:
        return value
    if value.kind == INT:
        return Value(
            code=("str", Group(opening="(", items=(value.code,), closing=")")),
            kind=STR,
            is_pure=value.is_pure,
        )
    return t.helper("text", value.code)._replace(kind=STR, is_pure=value.is_pure)


def formatted(t: Translator, texts: list[str], values: list[Value]) -> Value:
    """Return an f-string, in a line for each line of the text."""
    is_pure = all(value.is_pure for value in values)
    if not values:
        return _lines([quoted(line) for line in _split(texts[0])], is_pure=True)
    pieces = [value if value.kind == INT else as_text(t, value) for value in values]
    inside = [_in_braces(piece.code) for piece in pieces]
    if any(code is None for code in inside):
        return _added(t, texts, values)
    ended = [""]
    for code, text in zip([None, *inside], texts, strict=True):
        if code is not None:
            ended[-1] += f"\0{code}\1"
        first, *more = text.split("\n")
        ended[-1] += _escaped(first)
        for line in more:
            ended[-1] += "\\n"
            ended.append(_escaped(line))
    if not ended[-1]:
        ended.pop()
    return _lines([_literal(line) for line in ended], is_pure=is_pure)


def _escaped(text: str) -> str:
    return inside_quotes(text).replace("{", "{{").replace("}", "}}")


def _literal(line: str) -> str:
    if "\0" not in line:
        return '"' + line.replace("{{", "{").replace("}}", "}") + '"'
    return 'f"' + line.replace("\0", "{").replace("\1", "}") + '"'


def _split(text: str) -> list[str]:
    return text.splitlines(keepends=True) if text and "\r" not in text else [text]


def _lines(literals: list[str], *, is_pure: bool) -> Value:
    if len(literals) == 1:
        return atom(literals[0], STR, is_pure=is_pure)
    items: tuple[Code, ...] = tuple((literal,) for literal in literals)
    group = Group(opening="(", items=items, closing=")", separator="")
    return Value(code=(group,), kind=STR, is_pure=is_pure)


def _in_braces(code: Code) -> str | None:
    """Return code as it can stand in an f-string of Python 3.11; None if it cannot."""
    text = flat(code)
    if "\\" in text or "\n" in text or "#" in text or len(text) > _LONG or "lambda" in text:
        return None
    if '"' in text:
        if "'" in text:
            return None
        text = text.replace('"', "'")
    return f" {text}" if text.startswith("{") else text


def _added(t: Translator, texts: list[str], values: list[Value]) -> Value:
    parts: list[Code] = [(quoted(texts[0]),)] if texts[0] else []
    for value, text in zip(values, texts[1:], strict=True):
        parts.append(as_text(t, value).at(ADD))
        if text:
            parts.append((quoted(text),))
    is_pure = all(value.is_pure for value in values)
    found = Value(code=parts[0], kind=STR, level=ADD if len(parts) > 1 else 10, is_pure=is_pure)
    for part in parts[1:]:
        found = binary(found.code, "+", part, ADD, STR, is_pure=is_pure)
    return found
