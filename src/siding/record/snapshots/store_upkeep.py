"""Make the store of snapshots, take tasks out of it, join its packs, find and set aside damage."""

import os
from collections.abc import Collection
from pathlib import Path

from siding.ground.errors import counted
from siding.ground.files.durable import flush_dir, make_dirs, replace_by_lock
from siding.ground.git import objects, refs
from siding.ground.git.errors import CommandFailed, SnapshotDamaged, said_by
from siding.ground.ids import Sha, TaskId
from siding.record.snapshots.store import SETTINGS, SnapshotStore, remove_tree
from siding.record.snapshots.task_line import read_line

# Outranks every .gitattributes: bytes are stored as they are on disk. `!diff`, not `-diff`:
# patches are text where the content is.
_ATTRIBUTES = b"* -text !eol -ident !filter !working-tree-encoding !diff !merge\n"
_CONFIG = """\
[core]
\trepositoryformatversion = {version}
\tbare = true
\tfilemode = true
\tsymlinks = true
\tignorecase = false
\tprecomposeunicode = false
\tprotectHFS = false
\tprotectNTFS = false
\tautocrlf = false
\tlogallrefupdates = false
[gc]
\tauto = 0
"""
_OF_THE_LEDGER = ("ledger-head", "next-task")  # files of a task's directory that we only keep


def create_store(store: SnapshotStore) -> None:
    """Make the store if it is not there whole; safe to repeat."""
    if (store.root / "config").is_file():
        return
    repair_store(store)


def repair_store(store: SnapshotStore) -> None:
    """Make whatever a store consists of besides objects and refs; removes nothing."""
    for name in ("objects/pack", "objects/info", "refs/tasks", "info", "tasks"):
        make_dirs(store.root / name)
    replace_by_lock(store.root / "info" / "attributes", _ATTRIBUTES)
    replace_by_lock(store.root / "HEAD", b"ref: refs/heads/none\n")
    sha256 = store.repository.object_format == "sha256"
    config = _CONFIG.format(version=1 if sha256 else 0)
    if sha256:
        config += "[extensions]\n\tobjectformat = sha256\n"
    replace_by_lock(store.root / "config", config.encode("ascii"))  # last: now it is whole


def remove_task(store: SnapshotStore, task_id: TaskId) -> None:
    """Forget a task's snapshots. Their objects go when the store is collected."""
    task = store.task(task_id)
    refs.delete_ref(store.root, task.ref)
    remove_tree(task.path)


def clear_task(store: SnapshotStore, task_id: TaskId) -> None:
    """Forget a task's snapshots, but keep the anchor of its ledger: the ledger stays, too."""
    task = store.task(task_id)
    refs.delete_ref(store.root, task.ref)
    names = os.listdir(task.path) if task.path.is_dir() else []
    for name in names:
        if name in _OF_THE_LEDGER:
            continue
        path = task.path / name
        if path.is_dir() and not path.is_symlink():
            remove_tree(path)
        else:
            path.unlink()


def store_size(store: SnapshotStore) -> int:
    """Return the bytes that the store takes on disk."""
    total = 0
    waiting = [os.fspath(store.root)]
    while waiting:
        with os.scandir(waiting.pop()) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(entry.path)
                else:
                    total += entry.stat(follow_symlinks=False).st_blocks * 512
    return total


def tidy(store: SnapshotStore) -> bool:
    """Join the small packs if many have gathered; returns whether it did."""
    if not store.has_many_packs():
        return False
    _join_packs(store, factor=2)
    return True


def repack(store: SnapshotStore) -> None:
    """Put all objects into one pack."""
    _join_packs(store, factor=1 << 20)


def _join_packs(store: SnapshotStore, factor: int) -> None:
    """Join packs until each is `factor` times as large as all smaller ones; durable.

    Nothing is dropped, whether a ref leads to it or not, so that captures may go on beside
    it. No history is walked: the refs here lead into the user's, which may be long.
    """
    store.git.run(
        store.place(alternates=(), settings=(*SETTINGS, "repack.writeBitmaps=false")),
        ["repack", "-d", f"--geometric={factor}", "-q"],
        doing="joining the packs of the snapshot store",
    )
    flush_dir(store.objects / "pack")


def set_damaged_objects_aside(store: SnapshotStore, aside: Path) -> list[str]:
    """Move packs and objects that are damaged out of the way; return their names.

    git takes what a damaged pack lists for present, and would not store it again.
    """
    moved = []
    for index in sorted((store.objects / "pack").glob("*.idx")):
        pack = index.with_suffix(".pack")
        done = store.git.attempt(store.place(), ["verify-pack", str(index)])
        if done.returncode:
            moved += sorted(pack.parent.glob(f"{index.stem}.*"))
    for path in sorted(store.objects.glob("[0-9a-f][0-9a-f]/*")):
        sha = path.parent.name + path.name
        known = refs.as_sha(sha.encode())
        if known and not objects.is_whole(store.objects, sha, store.repository.object_format):
            moved.append(path)
    for path in moved:
        make_dirs(aside)
        path.rename(aside / f"{path.parent.name}-{path.name}")
    if moved:
        flush_dir(aside)
    return [path.name for path in moved]


def verify_snapshots(
    store: SnapshotStore, task_id: TaskId, *, freed: Collection[str] = (), contents: bool = False
) -> int:
    """Raise SnapshotDamaged unless the task's snapshots are whole, but for those that were freed.

    Every object must be there, and what is not part of the base must be in this store.
    ``contents`` also hashes everything that the store holds. Returns how many snapshots there are.
    """
    tip, base = store.tip(task_id), store.base(task_id)
    if tip is None:
        raise SnapshotDamaged(f"task {task_id!r} has no snapshot")
    counting = ["rev-list", "--count", "--first-parent", tip, "--not", base]
    count = store.git.start(store.place(), counting)
    needed = _needed_now(store, task_id, freed) if freed else _needed(store, task_id, tip, base)
    total = count.finish()
    if total.returncode:
        raise _not_whole(task_id, total.stderr)
    absent = set(needed) - store.present(needed)
    if absent:
        raise SnapshotDamaged(
            f"the snapshot store lacks {counted(len(absent), 'object')} of task {task_id!r}, "
            f"among them {min(absent)}"
        )
    if contents:
        _check_contents(store)
    return int(total.stdout)


def _needed(store: SnapshotStore, task_id: TaskId, tip: Sha, base: Sha) -> list[str]:
    listing = ["rev-list", "--objects", "--no-object-names", tip, "--not", base]
    listed = store.git.attempt(store.place(), listing)
    if listed.returncode:
        raise _not_whole(task_id, listed.stderr)
    return listed.stdout.decode("ascii").split()


def _needed_now(store: SnapshotStore, task_id: TaskId, freed: Collection[str]) -> list[str]:
    """Return what the task needs when these snapshots are freed: all commits, and the other trees.

    The permissions are the message of a commit; its tree is that of any snapshot, and not needed.
    """
    try:
        line = read_line(store, task_id)
    except CommandFailed as error:
        raise _not_whole(task_id, error.stderr) from error
    wanted = "".join(f"{tree}\n" for tree in sorted(line.kept(freed)))
    listed = store.git.attempt(
        store.place(),
        ["rev-list", "--objects", "--no-object-names", "--stdin"],
        stdin=f"{wanted}^{line.base}^{{tree}}\n".encode("ascii"),
    )
    if listed.returncode:
        raise _not_whole(task_id, listed.stderr)
    return [*line.commits, *listed.stdout.decode("ascii").split()]


def _not_whole(task_id: TaskId, stderr: bytes) -> SnapshotDamaged:
    said = "; ".join(said_by(stderr))
    return SnapshotDamaged(f"the snapshots of task {task_id!r} are not whole: {said}")


def _check_contents(store: SnapshotStore) -> None:
    packs = sorted((store.objects / "pack").glob("*.idx"))
    if packs:
        done = store.git.attempt(store.place(), ["verify-pack", *map(str, packs)])
        if done.returncode:
            raise SnapshotDamaged("; ".join(said_by(done.stderr)) or "a pack is damaged")
    for path in sorted(store.objects.glob("[0-9a-f][0-9a-f]/*")):
        sha = path.parent.name + path.name
        if refs.as_sha(sha.encode()) and not objects.is_whole(
            store.objects, sha, store.repository.object_format
        ):
            raise SnapshotDamaged(f"object {sha} is damaged")
