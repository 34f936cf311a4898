"""Take objects out of the store that only freed snapshots need.

Snapshots are commits, and those stay: the ledger and later snapshots name them. What goes are
trees and files. The objects that stay are written as one new pack, flushed and read back. Then the
caller writes down what is freed, then the pack gets its place, and only then everything else is
deleted. Killed at any moment, the store has all objects, or at least those that stay.
"""

import os
from collections.abc import Callable, Collection, Iterable
from collections.abc import Set as AbstractSet
from pathlib import Path

from siding.ground.errors import counted
from siding.ground.files.durable import flush_dir, flush_file, make_dirs
from siding.ground.git import refs
from siding.ground.git.errors import SnapshotDamaged, said_by
from siding.record.snapshots.store import SnapshotStore, remove_tree
from siding.record.snapshots.task_line import StoreElsewhere

THINNING = "thinning"  # the directory of the store in which the new pack is written


def unneeded(store: SnapshotStore, freed: Iterable[str], kept: Iterable[str]) -> dict[str, int]:
    """Return the objects of the store that only the trees `freed` lead to, and not `kept`.

    Each has its size on disk. `kept` may name blobs, too; what is not there is passed over.
    """
    freed, kept = list(freed), list(kept)
    if not freed:
        return {}
    there = store.present([*freed, *kept], with_base=True)
    asked = [sha for sha in freed if sha in there] + [f"^{sha}" for sha in kept if sha in there]
    # What an earlier freeing that was cut off has deleted already is missing.
    listing = ["rev-list", "--objects", "--no-object-names", "--missing=allow-any", "--stdin"]
    output = store.git.run(
        store.place(),
        listing,
        doing="looking for what only freed snapshots need",
        stdin="".join(f"{each}\n" for each in asked).encode("ascii"),
    )
    return sizes(store, output.decode("ascii").split())


def sizes(store: SnapshotStore, shas: Collection[str]) -> dict[str, int]:
    """Return the bytes on disk of those objects that this store itself holds."""
    output = store.git.run(
        store.place(alternates=()),
        ["cat-file", "--batch-check=%(objectname) %(objectsize:disk)"],
        doing="measuring objects of the snapshot store",
        stdin="".join(f"{sha}\n" for sha in shas).encode("ascii"),
    )
    words = (line.split(" ") for line in output.decode("ascii").splitlines())
    return {sha: int(size) for sha, size in words if size != "missing"}


def drop(
    store: SnapshotStore,
    dropped: AbstractSet[str],
    *,
    check: Callable[[SnapshotStore], None],
    record: Callable[[], None],
) -> None:
    """Delete these objects. Nothing else may write into the store meanwhile.

    `check` gets the store as it will be, and raises if something is missing there. `record` writes
    down what is freed, durably. If either raises, the store is as it was.
    """
    place = store.root / THINNING
    remove_tree(place)  # of a command that was killed
    before = _packs(store)
    there = _all_objects(store)
    stays = there - dropped
    made = place / "objects"
    make_dirs(made / "pack")
    try:
        pack = _write_pack(store, made, stays)
        _read_back(store, pack, stays)
        check(StoreElsewhere(store, made))
        record()
        _install(store, pack)
    except BaseException:
        remove_tree(place)
        raise
    _delete(store, [each for each in before if each != pack.name], there)
    remove_tree(place)


def sweep(store: SnapshotStore) -> None:
    """Remove what a command that was killed left. Nothing else may write into the store meanwhile.

    A pack whose index is gone was about to be deleted; git does not see it.
    """
    remove_tree(store.root / THINNING)
    where = store.objects / "pack"
    for name in _packs(store):
        if not (where / f"{name}.idx").exists():
            for path in where.glob(f"{name}.*"):
                path.unlink(missing_ok=True)


def _all_objects(store: SnapshotStore) -> set[str]:
    output = store.git.run(
        store.place(alternates=()),
        ["cat-file", "--batch-all-objects", "--unordered", "--batch-check=%(objectname)"],
        doing="listing the objects of the snapshot store",
    )
    return set(output.decode("ascii").split())


def _packs(store: SnapshotStore) -> list[str]:
    """Return the names of the packs, and of halves of packs, without their suffixes."""
    names = os.listdir(store.objects / "pack")
    return sorted({name.partition(".")[0] for name in names if name.startswith("pack-")})


def _write_pack(store: SnapshotStore, made: Path, stays: AbstractSet[str]) -> Path:
    """Write a pack with these objects, durably; return its path without the suffix."""
    output = store.git.run(
        # git writes its temporary files where new objects go: in the directory that is swept.
        store.place(objects=made, alternates=(store.objects,)),
        ["pack-objects", "-q", str(made / "pack" / "pack")],
        doing="writing the pack of what stays",
        stdin="".join(f"{sha}\n" for sha in sorted(stays)).encode("ascii"),
    )
    pack = made / "pack" / f"pack-{output.decode('ascii').strip()}"
    for path in pack.parent.iterdir():
        flush_file(path)
    flush_dir(pack.parent)
    return pack


def _read_back(store: SnapshotStore, pack: Path, stays: AbstractSet[str]) -> None:
    """Raise SnapshotDamaged if the pack has not exactly these objects, each with its content."""
    index = f"{pack}.idx"
    done = store.git.attempt(store.place(alternates=()), ["verify-pack", index])
    if done.returncode:
        raise SnapshotDamaged("; ".join(said_by(done.stderr)) or "the new pack is damaged")
    with open(index, "rb") as file:
        listed = store.git.run(
            store.place(alternates=()), ["show-index"], doing="reading it", stdin=file.read()
        )
    held = {line.split(" ")[1] for line in listed.decode("ascii").splitlines()}
    if held != stays:
        raise SnapshotDamaged(f"the new pack lacks {counted(len(set(stays) - held), 'object')}")


def _install(store: SnapshotStore, pack: Path) -> None:
    """Give the pack its place; its index comes last, since git knows a pack by that."""
    target = store.objects / "pack"
    suffixes = sorted(path.suffix for path in pack.parent.glob(f"{pack.name}.*"))
    for suffix in sorted(suffixes, key=lambda each: each == ".idx"):
        pack.with_name(pack.name + suffix).rename(target / f"{pack.name}{suffix}")
    flush_dir(target)
    flush_dir(pack.parent)  # the other half of the move


def _delete(store: SnapshotStore, packs: Collection[str], known: AbstractSet[str]) -> None:
    """Delete packs, and loose objects among `known`, which are in the new pack or dropped.

    The indexes go first, durably: an index without its pack would count as damage.
    """
    where = store.objects / "pack"
    names = [name for name in os.listdir(where) if name.partition(".")[0] in packs]
    # One that somebody made by hand names packs that are about to go.
    names += [name for name in os.listdir(where) if name.startswith("multi-pack-index")]
    indexes = [name for name in names if name.endswith(".idx") or "index" in name]
    for group in (indexes, [name for name in names if name not in indexes]):
        for name in group:
            (where / name).unlink(missing_ok=True)
        flush_dir(where)
    for path in sorted(store.objects.glob("[0-9a-f][0-9a-f]/*")):
        sha = refs.as_sha((path.parent.name + path.name).encode())
        if sha in known:
            path.unlink(missing_ok=True)


__all__ = ["THINNING", "drop", "sizes", "sweep", "unneeded"]
