"""What every screen shows: the rows of all projects, and the one queue of what waits for a person.

All values are frozen and go through JSON unchanged. An agent may have written their texts: escape
them before display.
"""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from siding.asking.views import InboxEntry
from siding.ground.namedtuples import NamedTuple
from siding.ground.storage.fields import mappings, text, whole, words


class State(StrEnum):
    """The six states of a row, those first that a person looks at first.

    `state_of` in `state.py` derives them from records alone.
    """

    WAITS = "waits"  # an ask of it is open
    BROKE = "broke"  # what the person started failed, or was cut off
    READY = "ready"  # there is something to apply, and nothing is open
    RUNS = "runs"
    RESTS = "rests"
    DONE = "done"


class AskKind(StrEnum):
    """Who asks for what. Answers to gates and permissions need a code or a paired device."""

    QUESTION = "question"
    PERMISSION = "permission"  # may the agent do this, or go on?
    GATE = "gate"  # may the task leave its phase?
    AGENT = "agent"  # the agent waits on a screen of its own, where alone it can be answered
    CONFLICT = "conflict"
    BLOCKED = "blocked"  # the policy refused what the person started
    FAILURE = "failure"  # the last step of a task did not end well, or an act was cut off
    WORKFLOW = "workflow"  # a run of one stopped
    CHAT = "chat"  # a conversation: an unsure prompt, prompts that are held, a limit, a login
    HOOKS = "hooks"  # hooks of the repository are neither allowed nor refused


class RowKind(StrEnum):
    """What a row is about."""

    TASK = "task"
    WORKFLOW = "workflow"  # a run of one
    AGENT = "agent"  # of a run of a workflow
    CHAT = "chat"  # a conversation, below its task


class Ask(NamedTuple):
    """One thing that waits for a person. `id` is the same as long as it waits, on every screen."""

    id: str
    kind: AskKind
    entry: InboxEntry
    row: str  # the key of the row that it is of; "" for the project
    address: str

    def as_record(self) -> dict[str, Any]:
        """Return the ask as a JSON object: the entry of the inbox, and what names it."""
        named = {"id": self.id, "ask": self.kind.value, "row": self.row, "address": self.address}
        return {**self.entry._asdict(), **named}

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> "Ask":
        """Return an ask from its JSON object. Raises ValueError for an unknown kind."""
        entry = InboxEntry(**{name: text(record.get(name)) for name in InboxEntry._fields})
        return cls(
            id=text(record.get("id")),
            kind=AskKind(text(record.get("ask"))),
            entry=entry,
            row=text(record.get("row")),
            address=text(record.get("address")),
        )


class Row(NamedTuple):
    """A task, a conversation in one, a run of a workflow, or an agent of one.

    Times are ISO 8601, "" if unknown.
    """

    key: str  # unique in the home, the same as long as the row is there
    kind: RowKind
    state: State
    project: str  # the name of its directory in the home
    project_name: str  # as people call it: without the hash, if no other project has this name
    id: str  # of the task, the conversation, the run of the workflow, the agent
    name: str
    what: str  # one line: what it asks, does, did last, or how it broke
    since: str  # since when it is in this state, as far as that is recorded
    address: str
    parent: str = ""  # the key of the row below which it stands
    agent: str = ""
    run: str = ""  # the newest run that lives
    silent_since: str = ""  # when it printed last, of a run whose agent reports nothing
    left: str = ""  # what ended runs have left running
    steps: int = 0
    files: int = 0  # what an apply would bring, as far as it is known
    additions: int = 0
    deletions: int = 0
    snapshot: str = ""  # the newest; what "since my last look" is counted to
    asks: tuple[str, ...] = ()  # the ids of its asks, longest waiting first
    mark: str = ""  # changes with everything that a person would want to see; `seen.py` keeps it
    unapplied: int = 0  # steps that an apply would bring
    queued: int = 0  # prompts of a conversation that wait for their turn
    title: str = ""  # of a conversation

    def as_record(self) -> dict[str, Any]:
        """Return the row as a JSON object."""
        return {**self._asdict(), "asks": list(self.asks)}

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> "Row":
        """Return a row from its JSON object. Raises ValueError for an unknown kind or state."""
        numbers = ("steps", "unapplied", "files", "additions", "deletions", "queued")
        texts: dict[str, Any] = {
            name: text(record.get(name))
            for name in cls._fields
            if name not in (*numbers, "kind", "state", "asks")
        }
        return cls(
            **texts,
            **dict[str, Any]((name, whole(record.get(name))) for name in numbers),
            kind=RowKind(text(record.get("kind"))),
            state=State(text(record.get("state"))),
            asks=words(record.get("asks")),
        )


class Feed(NamedTuple):
    """Everything at one moment.

    `epoch` and `seq` are the cursor: within an epoch each change has the next number. Whoever
    knows another epoch takes the whole feed again.
    """

    epoch: int  # when this count began, in nanoseconds since 1970; 0 for a look without a count
    seq: int
    rows: tuple[Row, ...]
    asks: tuple[Ask, ...]  # longest waiting first
    problems: tuple[str, ...]  # sentences about what cannot be read
    projects: int  # all of them, also those that cannot be opened
    done_before: int = 0  # tasks that were closed more than a day ago, which have no row

    def in_state(self, state: State) -> list[Row]:
        """Return the rows of a state, in their order.

        A conversation has none here: the row of its task says the same.
        """
        return [row for row in self.rows if row.state is state and row.kind is not RowKind.CHAT]

    def as_record(self) -> dict[str, Any]:
        """Return the feed as a JSON object."""
        return {
            "epoch": self.epoch,
            "seq": self.seq,
            "rows": [row.as_record() for row in self.rows],
            "asks": [ask.as_record() for ask in self.asks],
            "problems": list(self.problems),
            "projects": self.projects,
            "done_before": self.done_before,
        }

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> "Feed":
        """Return a feed from its JSON object."""
        return cls(
            epoch=whole(record.get("epoch")),
            seq=whole(record.get("seq")),
            rows=tuple(Row.from_record(each) for each in mappings(record.get("rows"))),
            asks=tuple(Ask.from_record(each) for each in mappings(record.get("asks"))),
            problems=words(record.get("problems")),
            projects=whole(record.get("projects")),
            done_before=whole(record.get("done_before")),
        )


class Change(NamedTuple):
    """One change of the feed: what came or is different, and the keys and ids of what is gone."""

    epoch: int
    seq: int
    rows: tuple[Row, ...] = ()
    rows_gone: tuple[str, ...] = ()
    asks: tuple[Ask, ...] = ()
    asks_gone: tuple[str, ...] = ()
    problems: tuple[str, ...] | None = None  # all of them, if they changed
    projects: int | None = None
    done_before: int | None = None

    def as_record(self) -> dict[str, Any]:
        """Return the change as a JSON object; what is unchanged is left out."""
        found: dict[str, Any] = {"epoch": self.epoch, "seq": self.seq}
        if self.rows:
            found["rows"] = [row.as_record() for row in self.rows]
        if self.asks:
            found["asks"] = [ask.as_record() for ask in self.asks]
        for name in ("rows_gone", "asks_gone"):
            if getattr(self, name):
                found[name] = list(getattr(self, name))
        for name in ("problems", "projects", "done_before"):
            value = getattr(self, name)
            if value is not None:
                found[name] = list(value) if isinstance(value, tuple) else value
        return found

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> "Change":
        """Return a change from its JSON object."""
        return cls(
            epoch=whole(record.get("epoch")),
            seq=whole(record.get("seq")),
            rows=tuple(Row.from_record(each) for each in mappings(record.get("rows"))),
            rows_gone=words(record.get("rows_gone")),
            asks=tuple(Ask.from_record(each) for each in mappings(record.get("asks"))),
            asks_gone=words(record.get("asks_gone")),
            problems=words(record["problems"]) if "problems" in record else None,
            projects=whole(record["projects"]) if "projects" in record else None,
            done_before=whole(record["done_before"]) if "done_before" in record else None,
        )


def changed(feed: Feed, change: Change) -> Feed:
    """Return the feed after a change. Rows and asks that are new stand at the end.

    The order of rows is for the screen to say: `state.ordered` gives the first one, and a list
    under a cursor keeps the one it has.
    """
    rows = {row.key: row for row in feed.rows if row.key not in change.rows_gone}
    rows.update((row.key, row) for row in change.rows)
    asks = {ask.id: ask for ask in feed.asks if ask.id not in change.asks_gone}
    asks.update((ask.id, ask) for ask in change.asks)
    return Feed(
        epoch=change.epoch,
        seq=change.seq,
        rows=tuple(rows.values()),
        asks=tuple(asks.values()),
        problems=feed.problems if change.problems is None else change.problems,
        projects=feed.projects if change.projects is None else change.projects,
        done_before=feed.done_before if change.done_before is None else change.done_before,
    )


def difference(before: Feed, after: Feed, *, epoch: int, seq: int) -> Change | None:
    """Return what makes `after` of `before`; None if nothing does."""
    rows_before = {row.key: row for row in before.rows}
    rows_after = {row.key: row for row in after.rows}
    asks_before = {ask.id: ask for ask in before.asks}
    asks_after = {ask.id: ask for ask in after.asks}
    change = Change(
        epoch=epoch,
        seq=seq,
        rows=tuple(row for key, row in rows_after.items() if rows_before.get(key) != row),
        rows_gone=tuple(key for key in rows_before if key not in rows_after),
        asks=tuple(ask for key, ask in asks_after.items() if asks_before.get(key) != ask),
        asks_gone=tuple(key for key in asks_before if key not in asks_after),
        problems=after.problems if after.problems != before.problems else None,
        projects=after.projects if after.projects != before.projects else None,
        done_before=after.done_before if after.done_before != before.done_before else None,
    )
    return None if change == Change(epoch, seq) else change
