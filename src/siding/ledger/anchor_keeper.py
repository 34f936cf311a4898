"""Keep the anchor of a ledger: check it before each append, and replace it afterwards.

A ledger that is not as its anchor says is appended to all the same, because no step may be lost.
The new line then says what the anchor said, so that the difference is found for ever after
(`siding verify`), although the anchor is replaced.
"""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from siding.errors import NotARegularFile
from siding.files.regular import open_regular
from siding.hashing import sha256_hex
from siding.ledger.anchor import Anchor, TaskIdentity, read_anchor, write_anchor
from siding.ledger.anchor_survey import (
    BEFORE,
    NOT_AS_ANCHORED,
    TASK,
    digest_until,
    identity_of,
    is_at_end,
    survey,
)
from siding.storage.errors import DamagedFile
from siding.storage.journals import TORN, Entry, Journal


class AnchorKeeper:
    """The anchor of one ledger. The caller holds the task's lock.

    `task` returns what ``task.json`` says now; it is asked only if the anchor does not say it.
    `say` gets a sentence if the ledger is not as its anchor says.
    """

    def __init__(
        self,
        path: Path,
        ledger: Path,
        *,
        task: Callable[[], TaskIdentity],
        say: Callable[[str], None],
    ) -> None:
        self._path = path
        self._journal = Journal(ledger)
        self._task = task
        self._say = say
        self._lines = 0
        self._identity: TaskIdentity | None = None

    def is_changing(self) -> bool:
        """Return whether the task was given another base or branch that no line names yet.

        Raises NewerVersion.
        """
        anchor, _ = self._read()
        coming = None if anchor is None else anchor.next_task
        return coming is not None and _is_meant(self._task(), coming)

    def fields(self) -> dict[str, Any]:
        """Return the fields of the next line that are about the anchor.

        Called under the journal's lock, right before the line is written.
        """
        last = self._journal.last()
        anchor, damaged = self._read()
        marks: dict[str, Any] = {}
        if anchor is not None and last is not None and is_at_end(anchor, last):
            self._lines = anchor.lines + 1
        else:
            marks = self._look_closer(anchor, last, damaged=damaged)
        self._identity = self._identity_now(anchor, last)
        return {TASK: self._identity.as_record(), **marks}

    def put(self) -> None:
        """Replace the anchor after the line with `fields` was appended. Raises OSError."""
        last = self._journal.last()
        assert last is not None
        assert self._identity is not None
        write_anchor(self._path, _anchor_at(last, self._lines, self._identity))

    def catch_up(self) -> None:
        """Anchor the newest line, which was appended by an act that was cut off right after it.

        Nothing is done if that line is anchored already, or if more than it differs from what the
        anchor says: then the next line says so. Raises OSError.
        """
        last = self._journal.last()
        anchor, damaged = self._read()
        identity = identity_of(last)
        if last is None or identity is None or damaged:
            return
        if anchor is not None and is_at_end(anchor, last):
            return
        found = survey(anchor, self._journal.entries())
        if anchor is None:
            follows = found.anchored == 1
        else:
            *between, _last = found.past or (last,)
            follows = found.holds and _are_torn(between)
        if follows and NOT_AS_ANCHORED not in (last.record or {}):
            write_anchor(self._path, _anchor_at(last, found.lines, identity))

    def _read(self) -> tuple[Anchor | None, bool]:
        """Return the anchor, and whether it is damaged."""
        try:
            return read_anchor(self._path), False
        except (DamagedFile, NotARegularFile):
            return None, True

    def _look_closer(
        self, anchor: Anchor | None, last: Entry | None, *, damaged: bool
    ) -> dict[str, Any]:
        """Count the lines, and return what the next line has to say of those before it."""
        found = survey(anchor, self._journal.entries())
        self._lines = found.lines + 1
        if anchor is not None and found.holds and _are_torn(found.past):
            return {}  # lines that killed writers left: promised to nobody
        if anchor is None and not damaged and not found.anchored:
            return {} if last is None else {BEFORE: self._digest()}
        self._say("the ledger is not as its anchor says; `siding verify` says more")
        said: dict[str, Any] = {"damaged": True} if damaged else {}
        if anchor is not None:
            said = {"lines": anchor.lines, "head": anchor.head}
        return {NOT_AS_ANCHORED: said}

    def _digest(self) -> str:
        """Return the digest of the ledger as it is once its last line is closed."""
        with open(open_regular(self._journal.path), "rb") as file:
            size = file.seek(0, os.SEEK_END)
            is_closed = os.pread(file.fileno(), 1, size - 1) == b"\n"
        return digest_until(self._journal.path, size, b"" if is_closed else b"\n")

    def _identity_now(self, anchor: Anchor | None, last: Entry | None) -> TaskIdentity:
        """Return what the next line says of the task: what was bound, not what somebody wrote."""
        if anchor is None:
            return identity_of(last) or self._task()
        if anchor.next_task is not None and _is_meant(self._task(), anchor.next_task):
            return anchor.next_task
        return anchor.task


def _anchor_at(last: Entry, lines: int, task: TaskIdentity) -> Anchor:
    return Anchor(lines=lines, size=last.end, head=sha256_hex(last.raw), task=task)


def _is_meant(now: TaskIdentity, coming: TaskIdentity) -> bool:
    """Return whether ``task.json`` has the base and the branch that were announced."""
    return now._replace(id=coming.id, name=coming.name) == coming


def _are_torn(entries: "tuple[Entry, ...] | list[Entry]") -> bool:
    return all(entry.problem is not None and entry.problem.startswith(TORN) for entry in entries)
