"""Decisions on disk: ``decisions/`` of a project.

    pending.json          the newest decision (the seed's one slot)
    open/<session>.json   each decision that waits, in the same form
    <session>.json        the record of a closed one; that it exists is the fact that it is closed
    keys/<hash>.json      which decision a key stands for

Asking writes the key, then the question, then ``pending.json``. Answering creates the record, under
a name that only one can take, and then removes the question. Cut off anywhere, what is there says
how far it came, and the next change takes away what is left over.

`ask`, `remove` and `forget_key` are read-change-write under a lock that the caller holds. `close`
needs none: the file system decides who was first. Reading needs none.
"""

import os
from collections.abc import Iterator
from os import scandir
from pathlib import Path

from siding.decisions.record import (
    RECORD_VERSION,
    Asked,
    Decision,
    decision_from_open,
    decision_from_record,
    is_session,
    open_document,
    record_document,
)
from siding.decisions.request import Request
from siding.decisions.states import AlreadyClosed, DecisionMove, DecisionState, move_decision
from siding.errors import NotFound, UnreadableFile
from siding.files.durable import copy_aside, create_bytes, make_dirs, move_aside, remove_file
from siding.hashing import sha256_hex
from siding.storage.codec import encode_document
from siding.storage.documents import (
    DamagedFile,
    read_document,
    read_document_or_none,
    write_document,
)
from siding.storage.layout import checked_name

PENDING = "pending.json"
_SUFFIX = ".json"


class DecisionStore:
    """All decisions of one project."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self._open = directory / "open"
        self._keys = directory / "keys"

    def ask(self, request: Request, asked: Asked) -> tuple[Decision, bool]:
        """Store a decision; return it, and whether its key found one that was there already.

        ``asked.session_id`` is the name it would like; another is taken while that one is not free.
        """
        make_dirs(self._open)
        make_dirs(self._keys)
        self._sweep()
        there = self.with_key(asked.key)
        if there is not None and there.state is not DecisionState.CANCELLED:
            if there.state is DecisionState.OPEN and self._newest_id() is None:
                write_document(self.directory / PENDING, open_document(there))
            return there, True
        decision = self._create(request, asked)
        write_document(self.directory / PENDING, open_document(decision))
        return decision, False

    def close(self, decision: Decision) -> Decision:
        """Record how an open decision ended; raises AlreadyClosed when somebody was first.

        ``decision.state`` says how. After it returns, the record would survive a power cut.
        """
        assert decision.state is not DecisionState.OPEN
        record = self._record_path(decision.session_id)
        self._create_record(record, decision)
        remove_file(self._open_path(decision.session_id))
        return decision

    def load(self, session_id: str) -> Decision:
        """Return a decision; raises NotFound, DamagedFile, NewerVersion."""
        if not is_session(session_id):
            raise NotFound(f"{session_id[:100]!r} cannot be a decision")
        for _ in range(2):  # it may be closed between the two looks: its record is there by then
            decision = self._closed(session_id) or self._still_open(session_id)
            if decision is not None:
                return decision
        raise NotFound(
            f"there is no decision {session_id!r}", hint="`siding decide list --all` shows them"
        )

    def is_closed(self, session_id: str) -> bool:
        """Return whether the decision was answered or cancelled; one look at a name."""
        return os.path.lexists(self._record_path(session_id))

    def exists(self, session_id: str) -> bool:
        """Return whether there is such a decision, open or closed."""
        return self.is_closed(session_id) or session_id in self.open_ids()

    def open_ids(self) -> list[str]:
        """Return the sessions that wait for an answer, oldest first."""
        waiting = set(_stems(self._open))
        newest = self._newest_id()  # another program may know of ``pending.json`` only
        if newest is not None:
            waiting.add(newest)
        return sorted((each for each in waiting if not self.is_closed(each)), key=order)

    def closed_ids(self) -> list[str]:
        """Return the sessions that were answered or cancelled, oldest first."""
        return sorted((each for each in _stems(self.directory) if each != "pending"), key=order)

    def newest(self) -> Decision | None:
        """Return the decision of ``pending.json``; raises DamagedFile when it cannot be read."""
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
        """Return the decision that a key stands for."""
        if not key:
            return None
        document = read_document_or_none(
            self._key_path(key), what="decision key", version=RECORD_VERSION
        )
        session_id = str((document or {}).get("session_id") or "")
        try:
            found = self.load(session_id) if session_id else None
        except NotFound:
            return None  # it was about to be asked when its writer died, or was cleaned away
        # A writer that died before its question was there leaves a name that another may have now.
        return found if found is not None and found.asked.key == key else None

    def forget_key(self, decision: Decision) -> None:
        """Let the decision's key stand for nothing, unless it stands for another one by now."""
        key = decision.asked.key
        there = self.with_key(key)
        if there is not None and there.session_id == decision.session_id:
            remove_file(self._key_path(key))

    def remove(self, session_id: str, trash: Path) -> None:
        """Move the record of a closed decision to a directory; raises OSError."""
        self.forget_key(self.load(session_id))
        remove_file(self._open_path(session_id))  # left by a cut-off answer, it would open again
        move_aside(self._record_path(session_id), trash / f"{session_id}{_SUFFIX}")

    def _create(self, request: Request, asked: Asked) -> Decision:
        for session_id in _names(asked.session_id):
            if self.is_closed(session_id):
                continue
            decision = Decision(
                asked=asked._replace(session_id=session_id),
                request=request,
                state=DecisionState.OPEN,
            )
            if os.path.lexists(self._open_path(session_id)):
                continue
            if asked.key:
                key = {"version": RECORD_VERSION, "key": asked.key, "session_id": session_id}
                write_document(self._key_path(asked.key), key)
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
        """Return an open decision; of the newest there are two copies, and one may be damaged."""
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
        """Return the sessions whose file cannot be read, with what is wrong, oldest first.

        A damaged record may hide a question that nobody has answered, so it counts as one as long
        as its question is there; the other records only with `closed`.
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
        """Give a damaged file another name, its bytes as they are; the caller holds the lock.

        Without the record that hid it, a question is open again.
        """
        kept = copy_aside(damage.path, "damaged")
        remove_file(damage.path)
        return kept

    def is_gone(self, session_id: str) -> bool:
        """Return whether nothing is left of a decision: its damaged file was set aside."""
        if self.is_closed(session_id) or os.path.lexists(self._open_path(session_id)):
            return False
        return not self.exists(session_id)

    def _newest_id(self) -> str | None:
        try:
            document = read_document(
                self.directory / PENDING, what="pending decision", version=RECORD_VERSION
            )
        except (FileNotFoundError, DamagedFile):
            return None  # who wants it by name is told; the others are not lost with it
        meta = document.get("_meta")
        session_id = meta.get("session_id") if isinstance(meta, dict) else None
        return session_id if isinstance(session_id, str) and is_session(session_id) else None

    def _sweep(self) -> None:
        """Take away the questions whose record exists: whoever answered them was cut off."""
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
    """Return what sessions are sorted by: the second they began in, then their number in it."""
    stamp, _, number = session_id[:19], session_id[19:20], session_id[20:]
    return stamp, int(number) if number.isascii() and number.isdigit() else 1


def _names(wanted: str) -> Iterator[str]:
    yield wanted
    number = 2
    while True:
        yield f"{wanted}-{number}"
        number += 1


def _stems(directory: Path) -> Iterator[str]:
    try:
        with scandir(directory) as entries:
            names = [entry.name for entry in entries]
    except FileNotFoundError:
        return
    for name in names:
        if name.endswith(_SUFFIX) and not name.startswith("."):
            yield name[: -len(_SUFFIX)]


__all__ = ["AlreadyClosed", "DecisionStore", "order"]
