"""Read the statements of a JavaScript workflow. A statement that is not known is kept as it is."""

from dataclasses import replace

from siding.ground.namedtuples import NamedTuple
from siding.workflows.javascript.errors import JavaScriptError
from siding.workflows.javascript.expressions import ExpressionReader
from siding.workflows.javascript.nodes import (
    ArrayPattern,
    Block,
    Declare,
    Define,
    Expression,
    For,
    ForOf,
    Function,
    If,
    Jump,
    Meta,
    Name,
    ObjectPattern,
    Parameter,
    Return,
    Run,
    Statement,
    Target,
    Throw,
    Try,
    Unknown,
    What,
    While,
)
from siding.workflows.javascript.tokens import Comment, Places, Token, TokenKind, tokens_of

_NOT_KNOWN = {
    "class": "a class",
    "switch": "`switch`",
    "do": "`do … while`",
    "import": "`import`",
    "export": "`export`",
    "with": "`with`",
    "debugger": "`debugger`",
    "enum": "`enum`",
}
_GOES_ON = frozenset("else catch finally while".split())
_DECLARES = frozenset(["const", "let", "var"])


class Program(NamedTuple):
    """A whole script, and the comments behind the last statement."""

    statements: tuple[Statement, ...]
    comments: tuple[Comment, ...]


def parse(source: str) -> Program:
    """Read a source. Raises JavaScriptError with line and column if its brackets are not right."""
    places = Places(source)
    reader = _StatementReader(source, tokens_of(source), places)
    try:
        statements = reader.statements()
        reader.expect_end()
    except RecursionError:
        raise places.error("the script is nested too deeply", 0) from None
    return Program(statements=statements, comments=reader.comments_since(reader.position))


class _StatementReader(ExpressionReader):
    def __init__(self, source: str, tokens: list[Token], places: Places) -> None:
        super().__init__(source, tokens, places)
        self._seen: set[int] = set()  # tokens whose comments a statement has

    def statements(self) -> tuple[Statement, ...]:
        """Read statements up to a `}` or the end."""
        found: list[Statement] = []
        while self.now.kind is not TokenKind.END and not self.is_at("}"):
            if self.has(";"):
                continue
            found.append(self.statement())
        return tuple(found)

    def statement(self) -> Statement:
        """Read a statement; one that is not known is Unknown, up to where it seems to end."""
        begin = self.position
        start = self.now.start
        try:
            what = self._what()
        except JavaScriptError as error:
            self.position = begin
            self._pass_over()
            what = Unknown(why=error.what)
        if self.position == begin:
            self.refuse(self.now)
        end = self.tokens[self.position - 1].end
        return Statement(what=what, start=start, end=end, comments=self._comments(begin))

    def comments_since(self, position: int) -> tuple[Comment, ...]:
        """Return the comments at a token that no statement has."""
        return () if position in self._seen else self.tokens[position].comments

    def _comments(self, begin: int) -> tuple[Comment, ...]:
        found: list[Comment] = []
        for at in range(begin, self.position):
            if at not in self._seen:
                self._seen.add(at)
                found.extend(self.tokens[at].comments)
        after = self.tokens[self.position]
        trailing = [comment for comment in after.comments if comment.is_trailing]
        if trailing and self.position not in self._seen:
            found.extend(trailing)
            rest = tuple(comment for comment in after.comments if not comment.is_trailing)
            self.tokens[self.position] = after._replace(comments=rest)
        return tuple(found)

    def _pass_over(self) -> None:
        """Go to where the statement ends, as far as brackets and lines say."""
        first = self.position
        while self.now.kind is not TokenKind.END:
            token = self.now
            if self.position > first and token.after_newline and self._may_begin():
                return
            if token.kind is TokenKind.SIGN and token.text in {"(", "[", "{"}:
                closing = self.closing(self.position)
                self.position = closing + 1
                ends = token.text == "{" and self.now.after_newline
                if ends and self.now.text not in _GOES_ON and self._may_begin():
                    return
            elif token.kind is TokenKind.SIGN and token.text == "}":
                return
            else:
                self.position += 1
                if token.text == ";" and token.kind is TokenKind.SIGN:
                    return

    def _may_begin(self) -> bool:
        token = self.now
        if token.kind is TokenKind.SIGN:
            return token.text in {"{", "}"}
        return token.text not in {"in", "instanceof", *_GOES_ON}

    def block(self) -> tuple[Statement, ...]:
        self.expect("{")
        found = self.in_any_case(self.statements)
        self.expect("}")
        return found

    def _what(self) -> What:
        token = self.now
        word = token.text if token.kind is TokenKind.NAME else ""
        if word == "export" and self._is_meta():
            return self._meta()
        if word in _NOT_KNOWN:
            raise self.places.error(_NOT_KNOWN[word], token.start)
        if word in _DECLARES:
            return self._declare()
        if word == "function" or (
            word == "async" and self.tokens[self.position + 1].text == "function"
        ):
            return self._define()
        if token.text == "{" and token.kind is TokenKind.SIGN:
            return Block(body=self.block())
        read = {
            "if": self._if,
            "for": self._for,
            "while": self._while,
            "try": self._try,
            "return": self._return,
            "throw": self._throw,
            "break": self._jump,
            "continue": self._jump,
        }.get(word)
        if read is not None:
            self.take()
            return read()
        value = self.expression()
        self._end()
        return Run(value=value)

    def _end(self) -> None:
        """Take the end of a statement: a semicolon, or a line's end where one may be left out."""
        if self.has(";") or self.is_at("}") or self.now.kind is TokenKind.END:
            return
        if not self.now.after_newline:
            self.refuse(self.now)

    def _is_meta(self) -> bool:
        words = [token.text for token in self.tokens[self.position : self.position + 4]]
        return words == ["export", "const", "meta", "="]

    def _meta(self) -> What:
        self.position += 4
        value = self.expression()
        self._end()
        return Meta(value=value)

    def _declare(self) -> What:
        declared = self._declaration()
        self._end()
        return declared

    def _declaration(self) -> Declare:
        word = self.take().text
        pairs: list[tuple[Target, Expression | None]] = []
        while True:
            target = self._target()
            pairs.append((target, self.expression() if self.has("=") else None))
            if not self.has(","):
                break
        return Declare(is_const=word == "const", pairs=tuple(pairs), is_var=word == "var")

    def _define(self) -> What:
        is_async = self.has("async")
        at = self.take().start
        if self.is_at("*"):
            raise self.places.error("a generator", at)
        name = self.property_name()
        parameters = self.parameters()
        function = Function(
            parameters=parameters, body=self.block(), value=None, is_async=is_async, at=at
        )
        return Define(name=name, function=function)

    def _body(self) -> tuple[Statement, ...]:
        if self.is_at("{"):
            return self.block()
        return () if self.has(";") else (self.statement(),)

    def _test(self) -> Expression:
        self.expect("(")
        test = self.in_any_case(self.expression)
        self.expect(")")
        return test

    def _if(self) -> What:
        test = self._test()
        then = self._body()
        return If(test=test, then=then, otherwise=self._body() if self.has("else") else ())

    def _while(self) -> What:
        test = self._test()
        return While(test=test, body=self._body())

    def _for(self) -> What:
        if self.is_at("await"):
            raise self.places.error("`for await`", self.now.start)
        self.expect("(")
        first: Statement | None = None
        if not self.has(";"):
            begin = self.position
            start = self.now.start
            self.without_in = True
            what: What
            if self.now.text == "var":
                raise self.places.error("`var` in a loop's head; use `let`", start)
            if self.now.text in _DECLARES:
                what = self._declaration()
            else:
                what = Run(value=self.expression())
            self.without_in = False
            if isinstance(what, Declare) and (self.is_at("of") or self.is_at("in")):
                return self._for_of(what)
            self.expect(";")
            end = self.tokens[self.position - 2].end
            assert self.position > begin
            first = Statement(what=what, start=start, end=end)
        test = None if self.is_at(";") else self.expression()
        self.expect(";")
        step = None if self.is_at(")") else self.expression()
        self.expect(")")
        return For(first=first, test=test, step=step, body=self._body())

    def _for_of(self, declared: Declare) -> What:
        over_keys = self.take().text == "in"
        (target, value), *more = declared.pairs
        if more or value is not None:
            self.refuse(self.now)
        items = self.expression()
        self.expect(")")
        return ForOf(target=target, items=items, body=self._body(), over_keys=over_keys)

    def _try(self) -> What:
        body = self.block()
        caught: Target | None = None
        handler = final = None
        if self.has("catch"):
            if self.has("("):
                caught = self._target()
                self.expect(")")
            handler = self.block()
        if self.has("finally"):
            final = self.block()
        if handler is None and final is None:
            self.refuse(self.now)
        return Try(body=body, caught=caught, handler=handler, final=final)

    def _return(self) -> What:
        if self.now.after_newline or self.is_at(";") or self.is_at("}"):
            self._end()
            return Return(value=None)
        value = self.expression()
        self._end()
        return Return(value=value)

    def _throw(self) -> What:
        value = self.expression()
        self._end()
        return Throw(value=value)

    def _jump(self) -> What:
        word = self.tokens[self.position - 1].text
        if self.now.kind is TokenKind.NAME and not self.now.after_newline:
            raise self.places.error(f"`{word}` with a label", self.now.start)
        self._end()
        return Jump(word=word)

    def parameter(self) -> Parameter:
        target = self._target()
        default = self.expression() if self.has("=") else None
        return Parameter(target=target, default=default)

    def _target(self) -> Target:
        token = self.take()
        if token.kind is TokenKind.NAME:
            if self.is_at(":"):
                raise self.places.error("a type of TypeScript", self.now.start)
            return Name(name=token.text, at=token.start)
        if token.text == "{" and token.kind is TokenKind.SIGN:
            return self.in_any_case(lambda: self._object_pattern(token.start))
        if token.text != "[" or token.kind is not TokenKind.SIGN:
            self.refuse(token)
        return self.in_any_case(lambda: self._array_pattern(token.start))

    def _object_pattern(self, at: int) -> Target:
        properties: list[tuple[str, Parameter]] = []
        rest: str | None = None
        while not self.has("}"):
            if self.has("..."):
                rest = self.property_name()
            else:
                properties.append(self._pattern_property())
            if not self.has(","):
                self.expect("}")
                break
        return ObjectPattern(properties=tuple(properties), rest=rest, at=at)

    def _pattern_property(self) -> tuple[str, Parameter]:
        token = self.take()
        if token.kind not in {TokenKind.NAME, TokenKind.STRING}:
            self.refuse(token)
        key = token.value or token.text
        if self.has(":"):
            return key, self.parameter()
        target = Name(name=token.text, at=token.start)
        return key, Parameter(target=target, default=self.expression() if self.has("=") else None)

    def _array_pattern(self, at: int) -> Target:
        items: list[Parameter | None] = []
        while not self.has("]"):
            if self.has(","):
                items.append(None)
                continue
            is_rest = self.has("...")
            items.append(replace(self.parameter(), is_rest=is_rest))
            if not self.has(","):
                self.expect("]")
                break
        return ArrayPattern(items=tuple(items), at=at)
