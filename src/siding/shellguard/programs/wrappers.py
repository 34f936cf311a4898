"""Launchers with a language of their own: what they run is made of more than their arguments."""

import re
import shlex
from itertools import pairwise
from typing import TYPE_CHECKING

from siding.shellguard.fields import (
    ANYTHING,
    FOUND_BY_NAME,
    FROM_A_LIST,
    NOTHING,
    UNKNOWN,
    PrintedText,
    known,
    shown_words,
)
from siding.shellguard.names import names, ordered
from siding.shellguard.options import arguments
from siding.shellguard.paths import Zone

if TYPE_CHECKING:
    from siding.shellguard.examiner import Examiner
    from siding.shellguard.state import Call


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
    lists = given.values("-a", "--arg-file")
    for path in lists:
        examiner.reads(path, call.state)
    near = all(examiner.zone(path, call.state) is Zone.INSIDE for path in lists)
    listed = near if lists else call.stdin.listed
    items = [FROM_A_LIST if listed else UNKNOWN]
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
    for path in given.values("--joblog", "--results"):
        examiner.writes(path, call.state)
    words = list(given.operands)
    marks = [i for i, word in enumerate(words) if word in (":::", "::::", ":::+", "::::+")]
    command = words[: marks[0]] if marks else words
    items = words[marks[0] + 1 :] if marks and words[marks[0]] == ":::" else [UNKNOWN]
    items = [item for item in items if item not in (":::", "::::", ":::+")]
    if not marks and call.stdin.text is not None:
        items = call.stdin.text.split("\n")
        items = [item for item in items if item]
    elif not marks and call.stdin.listed and not given.has("-a", "--arg-file"):
        items = [FROM_A_LIST]
    for item in items[:12]:
        line = " ".join(command) or item
        # parallel quotes what it puts into a command
        put = shlex.quote(item) if command and known(item) else item
        filled = examiner.budget.replaced(re.sub(r"\{[./\d]*\}", "{}", line), "{}", put)
        if filled == line and command:
            filled = f"{line} {put}"
        if known(filled):
            examiner.inner_text("parallel", filled, call.state)
        else:
            examiner.inner("parallel", tuple(filled.split()), call)
            if len(command) == 1 and " " in line and known(line):
                examiner.inner_text("parallel", line.replace("{}", "x"), call.state)
    return ANYTHING


_RUN_A_COMMAND = names("""
    new new-session new-window neww split-window splitw run-shell run respawn-pane respawn-window
    if-shell display-popup popup pipe-pane
""")


def multiplexer(examiner: "Examiner", call: "Call") -> PrintedText:
    """Judge tmux and screen: the words at the end are a command."""
    words = list(call.arguments)
    _own_files(examiner, call)
    for index, word in enumerate(words):
        if word in _RUN_A_COMMAND:
            _screen_command(examiner, call, words[index + 1 :])
        if word in ("kill-server", "kill-all-sessions", "delete-all-sessions") or (
            word == "kill-session" and "-a" in words
        ):
            examiner.found("kill-all", shown_words(call.words[:6]))
        if word in _TYPES or (word in ("set", "set-option") and _COMMANDS.intersection(words)):
            examiner.found("code-from-input", shown_words(call.words[:8]))
        if word in ("send-keys", "send") and re.fullmatch(_STOPS, words[-1]):
            continue
        if word in ("send-keys", "send", "stuff", "source-file", "source", "paste-buffer"):
            examiner.found("code-from-input", shown_words(call.words[:8]))
            examiner.inner_text(call.name, " ".join(words[index + 1 :]), call.state)
    if call.name == "screen" and {"-ls", "-list"} & set(words):
        return PrintedText(text=FOUND_BY_NAME + "\n")
    ends = words[-1:] == ["quit"] or "kill-session" in words
    listed = [word for word in words if UNKNOWN in word or FOUND_BY_NAME in word]
    if ends and (listed or (call.name == "screen" and "-S" not in words)):
        examiner.found("kill-all", shown_words(call.words[:6]))
    elif call.name == "screen" and words and words[0] not in ("-ls", "-list", "-v"):
        _screen_command(examiner, call, words)
    return ANYTHING


_STOPS = r"C-[a-z]|q|Escape"  # a key alone: it ends what runs there
_TYPES = names("set-hook bind bind-key write-chars write command-prompt confirm-before")
_COMMANDS = names("default-command default-shell editor lock-command copy-command")


def _own_files(examiner: "Examiner", call: "Call") -> None:
    """Judge the files that a multiplexer reads its own commands from, reads or writes."""
    words = call.arguments
    for before, word in pairwise(words):
        if before in ("-f", "-c", "--config", "--layout") and call.name != "dtach":
            if "/" in word and not examiner.is_workspace(word, call.state):
                examiner.found("run-outside", word)
        elif before in ("save-buffer", "saveb", "-Logfile", "hardcopy"):
            examiner.writes(word, call.state)
        elif before in ("load-buffer", "loadb"):
            examiner.reads(word, call.state)
    if call.name in ("dtach", "abduco"):
        after = [at for at, word in enumerate(words) if word in ("-n", "-A", "-c", "-N")][:1]
        for at in after:
            _screen_command(examiner, call, list(words[at + 2 :]))


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
