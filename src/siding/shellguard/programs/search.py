"""find and fd: programs that search for files, and run commands on them or delete them."""

from itertools import pairwise
from typing import TYPE_CHECKING

from siding.shellguard.fields import ANY, ANYTHING, UNKNOWN, PrintedText, shown
from siding.shellguard.known_files import finds_secrets
from siding.shellguard.names import ordered
from siding.shellguard.options import arguments
from siding.shellguard.programs.plain import reader

if TYPE_CHECKING:
    from siding.shellguard.examiner import Examiner
    from siding.shellguard.state import Call


_FIND_RUNS = ("-exec", "-execdir", "-ok", "-okdir")
_FIND_WRITES = ("-fprint", "-fprint0", "-fls", "-fprintf")


def find(examiner: "Examiner", call: "Call") -> PrintedText:
    """Judge find: its actions are judged with a pattern for the paths below each start."""
    words = list(call.arguments)
    while words and words[0] in ("-H", "-L", "-P", "-O1", "-O2", "-O3"):
        follows = words.pop(0)
        if follows == "-L" and ("-delete" in words or any(w in _FIND_RUNS for w in words)):
            examiner.found("delete-unknown", "-L")
    starts = []
    while words and not words[0].startswith(("-", "(", "!")):
        starts.append(words.pop(0))
    starts = starts or ["."]
    selects = _selects(words)
    below = [_below(examiner, call, start, selects) for start in starts]
    index = 0
    while index < len(words):
        word = words[index]
        index += 1
        if word == "-delete":
            _find_deletes(examiner, call, starts, words)
        elif word in _FIND_WRITES and index < len(words):
            examiner.writes(words[index], call.state)
        elif word in ("-files0-from", "-newer", "-samefile") and index < len(words):
            examiner.reads(words[index], call.state)
        elif word in _FIND_RUNS:
            end = next((i for i in range(index, len(words)) if words[i] in (";", "+")), len(words))
            _find_runs(examiner, call, word, words[index:end], starts, words[:index])
            if not all(examiner.is_workspace(start, call.state) for start in starts):
                _reads_found(examiner, words)
            index = end + 1
    return PrintedText(text="".join(each + "\n" for each in below))


def _reads_found(examiner: "Examiner", tests: list[str]) -> None:
    """Judge a program that is run on files found outside by name: ``-name '*.pem' -exec cat``."""
    for option, value in pairwise(tests):
        if option in ("-name", "-iname", "-path") and finds_secrets(
            shown(value).rpartition("/")[2]
        ):
            examiner.found("read-secret", value)


def _below(examiner: "Examiner", call: "Call", start: str, selects: bool) -> str:
    """Return a pattern for the paths found below `start`; with `selects`, only some names match."""
    some = f"{ANY}{ANY}x" if selects else ANY
    inside = examiner.is_workspace(start, call.state)
    return f"{start.rstrip('/')}/{some if inside else ANY}"


def _find_deletes(examiner: "Examiner", call: "Call", starts: list[str], tests: list[str]) -> None:
    for start in starts:
        if examiner.is_root(start, call.state):
            if not _selects(tests):
                examiner.found("delete-all", start)
            continue
        examiner.deletes(start, call.state, recursive=True)


_SELECTORS = ordered("""
    -name -iname -path -ipath -wholename -regex -iregex -newer -empty -mtime -mmin -size -xtype
    -lname
""")


def _selects(tests: list[str]) -> bool:
    """Return whether find's tests select some files and not all of them."""
    for index, word in enumerate(tests):
        if word in _SELECTORS:
            value = tests[index + 1] if index + 1 < len(tests) else ""
            if value.strip("*") and not (index and tests[index - 1] in ("!", "-not", "-o", "-or")):
                return True
    return False


def _find_runs(
    examiner: "Examiner",
    call: "Call",
    how: str,
    words: list[str],
    starts: list[str],
    tests: list[str],
) -> None:
    examiner.budget.spend(len(tests) // 8, "judging its commands")
    selects = _selects(tests)
    for start in starts:
        found = _below(examiner, call, start, selects)
        if not examiner.is_workspace(start, call.state) or (
            not selects and examiner.is_root(start, call.state)
        ):
            found = start
        filled = tuple(
            found if word == "{}" else examiner.budget.replaced(word, "{}", found) for word in words
        )
        state = call.state.copy()
        examiner.inner(f"find {how}", filled, call._replace(state=state))


_FD_VALUES = ordered("-e -t -d -E --extension --type --base-directory --search-path")


def fd(examiner: "Examiner", call: "Call") -> PrintedText:
    """Judge fd: with -x or -X it runs a program on the files it finds."""
    words = call.arguments
    for flag in ("-x", "-X", "--exec", "--exec-batch"):
        if flag in words:
            at = words.index(flag)
            given = arguments(words[:at], _FD_VALUES)
            selects = given.has("-e", "--extension") or given.operands[:1] not in (
                (),
                ("",),
                (".",),
                (".*",),
            )
            starts = (*given.operands[1:], *given.values("--base-directory", "--search-path"))
            for start in starts or (".",):
                found = f"{start.rstrip('/')}/{ANY}{ANY}x"
                if not examiner.is_workspace(start, call.state) or (
                    not selects and examiner.is_root(start, call.state)
                ):
                    found = start
                inner = tuple(
                    examiner.budget.replaced(w, "{}", found) for w in words[at + 1 :] if w != ";"
                )
                inner = inner if any("{}" in w for w in words[at + 1 :]) else (*inner, found)
                examiner.inner(f"{call.name} {flag}", inner, call)
            return ANYTHING
    reader(examiner, call, quotes=True)
    operands = arguments(words).operands
    if any(UNKNOWN in each for each in operands):
        return ANYTHING
    return PrintedText(
        text="".join(f"{each.rstrip('/')}/{ANY}\n" for each in operands[1:] or ["."])
    )
