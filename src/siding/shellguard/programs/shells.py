"""Shells, and the builtins that run text as commands."""

import re
from typing import TYPE_CHECKING

from siding.shellguard.fields import (
    ANY,
    ANYTHING,
    FOUND_BY_NAME,
    NOTHING,
    NUMBER,
    ONE,
    UNKNOWN,
    PrintedText,
    known,
)
from siding.shellguard.options import arguments
from siding.shellguard.paths import Zone
from siding.shellguard.programs.purposes import judge_script

if TYPE_CHECKING:
    from siding.shellguard.examiner import Examiner
    from siding.shellguard.state import Call, ShellState


def shell(examiner: "Examiner", call: "Call") -> PrintedText:
    """Judge sh, bash and the like: a line after -c, a script, or commands on standard input."""
    words = list(call.arguments)
    line = from_input = False
    while words and words[0][:1] in ("-", "+") and words[0] not in ("-", "--"):
        word = words.pop(0)
        if word in ("--rcfile", "--init-file"):
            examiner.found("loads-code", " ".join([word, *words[:1]]))
            words = words[1:]
        elif call.name == "fish" and word in ("-C", "--init-command", "--command"):
            examiner.inner_text(call.name, "".join(words[:1]), call.state)
            if word == "--command":
                return ANYTHING
            words = words[1:]
        elif word.startswith("--") or UNKNOWN in word:
            if UNKNOWN in word:
                examiner.found("code-from-input", word)
            if word in ("--version", "--help"):
                return ANYTHING
        else:
            if "o" in word or "O" in word:
                words = words[1:]
            line = line or "c" in word[1:]
            from_input = from_input or "s" in word[1:]
    if words and words[0] in ("-", "--"):
        words.pop(0)
    if line:
        return _shell_line(examiner, call, words)
    if words and words[0] != "/dev/stdin" and not from_input:
        return _script(examiner, call, words)
    return _from_input(examiner, call)


def _shell_line(examiner: "Examiner", call: "Call", words: list[str]) -> PrintedText:
    if not words:
        examiner.found("not-whole", f"{call.name} -c")
        return ANYTHING
    state = call.state.copy()
    state.positional = tuple(words[2:])
    state.functions, state.aliases = {}, {}
    state.variables.update(call.env)
    if words[1:]:
        state.variables["0"] = words[1]
    text = _with_names(words[0], state)
    if len(words) > 1 and re.match(r"\s*[\"']?\$0", text):
        text = re.sub(r"[\"']?\$0[\"']?", lambda _: words[1], text, count=1)
    return examiner.inner_line(f"{call.name} -c", text, call, state)


_NAME_OF = "_name_from_a_list"


def _with_names(text: str, state: "ShellState") -> str:
    """Return a line with names of a list in it (``xargs -I{} sh -c 'wc {}'``) as one to read.

    The names become a variable, so that ``rm {}`` is judged like ``rm *``. A name between single
    quotes is put between double ones; one that stays inside them cannot be followed.
    """
    marks = ANY + ONE + NUMBER
    names = set(re.findall(f"[{marks}x./]*[{marks}][{marks}x]*", text))
    if len(names) != 1 or UNKNOWN in text or FOUND_BY_NAME in text:
        return text
    (name,) = names
    line = text.replace(f"'{name}'", f'"{name}"')
    if line.partition(name)[0].count("'") % 2:
        return text
    state.variables[_NAME_OF] = name
    return line.replace(name, f"${{{_NAME_OF}}}")


def _script(examiner: "Examiner", call: "Call", words: list[str]) -> PrintedText:
    """Judge a script file: one in the workspace is allowed, unless this line downloaded it."""
    path = words[0]
    if "-n" not in call.arguments[:2]:  # `bash -n FILE` only reads it
        judge_script(examiner, path)
    text = examiner.made_text(path, call.state)
    if examiner.is_fetched(path, call.state):
        examiner.found("remote-code", path)
    elif path.startswith("/dev/fd/") or UNKNOWN in path:
        examiner.found("code-from-input", path)
    elif text is not None and known(text):  # a script that this line wrote
        return examiner.inner_line(f"{call.name} {path}", text, call)
    elif examiner.zone(path, call.state) not in (Zone.INSIDE, Zone.STEERING):
        examiner.found("run-outside", path)
    return ANYTHING


def _from_input(examiner: "Examiner", call: "Call") -> PrintedText:
    text = call.stdin.text
    if call.stdin.remote:
        examiner.found("remote-code", call.name)
    elif text is None or not known(text):
        examiner.found("code-from-input", call.name)
    elif text.strip():
        state = call.state.copy()
        return examiner.inner_line(f"{call.name} <<", text, call._replace(stdin=NOTHING), state)
    return ANYTHING


def evaluate(examiner: "Examiner", call: "Call") -> PrintedText:
    """Judge eval."""
    text = " ".join(call.arguments)
    if not known(text):
        examiner.found("remote-code" if call.stdin.remote else "code-from-input", text)
        return ANYTHING
    return examiner.inner_line("eval", text, call, call.state)


def source(examiner: "Examiner", call: "Call") -> PrintedText:
    """Judge ``.`` and ``source``."""
    words = [word for word in call.arguments if word != "--"]
    if words and words[0] == "/dev/stdin":
        return _from_input(examiner, call)
    return _script(examiner, call, words) if words else ANYTHING


def trap(examiner: "Examiner", call: "Call") -> PrintedText:
    """Judge trap: the shell runs its first operand later."""
    operands = arguments(call.arguments).operands
    if len(operands) > 1 and operands[0] not in ("", "-"):
        line = operands[0]
        if FOUND_BY_NAME not in line:  # `trap "kill $pid" EXIT`
            line = line.replace(NUMBER, "4321")
        examiner.inner_text("trap", line, call.state)
        if not known(line):
            examiner.found("code-from-input", line)
    return NOTHING
