"""A comment on lines of a change, and the one way in which it is written for a reader. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from typing import Any

from siding.comments.anchor import AROUND
from siding.ground.errors import counted
from siding.ground.namedtuples import NamedTuple
from siding.ground.storage.fields import text, whole

_MARK, _ROOM = ">>> ", "    "


class State(StrEnum):
    """What has become of a comment."""

    DRAFT = "draft"  # written, and told to nobody
    SENT = "sent"  # an agent was told
    ADDRESSED = "addressed"  # somebody says that it is done


class Side(StrEnum):
    """Which text the lines are of: as it is now, or as it was before the task's change."""

    NEW = "new"
    OLD = "old"


class Comment(NamedTuple):
    """One comment. `first` to `last` are its lines in the text whose digest is `text_sha256`,
    from 1 on: where they were found last. Times are ISO 8601.
    """

    id: str
    path: str
    side: Side
    first: int
    last: int
    snippet: str
    said: str
    text_sha256: str
    state: State = State.DRAFT
    by: str = ""  # the run that wrote it; "" for a person
    created_at: str = ""
    sent_at: str = ""
    sent_to: str = ""
    resolved_at: str = ""
    waits_for: str = ""  # the run whose agent is to be given it by its hooks
    handed: str = ""  # the mark of the prompt in which it was given, until it is known to be taken
    rest: Mapping[str, Any] = {}  # the fields that this version does not know

    @property
    def size(self) -> int:
        """How many lines it is about."""
        return self.last - self.first + 1

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> "Comment":
        """Return the comment in a document. Raises ValueError for a state or side unknown here."""
        return cls(
            id=text(record.get("id")),
            path=text(record.get("path")),
            side=Side(text(record.get("side"))),
            first=max(1, whole(record.get("first"))),
            last=max(1, whole(record.get("first")), whole(record.get("last"))),
            snippet=text(record.get("snippet")),
            said=text(record.get("said")),
            text_sha256=text(record.get("text_sha256")),
            state=State(text(record.get("state"))),
            by=text(record.get("by")),
            created_at=text(record.get("created_at")),
            sent_at=text(record.get("sent_at")),
            sent_to=text(record.get("sent_to")),
            resolved_at=text(record.get("resolved_at")),
            waits_for=text(record.get("waits_for")),
            handed=text(record.get("handed")),
            rest={name: value for name, value in record.items() if name not in cls._fields},
        )

    def as_record(self) -> dict[str, Any]:
        fields = {name: value for name, value in self._asdict().items() if name != "rest"}
        return {**self.rest, **fields, "side": self.side.value, "state": self.state.value}


class Placed(NamedTuple):
    """A comment, and the text in which its lines are now; None if they are not found: it is stale.

    Then `comment.first` is where they were last.
    """

    comment: Comment
    lines: Sequence[str] | None
    is_waiting: bool = False  # the run that is to be given it lives

    @property
    def is_stale(self) -> bool:
        return self.lines is None

    @property
    def shown_state(self) -> str:
        is_open = self.comment.state is not State.ADDRESSED
        if self.is_waiting and is_open:
            return "waiting"
        return "stale" if self.is_stale and is_open else self.comment.state.value


def written(placed: Placed) -> str:
    """Return a comment for a reader, man or machine: its lines marked, three around them.

    A number of a line alone confuses a model, and text alone may stand in several places.
    """
    comment = placed.comment
    where = f"{comment.path}:{comment.first}" + (f"-{comment.last}" if comment.size > 1 else "")
    before = ", as it was before the change" if comment.side is Side.OLD else ""
    head = f"[{comment.id}] {where}{before}"
    if placed.lines is None:
        shown = [f"{_MARK}{line}" for line in comment.snippet.split("\n")]
        head += " (these lines were changed since)"
    else:
        start = max(1, comment.first - AROUND)
        end = min(len(placed.lines), comment.last + AROUND)
        width = len(str(end))
        shown = [
            f"{_MARK if comment.first <= number <= comment.last else _ROOM}{number:>{width}}  "
            f"{placed.lines[number - 1]}"
            for number in range(start, end + 1)
        ]
    said = [f"Requested change: {comment.said}"]
    return "\n".join([head, *(line.rstrip() for line in shown), *said])


def as_prompt(comments: Iterable[Placed], mark: str = "") -> str:
    """Return comments as the prompt of an agent; a mark finds it again in a transcript."""
    found = [written(each) for each in comments]
    one = len(found) == 1
    return "\n\n".join(
        [
            f"Review of your change: {counted(len(found), 'comment')}. "
            f"The lines that {'it is' if one else 'each is'} about are marked with >>>.",
            *found,
            "When one is done, say so: siding comments resolve ID",
            *([f"({mark})"] if mark else []),
        ]
    )
