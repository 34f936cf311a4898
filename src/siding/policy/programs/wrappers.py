"""Programs that run a command they are given, as it is or through a shell."""

import re
from typing import TYPE_CHECKING

from siding.policy import unwrap
from siding.policy.fields import ANYTHING, NOTHING, UNKNOWN, PrintedText, known, shown_words
from siding.policy.names import names, ordered
from siding.policy.options import arguments
from siding.policy.programs.builtins import change_directory

if TYPE_CHECKING:
    from siding.policy.call import Call
    from siding.policy.examiner import Examiner


def wrapper(examiner: "Examiner", call: "Call") -> PrintedText:
    """Judge the command inside a wrapper, and the wrapper's own effects."""
    how = unwrap.WRAPPERS[call.name]
    given, words, assigned = unwrap.command_in(how, call.arguments)
    if not words and any(name in ("--help", "--version", "-V", "-l", "-v") for name, _ in given):
        return ANYTHING
    if call.name == "command" and any(name in ("-v", "-V") for name, _ in given):
        return ANYTHING
    if how.rule and not (call.name == "sudo" and not words and _only(given, "-k", "-K", "-V")):
        examiner.found(how.rule, shown_words(call.words[:6]))
    _wrapper_options(examiner, call, how, given)
    state = call.state if call.name in ("command", "builtin", "exec") else call.state.copy()
    for name, value in given:
        if name in ("-C", "--chdir", "-D", "--working-directory", "--cd"):
            change_directory(examiner, call._replace(words=("cd", value), state=state))
    for name, value in assigned.items():
        examiner.variable(name, value, state, lasting=False)
        state.variables[name] = value
    return _wrapped(examiner, call._replace(state=state), words)


def _wrapper_options(
    examiner: "Examiner", call: "Call", how: unwrap.Wrapper, given: list[tuple[str, str]]
) -> None:
    for name, value in given:
        if name in how.line_options:
            examiner.inner_text(f"{call.name} {name}", value, call.state)
            if not known(value):
                examiner.found("code-from-input", value)
        if name in how.writes and value[:1] in ("|", "!"):  # strace writes into a program
            examiner.inner_text(f"{call.name} {name}", value[1:], call.state)
        elif name in how.writes:
            examiner.writes(value, call.state)
        if UNKNOWN in name:
            examiner.found("dynamic-command", name)


def _wrapped(examiner: "Examiner", call: "Call", words: tuple[str, ...]) -> PrintedText:
    """Judge the words a wrapper runs."""
    if call.name in ("watch", "retry", "entr", "hyperfine"):
        return _through_shell(examiner, call, words)
    if call.name == "script":
        return _recorded(examiner, call, words)
    if call.name == "asciinema":
        return ANYTHING
    if call.name in ("wsl", "wsl.exe"):
        words = tuple(word for word in words if word not in ("-e", "--exec", "--"))
        examiner.found("unknown-program", call.name)
    if not words:
        return PrintedText(secret=True) if call.name == "env" else ANYTHING
    if words[0] == "-c" and len(words) > 1:
        examiner.inner_text(f"{call.name} -c", words[1], call.state)
        return ANYTHING
    return examiner.inner(call.name, words, call)


def _recorded(examiner: "Examiner", call: "Call", words: tuple[str, ...]) -> PrintedText:
    """Judge script(1): the file it writes and the command it records.

    util-linux takes its options after the file too, with the command behind -c. BSD takes the
    command after the file.
    """
    given = arguments(words, unwrap.WRAPPERS["script"].with_value)
    for line in given.values("-c", "--command"):
        examiner.inner_text("script -c", line, call.state)
    for path in given.operands[:1]:
        examiner.writes(path, call.state)
    return examiner.inner("script", words[1:], call) if len(given.operands) > 1 else ANYTHING


def _only(given: list[tuple[str, str]], *names: str) -> bool:
    return bool(given) and all(name in names for name, _ in given)


def _through_shell(examiner: "Examiner", call: "Call", words: tuple[str, ...]) -> PrintedText:
    if call.name == "hyperfine":
        for word in words:
            examiner.inner_text("hyperfine", word, call.state)
        return ANYTHING
    if len(words) == 1:
        examiner.inner_text(call.name, words[0], call.state)
        return ANYTHING
    return examiner.inner(call.name, words, call)


def switch_user(examiner: "Examiner", call: "Call") -> PrintedText:
    """Judge su, runuser and sg."""
    examiner.found("become-root", shown_words(call.words[:6]))
    given = arguments(
        call.arguments,
        ("-c", "--command", "-s", "--shell", "-u", "-g", "-G", "-w"),
        stop_at_operand=call.name == "runuser" and "-u" in call.arguments,
    )
    for line in given.values("-c", "--command"):
        examiner.inner_text(f"{call.name} -c", line, call.state)
    if call.name == "runuser" and given.has("-u") and given.operands:
        return examiner.inner(call.name, given.operands, call)
    return ANYTHING


def xargs(examiner: "Examiner", call: "Call") -> PrintedText:
    """Judge xargs: it appends words from standard input to its command."""
    given = arguments(
        call.arguments,
        ordered("""
            -I -i -n -P -L -l -s -d -E -a --max-args --max-procs --replace --delimiter --arg-file
            --max-lines --max-chars --process-slot-var
        """),
        stop_at_operand=True,
    )
    items = [UNKNOWN]
    text = call.stdin.text
    if text is not None and not given.has("-a", "--arg-file"):
        pieces = re.split(r"[\n\\]0?" if given.has("-0", "--null") else r"[ \t\n]+", text)
        items = [piece for piece in pieces if piece]
    words = given.operands or ("echo",)
    mark = next(iter(given.values("-I", "--replace")), "{}" if given.has("-i") else "")
    if mark:
        for item in items[:12] or [UNKNOWN]:
            filled = tuple(examiner.budget.replaced(w, mark, item) for w in words)
            examiner.inner("xargs", filled, call._replace(stdin=NOTHING))
        return ANYTHING
    return examiner.inner("xargs", (*words, *items[:200]), call._replace(stdin=NOTHING))


def parallel(examiner: "Examiner", call: "Call") -> PrintedText:
    """Judge GNU parallel."""
    given = arguments(
        call.arguments,
        ordered("""
            -j -n -N -a -I -S --jobs --colsep --joblog --results --sshlogin --timeout --delay
            --tagstring --retries --arg-file
        """),
        stop_at_operand=True,
    )
    if given.has("-S", "--sshlogin"):
        examiner.found("change-remote", "parallel -S")
    words = list(given.operands)
    marks = [i for i, word in enumerate(words) if word in (":::", "::::", ":::+", "::::+")]
    command = words[: marks[0]] if marks else words
    items = words[marks[0] + 1 :] if marks and words[marks[0]] == ":::" else [UNKNOWN]
    items = [item for item in items if item not in (":::", "::::", ":::+")]
    if not marks and call.stdin.text is not None:
        items = call.stdin.text.split("\n")
        items = [item for item in items if item]
    for item in items[:12]:
        line = " ".join(command) or item
        filled = examiner.budget.replaced(re.sub(r"\{[./\d]*\}", "{}", line), "{}", item)
        if filled == line and command:
            filled = f"{line} {item}"
        if known(filled):
            examiner.inner_text("parallel", filled, call.state)
        else:
            examiner.inner("parallel", tuple(filled.split()), call)
    return ANYTHING


_RUN_A_COMMAND = names("""
    new new-session new-window neww split-window splitw run-shell run respawn-pane respawn-window
    if-shell display-popup popup pipe-pane
""")


def multiplexer(examiner: "Examiner", call: "Call") -> PrintedText:
    """Judge tmux and screen: the words at the end are a command."""
    words = list(call.arguments)
    for index, word in enumerate(words):
        if word in _RUN_A_COMMAND:
            _screen_command(examiner, call, words[index + 1 :])
        if word in ("send-keys", "send", "stuff", "source-file", "source", "paste-buffer"):
            examiner.found("code-from-input", shown_words(call.words[:8]))
            examiner.inner_text(call.name, " ".join(words[index + 1 :]), call.state)
    if call.name == "screen" and words and words[0] not in ("-ls", "-list", "-v"):
        _screen_command(examiner, call, words)
    return ANYTHING


def _screen_command(examiner: "Examiner", call: "Call", words: list[str]) -> None:
    given = arguments(
        words,
        ("-S", "-c", "-n", "-s", "-t", "-T", "-x", "-y", "-e", "-F", "-h", "-p", "-X", "-L"),
        stop_at_operand=True,
    )
    rest = given.operands
    if len(rest) == 1 and " " in rest[0]:
        examiner.inner_text(call.name, rest[0], call.state)
    elif rest:
        examiner.inner(call.name, rest, call)


def at(examiner: "Examiner", call: "Call") -> PrintedText:
    """Judge at and batch: standard input is a script that runs later."""
    if {"-l", "-V", "--help"} & set(call.arguments):
        return ANYTHING
    examiner.found("schedule", shown_words(call.words[:6]))
    if call.stdin.text is not None and known(call.stdin.text):
        examiner.inner_text(call.name, call.stdin.text, call.state)
    return ANYTHING


JUDGES = {
    **dict.fromkeys(unwrap.WRAPPERS, wrapper),
    **dict.fromkeys(("su", "runuser", "sg", "newgrp"), switch_user),
    **dict.fromkeys(("parallel", "sem", "rush"), parallel),
    **dict.fromkeys(("tmux", "screen", "byobu", "zellij", "dtach", "abduco"), multiplexer),
    **dict.fromkeys(("at", "batch"), at),
    "xargs": xargs,
}
