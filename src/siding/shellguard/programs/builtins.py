"""Builtins of the shell that change its state, and those that print."""

import re
from itertools import pairwise
from typing import TYPE_CHECKING

from siding.shellguard.effects import secret_variable
from siding.shellguard.fields import (
    ANYTHING,
    FOUND_BY_NAME,
    FROM_A_LIST,
    MARKS,
    NOTHING,
    NUMBER,
    UNKNOWN,
    PrintedText,
    known,
    shown_words,
)
from siding.shellguard.options import arguments
from siding.shellguard.paths import Zone

if TYPE_CHECKING:
    from siding.shellguard.budget import Budget
    from siding.shellguard.examiner import Examiner
    from siding.shellguard.state import Call


def alias(examiner: "Examiner", call: "Call") -> PrintedText:
    """Judge alias: the command it stands for, and whether it hides a known program."""

    if {"-s", "--save"} & set(call.arguments):  # of fish: it lasts
        examiner.found("write-outside", " ".join(call.words[:6]))
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
        zone = Zone.UNKNOWN if UNKNOWN in target else examiner.zone(target, state)
        if zone is Zone.TEMPORARY and not set(target) & set(MARKS) - {NUMBER}:
            state.cwd = target  # what mktemp made
        else:
            inside = zone is Zone.INSIDE and not target.startswith("/")
            state.cwd = f"{state.cwd}/{target}" if inside else None
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


def _line_of(stdin: PrintedText, *, alone: bool) -> str:
    text = (stdin.text or "").rstrip("\n")
    if alone and text and "\n" not in text and UNKNOWN not in text:
        return text  # `find … | while read -r f; do …`
    if FOUND_BY_NAME in (stdin.text or ""):  # `pgrep NAME | while read p; do kill $p; done`
        return FOUND_BY_NAME
    return FROM_A_LIST if stdin.listed else UNKNOWN


def read_variables(examiner: "Examiner", call: "Call") -> PrintedText:
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
        call.state.variables[name] = _line_of(call.stdin, alone=len(given.operands) == 1)
        if name in call.state.arrays or given.has("-a") or call.name != "read":
            call.state.arrays[name] = (UNKNOWN,)
        if name == "PATH":
            examiner.found("loads-code", shown_words(call.words))
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
        if any(re.fullmatch(r"-\w*U\w*|--universal", word) for word in words):
            examiner.found("write-outside", shown_words(call.words[:6]))  # of fish: it lasts
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
        examiner.found("load-object", " ".join(given.values("-f")))


_NAMES_AFTER = {"test": ("-v", "-R"), "[": ("-v", "-R"), "wait": ("-p",)}


def names_variables(examiner: "Examiner", call: "Call") -> PrintedText:
    """Judge the names of variables that ``test -v``, ``wait -p`` and getopts are given."""
    words = call.arguments
    for before, word in pairwise(words):
        if before in _NAMES_AFTER.get(call.name, ()):
            examiner.named(word, call.state)
    if call.name == "getopts":
        for word in words[1:2]:
            examiner.named(word, call.state)
    return NOTHING if call.name in ("test", "[") else ANYTHING


def working_directory(_examiner: "Examiner", call: "Call") -> PrintedText:
    """Judge pwd."""
    return ANYTHING if call.state.cwd is None else PrintedText(text=call.state.cwd + "\n")
