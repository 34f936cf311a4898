"""Translate a whole JavaScript workflow into a Python one. Pure.

A statement becomes lines of Python. One that cannot be translated is left to a person, by name.
"""

from siding.ground.errors import counted
from siding.ground.namedtuples import NamedTuple
from siding.workflows.child.body import compile_body
from siding.workflows.javascript.acts import act, is_act
from siding.workflows.javascript.errors import RAISE, ByHand, JavaScriptError
from siding.workflows.javascript.functions import definition, indented
from siding.workflows.javascript.generated import HELPERS, with_needed
from siding.workflows.javascript.loops import for_each, for_of, for_steps, while_loop
from siding.workflows.javascript.nodes import (
    Array,
    ArrayPattern,
    Await,
    Block,
    Call,
    Declare,
    Define,
    Expression,
    For,
    ForOf,
    Function,
    If,
    Jump,
    Member,
    Meta,
    Name,
    New,
    Parameter,
    Return,
    Run,
    Statement,
    Target,
    Throw,
    Try,
    Unknown,
    While,
)
from siding.workflows.javascript.parser import Program, parse
from siding.workflows.javascript.targets import names_of, take_apart
from siding.workflows.javascript.translate import ExpressionTranslator
from siding.workflows.javascript.translator import Assigned, Place, refuse
from siding.workflows.javascript.values import (
    ANY,
    ERROR,
    Code,
    Kind,
    Value,
    atom,
    function_of,
    laid_out,
    quoted,
)

_EAGER = frozenset(["agent", "parallel", "pipeline"])
_SHOWN_LINES = 12


class StatementTranslator(ExpressionTranslator):
    """Translates the statements of a script."""

    def body(self, statements: tuple[Statement, ...]) -> list[str]:
        """Translate the statements of a block. Functions that are used before come first."""
        for one in statements:
            if isinstance(one.what, Define):
                self._announce(one.what)
        lines: list[str] = []
        for one in self._in_order(statements):
            lines.extend(self.statement(one))
        return lines

    def _in_order(self, statements: tuple[Statement, ...]) -> list[Statement]:
        early: list[Statement] = []
        seen = ""
        for one in statements:
            if isinstance(one.what, Define) and one.what.name in seen:
                early.append(one)
            seen += self.source[one.start : one.end]
        return early + [one for one in statements if one not in early]

    def _announce(self, what: Define) -> None:
        of = Kind(name="promise", of=ANY) if what.function.is_async else ANY
        needed = [n for n, one in enumerate(what.function.parameters, 1) if one.default is None]
        kind = function_of(of, len(what.function.parameters), max(needed, default=0))
        self.scopes.declare(what.name, kind)

    def statement(self, node: Statement) -> list[str]:
        comments = [
            f"# {line}".rstrip() for comment in node.comments for line in comment.text.splitlines()
        ]
        undo = self.snapshot()
        active, contained = list(self.active), self.scopes.contained
        try:
            lines = self._lines(node)
        except ByHand as error:
            undo()
            self.active, self.scopes.contained = active, contained
            return [*comments, *self._left(node, error.why)]
        if not isinstance(node.what, Block):
            self.translated += 1
        return [*comments, *self.flushed(), *lines]

    def _left(self, node: Statement, why: str) -> list[str]:
        self.scopes.frame.hoisted = []
        line = self.places.line(node.start)
        self.left.append(Place(line=line, why=why))
        if isinstance(node.what, Declare):
            for target, _value in node.what.pairs:
                for name in names_of(target):
                    if name not in self.scopes.blocks[-1]:
                        self.scopes.declare(name, is_const=False)
        source = self.source[node.start : node.end].splitlines()
        shown = source[:_SHOWN_LINES]
        more = (
            [f"#   … {counted(len(source) - len(shown), 'line')} more"]
            if len(source) > len(shown)
            else []
        )
        return [
            f"# TODO by hand: line {line}, {why}",
            *(f"#   {one}".rstrip() for one in shown),
            *more,
            f"raise NotImplementedError({quoted(f'{RAISE}line {line}, {why}')})",
        ]

    def _lines(self, node: Statement) -> list[str]:
        match node.what:
            case Declare():
                return self._declare(node.what)
            case Run(value=value):
                return self._run(value)
            case If():
                return self._if(node.what)
            case ForOf():
                return for_of(self, node.what)
            case For():
                return for_steps(self, node.what)
            case While():
                return while_loop(self, node.what)
            case Try():
                return self._try(node.what)
            case Throw(value=value):
                return self._throw(value)
            case Return(value=value):
                return self._return(value)
            case Jump(word=word):
                return [word]
            case Block(body=body):
                with self.block():
                    return self.body(body)
            case Define():
                return self._define(node.what)
            case Meta(value=value):
                return self._meta(value)
            case Unknown(why=why):
                raise refuse(why)

    def _meta(self, node: Expression) -> list[str]:
        if len(self.scopes.blocks) > 1:
            raise refuse("`export` inside of a block")
        return [laid_out(("meta = ", *self.value(node).code), 0)]

    def _define(self, what: Define) -> list[str]:
        binding = self.scopes.find_quietly(what.name)
        assert binding is not None
        lines, kind = definition(self, what.function, binding.python)
        self.scopes.set_kind(what.name, kind)
        return lines

    def _declare(self, node: Declare) -> list[str]:
        if node.is_var:
            self._refuse_var(node)
        lines: list[str] = []
        for target, init in node.pairs:
            lines.extend(self._bind(target, init, is_const=node.is_const))
        return lines

    def _refuse_var(self, node: Declare) -> None:
        if len(self.scopes.blocks) > self.scopes.frame.depth:
            raise refuse("`var` in a block, whose names are known outside of it; use `let`")
        for target, _init in node.pairs:
            if not self.scopes.blocks[-1].keys().isdisjoint(names_of(target)):
                raise refuse("`var` of a name that there is")

    def _loop(self) -> int | None:
        return self.active[-1] if self.active else None

    def _bind(self, target: Target, init: Expression | None, *, is_const: bool) -> list[str]:
        if isinstance(target, Name) and isinstance(init, Function):
            if self.assigned.is_set(target.name):
                raise refuse("a function whose name is set again")
            known = function_of(
                Kind(name="promise", of=ANY) if init.is_async else ANY,
                len(init.parameters),
                max((n for n, p in enumerate(init.parameters, 1) if p.default is None), default=0),
            )
            python = self.scopes.declare(target.name, known, loop=self._loop())
            lines, kind = definition(self, init, python)
            self.scopes.set_kind(target.name, kind)
            return lines
        value = atom("None") if init is None else self.value(init)
        if isinstance(target, Name):
            self._note_late(init, value)
            kind = ANY if init is None else self.assigned.kind_of(target.name, value.kind)
            is_set = self.assigned.is_set(target.name)
            python = self.scopes.declare(
                target.name, kind, loop=self._loop(), is_const=is_const or not is_set
            )
            return [_line(f"{python} = ", value.code)]
        return self._take_apart(target, init, value)

    def _note_late(self, init: Expression | None, value: Value) -> None:
        if value.kind.name == "promise" and isinstance(init, Call):
            name = init.function.name if isinstance(init.function, Name) else ""
            if name not in _EAGER:
                self.note(init.at, f"`{name or '…'}(…)` begins here only when it is awaited")

    def _take_apart(self, target: Target, init: Expression | None, value: Value) -> list[str]:
        names = self._plain_names(target)
        if names and self._gives(init) == len(names):
            found = [self.scopes.declare(name, loop=self._loop()) for name in names]
            return [_line(f"{', '.join(found)} = ", value.code)]
        if value.is_pure and value.text.isidentifier():
            held, lines = value, []
        else:
            python = self.scopes.free("found")
            held = atom(python, value.kind, is_pure=True)
            lines = [_line(f"{python} = ", value.code)]
        with self.block():
            take_apart(self, target, held)
            parts = {name: self.scopes.blocks[-1][name] for name in names_of(target)}
        for name, part in parts.items():
            python = self.scopes.declare(name, part.kind, loop=self._loop())
            lines.append(_line(f"{python} = ", (_bare(part.python),)))
        return lines

    def _plain_names(self, target: Target) -> list[str]:
        if not isinstance(target, ArrayPattern):
            return []
        names = []
        for part in target.items:
            match part:
                case Parameter(target=Name(name=name), default=None, is_rest=False):
                    names.append(name)
                case _:
                    return []
        return [] if any(self.assigned.is_set(name) for name in names) else names

    def _gives(self, init: Expression | None) -> int:
        """Return how many items a list has for certain, -1 if that is not known."""
        if isinstance(init, Await):
            call = init.value
            if not isinstance(call, Call) or len(call.arguments) != 1:
                return -1
            function = call.function
            is_all = isinstance(function, Member) and function.name == "all"
            if is_all or (isinstance(function, Name) and function.name == "parallel"):
                return self._gives(call.arguments[0])
            return -1
        if isinstance(init, Array) and not any(
            type(item).__name__ == "Spread" for item in init.items
        ):
            return len(init.items)
        return -1

    def _run(self, node: Expression) -> list[str]:
        if isinstance(node, Call) and isinstance(node.function, Member):
            if node.function.name == "forEach":
                return for_each(self, node)
            if node.function.name in {"add", "set", "delete", "push", "unshift", "clear"}:
                return act(self, node)
        if is_act(node):
            return act(self, node)
        self.discarded = node.value if isinstance(node, Await) else node
        value = self.value(node)
        if value.kind.name == "promise":
            raise refuse("a call that nobody awaits")
        return [laid_out(value.code, 0)]

    def _if(self, node: If) -> list[str]:
        test = self.condition(node.test)
        before = self.flushed()
        lines = [*before, _line("if ", test.code, ":"), *self.inside(node.then)]
        otherwise = node.otherwise
        if not otherwise:
            return lines
        if len(otherwise) == 1 and isinstance(otherwise[0].what, If) and not otherwise[0].comments:
            more = self.statement(otherwise[0])
            if more and more[0].startswith("if "):
                return [*lines, f"el{more[0]}", *more[1:]]
            return [*lines, "else:", *indented(more)]
        return [*lines, "else:", *self.inside(otherwise)]

    def inside(self, statements: tuple[Statement, ...]) -> list[str]:
        """Translate the statements of a block, one level deeper."""
        with self.block():
            lines = self.body(statements)
        return indented(lines if any(_is_code(line) for line in lines) else [*lines, "pass"])

    def _try(self, node: Try) -> list[str]:
        lines = ["try:", *self.inside(node.body)]
        if node.handler is not None:
            with self.block():
                name = ""
                if node.caught is not None:
                    if not isinstance(node.caught, Name):
                        raise refuse("a pattern in `catch`")
                    name = self.scopes.declare(node.caught.name, ERROR, loop=self._loop())
                lines += [f"except Exception as {name}:" if name else "except Exception:"]
                lines += self.inside(node.handler)
        if node.final is not None:
            lines += ["finally:", *self.inside(node.final)]
        return lines

    def _throw(self, node: Expression) -> list[str]:
        value = self.value(node)
        if value.kind != ERROR or not isinstance(node, New | Name):
            raise refuse("`throw` of what is not known to be an Error")
        return [_line("raise ", value.code)]

    def _return(self, node: Expression | None) -> list[str]:
        if node is None:
            return ["return"]
        with self.contained():
            value = self.value(node)
        top = self.scopes.frame.around is None
        if top and value.kind.name == "promise":
            self.scopes.frame.awaits = True
            return [_line("return await ", value.code)]
        return [_line("return ", value.code)]


def _bare(text: str) -> str:
    """Return an expression without the parentheses around all of it, which a default has."""
    return text[1:-1] if text.startswith("(") and text.endswith(")") else text


def _is_code(line: str) -> bool:
    return bool(line.strip()) and not line.lstrip().startswith("#")


def _line(head: str, code: Code, tail: str = "") -> str:
    return laid_out((head, *code, tail) if tail else (head, *code), 0, len(tail))


# -- The whole script ------------------------------------------------------------------------------


class Converted(NamedTuple):
    """The Python form of a script, and what a person has to do or look at, by line of the JS."""

    source: str
    translated: int
    left: tuple[Place, ...]
    notes: tuple[Place, ...]


def convert(source: str, file: str) -> Converted:
    """Translate a script. Raises JavaScriptError with line and column if it cannot be read.

    What comes out is Python; each statement that is not translated raises an error that names it.
    """
    program = parse(source)
    translator = StatementTranslator(source, Assigned(program.statements))
    try:
        lines = _script(translator, program, file)
        text = "\n".join(lines).rstrip() + "\n"
        compile_body(text, file)
    except RecursionError:
        raise JavaScriptError("the script is nested too deeply", 1, 1) from None
    except (SyntaxError, ValueError) as error:
        raise JavaScriptError(f"what came out is not Python ({error})", 1, 1) from None
    return Converted(
        source=text,
        translated=translator.translated,
        left=tuple(translator.left),
        notes=tuple(sorted(translator.notes)),
    )


def _script(translator: StatementTranslator, program: Program, file: str) -> list[str]:
    first = [one for one in program.statements if isinstance(one.what, Meta)][:1]
    rest = tuple(one for one in program.statements if one not in first)
    head = [line for one in first for line in translator.statement(one)]
    body = translator.body(rest)
    tail = [f"# {line}".rstrip() for one in program.comments for line in one.text.splitlines()]
    helpers = with_needed(translator.helpers)
    modules = translator.modules.union(*(HELPERS[name].modules for name in helpers))
    return [
        f"# Converted from {file} by `siding workflow convert`.",
        *(["", *head] if head else []),
        *(["", *(f"import {name}" for name in sorted(modules))] if modules else []),
        *(line for name in helpers for line in ["", "", *HELPERS[name].code.splitlines()]),
        *(["", ""] if helpers else [""]),
        *_spaced(body),
        *tail,
    ]


def _spaced(lines: list[str]) -> list[str]:
    """Return the lines of a script with room before its functions."""
    found: list[str] = []
    for line in lines:
        if line.startswith(("def ", "async def ")):
            comments = len(found)
            while comments and found[comments - 1].startswith("#"):
                comments -= 1
            if comments and found[comments - 1]:
                found.insert(comments, "")
        found.append(line)
    return found
