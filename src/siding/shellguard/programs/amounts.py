"""The words of a row about the machine: sizes, limits, attributes, schedules and processes."""

import re
from typing import TYPE_CHECKING

from siding.shellguard.fields import MARKS, shown_words
from siding.shellguard.programs.rows import does_projects_work

if TYPE_CHECKING:
    from collections.abc import Callable

    from siding.shellguard.examiner import Examiner
    from siding.shellguard.state import Call

_UNITS = {"": 0, "k": 10, "m": 20, "g": 30, "t": 40, "p": 50, "e": 60}
_HUGE = 50 << 30
_FEW_FILES = 64


def bytes_of(value: str) -> int:
    """Return the size that a text such as ``10G`` says; 0 when it says none."""
    found = re.match(r"(\d{1,20})([kmgtpe]?)(?:i?b)?$", value.lower())
    return int(found[1]) << _UNITS[found[2]] if found else 0


def fills_disk(size: int) -> bool:
    """Return whether to write so many bytes may fill a disk."""
    return size >= _HUGE


def _size(examiner: "Examiner", call: "Call", value: str) -> None:
    if fills_disk(bytes_of(value)):
        examiner.found("fill-disk", shown_words(call.words[:6]))


def _limit(examiner: "Examiner", call: "Call", value: str) -> None:
    """Judge a limit on processes or files, under which Siding's own record cannot go on."""
    if value[:1] not in ("", "-") and value not in ("unlimited", "hard", "soft"):
        examiner.found("siding-itself", shown_words(call.words[:6]))


def _handles(examiner: "Examiner", call: "Call", value: str) -> None:
    """Judge a limit on open files: with a few of them no program can work."""
    numbers = re.findall(r"\d+", value)
    if numbers and min(map(int, numbers)) < _FEW_FILES:
        examiner.found("siding-itself", shown_words(call.words[:6]))


def _attributes(examiner: "Examiner", call: "Call", value: str) -> None:
    """Judge attributes of a file: one that cannot be changed cannot be undone either."""
    if re.match(r"[+=]\w*[ia]", value):
        examiner.found("siding-itself", shown_words(call.words[:6]))


def _replaced(examiner: "Examiner", call: "Call", value: str) -> None:
    """Judge ``crontab -``: what is piped into it takes the place of all that is there."""
    if value == "-":
        examiner.found("change-system", shown_words(call.words[:6]))


_INTERPRETERS = (
    r"(?:.*/)?(?:python|node|nodejs|ruby|perl|php|java|deno|bun|(?:ba|z|da|fi)?sh)[\d.]*$"
)
_SCRIPT = r"(?!.*siding)[\w./-]+\.(?:py|m?js|ts|rb|pl|php|sh|jar)$"


def _process(examiner: "Examiner", call: "Call", value: str) -> None:
    """Judge the name of processes that are ended: it should be that of a tool of the project.

    A name that Siding does not know may be that of an agent, of Siding, or of somebody's editor.
    That of an interpreter alone is that of all its programs.
    """
    words = value.split()
    plain = all(re.fullmatch(r"[\w./:@=-]+", word) for word in words)
    interpreter = bool(words and plain and re.match(_INTERPRETERS, words[0]))
    if set(value) <= set(".*") or set(value) & set(MARKS) or (interpreter and len(words) == 1):
        examiner.found("kill-all", shown_words(call.words))
    elif not plain or not (
        does_projects_work(words[0].rpartition("/")[2])
        or (interpreter and _is_own_script(examiner, words[1]))
    ):
        examiner.found("siding-itself", shown_words(call.words))


def _is_own_script(examiner: "Examiner", name: str) -> bool:
    agents = examiner.place.agents
    return bool(re.match(_SCRIPT, name)) and not any(agent in name for agent in agents)


AMOUNTS: "dict[str, Callable[[Examiner, Call, str], None]]" = {
    "size": _size,
    "limit": _limit,
    "handles": _handles,
    "attributes": _attributes,
    "replaced": _replaced,
    "process": _process,
}
