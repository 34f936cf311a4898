"""Find the objects that a recorded state names, and give the repository those that it lacks."""

from collections.abc import Iterator

from siding.ground.git.repository import Repository
from siding.ground.ids import Sha
from siding.record.returning.giving import give_objects
from siding.record.returning.plan import GitReturn
from siding.record.snapshots.git_details import commits_named_in
from siding.record.snapshots.git_details_store import commits_among
from siding.record.snapshots.git_look import LARGEST_FILE
from siding.record.snapshots.store import SnapshotStore


def give_what_is_named(repository: Repository, store: SnapshotStore, plan: GitReturn) -> None:
    """Give the repository what HEAD, the task's branch, the index and git's small files need.

    Raises SnapshotDamaged if a part of it is nowhere any more. Refs are not changed.
    """
    give_objects(repository, store, sorted(set(_named(store, plan))))


def _named(store: SnapshotStore, plan: GitReturn) -> Iterator[Sha]:
    """Yield what the repository must have before a ref, the index or a small file names it."""
    for commit in (plan.then.head, plan.tip):
        if commit is not None and commit not in (plan.now.head, plan.now.tip):
            yield commit
    yield from plan.wanted.staged
    for sha in plan.wanted.files.values():
        if sha not in plan.present.files.values():
            words = commits_named_in(store.read_blob(sha, LARGEST_FILE) or b"")
            yield from commits_among(store, words) if words else ()
