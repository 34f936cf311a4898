"""Keep the anchor of a ledger: check it before each append, and write it afterwards.

A ledger that is not as its anchor says is appended to all the same, because no step may be lost.
The new line then says what the anchor said, so that the difference is found for ever after
(`siding verify`), although the anchor is written again.
"""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from siding.ground.errors import NotARegularFile
from siding.ground.files.regular import open_regular
from siding.ground.hashing import sha256_hex
from siding.ground.storage.codec import NotJson, parse_object
from siding.ground.storage.errors import DamagedFile
from siding.ground.storage.journals import TORN, Entry, Journal
from siding.record.ledger.anchor import (
    Anchor,
    TaskIdentity,
    forget_change,
    read_anchor,
    read_next_task,
    write_anchor,
)
from siding.record.ledger.anchor_survey import (
    BEFORE,
    NOT_AS_ANCHORED,
    TASK,
    digest_until,
    identity_of,
    is_at_end,
    survey,
)
from siding.record.ledger.chain import link


class AnchorKeeper:
    """The anchor of one ledger. The caller holds the task's lock.

    `task` returns what ``task.json`` says now; it is asked only if no line names it yet. `say` gets
    a sentence if the ledger is not as its anchor says.
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
        self._before = Anchor(0, 0, "")  # the ledger without the line that `put` anchors
        self._is_announced = False

    def is_changing(self) -> bool:
        """Return whether the task was given another base or branch that no line names yet.

        Raises NewerVersion, so that nothing begins that could not be anchored.
        """
        self._read()
        if read_next_task(self._path) is None:
            return False
        named = self._named()
        coming = None if named is None else self._coming(named)
        return coming is not None and coming != named

    def agrees(self) -> bool:
        """Return whether the anchor names the newest line: a Siding command appended it."""
        anchor, _damaged = self._read()
        last = self._journal.last()
        if anchor is None or last is None:
            return anchor is None and last is None
        return is_at_end(anchor, last)

    def fields(self, before: bytes | None) -> dict[str, Any]:
        """Return the fields of the next line that are about the anchor.

        Called under the journal's lock, right before the line is written; `before` is the line
        before it. Raises NewerVersion.
        """
        anchor, damaged = self._read()
        size = self._journal.path.stat().st_size
        marks: dict[str, Any] = {}
        lines = 0 if anchor is None else anchor.lines
        if anchor is None or anchor.size != size or link(before) != anchor.head:
            lines, marks = self._look_closer(anchor, damaged=damaged)
        self._before = Anchor(lines, size, "")
        return {TASK: self._identity(before).as_record(), **marks}

    def put(self) -> None:
        """Write the anchor after the line with `fields` was appended. Raises OSError."""
        with open(open_regular(self._journal.path), "rb") as file:
            file.seek(self._before.size)
            line = file.read()
        head = sha256_hex(line.strip(b"\n"))  # a torn line before it was closed by a newline
        size = self._before.size + len(line)
        write_anchor(self._path, Anchor(self._before.lines + 1, size, head))
        if self._is_announced:
            forget_change(self._path)

    def catch_up(self) -> None:
        """Anchor the newest line, which was appended by an act that was cut off right after it.

        Nothing is done if that line is anchored already, or if more than it differs from what the
        anchor says: then the next line says so. Raises OSError.
        """
        last = self._journal.last()
        anchor, damaged = self._read()
        if last is None or last.record is None or TASK not in last.record:
            return
        if anchor is not None and is_at_end(anchor, last):
            return
        found = survey(anchor, self._journal.entries())
        if damaged:
            follows = True  # it was being written; the chain protects the lines before
        elif anchor is None:
            follows = found.anchored == 1
        else:
            *between, _last = found.past or (last,)
            follows = found.holds and _are_torn(between)
        if follows and NOT_AS_ANCHORED not in last.record:
            write_anchor(self._path, Anchor(found.lines, last.end, sha256_hex(last.raw)))

    def _read(self) -> tuple[Anchor | None, bool]:
        """Return the anchor, and whether it is damaged."""
        try:
            return read_anchor(self._path), False
        except (DamagedFile, NotARegularFile):
            return None, True

    def _look_closer(self, anchor: Anchor | None, *, damaged: bool) -> tuple[int, dict[str, Any]]:
        """Return the number of lines, and what the next line has to say of them."""
        found = survey(anchor, self._journal.entries())
        if anchor is not None and found.holds and _are_torn(found.past):
            return found.lines, {}  # lines that killed writers left: promised to nobody
        if anchor is None and not damaged and not found.anchored:
            return found.lines, {BEFORE: self._digest()} if found.lines else {}
        self._say("the ledger is not as its anchor says; `siding verify` says more")
        said: dict[str, Any] = {"damaged": True} if damaged else {}
        if anchor is not None:
            said = {"lines": anchor.lines, "head": anchor.head}
        return found.lines, {NOT_AS_ANCHORED: said}

    def _digest(self) -> str:
        """Return the digest of the ledger as it is once its last line is closed."""
        with open(open_regular(self._journal.path), "rb") as file:
            size = file.seek(0, os.SEEK_END)
            is_closed = os.pread(file.fileno(), 1, size - 1) == b"\n"
        return digest_until(self._journal.path, size, b"" if is_closed else b"\n")

    def _identity(self, before: bytes | None) -> TaskIdentity:
        """Return what the next line says of the task: what was bound, not what somebody wrote."""
        named = _identity_in(before) or self._named()
        return self._task() if named is None else self._coming(named) or named

    def _coming(self, named: TaskIdentity) -> TaskIdentity | None:
        """Return what was announced if ``task.json`` has it. The id and the name never change."""
        coming = read_next_task(self._path)
        self._is_announced = coming is not None
        if coming is None:
            return None
        coming = coming._replace(id=named.id, name=named.name)
        return coming if self._task()._replace(id=named.id, name=named.name) == coming else None

    def _named(self) -> TaskIdentity | None:
        """Return what the newest line that names the task says of it."""
        count = 1
        while True:
            entries = self._journal.tail(count)
            for entry in reversed(entries):
                if (named := identity_of(entry)) is not None:
                    return named
            if len(entries) < count:
                return None
            count *= 8


def _identity_in(line: bytes | None) -> TaskIdentity | None:
    try:
        named = {} if line is None else parse_object(line).get(TASK)
    except NotJson:
        return None
    return TaskIdentity.from_record(named) if isinstance(named, dict) and named else None


def _are_torn(entries: "tuple[Entry, ...] | list[Entry]") -> bool:
    return all(entry.problem is not None and entry.problem.startswith(TORN) for entry in entries)
