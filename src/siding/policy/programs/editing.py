"""awk, sed, editors, pagers, and interpreters whose language Siding does not analyse."""

import re
from typing import TYPE_CHECKING

from siding.policy.fields import ANYTHING, UNKNOWN, PrintedText, known
from siding.policy.names import names, ordered
from siding.policy.options import arguments
from siding.policy.paths import Zone
from siding.policy.programs.plain import options, reader
from siding.policy.programs.program_text import reading_text, without_strings

if TYPE_CHECKING:
    from siding.policy.call import Call
    from siding.policy.examiner import Examiner


def awk(examiner: "Examiner", call: "Call") -> PrintedText:
    """Judge awk: its programs can run others and write files."""
    given = arguments(
        call.arguments,
        ordered("""
            -F -v -f --file -e --source -i --include -l --load -E --assign --field-separator
        """),
        stop_at_operand=True,
    )
    for value in given.values("-i", "--include"):
        if value == "inplace":
            for operand in given.operands[1:]:
                examiner.writes(operand, call.state)
        else:
            examiner.found("option-runs-program", value)
    for value in given.values("-l", "--load"):
        examiner.found("option-runs-program", value)
    files = given.values("-f", "--file", "-E")
    for path in files:
        if examiner.zone(path, call.state) is not Zone.INSIDE:
            examiner.found("run-outside", path)
    texts = given.values("-e", "--source")
    rest = list(given.operands)
    if not texts and not files and rest:
        texts.append(rest.pop(0))
    for text in texts:
        _awk_text(examiner, call, text)
    for operand in rest:
        examiner.reads(operand, call.state)
    return ANYTHING


def _awk_text(examiner: "Examiner", call: "Call", text: str) -> None:
    if not known(text):
        examiner.found("code-from-input", text)
        return
    reading_text(examiner, text, text.count("print"))
    for command in re.findall(r"(?:system|getline|\|)\s*(?:\(\s*)?\"((?:[^\"\\]|\\.)*)\"", text):
        examiner.inner_text("awk", command, call.state)
    bare = without_strings(text, "awk")
    runs = bare is None or re.search(
        r"\bsystem\b|\bgetline\b|@\w|(?<!\|)\|(?!\|)|\bENVIRON\b|\bclose\b", bare
    )
    if bare is None or runs or re.search(r"\bsystem\s*\(|\bgetline\b", text):
        examiner.found("code-unclear", text[:120])
        return
    if re.search(r"\b(?:print|printf)\b[^;{}\n]*>", bare):
        for path in re.findall(r">>?\s*\"((?:[^\"\\]|\\.)*)\"", text):
            if not path.startswith(("/dev/stderr", "/dev/stdout")):
                examiner.writes(path, call.state)
        if re.search(r">\s*[^\"\s=&|]", bare) and not re.search(r"\([^()>]*>[^()]*\)|\?", bare):
            examiner.found("code-unclear", text[:120])


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
    for operand in rest:
        if in_place:
            examiner.writes(operand, call.state)
        examiner.reads(operand, call.state)
    remote = call.stdin.remote
    return PrintedText(remote=remote)


_SED_ADDRESS = re.compile(
    r"(?:\d+(?:~\d+)?|\$|/(?:[^/\\\n]|\\.)*/[IM]*|\\(.)(?:(?!\1).)*\1[IM]*|[+~]\d+)"
    r"(?:\s*,\s*(?:\d+|\$|/(?:[^/\\\n]|\\.)*/[IM]*|[+~]\d+))?\s*!?\s*"
)


def _sed_script(examiner: "Examiner", call: "Call", script: str) -> None:
    text = script
    reading_text(examiner, text)
    if not known(text):
        if any(mark in text for mark in UNKNOWN):
            text = text.replace(UNKNOWN, "x") if text.startswith("s") else text
        if UNKNOWN in text:
            examiner.found("code-from-input", script)
            return
    while text.strip(" \t\n;"):
        text = text.lstrip(" \t\n;{}")
        examiner.budget.spend(4 + len(text) // 1024, "reading program text")
        address = _SED_ADDRESS.match(text)
        text = text[address.end() :] if address else text
        text = text.lstrip(" \t{")
        if not text:
            return
        taken = _sed_command(examiner, call, text)
        if taken is None:
            examiner.found("code-unclear", script[:120])
            return
        text = text[taken:]


def _sed_command(examiner: "Examiner", call: "Call", text: str) -> int | None:
    """Judge one sed command; return its length, None when it is not understood."""
    letter = text[0]
    if letter in "sy":
        return _sed_substitute(examiner, call, text)
    if letter in "pPdDgGhHnNxzl=qQF}#":
        end = re.match(r".[ \t]*\d*", text)
        return end.end() if letter != "#" and end else len(text.partition("\n")[0])
    if letter in "aic":
        return len(text)
    if letter in "btT:":
        return len(re.split(r"[;\n}]", text, maxsplit=1)[0])
    if letter in "rRwW":
        path = text[1:].partition("\n")[0].strip()
        if letter in "wW":
            examiner.writes(path, call.state)
        examiner.reads(path, call.state)
        return len(text.partition("\n")[0])
    if letter == "e":
        command = text[1:].partition("\n")[0].strip()
        examiner.found("code-unclear", text[:80])
        examiner.inner_text("sed e", command, call.state)
        return len(text.partition("\n")[0])
    return None


def _sed_substitute(examiner: "Examiner", call: "Call", text: str) -> int | None:
    mark = text[1:2]
    if not mark or mark in "\\\n":
        return None
    pieces: list[str] = []
    current, index = "", 2
    while index < len(text) and len(pieces) < 2:
        if text[index] == "\\" and index + 1 < len(text):
            current += text[index : index + 2]
            index += 2
            continue
        if text[index] == mark:
            pieces.append(current)
            current = ""
        else:
            current += text[index]
        index += 1
    if len(pieces) < 2:
        return None
    flags = re.match(r"[gpiImM0-9e]*(?:w[ \t]*([^\n]*))?", text[index:])
    assert flags is not None
    if flags.group(1) is not None:
        examiner.writes(flags.group(1), call.state)
    if "e" in flags.group().partition("w")[0]:
        examiner.found("code-unclear", text[:80])
        examiner.inner_text("sed s///e", pieces[1], call.state)
    return index + flags.end()


# -- editors and other languages -----------------------------------------------------------------


def editor(examiner: "Examiner", call: "Call") -> PrintedText:
    """Judge vim, ex, ed, emacs …: commands on their command line or input can do anything."""
    words = call.arguments
    if set(words) & {"--version", "--help"}:
        return ANYTHING
    commands = [
        w
        for i, w in enumerate(words)
        if (w.startswith("+") and len(w) > 1) or (i and words[i - 1] in _EDITOR_COMMANDS)
    ]
    for command in commands:
        shell = command.lstrip("+:").partition("!")[2]
        if re.fullmatch(r"\+?:?(?:\d+|wq?|qa?!?|x|set \w+|[%\d,]*s(/[^/|]*){2}/[gci]*)", command):
            continue
        examiner.found("code-unclear", command)
        examiner.inner_text(call.name, shell, call.state)
    if call.name in ("ed", "ex") or "-s" in words or "-es" in words:
        text = call.stdin.text
        if text is None or re.search(r"(?m)^[^\S\n]*[\d,$%.]*[!erw]|system|!", text or ""):
            examiner.found("code-from-input", text or call.name)
            for line in (text or "").splitlines():
                examiner.inner_text(call.name, line.partition("!")[2], call.state)
    for word in words:
        if not word.startswith(("+", "-")) and word not in commands:
            examiner.reads(word, call.state)
            if examiner.zone(word, call.state) not in (Zone.INSIDE, Zone.TEMPORARY, Zone.UNKNOWN):
                examiner.writes(word, call.state)
    return ANYTHING


_EDITOR_COMMANDS = ordered("""
    -c --cmd -S --eval -eval -f -l --load -u -x --script -script --execute -e
""")


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
        joined = call.name == "man" and re.match(r"-P.|--pager=|--html=|-H.", word)
        if joined and word not in ("--pager=cat", "-Pcat"):
            examiner.found("option-runs-program", word)
    return reader(examiner, call)


_WITH_CODE = names("""
    -e -c -x -ex --eval -eval -E --command -Command /c /k -EncodedCommand -enc -r --expr -batch
""")


def unread_language(examiner: "Examiner", call: "Call") -> PrintedText:
    """Judge interpreters whose language Siding does not analyse: their program text asks.

    A single script inside the workspace is allowed, as for every interpreter.
    """
    if set(call.arguments) & {"--version", "-version", "-V", "--help", "-help"}:
        return ANYTHING
    options(examiner, call)
    words = [w for w in call.arguments if not w.startswith("-")]
    inline = any(w in _WITH_CODE for w in map(str, call.arguments))
    if not inline and len(words) == 1 and examiner.zone(words[0], call.state) is Zone.INSIDE:
        return ANYTHING
    examiner.found("code-unclear", " ".join(call.words[:6]))
    for word in call.arguments:
        for text in re.findall(r"[\"'`](?=([^\"'`]+)[\"'`])", word):
            if " " in text[1:-1]:
                examiner.inner_text(call.name, text, call.state)
    return ANYTHING


def calculator(examiner: "Examiner", call: "Call") -> PrintedText:
    """Judge bc and dc: dc runs a line that starts with ! as a command."""
    text = (call.stdin.text or "") + "\n".join(call.arguments)
    if "!" in text:
        examiner.found("code-unclear", text[:80])
    return reader(examiner, call)
