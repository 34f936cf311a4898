"""Check that the snapshots of a task are whole."""

from collections.abc import Collection

from siding.ground.git import objects, refs
from siding.ground.git.errors import CommandFailed, SnapshotDamaged, said_by
from siding.ground.ids import Sha, TaskId
from siding.record.snapshots.store import SnapshotStore
from siding.record.snapshots.task_line import read_line


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
    counted = store.git.start(store.place(), counting)
    needed = _needed_now(store, task_id, freed) if freed else _needed(store, task_id, tip, base)
    total = counted.finish()
    if total.returncode:
        raise _not_whole(task_id, total.stderr)
    absent = set(needed) - store.present(needed)
    if absent:
        raise SnapshotDamaged(
            f"{len(absent)} objects of task {task_id!r} are missing from the snapshot store, "
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
