"""Commits of a sandboxed run: made aside, then taken over.

A run that may commit would have to be let into the repository's objects and branches, and could
delete them. Instead it gets directories of ours in their place: objects are new ones beside the
repository's own, which it can only read, and branches are copies. Afterwards every new object is
read again and given to the repository under the name its content has, the branch of the task moves
if nothing else moved it, and branches that are new are made. Whatever else was done to branches
stays in the sandbox, and is said.

What lies in the quarantine was written by the run: only plain files of the right names are looked
at, and git reads them in a directory the run never saw. Safe to repeat; nothing is lost by a crash,
because the quarantine is only emptied when everything in it was taken over.
"""

import json
import os
import re
import shutil
import time
from pathlib import Path
from typing import NamedTuple

from siding.git import durable, refs
from siding.git.command import Place
from siding.git.discovery import read_settings
from siding.git.errors import GitError
from siding.git.packs import give_pack
from siding.git.repository import Repository

_FAN = re.compile(r"[0-9a-f]{2}")
_LOOSE = re.compile(r"[0-9a-f]{38}(?:[0-9a-f]{24})?")
_PACK = re.compile(r"pack-[0-9a-f]{40,64}\.pack")
_MOST_BRANCHES = 10_000
_STATE = "quarantine.json"
_MADE = "branches"
_LIVE_S = 0.1  # longer than any git holds the lock of a ref
_LOG = "siding: taken over from the sandbox"
_DOING = "reading objects of the sandbox"


class Prepared(NamedTuple):
    """Where a run's objects and branches go, and what the branches were."""

    root: Path
    objects: Path
    heads: Path
    before: dict[str, str]  # loose branches, by name below refs/heads
    own: dict[str, str]  # the task's branch, and those its runs made: where they were, or ""


class Taken(NamedTuple):
    """What came of it: branches that moved or were made, and what was refused, as sentences."""

    branches: tuple[str, ...]
    refused: tuple[str, ...]


def prepare(
    repository: Repository, git_dir: Path, root: Path, branch: str, alternate: str
) -> Prepared:
    """Make the quarantine in `root` (ours alone). `alternate` is where the run sees the objects.

    What an earlier run left, because it was cut off, must have been taken over (`leftover`).
    """
    paths = repository.paths
    objects, heads = root / "objects", root / "heads"
    for directory in (objects / "info", objects / "pack", paths.common_dir / "logs/refs/heads"):
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    lines = [alternate, *borrowed_from(paths.objects)]
    (objects / "info" / "alternates").write_bytes(os.fsencode("\n".join(lines) + "\n"))
    shutil.rmtree(heads, ignore_errors=True)
    before = read_branches(paths.common_dir / "refs/heads")
    heads.mkdir(mode=0o700)
    for name, sha in before.items():
        (heads / name).parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        (heads / name).write_text(sha + "\n", encoding="ascii")
    settings = read_settings(paths.common_dir / "config")
    setting = git_dir / "config.worktree"
    if settings.get("extensions.worktreeconfig") == "true" and not setting.exists():
        setting.touch()  # so that it can be made read-only
    names = {branch, *_made(root)}  # not what HEAD says: the run may write that
    own = {name: str(refs.read_ref(paths.common_dir, f"refs/heads/{name}") or "") for name in names}
    told = {"before": before, "own": own}
    # Not flushed: it is for a run that was killed. After a power cut git has lost as much.
    (root / (_STATE + ".new")).write_bytes(json.dumps(told).encode())
    os.replace(root / (_STATE + ".new"), root / _STATE)
    return Prepared(root=root, objects=objects, heads=heads, before=before, own=own)


def leftover(root: Path) -> Prepared | None:
    """Return the quarantine of a run that was cut off, to be taken over."""
    try:
        told = json.loads(durable.read_small(root / _STATE, 1 << 24) or b"null")
        return (
            None
            if told is None
            else Prepared(root=root, objects=root / "objects", heads=root / "heads", **told)
        )
    except (ValueError, TypeError):
        return None  # it was cut off while it was made: nothing ran in it


def take_over(repository: Repository, prepared: Prepared) -> Taken:
    """Give the repository what the run committed. Raises GitError: then everything is kept."""
    give_objects(repository, prepared.root)
    moved: list[str] = []
    refused: list[str] = []
    after = read_branches(prepared.heads)
    for name, sha in sorted(after.items()):
        if prepared.before.get(name) == sha:
            continue
        current = refs.read_ref(repository.paths.common_dir, f"refs/heads/{name}")
        if current == sha:
            continue
        if name not in prepared.own and current is not None:
            refused.append(f"branch {name!r} was not moved: it is not this task's")
        elif current != (prepared.own.get(name) or None):
            refused.append(f"branch {name!r} was not moved: somebody else did, meanwhile")
        elif not _whole(repository, sha):
            refused.append(f"branch {name!r} was not moved: its commits are not complete")
        elif _update(repository, name, sha, current):
            moved.append(name)
            if name not in prepared.own:
                _remember(prepared.root, name)
        else:
            refused.append(f"branch {name!r} was not moved: somebody else did, meanwhile")
    gone = sorted(set(prepared.before) - set(after))
    refused += [f"branch {name!r} was not deleted" for name in gone]
    forget(prepared)
    return Taken(branches=tuple(moved), refused=tuple(refused))


def forget(prepared: Prepared) -> None:
    """There is nothing to be taken over any more."""
    (prepared.root / _STATE).unlink(missing_ok=True)


def give_objects(repository: Repository, root: Path) -> int:
    """Give the repository every object in a quarantine; returns how many files there were."""
    objects, clean = root / "objects", root / "taken"
    count = _move_objects(objects, clean)
    if count == 0 and not clean.exists():
        return 0
    for pack in sorted((clean / "pack").glob("*.pack")) if (clean / "pack").is_dir() else []:
        give_pack(repository, pack, doing=_DOING)
    names = [
        fan.name + each.name
        for fan in (clean.iterdir() if clean.is_dir() else ())
        if _FAN.fullmatch(fan.name)
        for each in fan.iterdir()
    ]
    if names:
        _repack(repository, clean, names)
    shutil.rmtree(clean, ignore_errors=True)
    return count


def read_branches(root: Path) -> dict[str, str]:
    """Return the loose branches below a directory by name; what is no branch is left out."""
    found: dict[str, str] = {}
    for directory, folders, names in os.walk(root):
        folders[:] = [each for each in folders if not os.path.islink(os.path.join(directory, each))]
        for name in names:
            path = Path(directory, name)
            branch = str(path.relative_to(root))
            sha = refs.as_sha((durable.read_small(path, 4096) or b"").strip())
            if sha is None or len(found) >= _MOST_BRANCHES:
                continue
            try:
                found[refs.check_ref_part(branch)] = sha
            except GitError:
                continue
    return found


def _made(root: Path) -> list[str]:
    """Return the branches that runs of this task made."""
    return os.fsdecode(durable.read_small(root / _MADE) or b"").splitlines()


def _remember(root: Path, name: str) -> None:
    names = "".join(f"{each}\n" for each in sorted({*_made(root), name}))
    durable.replace_file(root / _MADE, os.fsencode(names))


def _move_objects(objects: Path, clean: Path) -> int:
    """Move plain files with the names of objects to a directory the run never saw."""
    count = 0
    for fan in _entries(objects):
        if _FAN.fullmatch(fan.name) or fan.name == "pack":
            pattern = _PACK if fan.name == "pack" else _LOOSE
            for entry in _entries(Path(fan.path)) if fan.is_dir(follow_symlinks=False) else ():
                if pattern.fullmatch(entry.name) and entry.is_file(follow_symlinks=False):
                    (clean / fan.name).mkdir(mode=0o700, parents=True, exist_ok=True)
                    os.rename(entry.path, clean / fan.name / entry.name)
                    count += 1
    return count


def _entries(directory: Path) -> list["os.DirEntry[str]"]:
    try:
        with os.scandir(directory) as entries:
            return list(entries)
    except OSError:
        return []


def _repack(repository: Repository, clean: Path, names: list[str]) -> None:
    """Read loose objects and give them to the repository under the names their content has."""
    paths = repository.paths
    packed = clean / "all.pack"
    fd = os.open(packed, os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    try:
        repository.git.run_to_fd(
            Place(git_dir=paths.common_dir, objects=clean, alternates=(paths.objects,)),
            ["pack-objects", "-q", "--stdout"],
            doing=_DOING,
            stdout=fd,
            stdin="".join(f"{name}\n" for name in names).encode("ascii"),
        )
    finally:
        os.close(fd)
    give_pack(repository, packed, doing=_DOING)


def _whole(repository: Repository, sha: str) -> bool:
    """Whether the repository has a commit and all it needs that no branch of it had before."""
    done = repository.git.attempt(
        Place(git_dir=repository.paths.common_dir),
        ["rev-list", "--objects", "--quiet", "--not", "--all", "--not", sha],
    )
    return done.returncode == 0


def _update(repository: Repository, name: str, new: str, old: str | None) -> bool:
    """Move or make a branch, if it is where it was; durable."""
    ref = f"refs/heads/{name}"
    for _attempt in range(2):
        done = repository.git.attempt(
            Place(git_dir=repository.paths.common_dir),
            ["update-ref", "-m", _LOG, ref, new, old or "0" * len(new)],
        )
        if done.returncode == 0:
            durable.sync_directory((repository.paths.common_dir / ref).parent)
            return True
        if not _sweep_lock(repository.paths.common_dir / f"{ref}.lock", new):
            break
    return False


def _sweep_lock(lock: Path, new: str) -> bool:
    """Remove a lock that a killed git of ours left: it holds what we write, or the beginning.

    One of a git that is alive would be gone, or another file, a moment later.
    """
    data = durable.read_small(lock, 200)
    if data is None or not new.startswith(data.strip().decode("ascii", "replace")):
        return False
    before = lock.stat()
    time.sleep(_LIVE_S)
    try:
        after = lock.stat()
    except FileNotFoundError:
        return True
    if (before.st_ino, before.st_mtime_ns) != (after.st_ino, after.st_mtime_ns):
        return False
    lock.unlink(missing_ok=True)
    return True


def borrowed_from(objects: Path) -> list[str]:
    """Return the object directories that a repository borrows from (alternates), absolute."""
    data = durable.read_small(objects / "info" / "alternates", 1 << 16) or b""
    lines = (os.fsdecode(line) for line in data.splitlines())
    named = [line for line in lines if line and not line.startswith(("#", '"'))]
    return [os.path.normpath(os.path.join(objects, line)) for line in named]
