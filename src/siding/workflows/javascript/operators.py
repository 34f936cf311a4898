"""Operators: those that do the same in Python, and helpers for those that do not.

Texts are among them: template literals, what is added to a text, values inside of texts.
"""

from siding.workflows.javascript.nodes import (
    Binary,
    Conditional,
    Expression,
    Name,
    Text,
    Unary,
    Word,
)
from siding.workflows.javascript.translator import Translator, refuse
from siding.workflows.javascript.values import (
    ADD,
    AND,
    ANY,
    BOOL,
    COMPARE,
    INT,
    MULTIPLY,
    NOT,
    NUM,
    NUMBERS,
    OR,
    SAME_TRUTH,
    SIGN,
    STR,
    TERNARY,
    Code,
    Group,
    Kind,
    Value,
    atom,
    binary,
    both,
    flat,
    inside_quotes,
    quoted,
)

_ARITHMETIC = {"-": ADD, "*": MULTIPLY, "/": MULTIPLY}
_TYPES = {
    "string": "isinstance({}, str)",
    "boolean": "isinstance({}, bool)",
    "function": "callable({})",
    "undefined": "{} is None",
    "object": "isinstance({}, (dict, list))",
    "number": "isinstance({}, (int, float)) and not isinstance({}, bool)",
}
_NO_ORDER = frozenset(["list", "object", "set", "map", "function", "null"])
_NULLISH = frozenset(["null", "undefined"])
_OPPOSITES = {" in ": " not in ", " is ": " is not ", " is not ": " is ", " == ": " != "}
_LONG = 60


def binary_value(t: Translator, node: Binary) -> Value:
    """Translate ``left sign right`` as a value."""
    match node.sign:
        case "+":
            return _plus(t, node)
        case "&&" | "||" | "??":
            return _choice(t, node)
        case "===" | "!==" | "==" | "!=":
            return _equal(t, node)
        case "<" | ">" | "<=" | ">=":
            left, right = t.value(node.left), t.value(node.right)
            if not _NO_ORDER.isdisjoint((left.kind.name, right.kind.name)):
                raise refuse(f"`{node.sign}` of what has no order")
            return _of(left, node.sign, right, COMPARE, BOOL)
        case "-" | "*" | "/":
            left, right = t.value(node.left), t.value(node.right)
            if node.sign == "*" and not {left.kind.name, right.kind.name} <= NUMBERS:
                return t.helper("times", left.code, right.code)._replace(kind=NUM)
            is_whole = node.sign == "*" and left.kind == right.kind == INT
            return _of(left, node.sign, right, _ARITHMETIC[node.sign], INT if is_whole else NUM)
        case "%":
            left, right = t.value(node.left), t.value(node.right)
            if left.kind == right.kind == INT:
                return _of(left, "%", right, MULTIPLY, INT)
            return t.helper("remainder", left.code, right.code)._replace(kind=NUM)
        case "in":
            left, right = t.value(node.left), t.value(node.right)
            if left.kind == STR and right.kind.name == "object":
                return _of(left, "in", right, COMPARE, BOOL)
            return t.helper("has", right.code, left.code)._replace(kind=BOOL)
        case "instanceof" if isinstance(node.right, Name) and node.right.name == "Error":
            left = t.value(node.left)
            code = ("isinstance(", *left.code, ", Exception)")
            return Value(code=code, kind=BOOL, is_pure=left.is_pure)
        case _:
            raise refuse(f"the operator {node.sign}")


def _of(left: Value, sign: str, right: Value, level: int, kind: Kind) -> Value:
    above = level + 1
    is_pure = left.is_pure and right.is_pure
    first = left.at(above if level == COMPARE else level)
    return binary(first, sign, right.at(above), level, kind, is_pure=is_pure)


def _plus(t: Translator, node: Binary) -> Value:
    parts: list[Expression] = []
    left: Expression = node
    while isinstance(left, Binary) and left.sign == "+":
        parts.insert(0, left.right)
        left = left.left
    parts.insert(0, left)
    found = t.value(parts[0])
    for at, part in enumerate(parts[1:], 1):
        if found.kind == STR:
            return _joined(t, found, parts[at:], parts[0] if at == 1 else None)
        right = t.value(part)
        if found.kind.name in NUMBERS and right.kind.name in NUMBERS:
            is_whole = found.kind == right.kind == INT
            found = _of(found, "+", right, ADD, INT if is_whole else NUM)
        elif right.kind == STR:
            found = formatted(t, ["", "", ""], [found, right])
        else:
            found = t.helper("plus", found.code, right.code)
    return found


def _joined(
    t: Translator, first: Value, rest: list[Expression], literal: Expression | None
) -> Value:
    """Return a text and what is added to it, as one f-string."""
    texts = [literal.value] if isinstance(literal, Text) else ["", ""]
    values = [] if isinstance(literal, Text) else [first]
    for part in rest:
        if isinstance(part, Text):
            texts[-1] += part.value
        else:
            values.append(t.value(part))
            texts.append("")
    return formatted(t, texts, values)


def _choice(t: Translator, node: Binary) -> Value:
    left, right = t.value(node.left), t.value(node.right)
    is_pure = left.is_pure and right.is_pure
    kind = both(left.kind, right.kind)
    if node.sign == "&&":
        if left.kind.name in SAME_TRUTH:
            return binary(left.at(AND), "and", right.at(AND), AND, kind, is_pure=is_pure)
        if left.is_pure:
            return _either(t.condition(node.left), right, left, kind)
        raise refuse("`&&` whose left side is not a simple value")
    if left.kind.name == "any" and right.kind.name in {"list", "object"}:
        kind = ANY
    if node.sign == "||":
        is_empty = right.text in {"[]", "{}"}
        if left.kind.name in SAME_TRUTH or is_empty:
            return binary(left.at(OR), "or", right.at(OR), OR, kind, is_pure=is_pure)
        if left.is_pure:
            return _either(t.condition(node.left), left, right, kind)
        if right.is_pure:
            return t.helper("either", left.code, right.code)._replace(kind=kind)
        raise refuse("`||` between two calls")
    if left.is_pure and (not right.is_pure or left.text.isidentifier()):
        test = Value(code=(*left.at(COMPARE + 1), " is not None"), kind=BOOL, level=COMPARE)
        return _either(test, left, right, kind)
    if right.is_pure:
        return t.helper("given", left.code, right.code)._replace(kind=kind)
    raise refuse("`??` between two calls")


def _either(test: Value, then: Value, otherwise: Value, kind: Kind) -> Value:
    code = (
        *then.at(TERNARY + 1),
        " if ",
        *test.at(TERNARY + 1),
        " else ",
        *otherwise.at(TERNARY),
    )
    is_pure = test.is_pure and then.is_pure and otherwise.is_pure
    return Value(code=code, kind=kind, level=TERNARY, is_pure=is_pure)


def conditional(t: Translator, node: Conditional) -> Value:
    """Translate ``test ? then : otherwise``."""
    test, then, otherwise = t.condition(node.test), t.value(node.then), t.value(node.otherwise)
    return _either(test, then, otherwise, both(then.kind, otherwise.kind))


def _equal(t: Translator, node: Binary) -> Value:
    is_not = node.sign[0] == "!"
    for side, other in ((node.left, node.right), (node.right, node.left)):
        if isinstance(side, Word):
            return _is_word(t, other, side.word, is_not=is_not, is_strict=len(node.sign) == 3)
        if isinstance(side, Unary) and side.sign == "typeof" and isinstance(other, Text):
            return _is_type(t, side, other.value, is_not=is_not)
    left, right = t.value(node.left), t.value(node.right)
    kinds = {left.kind.name, right.kind.name}
    if len(node.sign) == 2 and not (len(kinds) == 1 and kinds <= {"str", "int", "num"}):
        raise refuse(f"`{node.sign}`, which compares what is not of one type")
    if "str" in kinds or kinds <= NUMBERS:
        return _of(left, "!=" if is_not else "==", right, COMPARE, BOOL)
    found = t.helper("same", left.code, right.code)._replace(kind=BOOL)
    return negated(found) if is_not else found


def _is_word(t: Translator, node: Expression, word: str, *, is_not: bool, is_strict: bool) -> Value:
    value = t.value(node)
    if word in _NULLISH:
        if is_strict:
            t.note(node.at, f"`=== {word}` is `is None` here: null and undefined are both None")
    elif not is_strict:
        raise refuse("`==` with true or false")
    python = {"true": "True", "false": "False"}.get(word, "None")
    sign = "is not" if is_not else "is"
    return binary(value.at(COMPARE + 1), sign, (python,), COMPARE, BOOL, is_pure=value.is_pure)


def _is_type(t: Translator, node: Unary, name: str, *, is_not: bool) -> Value:
    if name not in _TYPES:
        raise refuse(f"`typeof` and {name!r}")
    value = t.value(node.value)
    if name == "number" and not value.is_pure:
        raise refuse("`typeof` of what is not a simple value")
    if name == "object":
        t.note(node.at, "`typeof … === 'object'` is not true of None here, as it is of null")
    if name == "undefined":
        t.note(node.at, "`typeof … === 'undefined'` is `is None` here, which null is, too")
    text = _TYPES[name].replace("{}", value.text)
    level = {"undefined": COMPARE, "number": AND}.get(name, 10)
    found = Value(code=(text,), kind=BOOL, level=level, is_pure=value.is_pure)
    return negated(found) if is_not else found


def negated(value: Value) -> Value:
    """Return `not value`."""
    for at, part in enumerate(value.code):
        if value.level == COMPARE and isinstance(part, str) and part in _OPPOSITES:
            return value._replace(code=(*value.code[:at], _OPPOSITES[part], *value.code[at + 1 :]))
    return Value(code=("not ", *value.at(NOT)), kind=BOOL, level=NOT, is_pure=value.is_pure)


def truth(t: Translator, node: Expression) -> Value:
    """Translate what is used as a condition."""
    if isinstance(node, Binary) and node.sign in {"&&", "||"}:
        left, right = t.condition(node.left), t.condition(node.right)
        word, level = ("and", AND) if node.sign == "&&" else ("or", OR)
        is_pure = left.is_pure and right.is_pure
        kind = both(left.kind, right.kind)
        return binary(left.at(level), word, right.at(level), level, kind, is_pure=is_pure)
    if isinstance(node, Unary) and node.sign == "!":
        return negated(t.condition(node.value))
    value = t.value(node)
    if value.kind.name in SAME_TRUTH:
        return value
    return t.helper("truthy", value.code)._replace(kind=BOOL, is_pure=value.is_pure)


def unary(t: Translator, node: Unary) -> Value:
    """Translate an operator before its operand."""
    match node.sign:
        case "!":
            return negated(t.condition(node.value))
        case "-":
            value = t.value(node.value)
            return Value(code=("-", *value.at(SIGN)), kind=NUM, level=SIGN, is_pure=value.is_pure)
        case "+":
            return t.helper("number", t.value(node.value).code)._replace(kind=NUM)
        case _:
            raise refuse(f"the operator {node.sign}")


# -- Texts -----------------------------------------------------------------------------------------


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
