"""Take a snapshot of a worktree.

One `git status` finds what changed. If nothing did, the last snapshot is used and nothing is
written. Otherwise the changed files go, byte for byte, into a private object directory, and the
tree with them. What the store lacks is copied into it as one pack. Only then the snapshot's commit
and its ref are written, each flushed before the next. So a snapshot with a ref is whole, and an
interrupted one leaves only files that are swept later.
"""

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from siding.ground.files.durable import flush_dir
from siding.ground.files.regular import read_small
from siding.ground.git import objects, refs
from siding.ground.git.command import output_of
from siding.ground.git.errors import CommandFailed, SnapshotDamaged, SnapshotFailed
from siding.ground.git.paths import join
from siding.ground.git.repository import Repository
from siding.ground.git.roots import WorktreeRoot, check_root
from siding.ground.git.status import ARGUMENTS, EntryKind, StatusEntry
from siding.ground.ids import Sha, TaskId
from siding.ground.namedtuples import NamedTuple
from siding.ground.process.capture import Running
from siding.record.snapshots import patches
from siding.record.snapshots.bare import bare_directories
from siding.record.snapshots.changes import CaptureLimits, IndexPlan, plan
from siding.record.snapshots.coverage import LISTED, Coverage, Reason, Skipped
from siding.record.snapshots.directory_scan import Scan, identity, scan_tree
from siding.record.snapshots.git_look import GitLook
from siding.record.snapshots.git_state import GitState, state_in, state_of
from siding.record.snapshots.heads import MovedHeads, heads_since, keep_commits
from siding.record.snapshots.look_again import look_through
from siding.record.snapshots.mode_look import Looked, Memory, ModeLook, remember
from siding.record.snapshots.modes import Modes, Usual, differ, modes_of, named_in
from siding.record.snapshots.private_index import PrivateIndex
from siding.record.snapshots.room import has_room
from siding.record.snapshots.seeding import sparse_paths
from siding.record.snapshots.store import SnapshotStore, TaskDirectory, remove_tree

STATUS = (*ARGUMENTS, "--ignored=matching", "--ignore-submodules=dirty")
_NESTING = 16  # levels of repositories in repositories
_TOO_MANY_BARE = "too many directories without files: none was recorded"


class CaptureRequest(NamedTuple):
    """What to capture and how to name it.

    ``git_dir`` is the worktree's git directory in the user's repository: its HEAD and reflog
    tell which commits the agent made. ``branch`` is the task's. ``at`` is in seconds since 1970.
    ``documents`` returns the task's documents that go with its state, by their names. ``keep_fds``
    stay open in every git process that writes: one of them holds the task's lock, so that a git
    that outlives us keeps it. ``keep`` are commits of the store that live as long as the snapshot.
    ``of_sandbox`` is the git directory of a sandboxed run that lives in the worktree.
    """

    task_id: TaskId
    root: WorktreeRoot
    git_dir: Path | None
    branch: str
    step: str
    kind: str
    at: int
    limits: CaptureLimits
    documents: Callable[[], Mapping[str, bytes]] = dict
    keep_fds: Sequence[int] = ()
    keep: Sequence[Sha] = ()
    of_sandbox: Path | None = None


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
    changes: tuple[patches.Change, ...]
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
    if has_room(store.root):
        return "the last snapshot still stands"
    return (
        "there is little or no room on its disk, or it cannot be written: make room and run it "
        "again (`siding gc` frees what closed tasks hold); the last snapshot still stands"
    )


def changed_count(store: SnapshotStore, request: CaptureRequest) -> int:
    """Return how many paths differ from the last snapshot; one git process, nothing written."""
    check_root(request.root)
    return CaptureWork(store, request).changed_count()


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
            "`siding rollback --files` goes back with files alone",
        )
    return found == state


class CaptureWork:
    """The work of one capture, or of one look that records nothing.

    A look passes `task`, a copy of the task's directory in the store, to leave that one unchanged.
    """

    def __init__(
        self, store: SnapshotStore, request: CaptureRequest, *, task: TaskDirectory | None = None
    ) -> None:
        self.store = store
        self.git = store.git
        self.request = request
        self.task: TaskDirectory = task or store.task(request.task_id)
        tip = store.tip(request.task_id)
        if tip is None:
            raise SnapshotDamaged(
                f"the snapshots of task {request.task_id!r} are missing",
                hint="`siding doctor` begins them anew and says what cannot be gone back to",
            )
        self.tip: Sha = tip
        self.last = store.read_commit(tip)
        base = store.base(request.task_id)
        self.before = state_of(self.last, base=base, branch=request.branch)
        # A snapshot of before, other than the first one, does not say what the phases were.
        self.says_state = state_in(self.last) is not None or "\nKind: " not in self.last.message
        self.root = os.fsencode(request.root.path)
        self.index = PrivateIndex(store, self.task, request.root.path, request.keep_fds)
        self.unstable: list[bytes] = []
        self.unlisted: tuple[bytes, ...] = ()  # there, and not in git's answer
        self.coverage = Coverage()  # of the last look
        self.ignored: tuple[bytes, ...] = ()
        self.looked: Looked | None = None

    def start_over(self) -> None:
        """Make the index again from the last snapshot."""
        self.index.start_over(self.last.tree, self.request.git_dir)

    def capture(self) -> Capture:
        """Take the snapshot; raises CommandFailed when a part of it failed."""
        tree, known = self._present()
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

    def present_tree(self) -> Sha:
        """Return the tree of what is there now; nothing is stored outside this work's directory."""
        return self._present()[0]

    def _present(self) -> tuple[Sha, Memory | None]:
        """Update the index to the files on disk; return its tree, and the modes known before.

        Sets `coverage`, `ignored` and `looked`.
        """
        self.unstable.clear()
        self.index.renew_excludes()
        self.index.prepare(self.last.tree, self.request.git_dir)
        hash_bytes = self.store.repository.hash_size // 2
        look = ModeLook(self.task, self.root, hash_bytes)
        entries, scan, gitlinks = self._look()
        made = self._settle(entries, gitlinks)
        look.git_has_looked()
        tree = self.last.tree
        if made.staged or made.changes_index:
            self._update(made)
            tree = self.index.write_tree()
        ignored = self._ignored(made)
        seen = scan.outside(ignored)
        dropped = [*made.drop, *(skipped.path for skipped in made.skipped)]
        usual = self._usual(look.known)
        bare = bare_directories(
            (path for path in seen.empty if path not in gitlinks),
            unrecorded=[*ignored, *seen.special],
            unknown=[*seen.unreadable, *self.unlisted, *(skipped.path for skipped in made.skipped)],
            directories=scan.modes,
        )
        self.looked = look.finish(
            seen, updated=made.update, dropped=dropped, usual=usual, bare=bare
        )
        self.coverage = self._coverage(made, seen, ignored)
        self.ignored = tuple(ignored)
        return tree, look.known

    def _usual(self, known: Memory | None) -> Usual | None:
        """Return the usual modes that the last snapshot names: they are kept for all later ones."""
        if known is not None and known.tip == self.tip:
            return known.modes.usual
        recorded = modes_of(self.store, self.tip)
        return None if recorded is None else recorded.usual

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

    def changed_count(self) -> int:
        """Return how many paths are not as the last snapshot has them; nothing else is written."""
        with suppress(OSError):  # where nothing can be written, as the patterns were
            self.index.renew_excludes()
        place = self.index.place(locks=False)
        running = self.git.start(place, STATUS)
        scan = scan_tree(self.root, self.task.seen, keeps=False)
        look = look_through(self.index, place, STATUS, running.finish(), scan)
        made = self._plan(look.entries, look.gitlinks)
        return len(made.update) + len(made.drop) + len(look.unlisted)

    def _look(self) -> tuple[list[StatusEntry], Scan, Mapping[bytes, str]]:
        """Ask git what changed, and meanwhile look for what git does not show.

        Return also the index entries that stand for submodules. Sets `unlisted`.
        """
        place = self.index.place()
        running = self.git.start(place, STATUS, keep_fds=self.request.keep_fds)
        wanted = self._start_wanted_ignored()
        scan = scan_tree(self.root, self.task.seen)
        look = look_through(self.index, place, STATUS, running.finish(), scan)
        self.unlisted = look.unlisted
        if self.unlisted:
            self.task.seen.unlink(missing_ok=True)  # so that the next look asks for them, too
        entries = look.entries
        if wanted is not None:
            listed = output_of(wanted.finish(), doing="looking for ignored files to record")
            names = listed.split(b"\0")[:-1]
            entries += [StatusEntry(kind=EntryKind.UNTRACKED, path=name) for name in names]
        return entries, scan, look.gitlinks

    def _start_wanted_ignored(self) -> Running | None:
        """Ask for ignored files that are recorded by configuration and not in the index yet."""
        patterns = self.request.limits.ignored
        if not patterns:
            return None
        listing = ["ls-files", "--others", "--ignored", "--exclude-standard", "-z", "--"]
        if "**" not in patterns:
            listing += [spec for pattern in patterns for spec in _pathspecs(pattern)]
        return self.git.start(self.index.place(), listing, env={"GIT_LITERAL_PATHSPECS": "0"})

    def _settle(self, entries: list[StatusEntry], gitlinks: Mapping[bytes, str]) -> IndexPlan:
        """Plan, after making git look into nested repositories as if they were directories."""
        made = self._plan(entries, gitlinks)
        opened: dict[bytes, str] = {}
        for _ in range(_NESTING):
            if made.opening.keys() <= opened.keys():
                break
            self.index.open_nested(made.opening)
            opened |= made.opening
            left = {path: sha for path, sha in gitlinks.items() if path not in opened}
            made = self._plan(self._look()[0], left)
        for path, gitlink in opened.items():
            if gitlink:
                self.index.close_if_empty(path, gitlink, made)
        return made

    def _plan(self, entries: list[StatusEntry], gitlinks: Mapping[bytes, str]) -> IndexPlan:
        limits = self.request.limits
        return plan(self.root, self._without_sparse(entries), gitlinks, limits)

    def _without_sparse(self, entries: list[StatusEntry]) -> list[StatusEntry]:
        """Leave out deletions that are only a sparse checkout made narrower."""
        git_dir = self.request.git_dir
        if git_dir is None or not any(entry.unstaged == "D" for entry in entries):
            return entries
        excused = set(sparse_paths(self.store, git_dir))
        return [e for e in entries if e.unstaged != "D" or e.path not in excused]

    def _update(self, made: IndexPlan) -> None:
        """Bring the index to the state on disk; files that cannot be read are skipped."""
        if made.drop:
            self.index.drop(made.drop)
        if not made.update:
            return
        before = [identity(join(self.root, path)) for path in made.update]
        lost = self.index.record(made.update)
        if lost:
            self.index.drop([skipped.path for skipped in lost])
            made.skipped.extend(lost)
        for path, state in zip(made.update, before, strict=True):
            if identity(join(self.root, path)) != state:
                self.unstable.append(path)

    def _store_new(self, tree: Sha) -> tuple[patches.Change, ...]:
        """Put everything that the last snapshot does not have into the store, durably."""
        listing = ["diff-tree", "-r", "-t", "--raw", "-z", "--no-renames", "--no-abbrev"]
        raw = self.index.run(
            self.index.place(), [*listing, self.last.tree, tree], "comparing with the last snapshot"
        )
        changes = patches.parse_raw(raw)
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
            tip = Repository(store.git, store.repository).branch(request.branch)
        return GitState(moved.head, moved.branch, tip, stored.commit), stored.notes

    def _ignored(self, made: IndexPlan) -> list[bytes]:
        """Return what is ignored and is not recorded."""
        if "**" in self.request.limits.ignored:
            return []
        recorded = set(made.update)
        return sorted(path for path in made.ignored if path not in recorded)

    def _coverage(self, made: IndexPlan, seen: Scan, ignored: Sequence[bytes]) -> Coverage:
        skipped = [*made.skipped]
        unread = (*seen.unreadable, *self.unlisted)
        skipped += [Skipped(path=p, reason=Reason.UNREADABLE) for p in unread]
        foreign: list[bytes] = []
        linked: list[bytes] = []
        notes: tuple[str, ...] = ("the permissions could not be recorded",)
        if self.looked is not None:
            unusual = self.looked.modes.directories
            foreign = sorted([*self.looked.foreign, *(p for p in seen.foreign if p in unusual)])
            linked = sorted(self.looked.linked)
            notes = () if self.looked.modes.bare is not None else (_TOO_MANY_BARE,)
        return Coverage(
            skipped=tuple(sorted(skipped, key=lambda each: each.path)),
            nested=tuple(seen.nested),
            special=tuple(seen.special[:LISTED]),
            special_count=len(seen.special),
            empty_dirs=tuple(seen.empty[:LISTED]),
            empty_dir_count=len(seen.empty),
            ignored=tuple(ignored[:LISTED]),
            ignored_count=len(ignored),
            unstable=tuple(self.unstable),
            foreign=tuple(foreign[:LISTED]),
            foreign_count=len(foreign),
            linked=tuple(linked[:LISTED]),
            linked_count=len(linked),
            sparse=int(read_small(self.task.sparse, 100) or 0),
            notes=notes,
        )


def _pathspecs(pattern: str) -> list[str]:
    """Return a pattern of .gitignore's kind as pathspecs: the path itself, and all below it."""
    anchored = pattern.strip("/")
    if "/" not in pattern.rstrip("/"):
        anchored = "**/" + anchored
    return [f":(glob){anchored}", f":(glob){anchored}/**"]
