"""The turns beside a branch: where they are kept, and how they are read.

A checkout has a directory of its own among the project's, named by a hash of its git directory, and
a part of the snapshot store under the same name, as a task has. Nothing in the repository is
touched. ``turns.jsonl`` is a journal of two kinds of lines: a turn `begins`, and `ends`.
"""

import os
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from datetime import datetime

from siding.ground.files.durable import make_dirs
from siding.ground.git.refs import head_of
from siding.ground.git.roots import recorded_root
from siding.ground.hashing import sha256_hex
from siding.ground.ids import Sha, TaskId
from siding.ground.namedtuples import NamedTuple
from siding.ground.storage.documents import listed_ids
from siding.ground.storage.fields import said, text, whole, words
from siding.ground.storage.journals import Journal
from siding.ground.storage.locks import FileLock, Holder
from siding.record.place.project import Checkout, Project
from siding.record.place.take_over import base_seed
from siding.record.recording.snapshots import TaskSnapshots
from siding.record.snapshots.seeding import add_task
from siding.record.snapshots.store_upkeep import create_store
from siding.record.tasks.registry import Workspace
from siding.record.tasks.task import WorkspaceState

_PREFIX = "checkout-"
_WAIT_S = 60.0


class Figures(NamedTuple):
    """What a turn has changed: the numbers of files and lines."""

    files: int = 0
    additions: int = 0
    deletions: int = 0


class BesideTurn(NamedTuple):
    """A turn of an agent in a checkout. `after` is "" until its end is reported."""

    number: int
    at: str
    agent: str
    session: str
    turn: str  # the agent's own id of the prompt
    transcript: str
    prompt: str  # that it began with
    branch: str  # that was checked out; "" for none
    before: Sha  # the snapshot that it began with
    after: Sha = Sha("")
    ended_at: str = ""
    moment: str = ""  # how it ended: stopped, failed, or prompt if the next one came first
    figures: Figures = Figures()
    root: str = ""  # the directory of the checkout, as it was then
    later_prompts: tuple[str, ...] = ()  # further ones that it began with or that the model got

    @property
    def prompts(self) -> tuple[str, ...]:
        """All that was asked in the turn."""
        return (self.prompt, *self.later_prompts)

    def begins(self) -> dict[str, object]:
        """Return the line that says that it has begun."""
        fields = self._asdict()
        for name in ("after", "ended_at", "moment", "figures"):
            del fields[name]
        return {"kind": "begins", **said(**fields)}

    def ends(self) -> dict[str, object]:
        """Return the line that says that it has ended."""
        return {
            "kind": "ends",
            "number": self.number,
            "at": self.ended_at,
            "moment": self.moment,
            "after": self.after,
            **said(later_prompts=self.later_prompts),
            **self.figures._asdict(),
        }


class Beside(NamedTuple):
    """The turns of one checkout, and the snapshots of it."""

    project: Project
    checkout: Checkout
    id: TaskId

    @classmethod
    def of(cls, project: Project, checkout: Checkout) -> "Beside":
        name = sha256_hex(os.fsencode(os.path.realpath(checkout.git_dir)))[:12]
        return cls(project, checkout, TaskId(f"{_PREFIX}{name}"))

    @property
    def journal(self) -> Journal:
        return journal_of(self.project, self.id)

    def turns(self) -> list[BesideTurn]:
        """Return the turns, oldest first. Lines that cannot be read are passed over."""
        return turns_in(self.journal)

    @contextmanager
    def held(self, what: str) -> Iterator[None]:
        """Hold the lock of these turns. Raises LockBusy after a minute."""
        lock = FileLock(self.project.layout.lock(self.id))
        app = self.project.app
        lock.acquire(timeout_s=_WAIT_S, holder=Holder(pid=app.pid, since=app.now(), what=what))
        try:
            yield
        finally:
            lock.release()

    def head(self) -> Sha | None:
        """Return the commit that is checked out; None on a branch without commits."""
        paths = self.project.paths
        return head_of(self.project.git, self.checkout.git_dir, paths.common_dir).sha

    def branch(self) -> str:
        """Return the branch that is checked out; "" for none."""
        paths = self.project.paths
        return head_of(self.project.git, self.checkout.git_dir, paths.common_dir).branch or ""

    def snapshots(self) -> TaskSnapshots:
        """Return the snapshots of the checkout."""
        return TaskSnapshots(self.project, self._workspace())

    def begin(self, base: Sha) -> None:
        """Make the part of the store, and the directory, if they are not there."""
        project = self.project
        make_dirs(self.journal.path.parent)
        create_store(project.snapshots)
        root, git_dir = self.checkout
        add_task(project.snapshots, base_seed(project, self.id, base, root, git_dir))

    def _workspace(self) -> Workspace:
        """Return what describes the checkout to the snapshots; it is in no registry."""
        root = recorded_root(self.checkout.root)
        return Workspace(
            name=self.id,
            path=str(self.checkout.root),
            branch=self.branch(),
            task_id=self.id,
            status=WorkspaceState.KEPT,
            created_at="",
            git_dir=str(self.checkout.git_dir),
            device=root.device,
            inode=root.inode,
        )


def checkout_ids(project: Project) -> list[TaskId]:
    """Return the checkouts in which turns were kept, by their names in the snapshot store."""
    try:
        return [TaskId(name) for name in listed_ids(project.layout.checkouts_dir)]
    except OSError:
        return []


def journal_of(project: Project, checkout: TaskId) -> Journal:
    """Return the journal of the turns in a checkout."""
    return Journal(project.layout.checkouts_dir / checkout / "turns.jsonl")


def turns_in(journal: Journal) -> list[BesideTurn]:
    """Return the turns in a journal, oldest first. Lines that cannot be read are passed over."""
    found: dict[int, BesideTurn] = {}
    for entry in journal.entries():
        record = entry.record or {}
        number = whole(record.get("number"))
        if record.get("kind") == "begins":
            found[number] = _begun(record)
        elif record.get("kind") == "ends" and number in found:
            found[number] = _ended(found[number], record)
    return list(found.values())


def freeable_turns(
    turns: Iterable[BesideTurn], *, before: datetime, named: Collection[str | None]
) -> dict[str, tuple[str, ...]]:
    """Return the snapshots of old turns that may be freed, each with the numbers of its turns.

    What is named by a younger turn, by one that has not ended, or by something else stays.
    """
    known = list(turns)
    old = {each.number for each in known if each.after and _is_older(each, before)}
    stays = {sha for each in known if each.number not in old for sha in (each.before, each.after)}
    found: dict[str, list[str]] = {}
    for turn in known:
        for sha in {turn.before, turn.after} if turn.number in old else ():
            if sha not in stays and sha not in named:
                found.setdefault(sha, []).append(str(turn.number))
    return {sha: tuple(numbers) for sha, numbers in found.items()}


def _is_older(turn: BesideTurn, before: datetime) -> bool:
    try:
        return datetime.fromisoformat(turn.ended_at or turn.at) < before
    except (ValueError, TypeError):  # TypeError: the time was written without its offset
        return False


def _begun(record: dict[str, object]) -> BesideTurn:
    return BesideTurn(
        number=whole(record.get("number")),
        at=text(record.get("at")),
        agent=text(record.get("agent")),
        session=text(record.get("session")),
        turn=text(record.get("turn")),
        transcript=text(record.get("transcript")),
        prompt=text(record.get("prompt")),
        branch=text(record.get("branch")),
        before=Sha(text(record.get("before"))),
        root=text(record.get("root")),
        later_prompts=words(record.get("later_prompts")),
    )


def _ended(begun: BesideTurn, record: dict[str, object]) -> BesideTurn:
    figures = Figures(*(whole(record.get(name)) for name in Figures._fields))
    return begun._replace(
        after=Sha(text(record.get("after"))),
        ended_at=text(record.get("at")),
        moment=text(record.get("moment")),
        figures=figures,
        later_prompts=words(record.get("later_prompts")) or begun.later_prompts,
    )
