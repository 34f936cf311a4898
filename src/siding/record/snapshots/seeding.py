"""Create a task's git directory in the snapshot store, with the index for its first capture.

The index is copied from a worktree that git has just checked out, with the time of the copy kept:
then a first capture reads only what changed. That is right only if the bytes on disk are the
blobs' bytes. Where a filter, line endings or an encoding may have changed them, the index is made
from the base's tree instead, so that the first capture reads every file and records those that
differ.

The task's base commit is pinned in the user's repository: one ref per base commit,
`refs/siding/base/<sha>`. It points at a commit of the user's own, so that `git log --all` shows
nothing new by it, and a mirror push carries none of our snapshots.
"""

import os
import re
from collections.abc import Sequence
from pathlib import Path

from siding.ground.files.durable import flush_dir, make_dirs, replace_by_lock, write_and_rename
from siding.ground.files.regular import read_small
from siding.ground.git import objects, refs
from siding.ground.git.command import Git, Place
from siding.ground.git.discovery import RepositoryPaths
from siding.ground.git.errors import UnknownRevision
from siding.ground.git.index_file import read_facts
from siding.ground.git.paths import join
from siding.ground.ids import Sha, TaskId
from siding.ground.namedtuples import NamedTuple
from siding.record.snapshots.store import SnapshotStore, TaskDirectory

# Attributes that change bytes when a file is checked out. `text` alone does not: without
# core.autocrlf or core.eol, which the caller knows of, git writes the blob as it is.
CONVERTING = r"eol|ident|filter|encoding|crlf"
_INDEX_LIMIT = 2 << 30
_PREFIX = "refs/siding/base/"


class Seed(NamedTuple):
    """The values from which a task's part of the snapshot store is created.

    ``fresh_index`` is the index of a worktree that was checked out a moment ago by
    `add_worktree` with no conversion configured; None when there is no such. ``own_git_dir`` is the
    worktree's in the user's repository: its index says which paths a sparse checkout leaves out.
    ``excludes`` are the patterns of the user's that do not lie in the worktree.
    """

    task_id: TaskId
    base: Sha
    worktree: Path
    own_git_dir: Path | None
    fresh_index: Path | None
    excludes: bytes
    at: int
    message: str


def add_task(store: SnapshotStore, seed: Seed, *, keep_fds: Sequence[int] = ()) -> Sha:
    """Make the task's git directory and its first snapshot, which is the base as it is.

    Safe to repeat after a crash; a task that is there already is left alone. Durable.
    """
    task = store.task(seed.task_id)
    if (tip := store.tip(seed.task_id)) is not None:
        return tip
    make_dirs(task.path)
    for name, data in (
        ("commondir", b"../..\n"),
        ("HEAD", f"ref: {task.ref}\n".encode()),
        ("base", f"{seed.base}\n".encode()),
        ("excludes", seed.excludes),
    ):
        write_and_rename(task.path / (name + ".lock"), task.path / name, data)
    tree = _tree_of(store, seed.base)
    make_index(store, task, seed, keep_fds=keep_fds)
    commit = objects.Commit(tree=tree, parents=(seed.base,), message=seed.message)
    body = objects.commit_body(commit, at=seed.at)
    object_format = store.repository.object_format
    tip = objects.write_object(store.objects, "commit", body, object_format)
    flush_dir(store.objects)
    flush_dir(task.path)
    refs.write_ref(store.root, task.ref, tip)
    return tip


def make_index(
    store: SnapshotStore, task: TaskDirectory, seed: Seed, *, keep_fds: Sequence[int]
) -> None:
    """Write the task's index and note how much a sparse checkout leaves out."""
    left_out = 0
    if not _copy_fresh(store, task, seed):
        read_tree(store, task, seed.base, keep_fds=keep_fds)
        left_out = leave_out_sparse(store, task, seed.own_git_dir, keep_fds=keep_fds)
    _note(task.sparse, str(left_out).encode() if left_out else b"")


def read_tree(
    store: SnapshotStore, task: TaskDirectory, tree: Sha, *, keep_fds: Sequence[int]
) -> None:
    """Make the index hold a tree, with no stat data: the next status reads every file."""
    for name in ("index", "index.lock"):
        (task.path / name).unlink(missing_ok=True)
    store.git.run(
        store.place(task, locks=True),
        ["read-tree", tree],
        doing="preparing the index of the task",
        keep_fds=keep_fds,
    )


def leave_out_sparse(
    store: SnapshotStore, task: TaskDirectory, git_dir: Path | None, *, keep_fds: Sequence[int]
) -> int:
    """Mark the paths that a sparse checkout keeps off the disk; returns how many.

    They stay in the snapshots as the base has them: they are neither read nor taken for deleted,
    and nothing that compares two snapshots will ever touch them.
    """
    paths = sparse_paths(store, git_dir)
    if paths:
        store.git.run(
            store.place(task, locks=True),
            ["update-index", "--skip-worktree", "-z", "--stdin"],
            doing="marking what the sparse checkout leaves out",
            stdin=b"".join(path + b"\0" for path in paths),
            keep_fds=keep_fds,
        )
    return len(paths)


def include_present(
    store: SnapshotStore, task: TaskDirectory, root: bytes, *, keep_fds: Sequence[int]
) -> None:
    """Take files into account that are there although a sparse checkout leaves them out.

    git does that by itself from 2.36 on.
    """
    present = [path for path in _skipped(store, task) if os.path.lexists(join(root, path))]
    if present:
        store.git.run(
            store.place(task, locks=True),
            ["update-index", "--no-skip-worktree", "-z", "--stdin"],
            doing="including what the sparse checkout had left out",
            stdin=b"".join(path + b"\0" for path in present),
            keep_fds=keep_fds,
        )


def left_out(store: SnapshotStore, task_id: TaskId) -> list[bytes]:
    """Return the paths that a task's own index says its sparse checkout keeps off the disk."""
    task = store.task(task_id)
    return _skipped(store, task) if read_small(task.sparse, 100) else []


def _skipped(store: SnapshotStore, task: TaskDirectory) -> list[bytes]:
    output = store.git.run(store.place(task), ["ls-files", "-t", "-z"], doing="listing the index")
    return [line[2:] for line in output.split(b"\0") if line.startswith(b"S ")]


def sparse_paths(store: SnapshotStore, git_dir: Path | None) -> list[bytes]:
    """Return the tracked paths that the worktree's own index excuses from being on disk."""
    if git_dir is None or not (git_dir / "info" / "sparse-checkout").is_file():
        return []
    place = Place(git_dir=git_dir, common_dir=store.repository.common_dir)
    output = store.git.run(
        place, ["ls-files", "-t", "-z"], doing="asking what the sparse checkout leaves out"
    )
    return [line[2:] for line in output.split(b"\0") if line.startswith(b"S ")]


def _copy_fresh(store: SnapshotStore, task: TaskDirectory, seed: Seed) -> bool:
    """Copy the fresh index if it can be trusted; returns whether it was."""
    if seed.fresh_index is None:
        return False
    try:
        found = os.stat(seed.fresh_index)
        data = _read(seed.fresh_index)
    except OSError:
        return False
    facts = read_facts(data, store.repository.hash_size // 2)
    if facts is None or not facts.plain:
        return False
    if facts.has_attributes and attributes_match(store, seed.base, CONVERTING):
        return False
    if _user_attributes_convert(store):
        return False
    _note(task.index_file, data)
    # git compares a file's time with the index's to know which files it must read again: a copy
    # with a time of its own would hide an edit made in the second of the checkout.
    os.utime(task.index_file, ns=(found.st_atime_ns, found.st_mtime_ns))
    return True


def attributes_match(store: SnapshotStore, commit: Sha, pattern: str) -> bool:
    """Tell whether a .gitattributes file anywhere in the commit matches the pattern."""
    done = store.git.attempt(
        store.place(),
        ["grep", "-q", "-E", "-e", pattern, commit, "--", ":(glob)**/.gitattributes"],
        env={"GIT_LITERAL_PATHSPECS": "0"},
    )
    return done.returncode != 1  # 0 found, 1 not found; anything else: take the safe way


def attributes_convert(store: SnapshotStore, commit: Sha) -> bool:
    """Tell whether attributes may make a checkout of the commit write other bytes than its blobs'.

    The configuration may do so as well: see `UserSettings.converts`.
    """
    return attributes_match(store, commit, CONVERTING) or _user_attributes_convert(store)


def _user_attributes_convert(store: SnapshotStore) -> bool:
    return re.search(CONVERTING.encode(), _user_attributes(store)) is not None


def _user_attributes(store: SnapshotStore) -> bytes:
    path = store.repository.common_dir / "info" / "attributes"
    if not os.path.lexists(path):
        return b""
    data = read_small(path)
    return b"filter" if data is None else data  # cannot be read: take the safe way


def _tree_of(store: SnapshotStore, commit: Sha) -> Sha:
    """Return the commit's tree; no process when it is a loose object of the user's."""
    body = objects.read_loose(store.repository.objects, commit, "commit")
    object_format = store.repository.object_format
    if body is not None and objects.object_id("commit", body, object_format) == commit:
        return objects.parse_commit(body).tree
    return store.read_commit(commit).tree


def _note(path: Path, data: bytes) -> None:
    write_and_rename(path.with_name(path.name + ".lock"), path, data)


def _read(path: Path) -> bytes:
    data = read_small(path, _INDEX_LIMIT)
    if data is None:
        raise FileNotFoundError(path)
    return data


def pin(git: Git, repository: RepositoryPaths, sha: Sha) -> None:
    """Keep the commit alive, durably; safe to repeat. The caller serialises per repository."""
    name = _PREFIX + sha
    place = Place(git_dir=repository.common_dir)
    if refs.read_ref(repository.common_dir, name) == sha:
        return
    if git.attempt(place, ["cat-file", "-e", sha + "^{commit}"]).returncode:
        raise UnknownRevision(f"the repository has no commit {sha!r}")
    if repository.ref_format != "files":
        git.run(place, ["update-ref", name, sha], doing=f"keeping commit {sha}")
        return
    path = repository.common_dir / name
    make_dirs(path.parent)
    # The name says what the ref holds: two writers write the same, and git packs it as any other.
    replace_by_lock(path, sha.encode("ascii") + b"\n", mode=0o644)
