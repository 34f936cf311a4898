"""Take a snapshot of a worktree.

One `git status` finds what changed. If nothing did, the last snapshot is used and nothing is
written. Otherwise the changed files go, byte for byte, into a private object directory, and the
tree with them. What the store lacks is copied into it as one pack. Only then the snapshot's commit
and its ref are written, each flushed before the next. So a snapshot with a ref is whole, and an
interrupted one leaves only files that are swept later.
"""

from typing import TYPE_CHECKING

from siding.ground.files.durable import flush_dir
from siding.ground.git import objects, refs
from siding.ground.git.errors import CommandFailed, SnapshotFailed
from siding.ground.git.roots import check_root
from siding.ground.ids import Sha
from siding.ground.namedtuples import NamedTuple
from siding.record.snapshots.coverage import Coverage
from siding.record.snapshots.git_look import GitLook
from siding.record.snapshots.git_state import (
    GitState,
    MovedHeads,
    heads_since,
    keep_commits,
    state_in,
    state_of,
)
from siding.record.snapshots.mode_look import Memory, remember
from siding.record.snapshots.modes import Modes, differ, named_in
from siding.record.snapshots.status_look import CaptureRequest
from siding.record.snapshots.store import SnapshotStore, remove_tree
from siding.record.snapshots.tree_look import TreeLook

if TYPE_CHECKING:
    from siding.record.snapshots.patches import Change


class Capture(NamedTuple):
    """A snapshot, and how it differs from the one before (``parent``).

    ``snapshot == parent`` when no part of the state changed. ``heads`` are the commits of the
    user's repository that this snapshot keeps alive. ``changes`` are the paths whose content
    differs. ``modes`` is None when the permissions could not be recorded. ``ignored`` are all paths
    that git ignores and no snapshot has; of an ignored directory only its own.
    """

    snapshot: Sha
    parent: Sha
    tree: Sha
    changes: "tuple[Change, ...]"
    heads: tuple[Sha, ...]
    coverage: Coverage
    modes: Modes | None
    ignored: tuple[bytes, ...] = ()


def capture(store: SnapshotStore, request: CaptureRequest) -> Capture:
    """Take a snapshot of the worktree's present state. The caller holds the task's lock.

    Raises WorkspaceReplaced if the root is not the recorded directory, and SnapshotFailed if the
    state could not be read or stored. The last snapshot is then still valid.
    """
    check_root(request.root)
    work = CaptureWork(store, request)
    work.index.sweep()
    try:
        return work.capture()
    except CommandFailed as first:
        # The index may be torn (power cut), or name objects that were never stored (a capture
        # that failed half way). It is ours and can be made again, at the price of reading all.
        check_root(request.root)
        try:
            work.start_over()
            return work.capture()
        except CommandFailed as error:
            work.index.discard()
            raise SnapshotFailed(
                f"the workspace could not be recorded: {error.message}",
                hint=_what_to_do(store),
            ) from first
    except OSError:
        work.index.discard()
        raise


def _what_to_do(store: SnapshotStore) -> str:
    from siding.record.snapshots.scratch import has_room

    if has_room(store.root):
        return "the last snapshot still stands"
    return (
        "there is little or no room on its disk, or it cannot be written: make room and run it "
        "again (`siding gc` frees what closed tasks hold); the last snapshot still stands"
    )


def is_in_state(store: SnapshotStore, request: CaptureRequest, state: GitState) -> bool:
    """Return whether HEAD, the task's branch, the index and git's small files are as in `state`.

    The caller holds the task's lock; `state` is that of the last snapshot. Raises SnapshotFailed if
    a part of it cannot be recorded: then nothing could bring it back.
    """
    work = CaptureWork(store, request)
    moved = heads_since(store, request.task_id, request.git_dir, work.last)
    found, lost = work.git_state(moved)
    if lost:
        raise SnapshotFailed(
            "; ".join(lost),
            hint="nothing was changed. `git status` in the workspace says what is wrong with it; "
            "`siding rollback --files --step N` goes back with files alone",
        )
    return found == state


class CaptureWork(TreeLook):
    """The work of one capture."""

    def __init__(self, store: SnapshotStore, request: CaptureRequest) -> None:
        super().__init__(store, request)
        base = store.base(request.task_id)
        self.before = state_of(self.last, base=base, branch=request.branch)
        self.may_have_packed = False  # or stand on packs that somebody left who was killed
        # A snapshot of before, other than the first one, does not say what the phases were.
        self.says_state = state_in(self.last) is not None or "\nKind: " not in self.last.message

    def capture(self) -> Capture:
        """Take the snapshot; raises CommandFailed when a part of it failed."""
        tree, known = self.present()
        moved = heads_since(self.store, self.request.task_id, self.request.git_dir, self.last)
        changes = self._store_new(tree) if tree != self.last.tree else ()
        # After the files: what is staged is as a rule what they hold, and need not be stored twice.
        state, lost = self.git_state(moved)
        check_root(self.request.root)
        done = Capture(
            snapshot=self.tip,
            parent=self.tip,
            tree=tree,
            changes=changes,
            heads=(),
            coverage=self.coverage._replace(notes=self.coverage.notes + lost),
            modes=self.looked.modes if self.looked else None,
            ignored=self.ignored,
        )
        has_changed = self._modes_changed(known)
        is_elsewhere = state is not None and (state != self.before or not self.says_state)
        if tree != self.last.tree or moved.heads or is_elsewhere or has_changed:
            stored = self._store_modes(tree, known, has_changed=has_changed)
            done = self._commit(done, moved, state, stored)
        else:
            stored = named_in(self.last)
        if self.looked is not None:
            remember(self.task.modes, self.looked.kept(done.snapshot, stored), known)
        return done

    def _modes_changed(self, known: Memory | None) -> bool:
        """Tell whether the modes are not those that the last snapshot stands for.

        One that was made before modes were recorded stands for those that were seen at the next
        look; the base of a task is made anew, with them.
        """
        if self.looked is None:
            return False
        if known is not None and known.tip == self.tip:
            before: Modes | None = known.modes
        else:
            from siding.record.snapshots.mode_changes import modes_of

            before = modes_of(self.store, self.tip)
        if named_in(self.last) is None and self.request.kind == "base":
            return True
        return before is not None and differ(before, self.looked.modes)

    def _store_modes(self, tree: Sha, known: Memory | None, *, has_changed: bool) -> Sha | None:
        """Return the commit that holds the modes, made durably where there is none."""
        if self.looked is None:
            return None
        stored = named_in(self.last)
        if stored is not None and not has_changed:
            return stored
        if known is not None and known.stored is not None and known.modes == self.looked.modes:
            return known.stored
        commit = objects.Commit(tree=tree, parents=(), message=self.looked.modes.text())
        return self._write(commit)

    def _write(self, commit: objects.Commit) -> Sha:
        """Store a commit durably, but for the names in the directory of objects."""
        body = objects.commit_body(commit, at=self.request.at)
        object_format = self.store.repository.object_format
        return objects.write_object(self.store.objects, "commit", body, object_format)

    def _store_new(self, tree: Sha) -> "tuple[Change, ...]":
        """Put everything that the last snapshot does not have into the store, durably."""
        expected = self.request.expected
        if expected is not None and (expected.old, expected.tree) == (self.last.tree, tree):
            return tuple(expected.changes)  # all of it is kept: see `ExpectedTree`
        from siding.record.snapshots.patches import parse_raw

        self.may_have_packed = True
        listing = ["diff-tree", "-r", "-t", "--raw", "-z", "--no-renames", "--no-abbrev"]
        raw = self.index.run(
            self.index.place(), [*listing, self.last.tree, tree], "comparing with the last snapshot"
        )
        changes = parse_raw(raw)
        new = {c.new_sha for c in changes if c.new_sha != c.old_sha and c.new_mode != "160000"}
        new = {sha for sha in new if sha.strip("0")} | {tree}
        elsewhere = [s for s in new if not objects.loose_path(self.task.incoming, s).exists()]
        if elsewhere:
            new -= self.store.present(elsewhere)
        if new:
            self.index.run(
                self.index.place(work_tree=None),
                ["pack-objects", "-q", "--window=0", str(self.store.objects / "pack" / "pack")],
                "storing what is new",
                "".join(f"{sha}\n" for sha in sorted(new)).encode("ascii"),
            )
        return tuple(c for c in changes if c.new_mode != "040000" and c.old_mode != "040000")

    def _commit(
        self, done: Capture, moved: MovedHeads, state: GitState | None, modes: Sha | None
    ) -> Capture:
        """Write the snapshot `done` and its name, each flushed before the next."""
        request = self.request
        kept, notes = keep_commits(
            self.store, request.task_id, self.tip, moved, keep_fds=self.request.keep_fds
        )
        message = (
            f"{request.kind} {request.step}\n\nTask: {request.task_id}\nStep: {request.step}\n"
            f"Kind: {request.kind}{moved.trailers()}"
            + (state.trailers() if state else "")
            + (f"\nModes: {modes}" if modes else "")
        )
        # Parents, so that they live as long as the snapshot.
        beside = tuple(each for each in (*request.keep, state and state.details, modes) if each)
        commit = objects.Commit(tree=done.tree, parents=(self.tip, *kept, *beside), message=message)
        is_new_beside = state is not None and state.details not in (None, self.before.details)
        if self.may_have_packed or moved.heads or request.keep or is_new_beside:
            flush_dir(self.store.objects / "pack")
        sha = self._write(commit)
        flush_dir(self.store.objects)
        refs.write_ref(self.store.root, self.task.ref, sha)
        remove_tree(self.task.incoming)
        coverage = done.coverage._replace(notes=done.coverage.notes + notes)
        return done._replace(snapshot=sha, heads=kept, coverage=coverage)

    def git_state(self, moved: MovedHeads) -> tuple[GitState | None, tuple[str, ...]]:
        """Record the part of the state that is not files; return also what could not be."""
        request, store = self.request, self.store
        if request.git_dir is None or not request.git_dir.is_dir():
            return None, ()
        look = GitLook(
            store,
            self.task.path / "git",
            request.git_dir,
            request.root.path,
            of_sandbox=request.of_sandbox,
            keep_fds=request.keep_fds,
        )
        stored = look.store_details(
            moved.head,
            tip=self.tip,
            before=self.before.details,
            documents=request.documents(),
            at=request.at,
        )
        tip = moved.head
        if moved.branch != request.branch:
            from siding.ground.git.repository import Repository

            tip = Repository(store.git, store.repository).branch(request.branch)
        return GitState(moved.head, moved.branch, tip, stored.commit), stored.notes
