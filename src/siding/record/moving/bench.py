"""The bench: a temporary directory in which an apply is prepared, outside the user's repository.

It has a directory of git objects and one of files. All trees, merges and commits that an apply
computes are written there, so a preview leaves nothing in the repository. Only when the apply is
carried out, its objects go into the repository, as one pack that is flushed before any ref names
them.
"""

import os
import zlib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from siding.ground.files.durable import flush_dir, make_dirs
from siding.ground.git import objects
from siding.ground.git.command import Place
from siding.ground.git.errors import GitError
from siding.ground.git.object_reader import Found, ObjectReader
from siding.ground.git.paths import parents
from siding.ground.git.repository import Repository
from siding.ground.ids import Sha
from siding.ground.namedtuples import NamedTuple
from siding.record.snapshots.patches import Change, diff_trees
from siding.record.snapshots.scratch import hold
from siding.record.snapshots.store import SnapshotStore, remove_tree

TREE_MODE = b"40000"
_QUICK = ("core.fsync=none", "core.fsyncObjectFiles=false", "core.looseCompression=1")


class TreeEntry(NamedTuple):
    """One entry of a tree object. `mode` is written as in the tree (``100644``, ``40000``)."""

    mode: bytes
    sha: Sha


Entries = dict[bytes, TreeEntry]


class Bench:
    """The temporary directory `root` of one apply or preview, with git objects and files in it.

    For an apply the caller holds the task's lock. A preview has a directory of its own instead.
    """

    def __init__(
        self,
        repository: Repository,
        store: SnapshotStore,
        root: Path,
        *,
        settings: tuple[str, ...] = (),
    ) -> None:
        self.repository = repository
        self.settings = settings  # of the person; without them git reads the repository's alone
        self.store = store
        self.git = repository.git
        self.root = root
        self.objects = root / "objects"
        self.files = root / "files"
        self.index = root / "index"
        self._hash_bytes = repository.paths.hash_size // 2
        self._held: int | None = None
        self._reader: ObjectReader | None = None
        self._trees: dict[str, Sha] = {}
        self._changes: dict[tuple[str, str], list[Change]] = {}
        self._known: dict[tuple[Sha, bytes], Entries | None] = {}

    def open(self) -> None:
        """Create the bench empty, and hold its directory's lock so that nobody sweeps it away."""
        self.close()
        self.root.mkdir(parents=True, mode=0o700)
        self._held = hold(self.root)
        (self.objects / "pack").mkdir(parents=True, mode=0o700)

    def close(self) -> None:
        """Remove the bench with all in it."""
        if self._reader is not None:
            self._reader.close()
        remove_tree(self.root)
        if self._held is not None:
            os.close(self._held)
            self._held = None

    def place(self, **more: object) -> Place:
        """Return a place in which git reads all objects there are and writes new ones to the
        bench."""
        given = Place(
            git_dir=self.repository.paths.common_dir,
            objects=self.objects,
            alternates=(
                self.repository.paths.objects,
                self.store.objects,
                *self.store.place().alternates[1:],  # of a look at the workspace
            ),
            settings=(*self.settings, *_QUICK, "core.quotePath=true", "diff.renames=true"),
        )
        return given._replace(**more)  # type: ignore[arg-type]

    def put(self, kind: str, body: bytes) -> Sha:
        """Write an object to the bench and return its id. It is not flushed: `keep` does that
        later."""
        sha = objects.object_id(kind, body, self.repository.paths.object_format)
        path = objects.loose_path(self.objects, sha)
        if not path.exists():
            path.parent.mkdir(exist_ok=True)
            data = zlib.compress(f"{kind} {len(body)}\0".encode("ascii") + body, 1)
            temporary = path.with_name(f"tmp_obj_{sha[:12]}")
            temporary.write_bytes(data)
            temporary.rename(path)
        return sha

    def commit(self, tree: Sha, parents_: Sequence[Sha] = ()) -> Sha:
        """Write a commit of a tree to the bench. Only `git merge-tree`, which takes commits, uses
        it."""
        body = objects.commit_body(
            objects.Commit(tree=tree, parents=tuple(parents_), message="siding"), at=0
        )
        return self.put("commit", body)

    def tree_of(self, revision: str) -> Sha:
        """Return the tree of a commit."""
        if revision not in self._trees:
            for place in (self.objects, self.repository.paths.objects, self.store.objects):
                body = objects.read_loose(place, revision, "commit")
                if body is not None:
                    break
            else:
                (body,) = self.read([revision], kind=b"commit")
            self._trees[revision] = objects.parse_commit(body).tree
        return self._trees[revision]

    def read(self, names: Sequence[str], *, kind: bytes) -> list[bytes]:
        """Return the contents of these objects. Raises GitError if one does not exist."""
        output = self._objects([name.encode() for name in names])
        for name, found in zip(names, output, strict=True):
            if found is None or found.kind != kind:
                raise GitError(f"{name!r} is not there as a {kind.decode()}")
        return [found.body for found in output if found is not None]

    def find(self, names: Sequence[str], *, kind: bytes) -> list[bytes | None]:
        """Return the contents of these objects, None for each that does not exist."""
        found = self._objects([name.encode() for name in names])
        return [each.body if each is not None and each.kind == kind else None for each in found]

    def changes_between(self, old: Sha, new: Sha) -> list[Change]:
        """Return every path that differs between two snapshots; the same two are compared once."""
        found = self._changes.get((old, new))
        if found is None:
            found = self._changes[old, new] = diff_trees(self.store, old, new)
        return found

    def read_trees(self, wanted: Iterable[tuple[Sha, bytes]]) -> dict[tuple[Sha, bytes], Entries]:
        """Return the entries of directories, given as (tree, path). A path that is no directory is
        left out."""
        asked = set(wanted)
        self._learn(sorted(asked - self._known.keys()))
        return {key: entries for key in asked if (entries := self._known[key]) is not None}

    def _learn(self, asked: Sequence[tuple[Sha, bytes]]) -> None:
        plain = [each for each in asked if b"\n" not in each[1]]
        names = [tree.encode() + b":" + path for tree, path in plain]
        for key, found in zip(plain, self._objects(names), strict=True):
            if found is not None and found.kind == b"tree":
                self._known[key] = parse_tree(found.body, self._hash_bytes)
            else:
                self._known[key] = None
        for key in asked:  # `cat-file --batch` reads names by line: walk a path with a newline
            if b"\n" in key[1]:
                self._known[key] = self._descend(*key)

    def edit_tree(self, tree: Sha, edits: Mapping[bytes, TreeEntry | None]) -> Sha:
        """Return a copy of `tree` with these entries set, or removed where the entry is None."""
        if not edits:
            return tree
        directories = {b"", *(above for path in edits for above in parents(path))}
        found = self.read_trees((tree, directory) for directory in directories)
        changed: dict[bytes, dict[bytes, TreeEntry | None]] = {d: {} for d in directories}
        for path, entry in edits.items():
            directory, _, name = path.rpartition(b"/")
            changed[directory][name] = entry
        for directory in sorted(directories, key=lambda d: (d.count(b"/"), d), reverse=True):
            if not directory:
                continue
            entries = self._edited(found.get((tree, directory), {}), changed[directory])
            above, _, name = directory.rpartition(b"/")
            if entries:
                sha = self.put("tree", tree_body(entries))
                changed[above][name] = TreeEntry(mode=TREE_MODE, sha=sha)
            else:
                changed[above].setdefault(name, None)
        root = self._edited(found.get((tree, b""), {}), changed[b""])
        return self.put("tree", tree_body(root))

    def _edited(self, entries: Entries, changes: Mapping[bytes, TreeEntry | None]) -> Entries:
        edited = dict(entries)
        for name, entry in changes.items():
            if entry is None:
                edited.pop(name, None)
            else:
                edited[name] = entry
        return edited

    def keep(self, new: Sha, *, without: Sequence[Sha], into: Path | None = None) -> None:
        """Copy all objects of the commit (or tree) `new`, except those of `without`, into the
        user's repository, or into the object directory `into`, durably.

        Objects that only the snapshot store has are copied as well.
        """
        theirs = into or self.repository.paths.objects
        make_dirs(theirs / "pack")
        # git writes the temporary pack into `objects` and renames it: both on one file system.
        place = self.place(
            objects=theirs,
            alternates=(
                self.objects,
                self.store.objects,
                self.repository.paths.objects,
                *self.store.place().alternates[1:],  # of a look at the workspace
            ),
            settings=(*self.settings, "pack.compression=1", "pack.useSparse=true"),
        )
        wanted = [new, *(f"^{sha}" for sha in without)]
        self.git.run(
            place,
            [
                "pack-objects",
                "-q",
                "--revs",
                "--non-empty",
                "--window=0",
                str(theirs / "pack" / "pack"),
            ],
            doing="storing the new commits",
            stdin="".join(f"{line}\n" for line in wanted).encode("ascii"),
        )
        flush_dir(theirs / "pack")

    def _objects(self, names: Sequence[bytes]) -> list[Found | None]:
        if self._reader is None:
            self._reader = ObjectReader(self.git, self.place())
        return self._reader.read(names)

    def _descend(self, tree: Sha, path: bytes) -> Entries | None:
        (body,) = self.read([f"{tree}^{{tree}}"], kind=b"tree")
        for name in path.split(b"/"):
            entry = parse_tree(body, self._hash_bytes).get(name)
            if entry is None or entry.mode != TREE_MODE:
                return None
            (body,) = self.read([entry.sha], kind=b"tree")
        return parse_tree(body, self._hash_bytes)


def parse_tree(body: bytes, hash_bytes: int) -> Entries:
    """Return the entries of a tree object."""
    entries: Entries = {}
    at = 0
    while at < len(body):
        space = body.index(b" ", at)
        nul = body.index(b"\0", space)
        end = nul + 1 + hash_bytes
        sha = Sha(body[nul + 1 : end].hex())
        entries[body[space + 1 : nul]] = TreeEntry(mode=body[at:space], sha=sha)
        at = end
    return entries


def tree_body(entries: Mapping[bytes, TreeEntry]) -> bytes:
    """Return the tree object of these entries. git sorts directories as if a slash followed."""

    def key(name: bytes) -> bytes:
        return name + b"/" if entries[name].mode == TREE_MODE else name

    return b"".join(
        entries[name].mode + b" " + name + b"\0" + bytes.fromhex(entries[name].sha)
        for name in sorted(entries, key=key)
    )
