"""Read JavaScript expressions, by the precedence of their operators."""

from collections.abc import Callable
from dataclasses import replace
from typing import NoReturn, TypeVar

from siding.workflows.javascript.nodes import (
    Array,
    Assign,
    Await,
    Binary,
    Call,
    Conditional,
    Expression,
    Function,
    Index,
    Member,
    Name,
    New,
    Number,
    Object,
    Parameter,
    Property,
    Spread,
    Statement,
    Template,
    Text,
    Unary,
    Unsupported,
    Update,
    Word,
)
from siding.workflows.javascript.tokens import Places, Token, TokenKind

_T = TypeVar("_T")
_BRACKETS = {"(": ")", "[": "]", "{": "}"}
_LEVELS = {
    sign: level
    for level, signs in enumerate(
        [
            "??",
            "||",
            "&&",
            "|",
            "^",
            "&",
            "== != === !==",
            "< > <= >= in instanceof",
            "<< >> >>>",
            "+ -",
            "* / %",
            "**",
        ]
    )
    for sign in signs.split()
}
_ASSIGNING = frozenset("= += -= *= /= %= **= &&= ||= ??= <<= >>= >>>= &= |= ^=".split())
_PREFIXES = frozenset(["!", "-", "+", "~", "typeof", "delete", "void"])
_WORDS = frozenset(["true", "false", "null", "undefined"])
_RESERVED = frozenset(
    """
    break case catch class const continue debugger default do else enum export extends finally for
    if import in instanceof let return super switch this throw try var while with yield
    """.split()
)
_OPERATORS = frozenset([TokenKind.SIGN, TokenKind.NAME])


class Reader:
    """Tokens of a source, and which one is next."""

    def __init__(self, source: str, tokens: list[Token], places: Places) -> None:
        self.source = source
        self.tokens = tokens
        self.places = places
        self.position = 0
        self.without_in = False  # in the head of a `for`

    @property
    def now(self) -> Token:
        return self.tokens[self.position]

    def take(self) -> Token:
        """Return the next token and go on behind it. The end stays."""
        token = self.tokens[self.position]
        if token.kind is not TokenKind.END:
            self.position += 1
        return token

    def is_at(self, text: str) -> bool:
        """Tell whether a sign or a word is next."""
        token = self.tokens[self.position]
        return token.text == text and token.kind in {TokenKind.SIGN, TokenKind.NAME}

    def has(self, text: str) -> bool:
        """Take a sign or a word if it is next."""
        if self.is_at(text):
            self.position += 1
            return True
        return False

    def expect(self, text: str) -> None:
        """Take a sign or a word. Raises JavaScriptError if it is not next."""
        if not self.has(text):
            self.refuse(self.now, f"; {text!r} is missing")

    def expect_end(self) -> None:
        if self.now.kind is not TokenKind.END:
            self.refuse(self.now)

    def refuse(self, token: Token, why: str = "") -> NoReturn:
        """Raise a JavaScriptError for a token that is not expected."""
        what = "the end of the file" if token.kind is TokenKind.END else repr(token.text[:30])
        raise self.places.error(f"{what} is not expected here{why}", token.start)

    def property_name(self) -> str:
        """Take a name behind a dot."""
        token = self.take()
        if token.kind is not TokenKind.NAME:
            self.refuse(token)
        return token.text

    def in_any_case(self, read: Callable[[], _T]) -> _T:
        """Read what stands in brackets: `in` is an operator there."""
        before, self.without_in = self.without_in, False
        try:
            return read()
        finally:
            self.without_in = before

    def closing(self, position: int) -> int:
        """Return where the bracket at a position is closed. The scanner has paired them."""
        depth = 0
        for at in range(position, len(self.tokens)):
            token = self.tokens[at]
            if token.kind is TokenKind.SIGN:
                depth += (token.text in _BRACKETS) - (token.text in _BRACKETS.values())
            if depth == 0:
                return at
        return len(self.tokens) - 2


# -- Expressions -----------------------------------------------------------------------------------


class ExpressionReader(Reader):
    """Reads expressions. What reads the statements of a function's block comes from below."""

    def block(self) -> tuple[Statement, ...]:
        raise NotImplementedError

    def expression(self) -> Expression:
        """Read an expression up to a comma."""
        if (arrow := self._arrow()) is not None:
            return arrow
        at = self.now.start
        left = self._conditional()
        if self.now.text in _ASSIGNING and self.now.kind is TokenKind.SIGN:
            sign = self.take().text
            return Assign(target=left, sign=sign, value=self.expression(), at=at)
        return left

    def _conditional(self) -> Expression:
        at = self.now.start
        test = self._binary(0)
        if not self.has("?"):
            return test
        then = self.expression()
        self.expect(":")
        return Conditional(test=test, then=then, otherwise=self.expression(), at=at)

    def _binary(self, level: int) -> Expression:
        at = self.now.start
        left = self._unary()
        while True:
            sign = self.now.text
            found = _LEVELS.get(sign, -1) if self.now.kind in _OPERATORS else -1
            if found < level or (sign == "in" and self.without_in):
                return left
            self.take()
            right = self._binary(found if sign == "**" else found + 1)
            left = Binary(left=left, sign=sign, right=right, at=at)

    def _unary(self) -> Expression:
        token = self.now
        if token.text in _PREFIXES and token.kind in _OPERATORS:
            self.take()
            return Unary(sign=token.text, value=self._unary(), at=token.start)
        if token.text == "await" and token.kind is TokenKind.NAME:
            self.take()
            return Await(value=self._unary(), at=token.start)
        if token.text in {"++", "--"}:
            self.take()
            return Update(sign=token.text, target=self._unary(), at=token.start)
        value = self._postfix(self._operand(), token.start)
        if self.now.text in {"++", "--"} and not self.now.after_newline:
            return Update(sign=self.take().text, target=value, at=token.start)
        return value

    def _postfix(self, value: Expression, at: int) -> Expression:
        while True:
            if self.has("."):
                value = Member(value=value, name=self.property_name(), is_optional=False, at=at)
            elif self.has("?."):
                value = self._optional(value, at)
            elif self.now.text == "(":
                value = Call(function=value, arguments=self._arguments(), is_optional=False, at=at)
            elif self.has("["):
                value = Index(value=value, key=self._in_brackets(), is_optional=False, at=at)
            elif self.now.kind is TokenKind.TEMPLATE:
                self.take()
                value = Unsupported(why="a tagged template", at=at)
            else:
                return value

    def _optional(self, value: Expression, at: int) -> Expression:
        if self.now.text == "(":
            return Call(function=value, arguments=self._arguments(), is_optional=True, at=at)
        if self.has("["):
            return Index(value=value, key=self._in_brackets(), is_optional=True, at=at)
        return Member(value=value, name=self.property_name(), is_optional=True, at=at)

    def _in_brackets(self) -> Expression:
        index = self.in_any_case(self.expression)
        self.expect("]")
        return index

    def _arguments(self) -> tuple[Expression, ...]:
        self.expect("(")
        return self.in_any_case(lambda: self._items(")"))

    def _items(self, closing: str) -> tuple[Expression, ...]:
        items: list[Expression] = []
        while not self.has(closing):
            if self.now.text == "..." and self.now.kind is TokenKind.SIGN:
                at = self.take().start
                items.append(Spread(value=self.expression(), at=at))
            else:
                items.append(self.expression())
            if not self.has(","):
                self.expect(closing)
                break
        return tuple(items)

    def _operand(self) -> Expression:
        token = self.take()
        at = token.start
        match token.kind:
            case TokenKind.NUMBER:
                return _number(token)
            case TokenKind.STRING:
                return Text(value=token.value, at=at)
            case TokenKind.TEMPLATE:
                return self._template(token)
            case TokenKind.REGEX:
                return Unsupported(why="a regular expression", at=at)
            case TokenKind.NAME:
                return self._named(token)
            case _:
                return self._bracketed(token)

    def _named(self, token: Token) -> Expression:
        at = token.start
        if token.text in _WORDS:
            return Word(word=token.text, at=at)
        if token.text == "function":
            return self._function(at, is_async=False)
        if token.text == "async" and self.now.text == "function" and not self.now.after_newline:
            self.take()
            return self._function(at, is_async=True)
        if token.text == "new":
            return self._new(at)
        if token.text == "this":
            return Unsupported(why="`this`", at=at)
        if token.text in _RESERVED:
            raise self.places.error(f"`{token.text}` is not expected here", at)
        return Name(name=token.text, at=at)

    def _new(self, at: int) -> Expression:
        value = self._operand()
        while self.has("."):
            value = Member(value=value, name=self.property_name(), is_optional=False, at=at)
        arguments = self._arguments() if self.now.text == "(" else ()
        return New(function=value, arguments=arguments, at=at)

    def _function(self, at: int, *, is_async: bool) -> Expression:
        if self.has("*"):
            raise self.places.error("a generator", at)
        if self.now.kind is TokenKind.NAME:
            self.take()
        parameters = self.parameters()
        return Function(
            parameters=parameters, body=self.block(), value=None, is_async=is_async, at=at
        )

    def _bracketed(self, token: Token) -> Expression:
        if token.text == "(":
            return self.in_any_case(self._in_parentheses)
        if token.text == "[":
            items = self.in_any_case(lambda: self._items("]"))
            return Array(items=items, at=token.start)
        if token.text != "{":
            self.refuse(token)
        return self.in_any_case(lambda: self._object(token.start))

    def _in_parentheses(self) -> Expression:
        value = self.expression()
        if self.now.text == ",":
            at = self.now.start
            while self.has(","):
                self.expression()
            value = Unsupported(why="several expressions with a comma", at=at)
        self.expect(")")
        return value

    def _template(self, token: Token) -> Expression:
        values = []
        for tokens in token.inner:
            inner = type(self)(self.source, list(tokens), self.places)
            values.append(inner.expression())
            inner.expect_end()
        return Template(texts=token.texts, values=tuple(values), at=token.start)

    def _object(self, at: int) -> Expression:
        properties: list[Property | Spread] = []
        while not self.has("}"):
            properties.append(self._property())
            if not self.has(","):
                self.expect("}")
                break
        return Object(properties=tuple(properties), at=at)

    def _property(self) -> Property | Spread:
        token = self.take()
        if token.text == "..." and token.kind is TokenKind.SIGN:
            return Spread(value=self.expression(), at=token.start)
        is_async = token.text == "async" and self.now.text not in {":", ",", "}", "("}
        if is_async:
            token = self.take()
        key = self._key(token)
        if self.now.text == "(" and token.text not in {"get", "set"}:
            function = self._method(token.start, is_async=is_async)
            return Property(key=key, value=function)
        if self.has(":"):
            return Property(key=key, value=self.expression())
        if token.kind is not TokenKind.NAME or self.now.text not in {",", "}"}:
            self.refuse(self.now)
        return Property(key=key, value=Name(name=token.text, at=token.start))

    def _method(self, at: int, *, is_async: bool) -> Expression:
        parameters = self.parameters()
        return Function(
            parameters=parameters, body=self.block(), value=None, is_async=is_async, at=at
        )

    def _key(self, token: Token) -> Expression:
        match token.kind:
            case TokenKind.NAME:
                return Text(value=token.text, at=token.start)
            case TokenKind.STRING:
                return Text(value=token.value, at=token.start)
            case TokenKind.NUMBER:
                return _number(token)
        if token.text != "[":
            self.refuse(token)
        return self._in_brackets()

    def _arrow(self) -> Expression | None:
        """Read an arrow function, if one begins here."""
        ahead = self.position
        is_async = (
            self.now.text == "async"
            and self.now.kind is TokenKind.NAME
            and not self.tokens[ahead + 1].after_newline
            and (
                self.tokens[ahead + 1].text == "(" or self.tokens[ahead + 1].kind is TokenKind.NAME
            )
        )
        first = ahead + is_async
        if not self._is_arrow(first):
            return None
        at = self.now.start
        self.position = first
        if self.now.kind is TokenKind.NAME:
            token = self.take()
            parameters: tuple[Parameter, ...] = (
                Parameter(target=Name(name=token.text, at=token.start)),
            )
        else:
            parameters = self.parameters()
        self.expect("=>")
        if self.now.text == "{" and self.now.kind is TokenKind.SIGN:
            body = self.block()
            return Function(parameters=parameters, body=body, value=None, is_async=is_async, at=at)
        value = self.expression()
        return Function(parameters=parameters, body=(), value=value, is_async=is_async, at=at)

    def _is_arrow(self, first: int) -> bool:
        token = self.tokens[first]
        if token.kind is TokenKind.NAME:
            after = self.tokens[min(first + 1, len(self.tokens) - 1)]
            return after.text == "=>" and after.kind is TokenKind.SIGN
        if token.text != "(" or token.kind is not TokenKind.SIGN:
            return False
        return self.tokens[self.closing(first) + 1].text == "=>"

    def parameters(self) -> tuple[Parameter, ...]:
        """Read the parameters of a function with their parentheses."""
        self.expect("(")
        return self.in_any_case(lambda: self._parameters(")"))

    def _parameters(self, closing: str) -> tuple[Parameter, ...]:
        found: list[Parameter] = []
        while not self.has(closing):
            is_rest = self.has("...")
            found.append(replace(self.parameter(), is_rest=is_rest))
            if not self.has(","):
                self.expect(closing)
                break
        return tuple(found)

    def parameter(self) -> Parameter:
        raise NotImplementedError


def _number(token: Token) -> Expression:
    text = token.text.replace("_", "")
    try:
        is_other_base = text[:2].lower() in {"0x", "0b", "0o"}
        value = float(int(text, 0)) if is_other_base else float(text)
    except (ValueError, OverflowError):
        return Unsupported(why=f"the number {token.text}", at=token.start)
    return Number(value=value, at=token.start)
