"""Judges shared by many programs: they take text, read files, or run the project."""

import re
from collections.abc import Container
from typing import TYPE_CHECKING

from siding.shellguard.fields import (
    ANYTHING,
    PrintedText,
    known,
    shown_words,
)
from siding.shellguard.names import ordered
from siding.shellguard.paths import Zone
from siding.shellguard.programs.arguments import dangerous_argument
from siding.shellguard.programs.rows import row_of

if TYPE_CHECKING:
    from siding.shellguard.examiner import Examiner
    from siding.shellguard.state import Call

_RUNS_A_PROGRAM = (
    r"(?i)^(?!--no-)-{1,2}(?:[\w-]+[-.])?(?:exec(?:ute)?|command|cmd|program|shell|pager|editor|pre|rsh"
    r"|plugins?|wrapper|askpass|hooks?|hook-?path|preload|require|loader|import|eval|script-shell"
    r"|toolexec|vettool|runner|launcher|init-script|agentpath|agentlib|javaagent|override-ini"
    r"|use-compress-program|compress-program|to-command|checkpoint-action|hostname-bin|filter"
    r"|open-files-in-pager|proxy-?command|config-env|interpreter|on-change|callback)(?:=|$)"
)
_OUTPUT_OPTION = (
    r"^(?:-o|-O|--?out(?:put|file|dir)?(?:[-_]?(?:file|dir|path))?|--(?:report|junit[-_]?xml|junitxml"
    r"|html|log|log-?file|cov-report|target-dir|build-dir|dest(?:ination)?|cache-dir|basetemp"
    r"|coverage-?dir|tmp-?dir|destdir|prefix|install-dir)|DESTDIR|PREFIX|-d|-B|-p|-g)$"
)
_URL = re.compile(r"^[A-Za-z][\w+.-]*://|^(?:git|file|data|http)[:@]")


def runner(
    examiner: "Examiner", call: "Call", named: Container[str] = (), *, quotes: bool = False
) -> PrintedText:
    """Judge a program that does the project's work; see `options` for `named` and `quotes`."""
    options(examiner, call, named, quotes=quotes)
    option = ""
    for word in call.arguments:
        if not (option in ("-n", "--name") and re.fullmatch(r"/[^/]*/i?", word)):  # a pattern
            _code_path(examiner, call, option, word)
        if option == "-o":
            examiner.makes(word, "", call.state)
        option = word if word.startswith("-") and "=" not in word else ""
    if examiner.is_fetched(".", call.state):
        examiner.found("remote-code", call.words[0])
    if call.state.cwd is None or not examiner.is_workspace(".", call.state):
        zones = examiner.zone(".", call.state)
        if call.state.cwd is not None and examiner.made_text(".", call.state) is not None:
            return ANYTHING  # a directory that this line made
        if zones is not Zone.WORKSPACE or call.state.cwd is None:
            examiner.found("run-outside", call.state.cwd or "an unknown directory")
    return ANYTHING


def _code_path(examiner: "Examiner", call: "Call", option: str, word: str) -> None:
    """Judge an argument that is a path outside the workspace: the tool may run code from there."""
    name, equals, value = word.partition("=")
    if equals and re.fullmatch(r"-{0,2}[\w.-]+", name):
        option, word = name, value
    for prefix in ("-I", "-L", "-C", "-f", "-o"):
        if word.startswith((prefix + "/", prefix + "..")):
            option, word = prefix, word[2:]
    if _URL.match(word):
        return
    if _made_here(examiner, call, word):
        return
    if not word.startswith(("/", "../")) and "/../" not in word and word != "..":
        return
    if word.startswith("//") and call.name in ("bazel", "bazelisk", "buck2", "pants", "please"):
        return  # a target
    zone = examiner.zone(word, call.state)
    if zone in (Zone.INSIDE, Zone.HARMLESS) or examiner.is_workspace(word, call.state):
        return
    project = call.name in ("npm", "pnpm", "yarn", "bun", "poetry", "uv") and option != "-o"
    if zone is Zone.TEMPORARY and re.match(_OUTPUT_OPTION, option) and not project:
        return
    if zone is Zone.SYSTEM and option in ("-I", "-L", "-isystem", "--sysroot", "--python", "-p"):
        return
    if zone in (Zone.STEERING, Zone.REPOSITORY):
        return
    examiner.found("run-outside", word)


def _made_here(examiner: "Examiner", call: "Call", path: str) -> bool:
    """Judge the text of a file that this line wrote; return whether it made the path."""
    text = examiner.made_text(path, call.state)
    if text is None or examiner.is_fetched(path, call.state):
        return False
    if text:
        from siding.shellguard.programs.program_text import judge_program  # few lines write one

        judge_program(examiner, call.name, text, call.state)
    return True


def options(
    examiner: "Examiner", call: "Call", named: Container[str] = (), *, quotes: bool = False
) -> None:
    """Judge what the arguments of any program may hide: programs to run, files to write.

    `named` are the options whose meaning is known. With `quotes`, arguments are often text about
    commands: ``grep "rm -rf"`` deletes nothing.
    """
    before = ""
    for word in call.arguments:
        name = word.partition("=")[0]
        if name not in named:
            if re.match(_RUNS_A_PROGRAM, word):
                examiner.found("option-runs-program", word)
            if before not in named:
                _output_option(examiner, call, before, word)
        if not quotes:
            dangerous_argument(examiner, word, call.state)
        before = word


_WRITTEN = re.compile(r"out(?:put)?|dest|dir|file$|log")
_WRITTEN_NEXT = ordered("""
    -o --output -O --out --outfile --output-file --outdir --destination --log-file
""")


def _output_option(examiner: "Examiner", call: "Call", before: str, word: str) -> None:
    """Judge the value of an option that names a file to write."""
    name, equals, value = word.partition("=")
    if word.startswith("-") and equals and _WRITTEN.search(name):
        if value.startswith(("/", "..")) and not _URL.match(value):
            examiner.writes(value, call.state)
    elif before in _WRITTEN_NEXT and word != "-":
        examiner.writes(word, call.state)


def paths_in(word: str) -> set[str]:
    """Return what may be a path in an argument: all of it, or text after ``=``, ``@``, ``:``."""
    found = {word, word.partition("=")[2]}
    if not _URL.match(word):
        found |= {word.partition("@")[2], word.partition(":")[2], word.rpartition("]")[2]}
    if word.startswith("file:"):
        found.add(word.removeprefix("file:").removeprefix("//"))
    if re.match(r"-[A-Za-z][./~]", word):
        found.add(word[2:])
    return {each for each in found if each}


def workspace_program(examiner: "Examiner", call: "Call") -> PrintedText:
    """Judge a program or script given by a path."""
    path = call.words[0]
    if examiner.is_fetched(path, call.state):
        examiner.found("remote-code", path)
        return ANYTHING
    zone = examiner.zone(path, call.state)
    text = examiner.made_text(path, call.state)
    if text:  # a script that this line wrote
        examiner.inner_text(path, text, call.state)
        return ANYTHING
    if text == "" or zone in (Zone.INSIDE, Zone.STEERING):
        setup_script(examiner, call)
        row = row_of(call.name)
        if row is None:
            from siding.shellguard.programs.purposes import judge_script  # most programs have a row

            judge_script(examiner, path)
            return runner(examiner, call)
        return runner(examiner, call, row.options, quotes="quotes" in row.always)
    examiner.found("dynamic-command" if zone is Zone.UNKNOWN else "run-outside", path)
    return ANYTHING


def setup_script(examiner: "Examiner", call: "Call") -> None:
    """Judge ``setup.py``: it can install into the home directory, or publish."""
    if call.name != "setup.py":
        return
    away = {"--user", "--prefix", "--home", "--root", "--install-dir", "--target", "--install-base"}
    if {"install", "develop", "easy_install"} & set(call.arguments) and away & {
        word.partition("=")[0] for word in call.arguments
    }:
        examiner.found("write-outside", shown_words(call.words[:6]))
    if {"upload", "register"} & set(call.arguments):
        examiner.found("publish", shown_words(call.words[:6]))


def unknown(examiner: "Examiner", call: "Call") -> PrintedText:
    """Judge a program that no table knows: ask, and judge the command it seems to run."""

    examiner.found("unknown-program", call.words[0])
    for index, word in enumerate(call.arguments, start=1):
        if known(word) and examiner.knows(word.rpartition("/")[2]) and not _takes_text(word):
            examiner.inner(call.name, call.words[index:], call)
            break
    for word in call.arguments:
        dangerous_argument(examiner, word, call.state)
    return ANYTHING


_ABOUT_OPERANDS = {"(operands)", "(first)"}


def _takes_text(name: str) -> bool:
    """Return whether a program's name in front of its arguments is most likely just a word."""
    row = row_of(name)
    if row is None or "text" not in row.always or row.places.keys() & _ABOUT_OPERANDS:
        return False
    return not any(option[-1] == "=" for option in row.options)


def reader(examiner: "Examiner", call: "Call", *, quotes: bool = False) -> PrintedText:
    """Judge a program that shows the files it is given."""
    options(examiner, call, quotes=quotes)
    reads_all(examiner, call)
    return PrintedText(remote=call.stdin.remote, secret=call.stdin.secret)


def reads_all(examiner: "Examiner", call: "Call") -> None:
    """Judge every argument as a file that may be read."""
    for word in call.arguments:
        if word.startswith(("/dev/tcp/", "/dev/udp/")):
            examiner.found("send-data", word)
        for path in paths_in(word):
            examiner.reads(path, call.state)
