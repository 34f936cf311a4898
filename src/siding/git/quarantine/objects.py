"""Objects out of a quarantine: those that a commit, an index or a log needs, and no others.

What lies there was written by the run. Plain files with the names of objects are moved to a
directory the run never saw, and git reads them there. Only what can be reached from a tip goes
into the repository, and only when all of it is there: so junk beside good commits costs nothing,
and nothing that arrives can make ``git fsck`` or ``git gc`` of the repository fail.
"""

import os
import re
import shutil
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from siding.git.command import Place
from siding.git.errors import CommandFailed
from siding.git.packs import give_pack
from siding.git.repository import Repository

_FAN = re.compile(r"[0-9a-f]{2}")
_LOOSE = re.compile(r"[0-9a-f]{38}(?:[0-9a-f]{24})?")
_PACK = re.compile(r"pack-[0-9a-f]{40,64}\.pack")
_MOST_TRIED = 200  # groups that are tried one by one when all of them together do not work
_DOING = "reading objects of the sandbox"


class Gathered(NamedTuple):
    """``store`` holds what may be read, None when there is nothing; ``junk`` names what may not."""

    store: Path | None
    junk: tuple[str, ...]


def gather(repository: Repository, root: Path) -> Gathered:
    """Move what looks like objects out of the quarantine in `root`; safe to repeat."""
    store = root / "taken"
    _move_objects(root / "objects", store)
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

    One is whole when the repository has it and all that it leads to. A group arrives as a whole or
    not at all; the first ones are tried first when not all of them do.
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
    """Whether the repository has these objects and all they need that no ref of it had before."""
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
    """Make every directory below ours to enter again; follow no link."""
    if directory.is_symlink() or not directory.is_dir():
        return
    directory.chmod(0o700)
    for parent, folders, _names in os.walk(directory):
        for name in folders:
            folder = os.path.join(parent, name)
            if not os.path.islink(folder) and not os.access(folder, os.R_OK | os.W_OK | os.X_OK):
                os.chmod(folder, 0o700)


def _move_objects(objects: Path, store: Path) -> None:
    """Move plain files with the names of objects to a directory the run never saw."""
    open_up(objects)
    for fan in _entries(objects):
        if _FAN.fullmatch(fan.name) or fan.name == "pack":
            pattern = _PACK if fan.name == "pack" else _LOOSE
            for entry in _entries(Path(fan.path)) if fan.is_dir(follow_symlinks=False) else ():
                if pattern.fullmatch(entry.name) and entry.is_file(follow_symlinks=False):
                    (store / fan.name).mkdir(mode=0o700, parents=True, exist_ok=True)
                    os.chmod(entry.path, 0o600)
                    os.rename(entry.path, store / fan.name / entry.name)


def _indexed(repository: Repository, pack: Path) -> bool:
    """Let git read a pack through and note what is in it; False when it is no whole pack."""
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
    """Give the repository what these need and it lacks; False when a part is missing or broken."""
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
    """Remove a directory that was taken over, or is of no use to anybody, whatever lies in it."""
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
