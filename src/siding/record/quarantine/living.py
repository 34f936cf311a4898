"""Keep the git directory of a sandboxed run that lives and that of its workspace together.

What the run commits is handed over whenever the workspace is recorded. When the workspace goes to
another state, the copy that the run works on follows it: HEAD, the task's branches, the index, and
the small files of an unfinished git command. The run's processes are paused meanwhile.

That the copy has to follow is written down before the workspace is changed. So after a kill the
next command brings the copy there, before it lets the processes go on.
"""

import json
import os
from base64 import b64decode, b64encode
from collections.abc import Mapping, Sequence
from pathlib import Path

from siding.ground.files.regular import read_small
from siding.ground.git import refs
from siding.ground.git.repository import Repository
from siding.ground.git.treewalk import OpenTree
from siding.record.files.small_files import put_small_file, remove_small_file
from siding.record.quarantine.place import (
    LARGEST_INDEX,
    Before,
    head_text,
    index_digest,
    log_size,
    state_of,
)
from siding.record.quarantine.run import (
    PreparedQuarantine,
    leftover,
    read_branches,
    write_handed,
    write_state,
)
from siding.record.quarantine.takeover import TakeOver

_FOLLOWS = "follows.json"
_LARGEST = 1 << 28


def has_news(prepared: PreparedQuarantine) -> bool:
    """Tell whether the run changed something in its copy that was not handed over."""
    place, copy = prepared.place, prepared.copy
    if place is None:
        return False
    return (
        head_text(copy) != place.head
        or log_size(copy) != (prepared.handed.copy_log or place.log)
        or not _has_index_of(prepared, place)
        or any(prepared.before.get(n) != sha for n, sha in read_branches(prepared.heads).items())
    )


def _has_index_of(prepared: PreparedQuarantine, place: Before) -> bool:
    """Tell whether the copy has the index that it had in the beginning, or that was handed over."""
    known = (place.index_digest, prepared.handed.copy_index or place.index_digest)
    return index_digest(prepared.copy) in known


def hand_over(repository: Repository, prepared: PreparedQuarantine) -> tuple[str, ...]:
    """Give the repository what a run that lives committed so far; return what could not be given.

    The workspace's HEAD and index, and the task's branches, become those that the run has.
    """
    assert prepared.place is not None
    return TakeOver(repository, prepared, lives=True).hand_over(prepared.place)


def locks_in(root: Path) -> list[Path]:
    """Return the locks that git holds in the quarantine."""
    heads = root / "heads"
    inside = [path for path in sorted(heads.rglob("*.lock")) if not path.is_symlink()]
    return [*sorted((root / "worktree").glob("*.lock")), *inside]


def will_follow(
    root: Path,
    repository: Repository,
    head: str,
    written: Mapping[str, bytes],
    removed: Sequence[str],
) -> None:
    """Write down that the copy has to follow the workspace's git directory.

    `written` and `removed` are the small files that change in the copy when HEAD is at `head`.
    """
    told = {
        "common_dir": str(repository.paths.common_dir),
        "head": head,
        "written": {name: b64encode(data).decode("ascii") for name, data in written.items()},
        "removed": list(removed),
    }
    new = root / f"{_FOLLOWS}.new"
    new.write_bytes(json.dumps(told).encode())
    os.replace(new, root / _FOLLOWS)


def follow(root: Path, *, small_files: bool = True) -> None:
    """Bring the copy to where the workspace's git directory is, if that was written down.

    What the run changed since is left: that is handed over, or said, later. Safe to repeat.
    """
    pending = root / _FOLLOWS
    try:
        told = json.loads(read_small(pending, _LARGEST) or b"null")
    except ValueError:
        told = None  # it was cut off, so nothing was changed
    prepared = leftover(root)
    if told is not None and prepared is not None and prepared.place is not None:
        git_dir = Path(prepared.place.git_dir)
        own = _bring_branches(prepared, Path(told["common_dir"]))
        _bring_git_dir(prepared, prepared.place)
        if small_files and head_text(git_dir) == told["head"]:
            _bring_small_files(prepared.copy, told)
        _note(prepared, own, state_of(git_dir))
    pending.unlink(missing_ok=True)


def _bring_branches(prepared: PreparedQuarantine, common_dir: Path) -> dict[str, str]:
    """Move the task's branches in the quarantine; return where they are now."""
    inside = read_branches(prepared.heads)
    found: dict[str, str] = {}
    with OpenTree(prepared.heads) as tree:
        for name in prepared.own:
            sha = refs.read_ref(common_dir, f"refs/heads/{name}")
            if sha is None or inside.get(name) not in (sha, prepared.before.get(name)):
                continue
            if inside.get(name) != sha:
                put_small_file(tree, os.fsencode(name), f"{sha}\n".encode("ascii"))
            found[name] = str(sha)
    return found


def _bring_git_dir(prepared: PreparedQuarantine, place: Before) -> None:
    git_dir, copy = Path(place.git_dir), prepared.copy
    with OpenTree(copy) as tree:
        if _has_index_of(prepared, place):
            index = read_small(git_dir / "index", LARGEST_INDEX)
            if index is None:
                remove_small_file(tree, b"index")
            else:
                written = (git_dir / "index").lstat().st_mtime_ns
                put_small_file(tree, b"index", index, mtime_ns=written)
        if head_text(copy) == place.head:
            put_small_file(tree, b"HEAD", (read_small(git_dir / "HEAD", 4096) or b""))
        if log_size(copy) == (prepared.handed.copy_log or place.log):
            log = read_small(git_dir / "logs" / "HEAD", _LARGEST)
            if log:
                put_small_file(tree, b"logs/HEAD", log)


def _bring_small_files(copy: Path, told: dict[str, dict[str, str]]) -> None:
    with OpenTree(copy) as tree:
        for name in reversed(told["removed"]):
            remove_small_file(tree, os.fsencode(name))
        for name, data in sorted(told["written"].items()):
            put_small_file(tree, os.fsencode(name), b64decode(data))


def _note(prepared: PreparedQuarantine, own: dict[str, str], now: Before) -> None:
    """Write down that the pieces of the copy which are as outside were not changed by the run."""
    place, copy = prepared.place, prepared.copy
    assert place is not None
    same_index = index_digest(copy) == now.index_digest
    same_log = log_size(copy) == now.log
    handed = prepared.handed
    if same_index:
        handed = handed._replace(copy_index="")
    if same_log:
        handed = handed._replace(outer_log=now.log, copy_log=now.log)
    done = prepared._replace(
        before=prepared.before | own,
        own=prepared.own | own,
        place=place._replace(
            head=now.head if head_text(copy) == now.head else place.head,
            index_digest=now.index_digest if same_index else place.index_digest,
            log=now.log if same_log else place.log,
        ),
        handed=handed,
    )
    write_state(done)
    write_handed(done)
