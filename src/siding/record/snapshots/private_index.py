"""A task's own git index: it starts as the last snapshot and is updated to the files on disk.

It is ours, and a cache: when it is torn, or names objects that were never stored, it is made
again from the last snapshot, at the price of reading every file. Objects made on the way go into
a directory of their own (`incoming`), from which a capture puts them into the store.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path

from siding.ground.git import objects
from siding.ground.git.command import Place, output_of
from siding.ground.git.paths import is_under, join, quote_path
from siding.ground.ids import Sha
from siding.record.snapshots.changes import IndexPlan
from siding.record.snapshots.coverage import Skipped
from siding.record.snapshots.directory_scan import unreadable
from siding.record.snapshots.store import SnapshotStore, TaskDirectory, remove_tree
from siding.record.snapshots.task_index import TaskIndex

_PLACEHOLDER = b".siding-placeholder"  # never on disk: makes git look into a nested repository
# What goes into the directory of incoming objects need not be flushed: the pack made of it is.
# The index has to be, once: a torn one might be taken for a whole one.
_FLUSH_NOTHING = ("core.fsync=none", "core.fsyncObjectFiles=false")
_FLUSH_INDEX = ("core.fsync=index", "core.fsyncObjectFiles=false")


class PrivateIndex(TaskIndex):
    """The same index, and what changes it. The caller holds the task's lock."""

    def __init__(
        self, store: SnapshotStore, task: TaskDirectory, root: Path, keep_fds: Sequence[int]
    ) -> None:
        super().__init__(store, task, root)
        self.keep_fds = keep_fds

    def run(self, place: Place, arguments: Sequence[str], doing: str, stdin: bytes = b"") -> bytes:
        """Run a command that writes; raises CommandFailed."""
        return self.git.run(place, arguments, doing=doing, stdin=stdin, keep_fds=self.keep_fds)

    def sweep(self) -> None:
        """Remove the locks of a git that died: we hold the task's lock, and so would it."""
        for name in ("index.lock", "HEAD.lock"):
            (self.task.path / name).unlink(missing_ok=True)

    def discard(self) -> None:
        """Give up what is not stored yet. The index goes too: it may name what is given up."""
        remove_tree(self.task.incoming)
        for name in ("index", "index.lock"):
            (self.task.path / name).unlink(missing_ok=True)

    def start_over(self, tree: Sha, git_dir: Path | None) -> None:
        """Make the index again from a tree, with nothing known of the disk."""
        from siding.record.snapshots.seeding import leave_out_sparse, read_tree

        self.discard()
        read_tree(self.store, self.task, tree, keep_fds=self.keep_fds)
        if self.sparse:
            leave_out_sparse(self.store, self.task, git_dir, keep_fds=self.keep_fds)

    def prepare(self, tree: Sha, git_dir: Path | None) -> None:
        """Make sure that there is an index to compare with."""
        if not self.task.index_file.exists():
            self.start_over(tree, git_dir)
        if self.sparse and self.git.version() < (2, 36):
            from siding.record.snapshots.seeding import include_present

            include_present(self.store, self.task, self.root, keep_fds=self.keep_fds)

    def open_nested(self, paths: Iterable[bytes]) -> None:
        """Put a file that is not there into each: git then takes it for a plain directory.

        It replaces the entry of a submodule.
        """
        empty = objects.object_id("blob", b"", self.store.repository.object_format)
        about = f"100644 {empty}\t".encode()
        lines = [about + path + b"/" + _PLACEHOLDER for path in paths]
        self._edit(lines, "looking into nested repositories")

    def close_if_empty(self, path: bytes, gitlink: str, made: IndexPlan) -> None:
        """A submodule in which there is nothing to record stays what it was."""
        placeholder = path + b"/" + _PLACEHOLDER
        if any(is_under(p, path) and p != placeholder for p in made.update):
            return
        if placeholder in made.update:
            made.update.remove(placeholder)
        zeros = "0" * len(gitlink)
        lines = [f"0 {zeros}\t".encode() + placeholder, f"160000 {gitlink}\t".encode() + path]
        self._edit(lines, "putting a submodule back into the index")

    def drop(self, paths: Sequence[bytes]) -> None:
        """Take paths out, whatever is on disk."""
        zeros = "0" * self.store.repository.hash_size
        lines = [f"0 {zeros}\t".encode() + path for path in paths]
        self._edit(lines, "taking paths out of the index")

    def record(self, paths: Sequence[bytes]) -> list[Skipped]:
        """Store the bytes of these files; returns those for which that is impossible.

        git stops at the first file that it cannot read, and then keeps nothing: such a file is
        searched for by halves. When a file that git stops at can be read, it is not the file.
        """
        self._make_incoming()
        arguments = ["update-index", "--add", "--remove", "--replace", "-z", "--stdin"]
        # Only this store is read besides: a blob that the user's repository has must be written
        # all the same, since it may be pruned there.
        place = self.place(objects=self.task.incoming, alternates=(self.store.objects,))
        place = place._replace(settings=(*place.settings, *_FLUSH_NOTHING))
        stdin = b"".join(path + b"\0" for path in paths)
        done = self.git.attempt(place, arguments, stdin=stdin, keep_fds=self.keep_fds)
        if done.returncode == 0:
            return []
        if len(paths) > 1:
            half = len(paths) // 2
            return self.record(paths[:half]) + self.record(paths[half:])
        reason = unreadable(join(self.root, paths[0]))
        if reason is None:
            output_of(done, doing=f"recording {quote_path(paths[0])}")
            return []
        return [Skipped(path=paths[0], reason=reason)]

    def write_tree(self) -> Sha:
        """Write the index as a tree. What the store or the user's has is not written again."""
        self._make_incoming()
        place = self.place(
            objects=self.task.incoming,
            alternates=(self.store.objects, self.store.repository.objects),
        )
        place = place._replace(settings=(*place.settings, *_FLUSH_INDEX))
        output = self.run(place, ["write-tree", "--missing-ok"], "writing the snapshot's tree")
        return Sha(output.decode("ascii").strip())

    def _make_incoming(self) -> None:
        self.task.incoming.joinpath("pack").mkdir(mode=0o700, parents=True, exist_ok=True)

    def _edit(self, lines: Sequence[bytes], doing: str) -> None:
        stdin = b"\0".join(lines) + b"\0"
        self.run(self.place(), ["update-index", "-z", "--index-info"], doing, stdin)
