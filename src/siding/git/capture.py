"""Taking a snapshot of a worktree.

One `git status` tells what changed; when nothing did, the last snapshot stands and nothing is
written. Else the changed files' bytes go, as they are, into a private directory of objects, the
tree is written there too, and what the store lacks is put into it as one pack. Only then are the
snapshot's commit and its ref written, each flushed before the next: a snapshot that has a name is
whole, and one that was cut off leaves nothing but files to sweep up.
"""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from siding.git import durable, objects, patches, refs
from siding.git.changes import Limits, Plan, plan
from siding.git.command import Place, output_of
from siding.git.coverage import LISTED, Coverage, Reason, Skipped
from siding.git.errors import CommandFailed, SnapshotFailed
from siding.git.heads import MovedHeads, heads_since, keep_commits
from siding.git.index_file import read_gitlinks
from siding.git.paths import is_under, join, quote_path
from siding.git.roots import WorktreeRoot, check_root
from siding.git.scan import Scan, identity, scan_tree, unreadable
from siding.git.seeding import include_present, leave_out_sparse, read_tree, sparse_paths
from siding.git.status import ARGUMENTS, Entry, EntryKind, parse
from siding.git.store import SnapshotStore, TaskDirectory, remove_tree
from siding.ids import Sha, TaskId
from siding.process.capture import Running

_STATUS = (*ARGUMENTS, "--ignored=matching", "--ignore-submodules=dirty")
_PLACEHOLDER = b".siding-placeholder"  # never on disk: makes git look into a nested repository
_NESTING = 16
_ATTEMPTS = 3
_WRITING = (
    "core.bigFileThreshold=32m",  # larger files are streamed into a pack, never read whole
    "core.looseCompression=0",  # loose objects live until the pack is made: a moment
    "pack.compression=1",
)
# What goes into the directory of incoming objects need not be flushed: the pack made of it is.
# The index has to be, once: a torn one might be taken for a whole one.
_FLUSH_NOTHING = ("core.fsync=none", "core.fsyncObjectFiles=false")
_FLUSH_INDEX = ("core.fsync=index", "core.fsyncObjectFiles=false")


class Request(NamedTuple):
    """What to capture and how to name it.

    ``git_dir`` is the worktree's git directory in the user's repository: its HEAD and reflog
    tell which commits the agent made. ``at`` is in seconds since 1970. ``keep_fds`` stay open in
    every git process that writes: one of them holds the task's lock, so that a git that outlives
    us keeps it.
    """

    task_id: TaskId
    root: WorktreeRoot
    git_dir: Path | None
    step: str
    kind: str
    at: int
    limits: Limits
    keep_fds: Sequence[int] = ()


class Capture(NamedTuple):
    """A snapshot, and how it differs from the one before (``parent``).

    ``snapshot == parent`` when nothing changed. ``heads`` are the commits of the user's
    repository that this snapshot keeps alive. ``changes`` are the paths whose content differs.
    """

    snapshot: Sha
    parent: Sha
    tree: Sha
    changes: tuple[patches.Change, ...]
    heads: tuple[Sha, ...]
    coverage: Coverage


def capture(store: SnapshotStore, request: Request) -> Capture:
    """Record the worktree's present state; the caller holds the task's lock.

    Raises WorkspaceReplaced when the root is not the recorded directory, and SnapshotFailed when
    the state could not be read or stored; the last snapshot then still stands.
    """
    check_root(request.root)
    work = Work(store, request)
    work.sweep()
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
            work.discard()
            raise SnapshotFailed(
                f"the workspace could not be recorded: {error.message}",
                hint="the last snapshot still stands",
            ) from first
    except OSError:
        work.discard()
        raise


class Work:
    """One capture, or one look without a record, under way.

    `task` stands in for the task's own directory in the store: a look works on a copy of it.
    """

    def __init__(
        self, store: SnapshotStore, request: Request, *, task: TaskDirectory | None = None
    ) -> None:
        self.store = store
        self.git = store.git
        self.request = request
        self.task: TaskDirectory = task or store.task(request.task_id)
        tip = store.tip(request.task_id)
        if tip is None:
            raise SnapshotFailed(
                f"task {request.task_id!r} has no snapshot to start from",
                hint="run `siding doctor`",
            )
        self.tip: Sha = tip
        self.last = store.read_commit(tip)
        self.root = os.fsencode(request.root.path)
        self.sparse = bool(durable.read_small(self.task.sparse, 100))
        self.unstable: list[bytes] = []
        self.coverage = Coverage()  # of the last look

    # What git is told in each part of the work.

    def _place(self, **more: object) -> Place:
        settings = [
            *self.store.place().settings,
            f"core.excludesFile={self.task.excludes}",
            *_WRITING,
        ]
        if self.sparse:
            settings.append("core.sparseCheckout=true")
        alternates = [self.store.repository.objects]
        if self.task.incoming.is_dir():
            alternates.append(self.task.incoming)
        place = self.store.place(
            self.task,
            work_tree=self.request.root.path,
            alternates=tuple(alternates),
            settings=tuple(settings),
            locks=True,
        )
        return place._replace(**more)  # type: ignore[arg-type]

    def _run(self, place: Place, arguments: Sequence[str], doing: str, stdin: bytes = b"") -> bytes:
        return self.git.run(
            place, arguments, doing=doing, stdin=stdin, keep_fds=self.request.keep_fds
        )

    # The states of the task's git directory.

    def sweep(self) -> None:
        """Remove the locks of a git that died: we hold the task's lock, and so would it."""
        for name in ("index.lock", "HEAD.lock"):
            (self.task.path / name).unlink(missing_ok=True)

    def start_over(self) -> None:
        """Make the index again from the last snapshot, with nothing known of the disk."""
        self.discard()
        read_tree(self.store, self.task, self.last.tree, keep_fds=self.request.keep_fds)
        git_dir = self.request.git_dir
        if self.sparse and git_dir is not None:
            leave_out_sparse(self.store, self.task, git_dir, keep_fds=self.request.keep_fds)

    def discard(self) -> None:
        """Give up what is not stored yet. The index goes too: it may name what is given up."""
        remove_tree(self.task.incoming)
        for name in ("index", "index.lock"):
            (self.task.path / name).unlink(missing_ok=True)

    # The capture itself.

    def capture(self) -> Capture:
        if not self.task.index_file.exists():
            self.start_over()
        if self.sparse and self.git.version() < (2, 36):
            include_present(self.store, self.task, self.root, keep_fds=self.request.keep_fds)
        entries, scan = self._look()
        made = self._settle(entries)
        moved = heads_since(self.store, self.request.task_id, self.request.git_dir, self.last)
        tree = self.last.tree
        if made.staged or made.changes_index:
            self._update(made)
            tree = self._write_tree()
        changes = self._store_new(tree) if tree != self.last.tree else ()
        coverage = self._coverage(made, scan)
        check_root(self.request.root)
        if tree == self.last.tree and not moved.heads:
            return Capture(
                snapshot=self.tip,
                parent=self.tip,
                tree=tree,
                changes=(),
                heads=(),
                coverage=coverage,
            )
        return self._commit(tree, changes, moved, coverage)

    def present_tree(self) -> Sha:
        """Return the tree of what is there now; nothing is stored outside this work's directory."""
        if not self.task.index_file.exists():
            self.start_over()
        entries, scan = self._look()
        made = self._settle(entries)
        tree = self.last.tree
        if made.staged or made.changes_index:
            self._update(made)
            tree = self._write_tree()
        self.coverage = self._coverage(made, scan)
        return tree

    def changed_count(self) -> int:
        """Return how many paths are not as the last snapshot has them; nothing is written."""
        done = self.git.attempt(self._place(locks=False), _STATUS)
        if done.returncode:
            raise CommandFailed("looking for changes", done.argv, done.returncode, done.stderr)
        data = durable.read_small(self.task.index_file, 2 << 30) or b""
        gitlinks = read_gitlinks(data, self.store.repository.hash_size // 2)
        made = self._plan(list(parse(done.stdout)), gitlinks)
        return len(made.update) + len(made.drop)

    def _look(self) -> tuple[list[Entry], Scan]:
        """Ask git what changed, and meanwhile look for what git does not show."""
        running = self.git.start(self._place(), _STATUS, keep_fds=self.request.keep_fds)
        wanted = self._start_wanted_ignored()
        scan = scan_tree(self.root, self.task.seen)
        done = running.finish()
        entries = list(parse(output_of(done, doing="looking for changes")))
        if wanted is not None:
            listed = output_of(wanted.finish(), doing="looking for ignored files to record")
            names = listed.split(b"\0")[:-1]
            entries += [Entry(kind=EntryKind.UNTRACKED, path=name) for name in names]
        return entries, scan

    def _start_wanted_ignored(self) -> Running | None:
        """Ask for ignored files that are recorded by configuration and not in the index yet."""
        patterns = self.request.limits.ignored
        if not patterns:
            return None
        listing = ["ls-files", "--others", "--ignored", "--exclude-standard", "-z", "--"]
        if "**" not in patterns:
            listing += [spec for pattern in patterns for spec in _pathspecs(pattern)]
        return self.git.start(self._place(), listing, env={"GIT_LITERAL_PATHSPECS": "0"})

    def _settle(self, entries: list[Entry]) -> Plan:
        """Plan, after making git look into nested repositories as if they were directories."""
        data = durable.read_small(self.task.index_file, 2 << 30) or b""
        gitlinks = read_gitlinks(data, self.store.repository.hash_size // 2)
        made = self._plan(entries, gitlinks)
        opened: dict[bytes, str] = {}
        for _ in range(_NESTING):
            if not made.opening:
                break
            self._open_nested(made.opening)
            opened |= made.opening
            left = {path: sha for path, sha in gitlinks.items() if path not in opened}
            made = self._plan(self._look()[0], left)
        for path, gitlink in opened.items():
            if gitlink:
                self._close_if_empty(path, gitlink, made)
        return made

    def _plan(self, entries: list[Entry], gitlinks: Mapping[bytes, str]) -> Plan:
        limits = self.request.limits
        return plan(self.root, self._without_sparse(entries), gitlinks, limits)

    def _open_nested(self, opening: Mapping[bytes, str]) -> None:
        """Put a file that is not there into each: git then takes it for a plain directory."""
        object_format = self.store.repository.object_format
        empty = objects.object_id("blob", b"", object_format)
        lines = []
        for path, gitlink in opening.items():
            if gitlink:
                lines.append(f"0 {'0' * len(empty)}\t".encode() + path)
            lines.append(f"100644 {empty}\t".encode() + path + b"/" + _PLACEHOLDER)
        self._index_info(lines, "looking into nested repositories")

    def _close_if_empty(self, path: bytes, gitlink: str, made: Plan) -> None:
        """A submodule in which there is nothing to record stays what it was."""
        placeholder = path + b"/" + _PLACEHOLDER
        if any(is_under(p, path) and p != placeholder for p in made.update):
            return
        if placeholder in made.update:
            made.update.remove(placeholder)
        zeros = "0" * len(gitlink)
        lines = [f"0 {zeros}\t".encode() + placeholder, f"160000 {gitlink}\t".encode() + path]
        self._index_info(lines, "putting a submodule back into the index")

    def _without_sparse(self, entries: list[Entry]) -> list[Entry]:
        """Leave out deletions that are only a sparse checkout made narrower."""
        git_dir = self.request.git_dir
        if git_dir is None or not any(entry.unstaged == "D" for entry in entries):
            return entries
        excused = set(sparse_paths(self.store, git_dir))
        return [e for e in entries if e.unstaged != "D" or e.path not in excused]

    def _update(self, made: Plan) -> None:
        """Bring the index to the state on disk; files that cannot be read are skipped."""
        self.task.incoming.joinpath("pack").mkdir(mode=0o700, parents=True, exist_ok=True)
        if made.drop:
            self._drop(made.drop)
        if not made.update:
            return
        before = [identity(join(self.root, path)) for path in made.update]
        lost = self._record(made.update)
        if lost:
            self._drop([skipped.path for skipped in lost])
            made.skipped.extend(lost)
        for path, state in zip(made.update, before, strict=True):
            if identity(join(self.root, path)) != state:
                self.unstable.append(path)

    def _drop(self, paths: list[bytes]) -> None:
        zeros = "0" * self.store.repository.hash_size
        lines = [f"0 {zeros}\t".encode() + path for path in paths]
        self._index_info(lines, "taking paths out of the index")

    def _index_info(self, lines: list[bytes], doing: str) -> None:
        stdin = b"\0".join(lines) + b"\0"
        self._run(self._place(), ["update-index", "-z", "--index-info"], doing, stdin)

    def _record(self, paths: list[bytes]) -> list[Skipped]:
        """Store the bytes of these files; returns those for which that is impossible.

        git stops at the first file that it cannot read, and then keeps nothing: such a file is
        searched for by halves. When a file that git stops at can be read, it is not the file.
        """
        arguments = ["update-index", "--add", "--remove", "--replace", "-z", "--stdin"]
        # Only this store is read besides: a blob that the user's repository has must be written
        # all the same, since it may be pruned there.
        place = self._place(objects=self.task.incoming, alternates=(self.store.objects,))
        place = place._replace(settings=(*place.settings, *_FLUSH_NOTHING))
        stdin = b"".join(path + b"\0" for path in paths)
        done = self.git.attempt(place, arguments, stdin=stdin, keep_fds=self.request.keep_fds)
        if done.returncode == 0:
            return []
        if len(paths) > 1:
            half = len(paths) // 2
            return self._record(paths[:half]) + self._record(paths[half:])
        reason = unreadable(join(self.root, paths[0]))
        if reason is None:
            output_of(done, doing=f"recording {quote_path(paths[0])}")
            return []
        return [Skipped(path=paths[0], reason=reason)]

    def _write_tree(self) -> Sha:
        self.task.incoming.joinpath("pack").mkdir(mode=0o700, parents=True, exist_ok=True)
        place = self._place(
            objects=self.task.incoming,
            alternates=(self.store.objects, self.store.repository.objects),
        )
        place = place._replace(settings=(*place.settings, *_FLUSH_INDEX))
        output = self._run(place, ["write-tree", "--missing-ok"], "writing the snapshot's tree")
        return Sha(output.decode("ascii").strip())

    def _store_new(self, tree: Sha) -> tuple[patches.Change, ...]:
        """Put everything that the last snapshot does not have into the store, durably."""
        listing = ["diff-tree", "-r", "-t", "--raw", "-z", "--no-renames", "--no-abbrev"]
        raw = self._run(
            self._place(), [*listing, self.last.tree, tree], "comparing with the last snapshot"
        )
        changes = patches.parse_raw(raw)
        new = {c.new_sha for c in changes if c.new_sha != c.old_sha and c.new_mode != "160000"}
        new = {sha for sha in new if sha.strip("0")} | {tree}
        elsewhere = [s for s in new if not objects.loose_path(self.task.incoming, s).exists()]
        if elsewhere:
            new -= self.store.present(elsewhere)
        if new:
            self._run(
                self._place(work_tree=None),
                ["pack-objects", "-q", "--window=0", str(self.store.objects / "pack" / "pack")],
                "storing what is new",
                "".join(f"{sha}\n" for sha in sorted(new)).encode("ascii"),
            )
        return tuple(c for c in changes if c.new_mode != "040000" and c.old_mode != "040000")

    def _commit(
        self,
        tree: Sha,
        changes: tuple[patches.Change, ...],
        moved: MovedHeads,
        coverage: Coverage,
    ) -> Capture:
        request = self.request
        kept, notes = keep_commits(
            self.store, request.task_id, self.tip, moved, keep_fds=self.request.keep_fds
        )
        message = (
            f"{request.kind} {request.step}\n\nTask: {request.task_id}\nStep: {request.step}\n"
            f"Kind: {request.kind}{moved.trailers()}"
        )
        commit = objects.Commit(tree=tree, parents=(self.tip, *kept), message=message)
        durable.sync_directory(self.store.objects / "pack")
        body = objects.commit_body(commit, at=request.at)
        object_format = self.store.repository.object_format
        sha = objects.write_object(self.store.objects, "commit", body, object_format)
        durable.sync_directory(self.store.objects)
        refs.write_ref(self.store.root, self.task.ref, sha)
        remove_tree(self.task.incoming)
        return Capture(
            snapshot=sha,
            parent=self.tip,
            tree=tree,
            changes=changes,
            heads=kept,
            coverage=coverage._replace(notes=coverage.notes + notes),
        )

    def _coverage(self, made: Plan, scan: Scan) -> Coverage:
        recorded = set(made.update)
        everything = "**" in self.request.limits.ignored
        ignored = [] if everything else sorted(p for p in made.ignored if p not in recorded)
        seen = scan.outside(ignored)
        skipped = [*made.skipped]
        skipped += [Skipped(path=p, reason=Reason.UNREADABLE) for p in seen.unreadable]
        return Coverage(
            skipped=tuple(sorted(skipped)),
            nested=tuple(seen.nested),
            special=tuple(seen.special[:LISTED]),
            special_count=len(seen.special),
            empty_dirs=tuple(seen.empty[:LISTED]),
            empty_dir_count=len(seen.empty),
            ignored=tuple(ignored[:LISTED]),
            ignored_count=len(ignored),
            unstable=tuple(self.unstable),
            sparse=int(durable.read_small(self.task.sparse, 100) or 0),
        )


def _pathspecs(pattern: str) -> list[str]:
    """Return a pattern of .gitignore's kind as pathspecs: the path itself, and all below it."""
    anchored = pattern.strip("/")
    if "/" not in pattern.rstrip("/"):
        anchored = "**/" + anchored
    return [f":(glob){anchored}", f":(glob){anchored}/**"]
