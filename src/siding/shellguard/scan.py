"""Look through a command's syntax tree without judging it."""

from collections.abc import Iterable, Iterator

from siding.shellguard.budget import Budget
from siding.shellguard.names import names
from siding.shellguard.tree import (
    Case,
    Command,
    Coprocess,
    For,
    Group,
    If,
    Loop,
    Redirected,
    Script,
    Simple,
)


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
