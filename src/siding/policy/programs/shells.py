"""Shells, wrappers, and builtins that run something or change the shell's state."""

import re
from typing import TYPE_CHECKING

from siding.policy import unwrap
from siding.policy.effects import secret_variable
from siding.policy.fields import (
    ANYTHING,
    MARKS,
    NOTHING,
    UNKNOWN,
    PrintedText,
    known,
    shown_words,
)
from siding.policy.names import names, ordered
from siding.policy.options import arguments
from siding.policy.paths import Zone

if TYPE_CHECKING:
    from siding.policy.budget import Budget
    from siding.policy.examiner import Call, Examiner

SHELLS = names("sh bash dash zsh ksh mksh ash fish rbash yash tcsh csh")


def shell(examiner: "Examiner", call: "Call") -> PrintedText:
    """Judge sh, bash and the like: a line after -c, a script, or commands on standard input."""
    words = list(call.arguments)
    line = from_input = False
    while words and words[0][:1] in ("-", "+") and words[0] not in ("-", "--"):
        word = words.pop(0)
        if word in ("--rcfile", "--init-file"):
            examiner.found("loads-code", " ".join([word, *words[:1]]))
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
    text = words[0]
    if len(words) > 1 and re.match(r"\s*[\"']?\$0", text):
        text = re.sub(r"[\"']?\$0[\"']?", lambda _: words[1], text, count=1)
    return examiner.inner_line(f"{call.name} -c", text, call, state)


def _script(examiner: "Examiner", call: "Call", words: list[str]) -> PrintedText:
    """Judge a script file: one in the workspace is allowed, unless this line downloaded it."""
    path = words[0]
    if examiner.is_fetched(path, call.state):
        examiner.found("remote-code", path)
    elif path.startswith("/dev/fd/") or UNKNOWN in path:
        examiner.found("code-from-input", path)
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
        examiner.inner_text("trap", operands[0], call.state)
        if not known(operands[0]):
            examiner.found("code-from-input", operands[0])
    return NOTHING


def alias(examiner: "Examiner", call: "Call") -> PrintedText:
    """Judge alias: the command it stands for, and whether it hides a known program."""

    for word in call.arguments:
        name, equals, value = word.partition("=")
        if not equals:
            continue
        call.state.aliases[name] = value
        first = value.split()[0] if value.split() else ""
        if examiner.knows(name) and first != name:
            examiner.found("loads-code", word)
        if known(value):
            examiner.inner_text("alias", value, call.state)
        else:
            examiner.found("code-from-input", word)
    return NOTHING


def change_directory(examiner: "Examiner", call: "Call") -> PrintedText:
    """Follow cd, pushd and popd."""
    operands = [w for w in call.arguments if w == "-" or not re.fullmatch(r"-[LPe@]+|--", w)]
    state = call.state
    if call.name == "popd" or operands[:1] == ["-"] or (call.name == "pushd" and not operands):
        state.cwd = None if call.name != "cd" else _back(state.variables.get("OLDPWD"))
        return NOTHING
    target = operands[0] if operands else examiner.home
    if UNKNOWN in target or any(mark in target for mark in MARKS):
        inside = UNKNOWN not in target and examiner.zone(target, state) is Zone.INSIDE
        state.cwd = f"{state.cwd}/{target}" if inside and not target.startswith("/") else None
        return NOTHING
    state.variables["OLDPWD"] = state.cwd or UNKNOWN
    if target.startswith("/"):
        state.cwd = examiner.place.resolve(target)
    elif state.cwd is not None:
        state.cwd = examiner.place.resolve(f"{state.cwd}/{target}")
    if any(target == link or target.startswith(link + "/") for link in state.links):
        state.cwd = None
    return NOTHING


def _back(before: str | None) -> str | None:
    return before if before and known(before) else None


def print_text(examiner: "Examiner", call: "Call") -> PrintedText:
    """Follow echo and printf: their output may be the input of a shell."""
    words = list(call.arguments)
    if call.name == "echo":
        plain = True
        while words and re.fullmatch(r"-[neE]+", words[0]):
            plain = plain and "e" not in words.pop(0)
        text = " ".join(words)
        return PrintedText(
            text=text + "\n" if plain or "\\" not in text else _unescaped(text) + "\n"
        )
    if words[:1] == ["-v"]:
        if len(words) > 1:
            examiner.named(words[1], call.state)
            formatted = _formatted(words[2:], examiner.budget)
            call.state.variables[words[1]] = UNKNOWN if formatted is None else formatted
            examiner.variable(words[1], call.state.variables[words[1]], call.state, lasting=True)
        return NOTHING
    return PrintedText(text=_formatted(words, examiner.budget))


def _unescaped(text: str) -> str:
    simple = {"\\n": "\n", "\\t": "\t", "\\\\": "\\", "\\c": ""}
    pattern = re.compile(r"\\(?:x[0-9A-Fa-f]{1,2}|0?[0-7]{1,3}|.)", re.DOTALL)

    def one(found: re.Match[str]) -> str:
        escape = found.group()
        if escape in simple:
            return simple[escape]
        if escape[1] == "x" and len(escape) > 2:
            return chr(int(escape[1:].replace("x", "0x", 1), 0))
        return chr(int(escape[1:], 8) & 0xFF) if escape[1].isdigit() else escape

    return _no_marks(pattern.sub(one, text))


def _no_marks(text: str) -> str:
    return "".join(UNKNOWN if c in MARKS or (c < " " and c not in "\n\t") else c for c in text)


def _formatted(words: list[str], budget: "Budget") -> str | None:
    """Return what printf writes; None when the format does more than insert values.

    Like printf, this repeats the format until all values are used.
    """
    if words[:1] == ["--"]:
        words = words[1:]
    if not words:
        return ""
    pattern, *values = words
    pieces = re.split(r"%(?:[-0-9. +#]*)([a-zA-Z%(])", pattern)
    pieces[::2] = map(_unescaped, pieces[::2])
    takes = sum(piece in "sdbqi" for piece in pieces[1::2])
    if takes != len(pieces) // 2 - pieces[1::2].count("%"):
        return None
    turns = max(1, -(-len(values) // takes)) if takes else 1
    budget.spend(turns * len(pieces), "making a value")
    budget.text(turns * sum(map(len, pieces)) + sum(map(len, values)), "making a value")
    given = iter(values)
    text: list[str] = []
    for index, piece in enumerate(pieces * turns):
        if index % len(pieces) % 2 == 0 or piece == "%":
            text.append(piece)
        else:
            text.append(next(given, ""))
    return "".join(text)


def read(examiner: "Examiner", call: "Call") -> PrintedText:
    """Follow read, mapfile and the like: the variables they set become unknown."""
    given = arguments(
        call.arguments,
        (
            "-a",
            "-d",
            "-i",
            "-n",
            "-N",
            "-p",
            "-t",
            "-u",
            "-C",
            "-c",
            "-O",
            "-s" if call.name == "mapfile" else "-u",
        ),
    )
    for name in (*given.operands, *given.values("-a")):
        examiner.named(name, call.state)
        call.state.variables[name] = UNKNOWN
        if name in call.state.arrays or given.has("-a") or call.name != "read":
            call.state.arrays[name] = (UNKNOWN,)
        if name in ("PATH", "IFS"):
            examiner.variable(name, UNKNOWN, call.state, lasting=True)
    for callback in given.values("-C"):
        if call.name != "read":
            examiner.inner_text(f"{call.name} -C", callback, call.state)
    return NOTHING


def declare(examiner: "Examiner", call: "Call") -> PrintedText:
    """Follow export, declare, local, readonly, typeset."""
    flags = [word for word in call.arguments if word.startswith("-")]
    words = [word for word in call.arguments if not word.startswith("-")]
    numbers = call.name != "export" and any("i" in flag for flag in flags)
    for flag in flags:
        if call.name in ("declare", "typeset", "local") and "n" in flag:
            examiner.found("dynamic-value", shown_words(call.words))
    for word in words:
        if "-p" in flags and secret_variable(word):
            examiner.found("print-secret", word)
        _declared(examiner, call, word, numbers=numbers)
    return ANYTHING if words else PrintedText(secret=True)  # it shows what there is


def _declared(examiner: "Examiner", call: "Call", word: str, *, numbers: bool) -> None:
    state = call.state
    name, equals, value = word.partition("=")
    name, bracket, subscript = name.rstrip("+").partition("[")
    examiner.evaluated(subscript, state)
    if numbers:
        state.integers.add(name)
    if not equals:
        return
    if name in state.integers:
        examiner.evaluated(f"{name} {value}", state)
    if bracket or name in state.arrays:
        state.hold(name, [value], append=True)
    state.variables[name] = UNKNOWN if bracket else value
    examiner.variable(name, value, state, lasting=True)
    if name == "IFS":
        state.plain_splitting = False


def unset(examiner: "Examiner", call: "Call") -> PrintedText:
    """Follow unset; bash evaluates the subscript of an array's element as arithmetic."""
    for word in arguments(call.arguments).operands:
        name, _, subscript = word.partition("[")
        examiner.evaluated(subscript, call.state)
        call.state.variables.pop(name, None)
        call.state.functions.pop(name, None)
        call.state.arrays.pop(name, None)
        if name.startswith("SIDING_"):
            examiner.found("siding-itself", name)
    return ANYTHING


def let(examiner: "Examiner", call: "Call") -> PrintedText:
    """Follow let, whose arguments are arithmetic."""
    for word in call.arguments:
        examiner.evaluated(word, call.state)
        name, equals, _ = word.partition("=")
        if equals:
            call.state.variables[name.rstrip("+")] = UNKNOWN
    for name, value in call.state.variables.items():
        if "$(" in value or "`" in value:
            examiner.found("dynamic-value", name)
            break
    return ANYTHING


def settings(examiner: "Examiner", call: "Call") -> PrintedText:
    """Follow set, shopt, enable, bind, complete, compgen, hash."""
    words = list(call.arguments)
    if call.name == "set":
        while words and words[0][:1] in "-+" and words[0] not in ("--", "-"):
            words = words[2:] if words.pop(0)[1:] == "o" and words else words
        if words:
            call.state.positional = tuple(words[1:] if words[0] in ("--", "-") else words)
        return NOTHING if call.arguments else PrintedText(secret=True)
    _completion(examiner, call, words)
    return ANYTHING


def _completion(examiner: "Examiner", call: "Call", words: list[str]) -> None:
    given = arguments(words, ("-C", "-F", "-W", "-f", "-p", "-x", "-A", "-G", "-P", "-S", "-o"))
    if call.name in ("complete", "compgen"):
        for line in given.values("-C"):
            examiner.inner_text(f"{call.name} -C", line, call.state)
        for line in given.values("-W"):
            if not known(line) or "$(" in line or "`" in line:
                examiner.found("dynamic-value", line)
    elif call.name == "bind":
        for line in given.values("-x"):
            examiner.inner_text("bind -x", line.partition(":")[2].strip(" '\""), call.state)
            examiner.found("loads-code", line)
    elif call.name == "hash" and given.has("-p"):
        path, names = "".join(given.values("-p")), given.operands
        for name in names:
            examiner.found("loads-code", f"{name} is {path}")
            call.state.aliases[name] = path
    elif call.name == "enable" and given.has("-f"):
        examiner.found("loads-code", " ".join(given.values("-f")))


# -- wrappers ----------------------------------------------------------------------------------


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
    **dict.fromkeys(SHELLS, shell),
    **dict.fromkeys(unwrap.WRAPPERS, wrapper),
    **dict.fromkeys((".", "source"), source),
    **dict.fromkeys(("cd", "pushd", "popd", "chdir"), change_directory),
    **dict.fromkeys(("echo", "printf", "print"), print_text),
    **dict.fromkeys(("read", "mapfile", "readarray"), read),
    **dict.fromkeys(("export", "declare", "typeset", "local", "readonly"), declare),
    **dict.fromkeys(
        ("set", "shopt", "enable", "bind", "complete", "compgen", "hash", "compopt"), settings
    ),
    **dict.fromkeys(("su", "runuser", "sg", "newgrp"), switch_user),
    **dict.fromkeys(("parallel", "sem", "rush"), parallel),
    **dict.fromkeys(("tmux", "screen", "byobu", "zellij", "dtach", "abduco"), multiplexer),
    **dict.fromkeys(("at", "batch"), at),
    "unset": unset,
    "let": let,
    "eval": evaluate,
    "trap": trap,
    "alias": alias,
    "unalias": settings,
    "xargs": xargs,
}
