"""Find the tree of what is in a worktree now: in the task's own index, and in no store.

The index starts as the last snapshot and is updated to the files on disk. It is ours, and a cache:
when it is torn, or names objects that were never stored, it is made again from the last snapshot,
at the price of reading every file. Objects made on the way go into a directory of their own
(`incoming`), from which a capture puts them into the store.
"""

import stat
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from siding.ground.files.regular import read_small
from siding.ground.git import objects
from siding.ground.git.command import Place, output_of
from siding.ground.git.paths import is_under, join, quote_path
from siding.ground.git.status import EntryKind, StatusEntry
from siding.ground.ids import Sha
from siding.ground.process.capture import Running
from siding.record.snapshots.changes import IndexPlan
from siding.record.snapshots.coverage import LISTED, Coverage, Reason, Skipped
from siding.record.snapshots.directory_scan import Scan, identity, scan_tree
from siding.record.snapshots.mode_look import Looked, Memory, ModeLook
from siding.record.snapshots.modes import Usual, bare_directories
from siding.record.snapshots.status_look import (
    STATUS,
    CaptureRequest,
    StatusLook,
    TaskIndex,
    look_through,
)
from siding.record.snapshots.store import SnapshotStore, TaskDirectory, remove_tree

_PLACEHOLDER = b".siding-placeholder"  # never on disk: makes git look into a nested repository
# What goes into the directory of incoming objects need not be flushed: the pack made of it is.
# The index has to be, once: a torn one might be taken for a whole one.
_FLUSH_NOTHING = ("core.fsync=none", "core.fsyncObjectFiles=false")
_FLUSH_INDEX = ("core.fsync=index", "core.fsyncObjectFiles=false")
_NESTING = 16  # levels of repositories in repositories
_TOO_MANY_BARE = "too many directories without files: none was recorded"


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


def unreadable(path: bytes) -> Reason | None:
    """Return why a file's bytes cannot be had, after reading all of them; None if they can."""
    before = identity(path)
    try:
        if before is not None and stat.S_ISREG(before[3]):
            with open(path, "rb", buffering=0) as file:
                while file.read(1 << 20):
                    pass
        elif before is None or not stat.S_ISLNK(before[3]):
            return Reason.CHANGING
    except OSError:
        return Reason.UNREADABLE
    return None if identity(path) == before else Reason.CHANGING


class TreeLook(StatusLook):
    """A look that brings the index to the files on disk."""

    index: PrivateIndex

    def __init__(
        self, store: SnapshotStore, request: CaptureRequest, *, task: TaskDirectory | None = None
    ) -> None:
        super().__init__(store, request, task=task)
        self.unstable: list[bytes] = []
        self.unlisted: tuple[bytes, ...] = ()  # there, and not in git's answer
        self.coverage = Coverage()  # of the last look
        self.ignored: tuple[bytes, ...] = ()
        self.looked: Looked | None = None

    def open_index(self) -> PrivateIndex:
        return PrivateIndex(self.store, self.task, self.request.root.path, self.request.keep_fds)

    def start_over(self) -> None:
        """Make the index again from the last snapshot."""
        self.index.start_over(self.last.tree, self.request.git_dir)

    def present_tree(self) -> Sha:
        """Return the tree of what is there now; nothing is stored outside this work's directory."""
        return self.present()[0]

    def present(self) -> tuple[Sha, Memory | None]:
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
        tree, expected = self.last.tree, self.request.expected
        is_index_right = not (made.changes_index or made.opening)
        if is_index_right and expected is not None and expected.is_found(tree, entries):
            tree = expected.tree
        elif made.staged or made.changes_index:
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
        from siding.record.snapshots.mode_changes import modes_of

        recorded = modes_of(self.store, self.tip)
        return None if recorded is None else recorded.usual

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
        made = self.plan(entries, gitlinks)
        opened: dict[bytes, str] = {}
        for _ in range(_NESTING):
            if made.opening.keys() <= opened.keys():
                break
            self.index.open_nested(made.opening)
            opened |= made.opening
            left = {path: sha for path, sha in gitlinks.items() if path not in opened}
            made = self.plan(self._look()[0], left)
        for path, gitlink in opened.items():
            if gitlink:
                self.index.close_if_empty(path, gitlink, made)
        return made

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
