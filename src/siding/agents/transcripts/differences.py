"""Compare a transcript that is imported again with what is here of it.

A client adds lines. Claude Code also takes an answer out of its file, when a stream broke and the
answer was asked for anew, or writes it once more with the same id. Nothing is deleted here: an
answer that is gone there is withdrawn, and one that was written anew is added with its id, of which
the last line counts.
"""

from collections.abc import Callable, Iterable, Iterator
from itertools import chain

from siding.agents.transcripts.heads import parsed
from siding.agents.transcripts.kinds import ASSISTANT, FORMAT_VERSION
from siding.ground.storage.codec import NotJson
from siding.ground.storage.writes import encode_line

_ANSWER = b'"assistant"'
_TOMBSTONE = b'"tombstone"'


class Differences:
    """What a file lacks of `lines`; `take` gets the lines that it has, in their order.

    `is_same` tells whether two lines that differ are the same but for the name of the session.
    """

    def __init__(
        self, lines: Callable[[], Iterable[bytes]], is_same: Callable[[bytes, bytes], bool]
    ) -> None:
        self._lines = lines
        self._is_same = is_same
        self._coming = iter(lines())
        self._waiting = next(self._coming, None)
        self._all: frozenset[int] | None = None  # hashes of all lines that come
        self._answers: frozenset[str] = frozenset()  # the ids of the answers among them
        self._gone: dict[str, None] = {}
        self._anew: list[bytes] = []

    def take(self, known: bytes) -> bool:
        """Tell whether a line of the file is accounted for."""
        if self._is_next(known):
            self._waiting = next(self._coming, None)
            return True
        if self._all is None:  # few imports come here
            self._look_at_all()
        assert self._all is not None
        if known in self._anew:  # and an earlier import has added it
            self._anew.remove(known)
            return True
        if hash(known) in self._all:
            return self._skip_to(known)
        if withdrawn := _id_in(known, _TOMBSTONE, "tombstone"):
            self._gone.pop(withdrawn, None)  # by an earlier import
            return True
        answer = _id_in(known, _ANSWER, ASSISTANT, is_theirs=True)
        if answer and answer not in self._answers:
            self._gone[answer] = None
        return bool(answer)

    def new(self, session: str) -> Iterator[bytes]:
        """Yield the lines to append."""
        for uuid in self._gone:
            record = {"type": "tombstone", "uuid": uuid, "sessionId": session, "v": FORMAT_VERSION}
            yield encode_line(record)
        yield from self._anew
        if self._waiting is not None:
            yield from chain((self._waiting,), self._coming)

    def _is_next(self, known: bytes) -> bool:
        waiting = self._waiting
        return waiting is not None and (known == waiting or self._is_same(known, waiting))

    def _skip_to(self, known: bytes) -> bool:
        """Pass over answers that were written anew in front of a line that is known."""
        while self._waiting is not None and not self._is_next(known):
            if not _id_in(self._waiting, _ANSWER, ASSISTANT):
                return False
            self._anew.append(self._waiting)
            self._waiting = next(self._coming, None)
        found = self._waiting is not None
        self._waiting = next(self._coming, None)
        return found

    def _look_at_all(self) -> None:
        hashes, answers = set(), set()
        for line in self._lines():
            hashes.add(hash(line))
            answers.add(_id_in(line, _ANSWER, ASSISTANT))
        self._all, self._answers = frozenset(hashes), frozenset(answers)


def _id_in(line: bytes, mark: bytes, kind: str, *, is_theirs: bool = False) -> str:
    """Return the id that a line of this type names, "" for any other line.

    `is_theirs`: only if the client has written it; lines of ours have a `v`.
    """
    if mark not in line:  # most lines are not parsed
        return ""
    try:
        record = parsed(line)
    except NotJson:
        return ""
    if is_theirs and "v" in record:
        return ""
    uuid = record.get("uuid")
    return uuid if record.get("type") == kind and isinstance(uuid, str) else ""
