"""Decisions on disk: ``decisions/`` of a project.

    pending.json          the newest decision
    open/<session>.json   each decision that waits, in the same form
    <session>.json        the record of a closed one; a decision is closed if its record exists
    keys/<hash>.json      which decision a key stands for

Asking writes the key, then the question, then ``pending.json``. Answering creates the record and
then removes the question. The record is created with a call that fails if the name is taken, so
only one answer can succeed. If a writer is killed in between, the files show how far it came, and
the next `ask` removes what is left over.

The caller must hold a lock for `ask`, `remove`, `forget_key` and `set_aside`. `close` and reading
need none.
"""

import os
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

from siding.asking.decisions.record import (
    RECORD_VERSION,
    AlreadyClosed,
    Decision,
    DecisionMove,
    DecisionState,
    Origin,
    decision_from_open,
    decision_from_record,
    is_session,
    move_decision,
    open_document,
    record_document,
)
from siding.asking.decisions.request import DecisionRequest
from siding.ground.errors import NotFound, UnreadableFile
from siding.ground.files.durable import copy_aside, create_bytes, make_dirs, move_aside, remove_file
from siding.ground.hashing import sha256_hex
from siding.ground.storage.documents import (
    DamagedFile,
    listed_ids,
    read_document,
    read_document_or_none,
    write_document,
)
from siding.ground.storage.layout import checked_name
from siding.ground.storage.writes import encode_document

PENDING = "pending.json"
_SUFFIX = ".json"


class DecisionStore:
    """All decisions of one project."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self._open = directory / "open"
        self._keys = directory / "keys"

    def ask(self, request: DecisionRequest, origin: Origin) -> tuple[Decision, bool]:
        """Store a decision; return it, and whether it is an earlier one with the same key.

        ``origin.session_id`` is the id it should get; if that is taken, ``-2``, ``-3`` … is added.
        """
        make_dirs(self._open)
        make_dirs(self._keys)
        self._sweep()
        there = self.with_key(origin.key)
        if there is not None and there.state is not DecisionState.CANCELLED:
            if there.state is DecisionState.OPEN and self._newest_id() is None:
                write_document(self.directory / PENDING, open_document(there))
            return there, True
        decision = self._create(request, origin)
        write_document(self.directory / PENDING, open_document(decision))
        return decision, False

    def close(self, decision: Decision) -> Decision:
        """Record how an open decision ended; raises AlreadyClosed if it was closed before.

        `decision` has the new state and the answers. When this returns, the record would survive a
        power cut.
        """
        assert decision.state is not DecisionState.OPEN
        record = self._record_path(decision.session_id)
        self._create_record(record, decision)
        remove_file(self._open_path(decision.session_id))
        return decision

    def bring_in(self, decision: Decision, *, dry_run: bool = False) -> tuple[str, bool]:
        """Store a decision of another program; return its id here, and whether it was there before.

        If another decision has the id, ``-2``, ``-3`` … is added. A question that was brought in
        while it was open gets its answer. It becomes the newest one if it was put after the one
        that is the newest. With `dry_run` nothing is written. The caller holds a lock.
        """
        for session_id in _names(decision.session_id):
            wanted = decision._replace(origin=decision.origin._replace(session_id=session_id))
            if self.exists(session_id):
                there = self._readable(session_id)
                if there is None or there.request != wanted.request:
                    continue
                was_open = there.state is DecisionState.OPEN
                if wanted.state is DecisionState.OPEN or there.answers == wanted.answers:
                    if not dry_run:
                        self._make_newest(wanted)
                    return session_id, True
                if not was_open or there.origin.key:  # a question with a key is one of our own
                    continue
            if not dry_run:
                self._bring_in(wanted)
                self._make_newest(wanted)
            return session_id, False
        raise AssertionError("unreachable")

    def _bring_in(self, decision: Decision) -> None:
        make_dirs(self._open)
        if decision.state is DecisionState.OPEN:
            path = self._open_path(decision.session_id)
            create_bytes(path, encode_document(open_document(decision)))
        else:
            self.close(decision)

    def _make_newest(self, decision: Decision) -> None:
        """Name a decision in ``pending.json`` if it was put last, as its own program did."""
        put = _moment(decision.origin.created_at)
        if put is None:  # only the last question of the other program says when it was put
            return
        try:
            newest = self.newest()
        except NotFound:
            newest = None
        except UnreadableFile:
            return  # it is reported, and may name a question that still waits
        there = None if newest is None else _moment(newest.origin.created_at)
        if newest is None or (there is not None and there < put):
            write_document(self.directory / PENDING, open_document(decision))

    def _readable(self, session_id: str) -> Decision | None:
        try:
            return self.load(session_id)
        except (NotFound, UnreadableFile):
            return None

    def load(self, session_id: str) -> Decision:
        """Return a decision, open or closed; raises NotFound, DamagedFile, NewerVersion."""
        if not is_session(session_id):
            raise NotFound(f"{session_id[:100]!r} cannot be the id of a decision")
        # A race: it can be closed after the first look and before the second, and then neither
        # finds it. The record is there by the second round.
        for _ in range(2):
            decision = self._closed(session_id) or self._still_open(session_id)
            if decision is not None:
                return decision
        raise NotFound(
            f"there is no decision {session_id!r}", hint="`siding decide list --all` shows them"
        )

    def is_closed(self, session_id: str) -> bool:
        """Return whether the decision was answered or cancelled; it costs one system call."""
        return os.path.lexists(self._record_path(session_id))

    def exists(self, session_id: str) -> bool:
        """Return whether there is a decision with this id, open or closed."""
        return self.is_closed(session_id) or session_id in self.open_ids()

    def open_ids(self) -> list[str]:
        """Return the ids of the decisions that wait for an answer, oldest first."""
        waiting = set(_stems(self._open))
        newest = self._newest_id()  # another program may have written ``pending.json`` only
        if newest is not None:
            waiting.add(newest)
        return sorted((each for each in waiting if not self.is_closed(each)), key=order)

    def closed_ids(self) -> list[str]:
        """Return the ids of the decisions that were answered or cancelled, oldest first."""
        return sorted((each for each in _stems(self.directory) if each != "pending"), key=order)

    def newest(self) -> Decision | None:
        """Return the newest decision, named by ``pending.json``; None if there is none.

        Raises DamagedFile when the file cannot be read.
        """
        document = read_document_or_none(
            self.directory / PENDING, what="pending decision", version=RECORD_VERSION
        )
        if document is None:
            return None
        try:
            session_id = decision_from_open(document).session_id
        except ValueError as error:
            raise DamagedFile(self.directory / PENDING, str(error)) from error
        return self.load(session_id)

    def with_key(self, key: str) -> Decision | None:
        """Return the decision that a key stands for, None if there is none."""
        if not key:
            return None
        document = read_document_or_none(
            self._key_path(key), what="decision key", version=RECORD_VERSION
        )
        session_id = str((document or {}).get("session_id") or "")
        try:
            found = self.load(session_id) if session_id else None
        except NotFound:
            return None  # its writer died before it stored the question, or it was removed since
        # If the writer died there, another decision may have got the id since: compare the keys.
        return found if found is not None and found.origin.key == key else None

    def forget_key(self, decision: Decision) -> None:
        """Remove the decision's key, unless the key stands for another decision by now."""
        key = decision.origin.key
        there = self.with_key(key)
        if there is not None and there.session_id == decision.session_id:
            remove_file(self._key_path(key))

    def remove(self, session_id: str, trash: Path) -> None:
        """Move the record of a closed decision to the directory `trash`; raises OSError."""
        self.forget_key(self.load(session_id))
        # The question is still there if the answer was cut off; without its record it would count
        # as open again.
        remove_file(self._open_path(session_id))
        move_aside(self._record_path(session_id), trash / f"{session_id}{_SUFFIX}")

    def _create(self, request: DecisionRequest, origin: Origin) -> Decision:
        for session_id in _names(origin.session_id):
            if self.is_closed(session_id):
                continue
            decision = Decision(
                origin=origin._replace(session_id=session_id),
                request=request,
                state=DecisionState.OPEN,
            )
            if os.path.lexists(self._open_path(session_id)):
                continue
            if origin.key:
                key = {"version": RECORD_VERSION, "key": origin.key, "session_id": session_id}
                write_document(self._key_path(origin.key), key)
            try:
                create_bytes(self._open_path(session_id), encode_document(open_document(decision)))
            except FileExistsError:
                continue
            return decision
        raise AssertionError("unreachable")

    def _create_record(self, path: Path, decision: Decision) -> None:
        try:
            create_bytes(path, encode_document(record_document(decision)))
        except FileExistsError:
            there = self.load(decision.session_id)
            if there.state is DecisionState.OPEN:
                raise
            move = (
                DecisionMove.ANSWER
                if decision.state is DecisionState.ANSWERED
                else DecisionMove.CANCEL
            )
            move_decision(there.state, move)  # raises AlreadyClosed
            raise

    def _closed(self, session_id: str) -> Decision | None:
        path = self._record_path(session_id)
        document = read_document_or_none(path, what="decision", version=RECORD_VERSION)
        if document is None:
            return None
        try:
            return decision_from_record(document, session_id)
        except ValueError as error:
            raise DamagedFile(path, str(error), what="decision") from error

    def _still_open(self, session_id: str) -> Decision | None:
        """Return an open decision, None if there is none.

        The newest one has a second copy in ``pending.json``, which is used if the first is damaged.
        """
        damage: DamagedFile | None = None
        for path in (self._open_path(session_id), self.directory / PENDING):
            try:
                document = read_document(path, what="open decision", version=RECORD_VERSION)
                decision = decision_from_open(document)
            except FileNotFoundError:
                continue
            except DamagedFile as error:
                damage = damage or error
                continue
            except ValueError as error:
                damage = damage or DamagedFile(path, str(error), what="open decision")
                continue
            if decision.session_id == session_id:
                return decision
        if damage is not None and damage.path.name != PENDING:
            raise damage
        return None

    def damaged(self, *, closed: bool) -> list[tuple[str, DamagedFile]]:
        """Return the ids of decisions whose file cannot be read, with the error, oldest first.

        A damaged record may hide a question that nobody answered, so it is included while the
        question is there. Other damaged records are included only with `closed`.
        """
        sessions = {*_stems(self._open), *(self.closed_ids() if closed else ())}
        found: list[tuple[str, DamagedFile]] = []
        for session_id in sorted(sessions, key=order):
            try:
                self.load(session_id)
            except DamagedFile as error:
                found.append((session_id, error))
            except (NotFound, UnreadableFile):
                continue
        try:
            self.newest()
        except DamagedFile as error:
            if error.path.name == PENDING:
                found.append(("pending", error))
        except (NotFound, UnreadableFile):
            pass
        return found

    def set_aside(self, damage: DamagedFile) -> Path:
        """Rename a damaged file, byte for byte; return the new path. The caller holds the lock.

        If it was a record whose question is still there, the question is open again.
        """
        kept = copy_aside(damage.path, "damaged")
        remove_file(damage.path)
        return kept

    def is_gone(self, session_id: str) -> bool:
        """Return whether no file of a decision is left, as after `set_aside`."""
        if self.is_closed(session_id) or os.path.lexists(self._open_path(session_id)):
            return False
        return not self.exists(session_id)

    def _newest_id(self) -> str | None:
        try:
            document = read_document(
                self.directory / PENDING, what="pending decision", version=RECORD_VERSION
            )
        except (FileNotFoundError, DamagedFile):
            return None  # `newest` reports the damage; here the other decisions must still be found
        meta = document.get("_meta")
        session_id = meta.get("session_id") if isinstance(meta, dict) else None
        return session_id if isinstance(session_id, str) and is_session(session_id) else None

    def _sweep(self) -> None:
        """Remove the questions whose record exists: the process that answered them was killed."""
        for session_id in list(_stems(self._open)):
            if self.is_closed(session_id):
                remove_file(self._open_path(session_id))

    def _open_path(self, session_id: str) -> Path:
        return self._open / f"{checked_name(session_id)}{_SUFFIX}"

    def _record_path(self, session_id: str) -> Path:
        if session_id == "pending":
            raise NotFound("there is no decision 'pending'")
        return self.directory / f"{checked_name(session_id)}{_SUFFIX}"

    def _key_path(self, key: str) -> Path:
        digest = sha256_hex(key.encode("utf-8", "surrogatepass"))
        return self._keys / f"{digest}{_SUFFIX}"


def order(session_id: str) -> tuple[str, int]:
    """Return the sort key of an id: the second in it, then its number within that second."""
    stamp, _, number = session_id[:19], session_id[19:20], session_id[20:]
    return stamp, int(number) if number.isascii() and number.isdigit() else 1


def _names(wanted: str) -> Iterator[str]:
    """Yield `wanted`, then ``wanted-2``, ``wanted-3``, … without end."""
    yield wanted
    number = 2
    while True:
        yield f"{wanted}-{number}"
        number += 1


def _moment(text: str) -> datetime | None:
    """Return a time in ISO 8601, None if the text is none. Without an offset it is local time."""
    try:
        return datetime.fromisoformat(text).astimezone()
    except ValueError:
        return None


def _stems(directory: Path) -> list[str]:
    return listed_ids(directory, suffix=_SUFFIX, is_name=is_session)


__all__ = ["AlreadyClosed", "DecisionStore", "order"]
