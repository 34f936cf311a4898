"""The document of a search: FORMAT.md. It is written after each look, so that a kill loses one."""

from pathlib import Path
from typing import Any

from siding.bisect.search import Verdict
from siding.bisect.states import Range, State
from siding.ground.errors import UnreadableFile
from siding.ground.ids import Sha
from siding.ground.namedtuples import NamedTuple
from siding.ground.storage.documents import read_document_or_none, write_document
from siding.ground.storage.fields import mappings, text, whole_or_none

VERSION = 1


class Look(NamedTuple):
    """One look at a state. `at` is the place of the state in the list.

    `exit_code` is that of the check, None if a person said what they saw; `fork` and `step` are the
    fork in which the check ran and its step there, `why` is the reason of a skip.
    """

    at: int
    verdict: Verdict
    exit_code: int | None = None
    duration_ms: int = 0
    fork: str = ""
    step: str = ""
    why: str = ""


class Search(NamedTuple):
    """A search. `check` is the command, "" if a person judges; `group` is the group of its forks.

    `ended` says that it has its answer: another one with the same words begins anew.
    """

    group: str
    check: str
    wanted: Range
    states: tuple[State, ...]
    looks: tuple[Look, ...] = ()
    ended: bool = False

    @property
    def verdicts(self) -> dict[int, Verdict]:
        return {look.at: look.verdict for look in self.looks}


def read_search(path: Path) -> Search | None:
    """Return the search that was written last; None if there is none, or it cannot be read.

    Nothing depends on it but the looks that need not be done again.
    """
    try:
        data = read_document_or_none(path, what="search", version=VERSION)
        return None if data is None else _search(data)
    except (UnreadableFile, ValueError, OSError):
        return None


def write_search(path: Path, search: Search) -> None:
    """Write it, durably. Raises OSError."""
    write_document(
        path,
        {
            "version": VERSION,
            "group": search.group,
            "check": search.check,
            "first": search.wanted.first,
            "last": search.wanted.last,
            "states": [state._asdict() for state in search.states],
            "looks": [look._asdict() for look in search.looks],
            "ended": search.ended,
        },
    )


def _search(data: dict[str, Any]) -> Search:
    """Raises ValueError if it is none."""
    states = tuple(State(text(s.get("step")), _sha(s)) for s in mappings(data.get("states")))
    looks = tuple(map(_look, mappings(data.get("looks"))))
    if any(not 0 <= look.at < len(states) for look in looks):
        raise ValueError("it looked at a state that it does not have")
    wanted = Range(text(data.get("first")), text(data.get("last")))
    return Search(
        group=text(data.get("group")),
        check=text(data.get("check")),
        wanted=wanted,
        states=states,
        looks=looks,
        ended=data.get("ended") is True,
    )


def _sha(state: Any) -> Sha:
    return Sha(text(state.get("snapshot")))


def _look(record: Any) -> Look:
    at = whole_or_none(record.get("at"))
    if at is None:
        raise ValueError("a look names no state")
    return Look(
        at=at,
        verdict=Verdict(text(record.get("verdict"))),
        exit_code=whole_or_none(record.get("exit_code")),
        duration_ms=whole_or_none(record.get("duration_ms")) or 0,
        fork=text(record.get("fork")),
        step=text(record.get("step")),
        why=text(record.get("why")),
    )
