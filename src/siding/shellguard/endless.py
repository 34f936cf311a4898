"""Find loops that never end and write something new in each turn: they fill the disk."""

import re
from collections.abc import Iterator

from siding.shellguard.effects import Effects
from siding.shellguard.fields import PrintedText
from siding.shellguard.tree import (
    Case,
    Command,
    Condition,
    For,
    Group,
    If,
    Loop,
    Redirected,
    Script,
    Simple,
)

# What ends a loop, or makes its turns so slow that it fills nothing.
_ENDS = r"(?:break|exit|return|exec|sleep|wait|read|kill|inotifywait|fswatch)\b"
_ALWAYS = r"(?::|true|false|/bin/true|\[+ *(?:1|true) *\]+|test 1)$"
# What succeeds in each turn, so that a loop goes on; what asks another machine; many turns.
_SUCCEEDS = r"(?:echo|printf|cat|cp|mv|dd|date|seq)\b"
_HERE = r"(?:https?://)?(?:localhost|127\.|\[::1\]|0\.0\.0\.0|host\.docker\.internal)"
_ASKS = r"(?:curl|wget|http|xh|ab|wrk|hey)\b"
_NAMES_A_HOST = r"://|\w\.[a-z]{2}"
_THOUSANDS = r"\bseq\b[^|)]{0,80}\b\d{4,}\b|\.\.\d{4,}\}|<=?\s*\d{4,}\b"
# Programs that make a file of another name in each turn, when the name is computed.
_MAKES = r"(?:cp|dd|mkdir|touch|fallocate|truncate|tar|install|git clone)\b.*\$|tee\s+-a\b|mktemp\b"


def judge_loop(effects: Effects, loop: Loop | For, printed: PrintedText) -> PrintedText:
    """Judge a loop that never ends; return what it prints."""
    jobs = _jobs(loop.body)
    if jobs and _many_turns(loop):
        effects.found("fork-bomb", jobs)
    if not _never_ends(loop):
        return printed
    grows = _what_grows(loop)
    if grows:
        effects.found("fill-disk", grows)
    if jobs:
        effects.found("fork-bomb", jobs)
    for command in _commands(loop.body):
        if _asks_another(command.text):
            effects.found("flood", command.text)
    return printed._replace(endless=printed.text != "")


def _asks_another(text: str) -> bool:
    """Return whether a command sends a request to another machine."""
    if not re.match(_ASKS, text) or re.search(rf"[\s'\"]{_HERE}", text):
        return False
    return bool(re.search(_NAMES_A_HOST, text))


def _never_ends(loop: Loop | For) -> bool:
    """Return whether a loop certainly goes on: nothing in it ends it, or waits."""
    if isinstance(loop, For):
        endless = loop.arithmetic is not None and bool(
            re.search(r";\s*(?:1\s*)?;", loop.arithmetic.text)
        )
    else:
        (*_, last) = (None, *(c for p in loop.condition.pipelines for c in p.commands))
        always = isinstance(last, Simple) and (
            re.match(_ALWAYS, last.text.strip())
            or (last.redirects and re.match(_SUCCEEDS, last.text))
        )
        endless = bool(always) or (
            isinstance(last, Condition) and last.arithmetic and last.words[-1:] == _one(last)
        )
    pipelines = tuple(p for p in loop.body.pipelines if p.connector != "&")
    waited_for = Script(pipelines=pipelines)
    return endless and not any(re.match(_ENDS, each.text) for each in _commands(waited_for))


def _one(condition: Condition) -> tuple[object, ...]:
    return tuple(word for word in condition.words[-1:] if word.text.strip() in ("1", "true"))


def _jobs(body: Script) -> str:
    """Return a command that each turn leaves behind, running; "" when there is none."""
    behind = [p for p in body.pipelines if p.connector == "&"]
    if not behind or any(re.match(r"(?:wait|jobs)\b", each.text) for each in _commands(body)):
        return ""
    texts: list[str] = [each.text for each in behind[0].commands if isinstance(each, Simple)]
    return texts[0] if texts else "&"


def _many_turns(loop: Loop | For) -> bool:
    """Return whether a loop plainly has a thousand turns or more."""
    if not isinstance(loop, For):
        return False
    words = [loop.arithmetic] if loop.arithmetic is not None else loop.words or ()
    return any(re.search(_THOUSANDS, word.text) for word in words)


def _what_grows(loop: Loop | For) -> str:
    """Return a command of a loop that writes more in each turn; "" when there is none."""
    scripts = [loop.body] if isinstance(loop, For) else [loop.condition, loop.body]
    for command in (each for script in scripts for each in _commands(script)):
        appends = any(
            each.operator in (">>", "&>>") and not each.target.text.startswith("/dev/")
            for each in command.redirects
        )
        makes = any(
            each.operator == ">" and re.search(r"\$|`", each.target.text)
            for each in command.redirects
        )
        if appends or makes or re.match(_MAKES, command.text):
            return command.text
    return ""


def _commands(script: Script) -> Iterator[Simple]:
    """Yield the simple commands in a script, but for those of functions and substitutions."""
    waiting: list[Command] = [c for p in script.pipelines for c in p.commands]
    while waiting:
        command = waiting.pop()
        if isinstance(command, Simple):
            yield command
        elif isinstance(command, Redirected):
            waiting.append(command.command)
        else:
            waiting += [c for s in _scripts(command) for p in s.pipelines for c in p.commands]


def _scripts(command: Command) -> list[Script]:
    match command:
        case Group():
            return [command.script]
        case If():
            return [s for branch in command.branches for s in branch] + (
                [command.otherwise] if command.otherwise else []
            )
        case Loop():
            return [command.condition, command.body]
        case For():
            return [command.body]
        case Case():
            return [body for _, body in command.items]
    return []
