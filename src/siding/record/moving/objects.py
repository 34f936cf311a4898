"""Give the repository objects of our store that it has collected since."""

import os

from siding.ground.git.command import Place
from siding.ground.git.errors import SnapshotDamaged, said_by
from siding.ground.git.packs import give_pack
from siding.ground.git.repository import Repository
from siding.ground.ids import Sha
from siding.record.snapshots.scratch import scratch
from siding.record.snapshots.store import APPLIES, SnapshotStore
from siding.record.worktrees.keeping import missing_objects

_DOING = "giving the repository what it has lost since"


def give_objects(repository: Repository, store: SnapshotStore, wanted: list[Sha]) -> None:
    """Give the repository these objects with all that they need, as far as it lacks any of it.

    Raises SnapshotDamaged if a part of it is nowhere any more. Refs are not changed.
    """
    if not wanted:
        return
    needed = _needed(repository, store, wanted)
    if not missing_objects(repository, needed):
        return
    with scratch(store.root / APPLIES / os.urandom(8).hex()) as directory:
        pack = directory / "given.pack"
        fd = os.open(pack, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        try:
            repository.git.run_to_fd(
                _both(repository, store),
                ["pack-objects", "-q", "--stdout"],
                doing=_DOING,
                stdout=fd,
                stdin=_lines(needed),
            )
        finally:
            os.close(fd)
        give_pack(repository, pack, doing=_DOING)


def _needed(repository: Repository, store: SnapshotStore, wanted: list[Sha]) -> list[Sha]:
    """Return the objects that `wanted` needs and that no ref of the repository leads to."""
    # A partial clone rightly lacks objects that it was promised.
    listing = ["rev-list", "--objects", "--no-object-names", "--missing=allow-promisor"]
    listing += ["--stdin", "--not", "--all"]
    done = repository.git.attempt(_both(repository, store), listing, stdin=_lines(wanted))
    if done.returncode:
        said = "; ".join(said_by(done.stderr)) or "git did not say which"
        raise SnapshotDamaged(
            f"commits of that state are lost: {said}",
            hint="--files goes back with the files alone; nothing was changed",
        )
    return [Sha(sha) for sha in done.stdout.decode("ascii").split()]


def _both(repository: Repository, store: SnapshotStore) -> Place:
    """Return a place in which git reads the repository's objects and the store's."""
    return Place(git_dir=repository.paths.common_dir, alternates=(store.objects,))


def _lines(names: list[Sha]) -> bytes:
    return "".join(f"{name}\n" for name in names).encode("ascii")
