"""Build tools whose arguments are a language: what they run stands in variables and definitions."""

import re
from typing import TYPE_CHECKING

from siding.policy.fields import ANYTHING, PrintedText, known, shown_words
from siding.policy.names import names, ordered
from siding.policy.options import arguments
from siding.policy.programs.plain import runner

if TYPE_CHECKING:
    from siding.policy.call import Call
    from siding.policy.examiner import Examiner


def cmake(examiner: "Examiner", call: "Call") -> PrintedText:
    """Judge cmake: -P runs a script, -E runs tools like rm and env."""
    words = call.arguments
    if words[:1] == ("-E",):
        verb, rest = (words[1] if len(words) > 1 else ""), words[2:]
        if verb in ("rm", "remove", "remove_directory"):
            return examiner.inner("cmake -E", ("rm", "-rf", *rest), call)
        if verb in ("env", "time", "nice"):
            return examiner.inner("cmake -E", (verb, *rest), call)
        if verb == "chdir":
            return examiner.inner("cmake -E", ("env", "-C", *rest), call)
    for path in arguments(words, ("-P", "-S", "-B", "-D", "-C", "-G")).values("-P"):
        if path.startswith("/dev/") or path == "-" or not known(path):
            examiner.found("code-from-input", path)
        elif examiner.is_fetched(path, call.state):
            examiner.found("remote-code", path)
    return runner(examiner, call)


_PROGRAM_NAMES = names("CC CXX LD AR PYTHON RM INSTALL NODE GO")
_ODD_PROGRAM = re.compile(r"\s\S*(?:/|-c\b)|^(?:ba|z|da)?sh\b|[/;|&$`]")


def make(examiner: "Examiner", call: "Call") -> PrintedText:
    """Judge make: a variable given to it may name the program it runs."""
    for word in call.arguments:
        name, equals, value = word.partition("=")
        if word.startswith("--eval") or name in ("SHELL", "MAKEFLAGS", ".SHELLFLAGS"):
            examiner.found("option-runs-program", word)
            examiner.inner_text(f"make {name}", value, call.state)
        elif equals and name in _PROGRAM_NAMES and _ODD_PROGRAM.search(value):
            examiner.found("option-runs-program", word)
    given = arguments(call.arguments, ("-f", "--file", "--makefile", "-C", "-I", "-o", "-W"))
    if set(given.values("-f", "--file", "--makefile")) & {"-", "/dev/stdin"}:
        examiner.found("code-from-input", shown_words(call.words))
    if "install" in call.arguments and not any(
        w.startswith(("DESTDIR=", "PREFIX=")) for w in call.arguments
    ):
        examiner.found("write-outside", "make install")
    runner(examiner, call)
    return ANYTHING


def compiler(examiner: "Examiner", call: "Call") -> PrintedText:
    """Judge compilers: plugins and wrappers are programs."""
    for word in call.arguments:
        if re.match(
            r"-(?:wrapper|fplugin|specs|B|load|Xclang|fuse-ld=/|agentpath|agentlib"
            r"|javaagent)",
            word,
        ) and not re.match(r"-B(?:static|dynamic|$)", word):
            examiner.found("option-runs-program", word)
    runner(examiner, call)
    return ANYTHING


def tests(examiner: "Examiner", call: "Call") -> PrintedText:
    """Judge pytest: plugins and configuration files are code."""
    given = arguments(
        call.arguments,
        ordered("""
            -p -c --rootdir -o --override-ini --confcutdir -k -m -n --maxfail -W --basetemp
        """),
    )
    for name in ("-p", "-o", "--override-ini"):
        for value in given.values(name):
            plugin = name == "-p" and (value.startswith("no:") or value in ("xdist", "pytest_cov"))
            setting = name == "-o" and re.match(r"log_|addopts=$|cache_dir=", value)
            if not plugin and not setting:
                examiner.found("option-runs-program", f"{name} {value}")
    runner(examiner, call)
    return ANYTHING


_LOOKS = names("status log show diff verify help completion version --version --help -h")
_GROUPS = names("task worktree session policy decide workflow")
_LOOKS_IN_GROUP = names("list show status check test events search usage result --help -h")


def siding(examiner: "Examiner", call: "Call") -> PrintedText:
    """Judge Siding's own commands: those that only show are allowed, others ask."""
    words = list(call.arguments)
    while words[:1] and (
        words[0] in ("-q", "-v", "-C", "--quiet", "--verbose") or words[0].startswith("--color=")
    ):
        words = words[2:] if words[0] == "-C" else words[1:]
    if not words or words[0] in _LOOKS or (words[0] == "doctor" and "--check" in words):
        return ANYTHING
    if words[0] in _GROUPS and (len(words) == 1 or words[1] in _LOOKS_IN_GROUP):
        return ANYTHING
    if words[0] == "run" and "--" in words:
        at = words.index("--")
        if any(word.startswith("--allow") for word in words[:at]):
            examiner.found("siding-itself", shown_words(call.words[:6]))
        return examiner.inner("siding run", tuple(words[at + 1 :]), call)
    examiner.found("siding-itself", shown_words(call.words[:6]))
    return ANYTHING


JUDGES = {
    **dict.fromkeys(("make", "gmake"), make),
    **dict.fromkeys(names("gcc g++ cc c++ clang clang++ java javac kotlinc ld"), compiler),
    **dict.fromkeys(("pytest", "py.test"), tests),
    "cmake": cmake,
    "siding": siding,
}
