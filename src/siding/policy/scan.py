"""What a command holds, found without judging it."""

from collections.abc import Iterator

from siding.policy.tree import (
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


def commands(command: Command, *, subshells: bool = True) -> Iterator[Command]:
    """Yield a command and every command in it, not those of substitutions."""
    yield command
    scripts: list[Script] = []
    match command:
        case Group():
            scripts = [command.script] if subshells or not command.subshell else []
        case If():
            scripts = [s for branch in command.branches for s in branch]
            scripts += [command.otherwise] if command.otherwise else []
        case Loop():
            scripts = [command.condition, command.body]
        case For():
            scripts = [command.body]
        case Case():
            scripts = [body for _, body in command.items]
        case Redirected() | Coprocess():
            yield from commands(command.command, subshells=subshells)
        case _:
            pass
    for script in scripts:
        for pipeline in script.pipelines:
            for each in pipeline.commands:
                yield from commands(each, subshells=subshells)


def assigned(command: Command) -> Iterator[str]:
    """Yield the names a command may set; ``cd`` when it may change the directory."""
    for each in commands(command, subshells=False):
        if isinstance(each, For):
            yield each.name
        if isinstance(each, Simple):
            yield from (assignment.name for assignment in each.assignments)
            first = each.words[0].text if each.words else ""
            if first in ("cd", "pushd", "popd"):
                yield "cd"
            if first in ("read", "export", "declare", "local", "typeset", "readonly", "printf",
                         "mapfile", "readarray", "getopts", "let", "eval", "unset"):  # fmt: skip
                yield from (word.text.partition("=")[0] for word in each.words[1:])


def multiplies(body: Command, name: str) -> bool:
    """Return whether a function that calls itself does so more than once at a time."""
    pipelines = [
        pipeline
        for each in commands(body)
        if isinstance(each, Group)
        for pipeline in each.script.pipelines
    ]
    for pipeline in pipelines:
        calls = [c for c in pipeline.commands if isinstance(c, Simple) and c.words]
        count = sum(c.words[0].text == name for c in calls)
        if count and (pipeline.connector == "&" or len(pipeline.commands) > 1):
            return True
    return False
