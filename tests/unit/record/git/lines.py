"""A task whose snapshots are made by hand: only commits, of any tree, with any message."""

from siding.ground.git import objects, refs
from siding.ground.git.objects import Commit
from siding.ground.ids import Sha, TaskId
from siding.record.snapshots.store import SnapshotStore

from .world import TASK, World


class Line:
    """The task's part of a store; it began at the commit that is HEAD."""

    def __init__(self, world: World, task_id: TaskId = TASK) -> None:
        self.world, self.task_id = world, task_id
        self.store: SnapshotStore = world.store
        self.base = world.head()
        self.base_tree = self.store.read_commit(self.base).tree
        task = self.store.task(task_id)
        task.path.mkdir(parents=True)
        task.base.write_text(f"{self.base}\n")

    def tree(self, content: str) -> Sha:
        """Store a tree with one file of this content."""
        blob = objects.write_object(self.store.objects, "blob", content.encode(), "sha1")
        body = b"100644 f\0" + bytes.fromhex(blob)
        return objects.write_object(self.store.objects, "tree", body, "sha1")

    def commit(self, message: str, *parents: Sha, tree: Sha | None = None) -> Sha:
        """Store a commit; no ref names it."""
        body = objects.commit_body(Commit(tree or self.base_tree, parents, message), at=1)
        return objects.write_object(self.store.objects, "commit", body, "sha1")

    def snapshot(self, message: str, *beside: Sha, tree: Sha | None = None) -> Sha:
        """Store the task's next snapshot, with these parents beside the one before."""
        before = self.store.tip(self.task_id) or self.base
        sha = self.commit(message, before, *beside, tree=tree)
        refs.write_ref(self.store.root, self.store.task(self.task_id).ref, sha)
        return sha
