"""The quarantine: directories in which git writes during a sandboxed run.

A run that could write the repository's objects and branches could also delete them. Instead it gets
directories of ours in their place: new objects go beside the repository's, which are read-only; the
branches and the workspace's git directory are copies. Afterwards (`takeover.py`) the objects that
its commits, index and reflog need are given to the repository, under ids computed from their
content. The task's branch moves, if nothing else moved it. Branches with new commits are created.
The index, HEAD and its log are put back. Everything else stays in the sandbox and is reported.

The run wrote what is in the quarantine, so only plain files with the right names are read, in a
directory that the run never saw. Taking over is safe to repeat and a crash loses nothing: the
quarantine is emptied only after everything was taken over. What cannot be taken over is set aside,
so that it does not block later runs.
"""

import json
import os
from pathlib import Path

from siding.ground.files.durable import flush_dir, make_dirs, replace_by_lock
from siding.ground.files.regular import read_small
from siding.ground.git import refs
from siding.ground.git.discovery import read_settings
from siding.ground.git.errors import GitError
from siding.ground.git.repository import Repository
from siding.ground.namedtuples import NamedTuple
from siding.record.quarantine.objects import discard, open_up
from siding.record.quarantine.place import Before, HandedOver, copy_git_dir

REFUSED = "refused"  # where a quarantine goes that cannot be taken over, below its root
WHY = "why.txt"
_MOST_BRANCHES = 10_000
_STATE = "quarantine.json"
_HANDED = "handed-over.json"  # beside it: versions before would not read a state with more fields
_MADE = "branches"
_BOOKMARKS = "bookmarks.json"


class PreparedQuarantine(NamedTuple):
    """The directories of one run's quarantine, and the branches before the run."""

    root: Path
    objects: Path
    heads: Path
    before: dict[str, str]  # loose branches, by name below refs/heads
    own: dict[str, str]  # the task's branch, and those its runs made: where they were, or ""
    place: Before | None = None  # None: as versions before left it, without a copy
    handed: HandedOver = HandedOver()

    @property
    def copy(self) -> Path:
        """The workspace's git directory, as the run has it."""
        return self.root / "worktree"


def prepare(
    repository: Repository, git_dir: Path, root: Path, branch: str, alternate: str
) -> PreparedQuarantine:
    """Create the quarantine in the directory `root`, which is ours alone.

    `alternate` is the path under which the run sees the repository's objects. What an earlier run
    that was cut off left must have been taken over before (`leftover`).
    """
    paths = repository.paths
    objects, heads = root / "objects", root / "heads"
    discard(root / "objects")
    discard(root / "heads")
    for directory in (objects / "info", objects / "pack", paths.common_dir / "logs/refs/heads"):
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    lines = [alternate, *borrowed_from(paths.objects)]
    (objects / "info" / "alternates").write_bytes(os.fsencode("\n".join(lines) + "\n"))
    before = {**read_bookmarks(root), **read_branches(paths.common_dir / "refs/heads")}
    heads.mkdir(mode=0o700)
    for name, sha in before.items():
        (heads / name).parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        (heads / name).write_text(sha + "\n", encoding="ascii")
    settings = read_settings(paths.common_dir / "config")
    own_settings = settings.get("extensions.worktreeconfig") == "true"
    _copy, place = copy_git_dir(git_dir, root, own_settings=own_settings)
    names = {branch, *made_branches(root)}  # not what HEAD says: the run may write that
    own = {name: str(refs.read_ref(paths.common_dir, f"refs/heads/{name}") or "") for name in names}
    (root / _HANDED).unlink(missing_ok=True)
    prepared = PreparedQuarantine(
        root=root, objects=objects, heads=heads, before=before, own=own, place=place
    )
    write_state(prepared)
    return prepared


def write_state(prepared: PreparedQuarantine) -> None:
    """Write where the branches and the workspace's git directory were.

    Not flushed: this serves after a kill. After a power cut git's own files may be lost, too.
    """
    place = None if prepared.place is None else prepared.place._asdict()
    told = {"before": prepared.before, "own": prepared.own, "place": place}
    _replace(prepared.root / _STATE, told)


def write_handed(prepared: PreparedQuarantine) -> None:
    """Write what was, or is about to be, taken over while the run goes on."""
    _replace(prepared.root / _HANDED, prepared.handed._asdict())


def _replace(path: Path, told: object) -> None:
    new = path.with_name(f"{path.name}.new")
    new.write_bytes(json.dumps(told).encode())
    os.replace(new, path)


def _handed(root: Path) -> HandedOver:
    told = json.loads(read_small(root / _HANDED, 1 << 24) or b"{}")
    told["said"] = tuple(told.get("said", ()))
    return HandedOver(**told)


def is_in_use(root: Path) -> bool:
    """Tell whether there is a quarantine in which a run works, or that has to be taken over."""
    return (root / _STATE).exists()


def leftover(root: Path) -> PreparedQuarantine | None:
    """Return the quarantine of a run that was cut off, which has to be taken over, or None."""
    try:
        told = json.loads(read_small(root / _STATE, 1 << 24) or b"null")
        if told is None:
            return None
        place = told.pop("place", None)
        return PreparedQuarantine(
            root=root,
            objects=root / "objects",
            heads=root / "heads",
            place=None if place is None else Before(**place),
            handed=_handed(root),
            **told,
        )
    except (ValueError, TypeError, AttributeError):
        return None  # `prepare` was cut off, so no command ran in it


def forget(prepared: PreparedQuarantine) -> None:
    """Note that the quarantine was taken over: `leftover` returns None from now on."""
    (prepared.root / _STATE).unlink(missing_ok=True)
    (prepared.root / _HANDED).unlink(missing_ok=True)


def set_aside(root: Path, why: list[str]) -> Path:
    """Move a quarantine that cannot be taken over out of the way; return its new directory.

    The state file is moved last: after an interruption the next call moves the rest.
    """
    number = 1
    while os.path.lexists(root / REFUSED / f"{number:04d}"):
        number += 1
    kept = root / REFUSED / f"{number:04d}"
    make_dirs(kept)
    (kept / WHY).write_text("".join(f"{line}\n" for line in why), encoding="utf-8")
    for name in ("objects", "taken", "heads", "worktree", _HANDED, _STATE):
        open_up(root / name)
        if os.path.lexists(root / name):
            (root / name).rename(kept / name)
    flush_dir(root)
    return kept


def read_bookmarks(root: Path) -> dict[str, str]:
    """Return the branches (name -> commit) that only sandboxed runs of this task see."""
    try:
        found = json.loads(read_small(root / _BOOKMARKS) or b"{}")
        return {str(name): str(sha) for name, sha in found.items()}
    except (ValueError, AttributeError):
        return {}


def write_bookmarks(root: Path, names: dict[str, str]) -> None:
    if names != read_bookmarks(root):
        replace_by_lock(root / _BOOKMARKS, json.dumps(names).encode())


def read_branches(root: Path) -> dict[str, str]:
    """Return the loose branches below a directory as name -> commit. Invalid files are left out."""
    found: dict[str, str] = {}
    for directory, folders, names in os.walk(root):
        folders[:] = [each for each in folders if not os.path.islink(os.path.join(directory, each))]
        for name in names:
            path = Path(directory, name)
            branch = str(path.relative_to(root))
            sha = refs.as_sha((read_small(path, 4096) or b"").strip())
            if sha is None or len(found) >= _MOST_BRANCHES:
                continue
            try:
                found[refs.check_ref_part(branch)] = sha
            except GitError:
                continue
    return found


def made_branches(root: Path) -> list[str]:
    """Return the branches that runs of this task created."""
    return os.fsdecode(read_small(root / _MADE) or b"").splitlines()


def remember_branch(root: Path, name: str) -> None:
    names = "".join(f"{each}\n" for each in sorted({*made_branches(root), name}))
    replace_by_lock(root / _MADE, os.fsencode(names))


def borrowed_from(objects: Path) -> list[str]:
    """Return the object directories that a repository borrows from (alternates), absolute."""
    data = read_small(objects / "info" / "alternates", 1 << 16) or b""
    lines = (os.fsdecode(line) for line in data.splitlines())
    named = [line for line in lines if line and not line.startswith(("#", '"'))]
    return [os.path.normpath(os.path.join(objects, line)) for line in named]
