"""Phases on disk, in the task's directory.

    flow-status*.json               the passes (`documents.py`)
    phase-intent.json               a move under way, or one that was cut off

A move makes a commit. The intent says what is to be recorded; it is written before the branch moves
and removed when ``flow-status.json`` holds the move. If an intent is found later, the branch
decides: if it has the commit, the move happened and is recorded; otherwise the intent is removed.
The caller must hold the lock of the task's phases for everything but reading.
"""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from siding.ground.files.durable import copy_aside, remove_file
from siding.ground.namedtuples import NamedTuple
from siding.ground.storage.documents import DamagedFile, read_document_or_none, write_document
from siding.ground.storage.layout import checked_name
from siding.record.phases.documents import CURRENT, PREFIX, SUFFIX, document_names
from siding.record.phases.status import STATUS_VERSION, FlowStatus, document_of, status_from

_WAY_OUT = (
    "`siding phase start PHASE SUMMARY --again` keeps a copy of the file and begins a new pass"
)


class PhaseIntent(NamedTuple):
    """A move under way. `branch` goes from the commit `old` to `new`.

    `after` is the status to record. `token` marks the `index.lock` that the move takes, so that a
    lock left by a move that was cut off is known as its own.
    """

    after: FlowStatus
    ends: FlowStatus | None  # the pass that the move ends, when it begins a new one
    branch: str
    old: str
    new: str
    token: str


class PhaseStore:
    """The phases of one task."""

    def __init__(self, task_root: Path) -> None:
        self._root = task_root
        self._current = task_root / CURRENT
        self._intent = task_root / "phase-intent.json"

    def load(self) -> FlowStatus | None:
        """Return the present pass, None if there is none; raises DamagedFile, NewerVersion."""
        return self._read(self._current)

    def bring_in(self, status: FlowStatus) -> None:
        """Store the phases of a task that another program took through them so far."""
        write_document(self._current, document_of(status))

    def earlier(self) -> list[FlowStatus]:
        """Return the earlier passes, oldest first; raises DamagedFile, NewerVersion."""
        names = document_names(self._root)
        found = [self._read(self._root / name) for name in names if name != CURRENT]
        return [each for each in found if each is not None]

    def earlier_ids(self) -> set[str]:
        """Return the ids of the earlier passes, also of those whose file is damaged."""
        return {
            name[len(PREFIX) : -len(SUFFIX)]
            for name in document_names(self._root)
            if name != CURRENT
        }

    def keep_damaged(self) -> Path:
        """Copy the present pass, which cannot be read, to a new name; return the copy's path."""
        return copy_aside(self._current, "damaged")

    def begin(self, intent: PhaseIntent) -> None:
        """Store the intent. When this returns, it would survive a power cut."""
        write_document(
            self._intent,
            {
                "version": STATUS_VERSION,
                **intent._asdict(),
                "after": document_of(intent.after),
                "ends": None if intent.ends is None else document_of(intent.ends),
            },
        )

    def has_intent(self) -> bool:
        """Return whether there is an intent; it costs one system call."""
        return os.path.lexists(self._intent)

    def cut_off(self) -> PhaseIntent | None:
        """Return the intent that was left by a move that was cut off; None if there is none.

        Raises DamagedFile, NewerVersion.
        """
        document = read_document_or_none(
            self._intent, what="phase intent", version=STATUS_VERSION, required=("after", "new")
        )
        if document is None:
            return None
        try:
            return _intent_from(document)
        except (KeyError, TypeError, ValueError) as error:
            raise DamagedFile(self._intent, repr(error), what="phase intent") from error

    def finish(self, intent: PhaseIntent) -> None:
        """Record a move whose commit was made, and remove the intent. It can be repeated."""
        self.record(intent)
        remove_file(self._intent)

    def record(self, intent: PhaseIntent) -> None:
        """Record a move whose commit was made, and keep the intent: the move is not complete.

        Call `finish` when it is.
        """
        if intent.ends is not None:
            name = f"{PREFIX}{checked_name(intent.ends.task_id)}{SUFFIX}"
            write_document(self._root / name, document_of(intent.ends))
        write_document(self._current, document_of(intent.after))

    def give_up(self) -> None:
        """Remove the intent of a move whose commit was not made."""
        remove_file(self._intent)

    def _read(self, path: Path) -> FlowStatus | None:
        try:
            document = read_document_or_none(path, what="phase status", version=STATUS_VERSION)
            return None if document is None else status_from(document)
        except DamagedFile as error:
            error.hint = _WAY_OUT
            raise
        except ValueError as error:
            damage = DamagedFile(path, str(error), what="phase status")
            damage.hint = _WAY_OUT
            raise damage from error


def _intent_from(document: Mapping[str, Any]) -> PhaseIntent:
    ends = document.get("ends")
    return PhaseIntent(
        after=status_from(document["after"]),
        ends=None if ends is None else status_from(ends),
        branch=str(document["branch"]),
        old=str(document["old"]),
        new=str(document["new"]),
        token=str(document["token"]),
    )
