"""awk, sed, editors and pagers: programs with commands of their own."""

import re
from typing import TYPE_CHECKING

from siding.shellguard.effects import secret_variable, seeks_secrets
from siding.shellguard.fields import (
    ANYTHING,
    FOUND_BY_NAME,
    MARKS,
    UNKNOWN,
    PrintedText,
    shown_words,
)
from siding.shellguard.names import names, ordered
from siding.shellguard.options import Arguments, arguments
from siding.shellguard.paths import Zone
from siding.shellguard.programs.arguments import stopped
from siding.shellguard.programs.plain import reader
from siding.shellguard.programs.program_text import judge_program

if TYPE_CHECKING:
    from siding.shellguard.examiner import Examiner
    from siding.shellguard.state import Call


def awk(examiner: "Examiner", call: "Call") -> PrintedText:
    """Judge awk: its programs can run others and write files."""
    given = arguments(
        call.arguments,
        ordered("""
            -F -v -f --file -e --source -i --include -l --load -E --assign --field-separator
        """),
        stop_at_operand=True,
    )
    _awk_options(examiner, call, given)
    files = given.values("-f", "--file", "-E")
    for path in files:
        if examiner.zone(path, call.state) is not Zone.INSIDE:
            examiner.found("run-outside", path)
    texts = given.values("-e", "--source")
    rest = list(given.operands)
    if not texts and not files and rest:
        texts.append(rest.pop(0))
    endless = False
    for text in texts:
        endless |= _awk_text(examiner, call, text, rest)
    for operand in rest:
        examiner.reads(operand, call.state)
    if endless:
        return PrintedText(endless=True)
    if FOUND_BY_NAME in (call.stdin.text or ""):  # `ps aux | awk '/NAME/ {print $2}'`
        return call.stdin
    return ANYTHING


def _awk_options(examiner: "Examiner", call: "Call", given: Arguments) -> None:
    for value in given.values("-i", "--include"):
        if value == "inplace":
            for operand in given.operands[1:]:
                examiner.writes(operand, call.state)
        else:
            examiner.found("option-runs-program", value)
    for value in given.values("-l", "--load"):
        examiner.found("option-runs-program", value)
    for word in call.arguments:
        written = re.match(r"(?:-[odp]|--(?:profile|pretty-print|dump-variables)=)(.+)", word)
        if written:
            examiner.writes(written[1], call.state)


def _awk_text(examiner: "Examiner", call: "Call", text: str, given: list[str]) -> bool:
    endless = judge_program(examiner, "awk", text, call.state, given)
    _sought(examiner, call, text)
    for path in re.findall(r">\s*\"((?:[^\"\\]|\\.)*)\"", text):
        if not path.startswith(("/dev/stderr", "/dev/stdout")):
            examiner.writes(path, call.state)
    for path in re.findall(r"getline\s*\w*\s*<\s*\"([^\"]*)\"", text):
        examiner.reads(path, call.state)
    # It prints lines for a shell, or makes one of what it reads.
    if re.search(r"\|\s*\"(?:/bin/)?(?:ba|da|z|k)?sh\"", text) or re.search(
        r"\bsystem\s*\(\s*(?!\"(?:[^\"\\]|\\.)*\"\s*\))", text
    ):
        examiner.found("code-from-input", text[:120])
    for name in re.findall(r"\bENVIRON\[\"(\w+)\"\]", text):
        if secret_variable(name):
            examiner.found("print-secret", name)
    for word in given if re.search(r"\|\s*ARGV", text) else ():
        stopped(examiner, "awk", word, call.state)
    return endless


def _sought(examiner: "Examiner", call: "Call", text: str) -> None:
    """Judge the patterns between slashes, if the variables of the environment are the input."""
    if call.stdin.secret and any(map(seeks_secrets, re.findall(r"/([^/]+)/", text))):
        examiner.found("print-secret", text[:120])


def sed(examiner: "Examiner", call: "Call") -> PrintedText:
    """Judge sed: its scripts can run programs (e) and write files (w)."""
    given = arguments(call.arguments, ("-e", "--expression", "-f", "--file", "-l", "--line-length"))
    in_place = any(re.match(r"-[nErsz]*i|--in-place", word) for word in call.arguments)
    flags = re.compile(r"-[nErsuz]*i.*|--in-place.*")
    words = [w for w in call.arguments if not flags.fullmatch(w)]
    given = arguments(words, ("-e", "--expression", "-f", "--file", "-l", "--line-length"))
    scripts = given.values("-e", "--expression")
    rest = list(given.operands)
    if not scripts and not given.has("-f", "--file") and rest:
        scripts.append(rest.pop(0))
    for path in given.values("-f", "--file"):
        if examiner.zone(path, call.state) is not Zone.INSIDE:
            examiner.found("run-outside", path)
    for script in scripts:
        _sed_script(examiner, call, script)
    for operand in filter(None, rest):  # `sed -i ''` of macOS
        if in_place:
            examiner.writes(operand, call.state)
        examiner.reads(operand, call.state)
    remote = call.stdin.remote
    return PrintedText(remote=remote)


_SED_SUBSTITUTES = r"(?<![\w\\])s([^\w\s\\])((?:\\.|(?!\1)[^\\])*)\1((?:\\.|(?!\1)[^\\])*)\1(\w*)"
_SED_WRITES = r"(?:^|[;{}\n\d$/,!])[ \t]*[wW][ \t]+([^\n;}]+)"
_SED_READS = r"(?:^|[;{}\n\d$/,!])[ \t]*[rR][ \t]+([^\n;}]+)"
_SED_RUNS = r"(?:^|[;{}\n\d$/,!])[ \t]*e(?:[ \t]+([^\n]*)|(?=[;}\n]|$))"


def _sed_script(examiner: "Examiner", call: "Call", script: str) -> None:
    """Judge the commands of sed that write a file (w) or run a command (e)."""
    examiner.budget.spend(2 * len(script) + len(script) ** 2 // 4096, "reading program text")
    if UNKNOWN in script and not script.strip(MARKS):
        examiner.found("code-from-input", script)
        return
    lines: list[str] = []

    def substitutes(found: re.Match[str]) -> str:
        if "e" in found[4].partition("w")[0]:
            lines.append(found[3])
        return "1w" if "w" in found[4] else "1"

    _sought(examiner, call, script)
    rest = re.sub(_SED_SUBSTITUTES, substitutes, script)
    for path in re.findall(_SED_WRITES, rest):
        examiner.writes(path.strip(), call.state)
    for path in re.findall(_SED_READS, rest):
        examiner.reads(path.strip(), call.state)
    for line in (*lines, *re.findall(_SED_RUNS, rest)):
        examiner.found("code-unclear", script[:80])
        examiner.inner_text("sed", line, call.state)


# -- editors and pagers ----------------------------------------------------------------------------


def editor(examiner: "Examiner", call: "Call") -> PrintedText:
    """Judge vim, ex, ed, emacs …: commands on their command line or input can do anything."""
    words = call.arguments
    if set(words) & {"--version", "--help"}:
        return ANYTHING
    _plugins(examiner, call)
    commands = [word[1:] for word in words if word.startswith("+") and len(word) > 1]
    values: set[int] = set()
    for at, word in enumerate(words[1:], 1):
        before = words[at - 1]
        if _takes_command(call.name, before):
            commands.append(word)
            values.add(at)
        elif _takes_script(call.name, before):
            values.add(at)
            if not examiner.is_workspace(word, call.state):
                examiner.found("run-outside", word)
    if not commands and (call.name in ("ed", "ex") or "-s" in words or "-es" in words):
        if call.stdin.text is None:
            examiner.found("code-from-input", call.name)
        commands += (call.stdin.text or "").splitlines()
    for command in commands:
        _editor_command(examiner, call, command)
    for at, word in enumerate(words):
        if not word.startswith(("+", "-")) and at not in values:
            examiner.reads(word, call.state)
            if examiner.zone(word, call.state) not in (Zone.INSIDE, Zone.TEMPORARY, Zone.UNKNOWN):
                examiner.writes(word, call.state)
    return ANYTHING


_VI = names("vi vim nvim ex view gvim rvim vimdiff")
_JOINED = r"-[ensuEZRmMbdNy]+c"  # flags before it in one word: `ex -sc 'w! FILE'`
_EDITOR_COMMANDS = ordered("-c --cmd --eval -eval --execute -f")
_EDITOR_SCRIPTS = ordered("-S -l --load -u -x --script -script -s")
_EDITOR_SHELL = r"^:?[\d,$%.]*(?:(?:r(?:ead)?|w(?:rite)?|term\w*|sil\w*)!? ?)?!(.+)|^shell-command$"
_EDITOR_FILE = r"^:?[\d,$%.]*(?:w(?:q|rite)?|sav\w*|x)!?\s+([^!\s].*)"


def _takes_command(name: str, option: str) -> bool:
    if name == "emacsclient" and option == "-e":
        return True
    return option in _EDITOR_COMMANDS or bool(name in _VI and re.fullmatch(_JOINED, option))


def _plugins(examiner: "Examiner", call: "Call") -> None:
    if call.name == "micro" and "-plugin" in call.words:
        examiner.found("install-elsewhere", shown_words(call.words[:6]))


def _takes_script(name: str, option: str) -> bool:
    return option in _EDITOR_SCRIPTS and not (name == "ex" and option == "-s")


def _editor_command(examiner: "Examiner", call: "Call", command: str) -> None:
    judge_program(examiner, call.name, command, call.state)
    shell = re.search(_EDITOR_SHELL, command)
    if shell:
        examiner.found("code-unclear", command)
        examiner.inner_text(call.name, shell[1] or "", call.state)
    sourced = re.match(r":?so(?:urce)?!?\s+(\S+)", command)
    if sourced and not examiner.is_workspace(sourced[1], call.state):
        examiner.found("run-outside", command)
    written = re.search(_EDITOR_FILE, command)
    if written:
        examiner.writes(written[1], call.state)


def pager(examiner: "Examiner", call: "Call") -> PrintedText:
    """Judge less, more, man: ``+!command``, a key file or another pager run programs."""
    words = call.arguments
    for index, word in enumerate(words):
        if word.startswith("+") and re.search(r"[!|]", word):
            examiner.found("option-runs-program", word)
            examiner.inner_text(call.name, word.partition("!")[2], call.state)
        taken = call.name == "man" and word in ("-P", "--pager", "-H", "-X")
        if taken or word in ("-k", "--lesskey-file", "--lesskey-src", "-O", "-o", "--log-file"):
            value = words[index + 1] if index + 1 < len(words) else ""
            if call.name == "man" and word == "-k":
                continue
            if value not in ("cat", "less", "more"):
                examiner.found("option-runs-program", f"{word} {value}")
        log = re.match(r"(?:-[oO]|--(?:log|LOG)-file=)(.+)", word)
        if log and call.name == "less":
            examiner.writes(log[1], call.state)
        joined = call.name == "man" and re.match(r"-P.|--pager=|--html=|-H.", word)
        if joined and word not in ("--pager=cat", "-Pcat"):
            examiner.found("option-runs-program", word)
    return reader(examiner, call)


def calculator(examiner: "Examiner", call: "Call") -> PrintedText:
    """Judge bc and dc: dc runs a line that starts with ! as a command."""
    text = (call.stdin.text or "") + "\n".join(call.arguments)
    if "!" in text:
        examiner.found("code-unclear", text[:80])
    return reader(examiner, call)
