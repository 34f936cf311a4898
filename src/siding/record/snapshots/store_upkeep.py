"""Make the store of snapshots, take tasks out of it, join its packs, set aside what is damaged."""

import os
from pathlib import Path

from siding.ground.files.durable import flush_dir, make_dirs, replace_by_lock
from siding.ground.git import objects, refs
from siding.ground.ids import TaskId
from siding.record.snapshots.store import SETTINGS, SnapshotStore, remove_tree

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
