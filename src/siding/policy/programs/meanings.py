"""The words of a row that are about one value: a path, an address, a command, a statement."""

import re
from typing import TYPE_CHECKING

from siding.policy.effects import secret_variable
from siding.policy.fields import MARKS, UNKNOWN, known, shown_words
from siding.policy.hosts import is_elsewhere
from siding.policy.paths import Zone
from siding.policy.programs.builtins import change_directory
from siding.policy.programs.sql_text import judge_sql
from siding.policy.row import OF_CALLS, OF_PATHS, OF_TEXTS, Words
from siding.policy.rules import BUILT_IN

if TYPE_CHECKING:
    from collections.abc import Callable

    from siding.policy.call import Call
    from siding.policy.examiner import Examiner


def means(
    examiner: "Examiner", call: "Call", words: Words, value: str, *, spared: bool = False
) -> None:
    """Judge one value by the words about it.

    With `spared` the call only shows something, or another option takes back what this one says;
    that it runs code holds all the same.
    """
    for word in words:
        if word in OF_PATHS:
            _PATHS[word](examiner, call, value)
        elif word in OF_TEXTS:
            _TEXTS[word](examiner, call, value)
        elif word not in OF_CALLS and not (spared and BUILT_IN[word].group != "code"):
            examiner.found(word, shown_words(call.words[:6]))


# -- what a path is for ------------------------------------------------------------------------


def _writes(examiner: "Examiner", call: "Call", value: str) -> None:
    if value[:1] in ("|", "!"):  # strace and psql write into a program
        _runs(examiner, call, value[1:])
        return
    for each in value.split("|"):  # ffmpeg: `[f=mp4]a.mp4|[f=flv]file:b.flv`
        path = each.rpartition("]")[2].removeprefix("file:")
        if path not in ("-", ""):
            examiner.writes(path, call.state)


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
    if examiner.zone(value, call.state) in (Zone.HOME, Zone.SYSTEM):
        examiner.found("read-secret", value)


_SHOWN = r"(?i)(?:^|/)[^/.]*$|\.(?:html?|pdf|png|jpe?g|gif|svg|webp|md|txt|csv|json|xml|log)$"


def _opens(examiner: "Examiner", call: "Call", value: str) -> None:
    """Judge what the desktop opens: a page, or a document of the workspace."""
    value = value.removeprefix("file://")
    if re.match(r"https?://", value):
        _url(examiner, call, value)
    elif re.match(r"[\w.+-]+:", value) or not (
        examiner.is_workspace(value, call.state) and re.search(_SHOWN, value)
    ):
        examiner.found("run-outside", value)


def _changes_directory(examiner: "Examiner", call: "Call", value: str) -> None:
    change_directory(examiner, call._replace(words=("cd", value)))


_PATHS: "dict[str, Callable[[Examiner, Call, str], None]]" = {
    "reads": lambda examiner, call, value: examiner.reads(value, call.state),
    "reads-below": lambda examiner, call, value: examiner.reads_below(value, call.state),
    "writes": _writes,
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


# -- what a text is for ------------------------------------------------------------------------


def _line(examiner: "Examiner", call: "Call", value: str) -> None:
    examiner.inner_text(call.name, value, call.state)
    if not known(value):
        examiner.found("code-from-input", value)


def _runs(examiner: "Examiner", call: "Call", value: str) -> None:
    examiner.found("option-runs-program", f"{call.name}: {value}")
    if known(value):
        examiner.inner_text(call.name, value, call.state)


def _sql(examiner: "Examiner", call: "Call", value: str) -> None:
    judge_sql(examiner, call, value)


def _host(examiner: "Examiner", _call: "Call", value: str) -> None:
    if is_elsewhere(value):
        examiner.found("send-data", value)


def _database(examiner: "Examiner", _call: "Call", value: str) -> None:
    """Judge the name or the address of a database."""
    host = re.search(r"\bhost=(\S+)", value)
    if ("://" in value and is_elsewhere(value)) or (host and is_elsewhere(host.group(1))):
        examiner.found("send-data", value)


def _url(examiner: "Examiner", _call: "Call", value: str) -> None:
    if UNKNOWN in value and re.search(r"[?/=&@.]", value[: value.rfind(UNKNOWN) + 1]):
        examiner.found("send-data", value)


def _setting(examiner: "Examiner", call: "Call", value: str) -> None:
    name, _, text = value.partition("=")
    examiner.variable(name, text, call.state, lasting=False)


def _method(examiner: "Examiner", call: "Call", value: str) -> None:
    if value.upper() not in ("GET", "HEAD"):
        examiner.found("change-remote", shown_words(call.words[:6]))


def _mount(examiner: "Examiner", call: "Call", value: str) -> None:
    """Judge a directory that a container is given: it may change everything in it."""
    named = re.search(r"(?:^|,)(?:source|src)=([^,]*)", value)
    source = named.group(1) if named else value.partition(":")[0]
    if known(source) and not re.match(r"[./~]", source):
        return  # the name of a volume
    inside = examiner.is_workspace(source, call.state)
    if not inside and examiner.zone(source, call.state) is not Zone.TEMPORARY:
        examiner.found("leave-container", value)


def _shares(examiner: "Examiner", call: "Call", value: str) -> None:
    if value.partition(":")[0] in ("host", "container", "ns"):
        examiner.found("leave-container", shown_words(call.words[:8]))


def _copied(examiner: "Examiner", call: "Call", value: str) -> None:
    if ":" not in value and value != "-":
        examiner.reads(value, call.state)
        examiner.writes_into(value, call.state)


_FAR_PACKAGE = (
    r"^(?:git\+|https?://|ssh://|git://|github:|gitlab:|bitbucket:|file:/|npm:"
    r"|[\w-]+ @ )|\.(?:tgz|tar\.gz|whl|zip|gem)$|@https?:"
)


def _package(examiner: "Examiner", call: "Call", value: str) -> None:
    """Judge what a package manager is to install: a package that no registry has is asked about."""
    own = "://" not in value and examiner.is_workspace(value, call.state)
    if re.search(_FAR_PACKAGE, value) and not own:
        examiner.found("install-elsewhere", value)


def _module(examiner: "Examiner", _call: "Call", value: str) -> None:
    """Judge a package of Go that is run: one with a host in its path is fetched."""
    if "@" in value or "://" in value or re.match(r"[\w.-]+\.[a-z]+/", value):
        examiner.found("install-elsewhere", value)


_SET_ID = r"^0?[2467]\d{3}$|(?:^|,)[ugoa]*[+=][rwx]*s|^[ugoa]*\+[rwxX]*s"


def judge_mode(examiner: "Examiner", _call: "Call", value: str) -> None:
    """Judge the mode that a file is given: with a set-id bit, whoever runs it is its owner."""
    if re.search(_SET_ID, value):
        examiner.found("open-permissions", value)


def _computed(examiner: "Examiner", _call: "Call", value: str) -> None:
    """Judge a name that is looked up: what is put together when it runs can carry data away."""
    if set(value) & set(MARKS) and set(value) - set(MARKS):
        examiner.found("send-data", value)


def _remote(examiner: "Examiner", _call: "Call", value: str) -> None:
    """Judge where git pushes to: a name of a remote, or an address."""
    if "://" in value or re.match(r"[\w.-]+(?:@[\w.-]*)?:", value) or UNKNOWN in value:
        examiner.found("send-data", value)


def _refspec(examiner: "Examiner", call: "Call", value: str) -> None:
    if value.startswith(("+", ":")) or UNKNOWN in value:
        examiner.found("git-rewrites", shown_words(call.words))


def _variable(examiner: "Examiner", _call: "Call", value: str) -> None:
    if secret_variable(value) or UNKNOWN in value:
        examiner.found("print-secret", value)


def _nothing(_examiner: "Examiner", _call: "Call", _value: str) -> None:
    return


_TEXTS: "dict[str, Callable[[Examiner, Call, str], None]]" = {
    "value": _nothing,
    "line": _line,
    "runs": _runs,
    "sql": _sql,
    "host": _host,
    "database": _database,
    "url": _url,
    "setting": _setting,
    "variable": _variable,
    "method": _method,
    "mount": _mount,
    "shares": _shares,
    "copied": _copied,
    "package": _package,
    "module": _module,
    "mode": judge_mode,
    "computed": _computed,
    "remote": _remote,
    "refspec": _refspec,
}


def read_as(examiner: "Examiner", call: "Call", word: str, text: str) -> None:
    """Judge a text, such as a program's input, by one word about texts."""
    _TEXTS[word](examiner, call, text)
