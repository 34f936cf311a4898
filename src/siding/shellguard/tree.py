"""The syntax tree of a shell command line: the values that the grammar returns.

A word is kept as the parts the shell will expand, never as a string to look at again: whether a
``*`` was quoted decides whether it is a file name pattern, and a part that is a substitution holds
the commands it runs.

The values that can contain themselves are classes and not named tuples: type checkers compare
tuples by their members, which never ends for a tuple that contains its own type.
"""

from collections.abc import Iterable, Iterator
from typing import TypeAlias

from siding.ground.namedtuples import NamedTuple
from siding.shellguard.budget import Budget
from siding.shellguard.names import names


class Literal(NamedTuple):
    """Text of a word. Unquoted text may hold patterns, braces and a leading tilde."""

    text: str
    quoted: bool


class Parameter(NamedTuple):
    """``$name``, ``${name}`` or ``${name<operator>argument}``."""

    name: str
    operator: str  # "" | "#name" | "!name" | "@P" | ":-" | "%" | … ; "[]" when it has a subscript
    argument: "Word | None"
    quoted: bool


class Substitution(NamedTuple):
    """``$(…)``, a backquoted command, ``<(…)`` or ``>(…)``."""

    script: "Script"
    kind: str  # "$(" | "`" | "<(" | ">("
    quoted: bool


class Arithmetic(NamedTuple):
    """``$((…))``; `inner` is the expression between the parentheses."""

    inner: "Word"


WordPart: TypeAlias = Literal | Parameter | Substitution | Arithmetic


class Word:
    """One word before expansion."""

    __slots__ = ("assigns", "parts", "text")

    def __init__(self, *, parts: tuple[WordPart, ...], text: str, assigns: bool = False) -> None:
        self.parts = parts
        self.text = text  # as written
        self.assigns = assigns  # an argument of ``export`` and the like that is an assignment


class Assignment(NamedTuple):
    """``name=value``, ``name+=value``, ``name[i]=value`` or ``name=(…)``."""

    name: str
    subscript: Word | None
    append: bool
    value: Word | None
    array: tuple[Word, ...] | None


class Heredoc:
    """A here-document (``<<``). Its `body` is None until the parser has read past the line end."""

    __slots__ = ("body", "delimiter", "quoted", "strip_tabs")

    def __init__(self, *, delimiter: str, quoted: bool, strip_tabs: bool) -> None:
        self.delimiter = delimiter
        self.quoted = quoted
        self.strip_tabs = strip_tabs
        self.body: Word | None = None


class Redirect(NamedTuple):
    """``2>file``, ``<<<word``, ``>&2``, ``<<END`` …"""

    operator: str
    descriptor: str  # "" when none was given
    target: Word
    heredoc: Heredoc | None


class Simple(NamedTuple):
    """A simple command: assignments, words, redirections."""

    assignments: tuple[Assignment, ...]
    words: tuple[Word, ...]
    redirects: tuple[Redirect, ...]
    text: str


class Group(NamedTuple):
    """``{ …; }`` or ``( … )``."""

    script: "Script"
    subshell: bool


class If(NamedTuple):
    """``if``, every ``elif``, and ``else``."""

    branches: tuple[tuple["Script", "Script"], ...]
    otherwise: "Script | None"


class Loop(NamedTuple):
    """``while`` or ``until``."""

    condition: "Script"
    body: "Script"


class For(NamedTuple):
    """``for`` or ``select`` over words (None: the positional parameters), or ``for ((…))``."""

    name: str
    words: tuple[Word, ...] | None
    arithmetic: Word | None
    body: "Script"


class Case(NamedTuple):
    """``case``: the subject and, for each item, its patterns and commands."""

    subject: Word
    items: tuple[tuple[tuple[Word, ...], "Script"], ...]


class Function:
    """A function's definition."""

    __slots__ = ("body", "name")

    def __init__(self, *, name: str, body: "Command") -> None:
        self.name = name
        self.body = body


class Condition(NamedTuple):
    """``[[ … ]]`` or ``(( … ))``."""

    words: tuple[Word, ...]
    arithmetic: bool


class Coprocess:
    """``coproc`` and the command it starts."""

    __slots__ = ("command",)

    def __init__(self, *, command: "Command") -> None:
        self.command = command


class Redirected:
    """A compound command with redirections of its own."""

    __slots__ = ("command", "redirects")

    def __init__(self, *, command: "Command", redirects: tuple[Redirect, ...]) -> None:
        self.command = command
        self.redirects = redirects


Command: TypeAlias = (
    Simple | Group | If | Loop | For | Case | Function | Condition | Coprocess | Redirected
)


class Pipeline(NamedTuple):
    """Commands joined by ``|``; `connector` joins the next pipeline: ``;  &  &&  ||`` or ""."""

    commands: tuple[Command, ...]
    connector: str


class Script:
    """A list of pipelines."""

    __slots__ = ("pipelines",)

    def __init__(self, *, pipelines: tuple[Pipeline, ...]) -> None:
        self.pipelines = pipelines


# -- Look through a command's syntax tree without judging it ---------------------------------------


def commands(command: Command, budget: Budget, *, subshells: bool = True) -> Iterator[Command]:
    """Yield `command` and every command inside it, except those in substitutions."""
    waiting = [command]
    while waiting:
        each = waiting.pop()
        budget.spend(2, "following its loops")
        yield each
        if isinstance(each, Redirected | Coprocess):
            waiting.append(each.command)
        for script in _scripts(each, subshells=subshells):
            for pipeline in script.pipelines:
                waiting += pipeline.commands


def _scripts(command: Command, *, subshells: bool) -> Iterable[Script]:
    match command:
        case Group():
            return [command.script] if subshells or not command.subshell else []
        case If():
            otherwise = [command.otherwise] if command.otherwise else []
            return [*(script for branch in command.branches for script in branch), *otherwise]
        case Loop():
            return [command.condition, command.body]
        case For():
            return [command.body]
        case Case():
            return [body for _, body in command.items]
        case _:
            return []


_SETTING = names("""
    read export declare local typeset readonly printf mapfile readarray getopts let eval unset
""")


def assigned(command: Command, budget: Budget) -> Iterator[str]:
    """Yield the names of variables a command may set, and ``cd`` if it may change the directory."""
    for each in commands(command, budget, subshells=False):
        if isinstance(each, For):
            yield each.name
        if isinstance(each, Simple):
            yield from (assignment.name for assignment in each.assignments)
            first = each.words[0].text if each.words else ""
            if first in ("cd", "pushd", "popd"):
                yield "cd"
            if first in _SETTING:
                yield from (word.text.partition("=")[0] for word in each.words[1:])


def multiplies(body: Command, name: str, budget: Budget) -> bool:
    """Return whether the body of function `name` calls itself in a pipeline or in the background.

    Such a function starts ever more processes, as the fork bomb ``f() { f | f & }`` does.
    """
    pipelines = [
        pipeline
        for each in commands(body, budget)
        if isinstance(each, Group)
        for pipeline in each.script.pipelines
    ]
    for pipeline in pipelines:
        calls = [c for c in pipeline.commands if isinstance(c, Simple) and c.words]
        count = sum(c.words[0].text == name for c in calls)
        if count and (pipeline.connector == "&" or len(pipeline.commands) > 1):
            return True
    return False
