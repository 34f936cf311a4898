"""Take from a quarantine the objects that a commit, an index or a log needs, and no others.

The run wrote what is in the quarantine, so it is not trusted. Plain files named like objects are
moved to a directory that the run never saw, and git reads them there. An object goes into the
repository only if a tip needs it and everything that the tip needs is there. So junk beside good
commits does no harm, and nothing can make the repository's ``git fsck`` or ``git gc`` fail.
"""

import os
import re
import shutil
from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from pathlib import Path

from siding.ground.git.command import Place
from siding.ground.git.errors import CommandFailed
from siding.ground.git.repository import Repository, give_pack
from siding.ground.namedtuples import NamedTuple

_FAN = re.compile(r"[0-9a-f]{2}")
_LOOSE = re.compile(r"[0-9a-f]{38}(?:[0-9a-f]{24})?")
_PACK = re.compile(r"pack-[0-9a-f]{40,64}\.pack")
_MOST_TRIED = 200  # groups that are tried one by one when all of them together do not work
_DOING = "reading objects of the sandbox"


class Gathered(NamedTuple):
    """Objects moved out of a quarantine: `store` is their directory, None if there are none.

    `junk` has a sentence for each pack that cannot be read.
    """

    store: Path | None
    junk: tuple[str, ...]


def gather(repository: Repository, root: Path, *, keep: bool = False) -> Gathered:
    """Move files named like objects out of the quarantine in `root`. Safe to repeat.

    With `keep` they stay where they are as well, for a git that lives there. Such a file could
    still be written to; what is given to the repository is read once, and checked afterwards.
    """
    store = root / "taken"
    _move_objects(root / "objects", store, keep=keep)
    if not store.is_dir():
        return Gathered(store=None, junk=())
    for pack in sorted((store / "pack").glob("*.pack")):
        if not pack.with_suffix(".idx").exists() and not _indexed(repository, pack):
            pack.rename(pack.with_suffix(".junk"))
    junk = sorted((store / "pack").glob("*.junk"))
    return Gathered(store=store, junk=tuple(f"{each.stem}.pack is no whole pack" for each in junk))


def give_reachable(
    repository: Repository, gathered: Gathered, groups: Sequence[Collection[str]]
) -> frozenset[str]:
    """Give the repository everything these commits and blobs need; return those that are whole.

    An object is whole if the repository has it and everything it refers to. A group is taken as a
    whole or not at all. If all groups together fail, they are tried one by one in order.
    """
    wanted = [group for group in groups if group]
    everything = sorted({name for group in wanted for name in group})
    if not everything:
        return frozenset()
    if gathered.store is not None and not _given(repository, gathered.store, everything):
        for group in wanted[:_MOST_TRIED]:
            _given(repository, gathered.store, sorted(group))
    if are_whole(repository, everything):
        return frozenset(everything)
    whole = [group for group in wanted[:_MOST_TRIED] if are_whole(repository, group)]
    return frozenset(name for group in whole for name in group)


def are_whole(repository: Repository, tips: Iterable[str]) -> bool:
    """Tell whether the repository has these objects and everything they refer to.

    What a ref of the repository leads to is not read again.
    """
    done = repository.git.attempt(
        Place(git_dir=repository.paths.common_dir),
        ["rev-list", "--objects", "--quiet", "--stdin", "--not", "--all"],
        stdin=_lines(tips),
    )
    return done.returncode == 0


def absent(repository: Repository, names: Collection[str], kind: str) -> frozenset[str]:
    """Return those of the names that the repository has no object of this kind for."""
    if not names:
        return frozenset()
    told = repository.git.run(
        Place(git_dir=repository.paths.common_dir),
        ["cat-file", "--batch-check=%(objectname) %(objecttype)"],
        doing="looking for objects",
        stdin=_lines(sorted(names)),
    )
    wanted = b" " + kind.encode("ascii")
    found = {
        line[: -len(wanted)].decode("ascii") for line in told.splitlines() if line.endswith(wanted)
    }
    return frozenset(names) - found


def open_up(directory: Path) -> None:
    """Make every directory below readable and writable again, in case the run forbade it.

    Symlinks are not followed.
    """
    if directory.is_symlink() or not directory.is_dir():
        return
    directory.chmod(0o700)
    for parent, folders, _names in os.walk(directory):
        for name in folders:
            folder = os.path.join(parent, name)
            if not os.path.islink(folder) and not os.access(folder, os.R_OK | os.W_OK | os.X_OK):
                os.chmod(folder, 0o700)


def _move_objects(objects: Path, store: Path, *, keep: bool) -> None:
    """Move plain files with the names of objects to a directory the run never saw, or link them."""
    open_up(objects)
    for fan in _entries(objects):
        if _FAN.fullmatch(fan.name) or fan.name == "pack":
            pattern = _PACK if fan.name == "pack" else _LOOSE
            for entry in _entries(Path(fan.path)) if fan.is_dir(follow_symlinks=False) else ():
                if pattern.fullmatch(entry.name) and entry.is_file(follow_symlinks=False):
                    (store / fan.name).mkdir(mode=0o700, parents=True, exist_ok=True)
                    made = store / fan.name / entry.name
                    if keep:
                        with suppress(FileExistsError):
                            os.link(entry.path, made, follow_symlinks=False)
                    else:
                        os.chmod(entry.path, 0o600)
                        os.rename(entry.path, made)


def _indexed(repository: Repository, pack: Path) -> bool:
    """Let git index a pack; return False if the pack is damaged."""
    index = pack.with_suffix(".idx")
    partial = index.with_suffix(".new")
    partial.unlink(missing_ok=True)
    done = repository.git.attempt(
        Place(git_dir=repository.paths.common_dir),
        ["index-pack", "-o", str(partial), str(pack)],
    )
    if done.returncode != 0:
        return False
    partial.rename(index)
    return True


def _given(repository: Repository, store: Path, tips: Sequence[str]) -> bool:
    """Give the repository what these objects need and it lacks. Returns False if a part is missing
    or damaged."""
    # The repository's own objects come first: the run cannot put others in their place.
    place = Place(
        git_dir=repository.paths.common_dir,
        objects=repository.paths.objects,
        alternates=(store,),
    )
    listed = repository.git.attempt(
        place,
        ["rev-list", "--objects", "--no-object-names", "--stdin", "--not", "--all"],
        stdin=_lines(tips),
    )
    if listed.returncode != 0:
        return False
    if not listed.stdout.strip():
        return True
    try:
        pack = _packed(repository, place, store, listed.stdout)
        give_pack(repository, pack, doing=_DOING, strict=True)
    except CommandFailed:
        return False
    return True


def _packed(repository: Repository, place: Place, store: Path, names: bytes) -> Path:
    pack = store / "all.pack"
    fd = os.open(pack, os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    try:
        repository.git.run_to_fd(
            place, ["pack-objects", "-q", "--stdout"], doing=_DOING, stdout=fd, stdin=names
        )
    finally:
        os.close(fd)
    return pack


def discard(directory: Path) -> None:
    """Remove a directory with all in it, even if the run forbade that by its permissions."""
    if directory.is_symlink() or not directory.is_dir():
        directory.unlink(missing_ok=True)
        return
    open_up(directory)
    shutil.rmtree(directory)


def _entries(directory: Path) -> list["os.DirEntry[str]"]:
    try:
        with os.scandir(directory) as entries:
            return list(entries)
    except OSError:
        return []


def _lines(names: Iterable[str]) -> bytes:
    return "".join(f"{name}\n" for name in names).encode("ascii")
