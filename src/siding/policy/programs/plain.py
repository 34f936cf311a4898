"""Judges shared by many programs: they take text, read files, or run the project."""

import re
from itertools import pairwise
from typing import TYPE_CHECKING

from siding.policy.effects import secret_variable
from siding.policy.fields import (
    ANY,
    ANYTHING,
    FOUND_BY_NAME,
    MARKS,
    NUMBER,
    UNKNOWN,
    PrintedText,
    known,
    shown_words,
)
from siding.policy.names import names, ordered
from siding.policy.options import arguments
from siding.policy.paths import Zone
from siding.policy.programs.tables import INERT

if TYPE_CHECKING:
    from siding.policy.call import Call
    from siding.policy.examiner import Examiner

_RUNS_A_PROGRAM = (
    r"(?i)^-{1,2}(?:[\w-]+[-.])?(?:exec(?:ute)?|command|cmd|program|shell|pager|editor|pre|rsh"
    r"|plugins?|wrapper|askpass|hooks?|hook-?path|preload|require|loader|import|eval|script-shell"
    r"|toolexec|vettool|runner|launcher|init-script|agentpath|agentlib|javaagent|override-ini"
    r"|use-compress-program|compress-program|to-command|checkpoint-action|hostname-bin|filter"
    r"|open-files-in-pager|proxy-?command|config-env|interpreter|on-change|callback)(?:=|$)"
)
_MAY_RUN = {
    "pre-commit": ("--hook-stage",),
    "cargo": ("--exec",),
    "npm": ("--call",),
    "pytest": ("--pre",),
    "go": ("-import",),
    "yarn": ("--plugins",),
    "go test": (),
    "eslint": ("--plugin",),
    "stylelint": ("--plugin",),
    "prettier": ("--plugin",),
    "cmake": ("--preset",),
    "bazel": ("--test_filter", "--filter"),
    "vitest": ("--runner",),
    "pnpm": ("--filter",),
    "turbo": ("--filter",),
    "lerna": ("--filter",),
    "dotnet": ("--filter",),
    "mypy": (),
    "rspec": ("--require",),
    "mocha": ("--require",),
    "swift": ("--filter",),
    "phpunit": ("--filter",),
    "ctest": (),
    "docker": ("--filter",),
    "nx": ("--runner",),
    "jest": ("--filter",),
    "uv": (),
    "gtest": ("--gtest_filter",),
}

_OUTPUT_OPTION = (
    r"^(?:-o|-O|--out(?:put|file|dir)?(?:[-_]?(?:file|dir|path))?|--(?:report|junit[-_]?xml|junitxml"
    r"|html|log|log-?file|cov-report|target-dir|build-dir|dest(?:ination)?|cache-dir|basetemp"
    r"|coverage-?dir|tmp-?dir|destdir|prefix|install-dir)|DESTDIR|PREFIX|-d|-B|-p|-g)$"
)
_URL = re.compile(r"^[A-Za-z][\w+.-]*://|^(?:git|file|data|http)[:@]")
_DANGER_WORDS = (
    r"(?:^|[\s;&|(`'\"!=/])(?:rm|rmdir|unlink|shred|dd|mkfs[.\w]*|wipefs|sudo|su|doas|chmod|chown|mv"
    r"|sh|bash|zsh|dash|ksh|fish|eval|exec|source|curl|wget|nc|ncat|socat|ssh|scp|python[\d.]*|perl"
    r"|ruby|node|php|find|xargs|kill|pkill|killall|shutdown|reboot|crontab|git|tee|cp|ln)(?:\s|$)"
)


def inert(examiner: "Examiner", call: "Call") -> PrintedText:
    """Judge a program whose arguments are only text, numbers or names."""
    _names_of_variables(examiner, call)
    if call.name == "yes":
        return PrintedText(text=None, endless=True)
    if call.name == "pwd" and call.state.cwd is not None:
        return PrintedText(text=call.state.cwd + "\n")
    if call.name in ("jobs", "history", "ps", "seq"):
        return ANYTHING
    if call.name in ("pgrep", "pidof"):
        return PrintedText(text=FOUND_BY_NAME + "\n")
    if call.name in ("id", "nproc", "uuidgen", "whoami", "expr", "uname", "arch"):
        return PrintedText(text=NUMBER + "\n")
    return (
        PrintedText(text="")
        if call.name in (":", "true", "false", "[", "test", "sleep")
        else ANYTHING
    )


_NAMES_AFTER = {"test": ("-v", "-R"), "[": ("-v", "-R"), "wait": ("-p",)}


def _names_of_variables(examiner: "Examiner", call: "Call") -> None:
    """Judge the names of variables that ``test -v``, ``wait -p`` and getopts are given."""
    words = call.arguments
    for before, word in pairwise(words):
        if before in _NAMES_AFTER.get(call.name, ()):
            examiner.named(word, call.state)
    if call.name == "getopts":
        for word in words[1:2]:
            examiner.named(word, call.state)


def reader(examiner: "Examiner", call: "Call") -> PrintedText:
    """Judge a program that shows the files it is given."""
    name = call.name
    for word in call.arguments:
        for path in _paths_in(word):
            examiner.reads(path, call.state)
        _reads_network(examiner, word)
    options(examiner, call)
    if name in _SEARCHES:
        _searched(examiner, call)
    if name in ("base64", "base32", "rev", "tr"):
        return PrintedText(remote=call.stdin.remote, secret=call.stdin.secret)
    listed = _listing(call)
    if listed is not None:
        return PrintedText(text=listed)
    if name in ("realpath", "readlink", "basename", "dirname"):
        return _of_path(call)
    if name in ("cat", "head", "tail", "more", "less", "pv", "grep", "tac", "cut", "uniq", "fold"):
        operands = arguments(call.arguments, ("-n", "-c", "-d", "-f", "-m", "-e")).operands
        remote = call.stdin.remote or any(
            examiner.is_fetched(each, call.state) for each in operands
        )
        if name == "cat" and not [each for each in operands if each != "-"]:
            return call.stdin
        return PrintedText(
            remote=remote,
            secret=call.stdin.secret,
            endless="/dev/zero" in operands or "/dev/urandom" in operands,
        )
    return PrintedText(remote=call.stdin.remote, secret=call.stdin.secret)


_SEARCHES = names("grep egrep fgrep rg ag ack ugrep pcregrep diff")
_SEARCH_VALUES = ordered("""
    -e -f -A -B -C -m -d -g -t -T --regexp --file --include --exclude --exclude-dir --glob --type
""")


def _searched(examiner: "Examiner", call: "Call") -> None:
    """Judge a search: it may read all files below a directory, or credentials on its input."""
    given = arguments(call.arguments, _SEARCH_VALUES)
    patterns = given.values("-e", "--regexp", "-f", "--file")
    paths = list(given.operands)
    if not patterns and not given.has("--files") and call.name != "diff":
        patterns, paths = paths[:1], paths[1:]
    below = given.has("-r", "-R", "--recursive", "--dereference-recursive")
    if below or call.name in ("rg", "ag", "ack"):
        for path in paths or ["."]:
            examiner.reads_below(path, call.state)
    for pattern in patterns if call.stdin.secret else ():
        if secret_variable(pattern.strip("^=")):
            examiner.found("print-secret", pattern)


def _of_path(call: "Call") -> PrintedText:
    (*_, last) = ("", *arguments(call.arguments).operands)
    if call.name == "basename":
        return PrintedText(
            text=(NUMBER if not known(last) or not last else last.rpartition("/")[2]) + "\n"
        )
    if call.name == "dirname" and known(last) and "/" in last:
        return PrintedText(text=last.rstrip("/").rpartition("/")[0] + "\n")
    if call.name == "realpath" and known(last) and last.startswith("/"):
        return PrintedText(text=last + "\n")
    return ANYTHING


def _listing(call: "Call") -> str | None:
    """Return the output of a program that lists file names, as patterns; None for any other."""
    name = call.name
    given = arguments(call.arguments)
    operands = [each for each in given.operands if UNKNOWN not in each]
    if len(operands) != len(given.operands):
        return None
    if name in ("ls", "dir", "exa", "eza") and not given.has("-R", "--recursive", "-l"):
        if given.has("-d") or (all(set(each) & set(MARKS) for each in operands) and operands):
            return "".join(each + "\n" for each in operands)
        return "".join(
            (each.rstrip("/") + "/" if len(operands) > 1 else "") + ANY + "\n"
            for each in operands or ["."]
        )
    if name in ("rg", "ag", "grep", "egrep") and given.has("-l", "--files-with-matches", "-L"):
        where = [each for each in operands[1:] if not each.startswith("-")] or ["."]
        return "".join(each.rstrip("/") + "/" + ANY + "\n" for each in where)
    if name == "rg" and given.has("--files"):
        return "".join(each.rstrip("/") + "/" + ANY + "\n" for each in operands or ["."])
    if name in ("fd", "fdfind", "locate"):
        where = operands[1:] or ["."]
        return None if name == "locate" else "".join(f"{e.rstrip('/')}/{ANY}\n" for e in where)
    return None


def runner(examiner: "Examiner", call: "Call") -> PrintedText:
    """Judge a program that does the project's work."""
    options(examiner, call)
    if call.name in ("ffmpeg", "sox", "pandoc", "convert", "magick"):
        _media(examiner, call)
        return ANYTHING
    option = ""
    for word in call.arguments:
        _code_path(examiner, call, option, word)
        option = word if word.startswith("-") and "=" not in word else ""
    if examiner.is_fetched(".", call.state):
        examiner.found("remote-code", call.words[0])
    if call.state.cwd is None or not examiner.is_workspace(".", call.state):
        zones = examiner.zone(".", call.state)
        if zones is not Zone.WORKSPACE or call.state.cwd is None:
            examiner.found("run-outside", call.state.cwd or "an unknown directory")
    return ANYTHING


def agent(_examiner: "Examiner", _call: "Call") -> PrintedText:
    """Judge the start of an agent: its prompt is text, and what it then does is recorded and judged
    by itself."""
    return ANYTHING


def _media(examiner: "Examiner", call: "Call") -> None:
    """Judge ffmpeg, convert and the like: any operand may be a file they write."""
    for word in call.arguments:
        for path in _paths_in(word):
            if "/" in path or path.startswith("."):
                examiner.writes(path, call.state)


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
    if not word.startswith(("/", "../")) and "/../" not in word and word != "..":
        return
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


def options(examiner: "Examiner", call: "Call") -> None:
    """Judge what the arguments of any program may hide: programs to run, files to write."""
    before = ""
    for word in call.arguments:
        allowed = word.partition("=")[0] in _MAY_RUN.get(call.name, ())
        if re.match(_RUNS_A_PROGRAM, word) and not allowed:
            examiner.found("option-runs-program", word)
        _output_option(examiner, call, before, word)
        if call.name not in TEXT:
            dangerous_argument(examiner, call, word)
        before = word


_WRITTEN = re.compile(r"out(?:put)?|dest|dir|file$|log")
_WRITTEN_NEXT = ordered("""
    -o --output -O --out --outfile --output-file --outdir --destination --log-file
""")
_O_IS_OTHER = ("grep", "egrep", "fgrep", "rg", "ls", "ps", "jq", "gh", "tree")


def _output_option(examiner: "Examiner", call: "Call", before: str, word: str) -> None:
    """Judge the value of an option that names a file to write."""
    name, equals, value = word.partition("=")
    if word.startswith("-") and equals and _WRITTEN.search(name):
        if value.startswith(("/", "..")) and not _URL.match(value):
            examiner.writes(value, call.state)
    elif before in _WRITTEN_NEXT and word != "-" and call.name not in _O_IS_OTHER:
        examiner.writes(word, call.state)


# Programs whose arguments are often text about commands: `grep "rm -rf"` deletes nothing.
TEXT = names(
    """
    grep egrep fgrep rg ag ack zgrep pcregrep ugrep jq yq fd fdfind locate tr cut test [ expr
    commitlint cspell echo printf git gh pytest make
    """
)


def dangerous_argument(examiner: "Examiner", call: "Call", word: str) -> None:
    """Record `dangerous-argument` if an argument, read as a command line, would be blocked."""
    for text in {word, word.partition("=")[2], word.partition("!")[2]}:
        spoken = text and " " in text and known(text) and re.search(_DANGER_WORDS, text)
        if spoken and examiner.would_block(text, call.state):
            examiner.found("dangerous-argument", text)
            return


def _paths_in(word: str) -> set[str]:
    """Return what may be a path in an argument: all of it, or text after ``=``, ``@``, ``:``."""
    found = {word, word.partition("=")[2]}
    if not _URL.match(word):
        found |= {word.partition("@")[2], word.partition(":")[2], word.rpartition("]")[2]}
    if word.startswith("file:"):
        found.add(word.removeprefix("file:").removeprefix("//"))
    if re.match(r"-[A-Za-z][./~]", word):
        found.add(word[2:])
    return {each for each in found if each}


def _reads_network(examiner: "Examiner", word: str) -> None:
    if word.startswith(("/dev/tcp/", "/dev/udp/")):
        examiner.found("send-data", word)


def workspace_program(examiner: "Examiner", call: "Call") -> PrintedText:
    """Judge a program or script given by a path."""
    path = call.words[0]
    if examiner.is_fetched(path, call.state):
        examiner.found("remote-code", path)
        return ANYTHING
    zone = examiner.zone(path, call.state)
    if zone in (Zone.INSIDE, Zone.STEERING):
        setup_script(examiner, call)
        return runner(examiner, call)
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
        if known(word) and examiner.knows(word.rpartition("/")[2]) and word not in INERT:
            examiner.inner(call.name, call.words[index:], call)
            break
    for word in call.arguments:
        dangerous_argument(examiner, call, word)
    return ANYTHING


def reads_all(examiner: "Examiner", call: "Call") -> None:
    """Judge every argument as a file that may be read."""
    for word in call.arguments:
        for path in _paths_in(word):
            examiner.reads(path, call.state)
