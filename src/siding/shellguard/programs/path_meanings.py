"""The words of a row about a path: what happens to the file or directory that it names."""

import re
from typing import TYPE_CHECKING

from siding.shellguard.fields import UNKNOWN, shown_words
from siding.shellguard.hosts import is_far
from siding.shellguard.paths import HARMLESS_DEVICES, Zone
from siding.shellguard.programs.builtins import change_directory
from siding.shellguard.programs.rows import OF_CALLS, Words
from siding.shellguard.programs.text_meanings import TEXTS, asks_for, runs
from siding.shellguard.rules import BUILT_IN

if TYPE_CHECKING:
    from collections.abc import Callable

    from siding.shellguard.examiner import Examiner
    from siding.shellguard.state import Call


_STREAMS = r"(?:tcp|udp|rtmps?|rtsp|rtp|srt|https?|ftp|sftp|tls|icecast)://"


def _writes(examiner: "Examiner", call: "Call", value: str) -> None:
    if value[:1] in ("|", "!"):  # strace and psql write into a program
        runs(examiner, call, value[1:])
        return
    for each in value.split("|"):  # ffmpeg: `[f=mp4]a.mp4|[f=flv]file:b.flv`
        path = each.rpartition("]")[2].removeprefix("file:")
        if re.match(_STREAMS, path):
            examiner.found("send-data", path)
        if path not in ("-", ""):
            examiner.writes(path, call.state)


def _beside(examiner: "Examiner", call: "Call", value: str) -> None:
    """Judge a worktree that git makes: one beside the workspace is ordinary."""
    if not examiner.is_beside(value, call.state):
        examiner.writes(value, call.state)


def _stores(examiner: "Examiner", call: "Call", value: str) -> None:
    """Judge a file that gets what the program reads from its standard input."""
    examiner.writes(value, call.state)
    if call.stdin.endless and value not in HARMLESS_DEVICES:
        examiner.found("fill-disk", value)
    if call.stdin.remote:
        examiner.takes(value, call.state)
    else:
        examiner.makes(value, call.stdin.text, call.state)
    if call.stdin.secret and value not in HARMLESS_DEVICES:
        examiner.found("print-secret", value)


def _moves(examiner: "Examiner", call: "Call", value: str) -> None:
    zone = examiner.zone(value, call.state, link_itself=True)
    if zone not in (Zone.INSIDE, Zone.TEMPORARY):
        examiner.deletes(value, call.state, recursive=True)


_RIGHTS_RULES = {
    Zone.UNKNOWN: "write-unknown",
    Zone.REPOSITORY: "write-repository",
    Zone.STATE: "siding-state",
    Zone.STEERING: "steer-agents",
}


def _owner(examiner: "Examiner", call: "Call", value: str) -> None:
    """Judge a file that is given another owner, or a list of those who may use it."""
    zone = examiner.zone(value, call.state)
    if zone not in (Zone.INSIDE, Zone.TEMPORARY):
        examiner.found(_RIGHTS_RULES.get(zone, "open-permissions"), value)


def _rights(examiner: "Examiner", call: "Call", value: str) -> None:
    """Judge a file whose rights are changed; the workspace itself may be one."""
    known_place = examiner.zone(value, call.state) in _RIGHTS_RULES
    if known_place or not examiner.is_workspace(value, call.state):
        _owner(examiner, call, value)


def _fetches(examiner: "Examiner", call: "Call", value: str) -> None:
    if value != "-":
        examiner.writes(value, call.state)
        examiner.takes(value, call.state)


def _runs_file(examiner: "Examiner", call: "Call", value: str) -> None:
    if value in ("-", "/dev/stdin") or value.startswith("/dev/fd/") or UNKNOWN in value:
        examiner.found("code-from-input", value)
    elif examiner.is_fetched(value, call.state) or re.match(_REMOTE, value):
        examiner.found("remote-code", value)
    elif not (
        examiner.is_workspace(value, call.state)
        or examiner.zone(value, call.state) in (Zone.INSIDE, Zone.STEERING)
    ):
        examiner.found("run-outside", value)


def _formats(examiner: "Examiner", call: "Call", value: str) -> None:
    """Judge what mkfs formats: an image in the workspace is a file like any other."""
    inside = examiner.zone(value, call.state) in (Zone.INSIDE, Zone.TEMPORARY)
    if not inside and not re.fullmatch(r"\d+[kKmMgG]?", value):
        examiner.found("format-disk", shown_words(call.words))


_REMOTE = r"[a-z][a-z0-9+.-]*://|git::|git@"


def _dumps(examiner: "Examiner", call: "Call", value: str) -> None:
    """Judge a file whose lines are shown: ``date -f FILE`` prints each that is no date."""
    if examiner.zone(value, call.state) not in (Zone.INSIDE, Zone.TEMPORARY):
        examiner.found("read-secret", value)
    examiner.reads(value, call.state)


def _packs(examiner: "Examiner", call: "Call", value: str) -> None:
    examiner.reads(value, call.state)
    holds = not examiner.is_workspace(value, call.state)
    if examiner.zone(value, call.state) in (Zone.HOME, Zone.SYSTEM):
        examiner.found("read-secret", value)
    elif holds:
        examiner.reads_below(value, call.state)


_SHOWN = r"(?i)(?:^|/)[^/.]*$|\.(?:html?|pdf|png|jpe?g|gif|svg|webp|md|txt|csv|json|xml|log)$"


def _opens(examiner: "Examiner", call: "Call", value: str) -> None:
    """Judge what the desktop opens: a page, or a document of the workspace."""
    value = value.removeprefix("file://")
    if re.match(r"https?://", value):
        asks_for(examiner, call, value)
    elif re.match(r"[\w.+-]+:", value) or not (
        examiner.is_workspace(value, call.state) and re.search(_SHOWN, value)
    ):
        examiner.found("run-outside", value)


def _changes_directory(examiner: "Examiner", call: "Call", value: str) -> None:
    change_directory(examiner, call._replace(words=("cd", value)))


PATHS: "dict[str, Callable[[Examiner, Call, str], None]]" = {
    "reads": lambda examiner, call, value: examiner.reads(value, call.state),
    "reads-below": lambda examiner, call, value: examiner.reads_below(value, call.state),
    "writes": _writes,
    "stores": _stores,
    "beside": _beside,
    "receives": lambda examiner, call, value: examiner.writes(value, call.state),
    "moves": _moves,
    "links": lambda _examiner, _call, _value: None,
    "rights": _rights,
    "owner": _owner,
    "writes-into": lambda examiner, call, value: examiner.writes_into(value, call.state),
    "deletes": lambda examiner, call, value: examiner.deletes(value, call.state),
    "deletes-below": lambda examiner, call, value: examiner.deletes(
        value, call.state, recursive=True
    ),
    "fetches": _fetches,
    "runs-file": _runs_file,
    "formats": _formats,
    "dumps": _dumps,
    "packs": _packs,
    "opens": _opens,
    "changes-directory": _changes_directory,
}


# -- The words of a row that are about one value: a path, an address, a command, a statement -------


def means(
    examiner: "Examiner", call: "Call", words: Words, value: str, *, spared: bool = False
) -> None:
    """Judge one value by the words about it.

    With `spared` the call only shows something, or another option takes back what this one says;
    that it runs code or shows a credential holds all the same.
    """
    if "far" in words and is_far(value):
        words = tuple(word for word in words if not word.startswith("writes"))
    for word in words:
        if word in PATHS:
            PATHS[word](examiner, call, value)
        elif word in TEXTS:
            TEXTS[word](examiner, call, value)
        elif word not in OF_CALLS and not (spared and _spares(word)):
            examiner.found(word, shown_words(call.words[:6]))


def _spares(rule: str) -> bool:
    return BUILT_IN[rule].group != "code" and rule not in ("print-secret", "skips-checks")


def read_as(examiner: "Examiner", call: "Call", word: str, text: str) -> None:
    """Judge a text, such as a program's input, by one word about texts."""
    TEXTS[word](examiner, call, text)
