"""Read refs as files without starting git, and write our own refs durably.

Only refs that Siding alone writes are written here; the user's are only read. In a repository with
another ref format (`reftable`) `Repository` asks git.
"""

import os
import re
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

from siding.ground.files.regular import read_small
from siding.ground.git.errors import GitError
from siding.ground.ids import Sha
from siding.ground.namedtuples import NamedTuple

if TYPE_CHECKING:
    from siding.ground.git.command import Git

_HEX = re.compile(rb"[0-9a-f]{40}(?:[0-9a-f]{24})?\Z")
_PACKED_LIMIT = 1 << 30


class HeadState(StrEnum):
    BRANCH = "branch"
    DETACHED = "detached"
    UNBORN = "unborn"


class Head(NamedTuple):
    """What a worktree has checked out: a branch (without ``refs/heads/``), a commit, or both."""

    state: HeadState
    branch: str | None
    sha: Sha | None


def read_head(git_dir: Path, common_dir: Path) -> Head | None:
    """Return what HEAD names; None if refs are not kept as files."""
    data = read_small(git_dir / "HEAD", 4096)
    if data is None:
        return None
    text = data.strip()
    if not text.startswith(b"ref:"):
        sha = as_sha(text)
        return Head(state=HeadState.DETACHED, branch=None, sha=sha) if sha else None
    name = os.fsdecode(text.removeprefix(b"ref:").strip())
    if name == "refs/heads/.invalid":  # what git leaves for old readers where refs are a reftable
        return None
    sha = read_ref(common_dir, name)
    branch = name.removeprefix("refs/heads/")
    return Head(state=HeadState.BRANCH if sha else HeadState.UNBORN, branch=branch, sha=sha)


def head_of(git: "Git", git_dir: Path, common_dir: Path) -> Head:
    """Return what a worktree has checked out; asks git only where refs are not files."""
    found = read_head(git_dir, common_dir)
    if found is not None:
        return found
    from siding.ground.git.command import Place

    place = Place(git_dir=git_dir, common_dir=common_dir)
    named = git.attempt(place, ["symbolic-ref", "-q", "HEAD"])
    shown = git.attempt(place, ["rev-parse", "--verify", "-q", "HEAD^{commit}"])
    sha = as_sha(shown.stdout.strip())
    if named.returncode == 0:
        branch = os.fsdecode(named.stdout.strip()).removeprefix("refs/heads/")
        return Head(state=HeadState.BRANCH if sha else HeadState.UNBORN, branch=branch, sha=sha)
    return Head(state=HeadState.DETACHED, branch=None, sha=sha)


def read_ref(common_dir: Path, name: str) -> Sha | None:
    """Return the object id that a ref holds, None when there is no such ref."""
    for _ in range(5):  # a ref may point at a ref, and so on; git stops at five as well
        data = read_small(common_dir / name, 4096)
        if data is None:
            return _read_packed(common_dir, name)
        if data.startswith(b"ref:"):
            name = os.fsdecode(data.removeprefix(b"ref:").strip())
            continue
        return as_sha(data.strip())
    return None


def write_ref(common_dir: Path, name: str, sha: str) -> None:
    """Make the ref hold `sha`, durably. The caller's lock makes it the only writer of this ref."""
    from siding.ground.files.durable import make_dirs, replace_by_lock

    path = common_dir / name
    if not path.parent.is_dir():  # every snapshot comes here
        make_dirs(path.parent)
    replace_by_lock(path, sha.encode("ascii") + b"\n", mode=0o644)


def delete_ref(common_dir: Path, name: str) -> None:
    """Remove a ref that only Siding writes and nobody packs. A missing ref is no error."""
    from siding.ground.files.durable import flush_dir

    path = common_dir / name
    path.with_name(path.name + ".lock").unlink(missing_ok=True)
    if path.exists():
        path.unlink()
        flush_dir(path.parent)


def as_sha(text: bytes) -> Sha | None:
    """Return the text as an object id, None when it is none."""
    return Sha(text.decode("ascii")) if _HEX.match(text) else None


def is_sha(text: str) -> bool:
    """Tell whether a text is an object id. Check texts from records: a damaged one has any text."""
    return as_sha(text.encode("utf-8", "replace")) is not None


def check_ref_part(name: str) -> str:
    """Return the name if it is valid in a ref. Raises GitError if git would refuse or misread
    it."""
    bad = (
        not name
        or name.startswith(("-", "/", "."))
        or name.endswith((".lock", "/", "."))
        or any(part in name for part in ("..", "@{", "//", "/.", ".lock/"))
        or any(ord(c) <= 32 or ord(c) == 127 or c in "~^:?*[\\" for c in name)
        or name == "@"
    )
    if bad:
        raise GitError(
            f"{name!r} cannot be the name of a branch", hint="use letters, digits, - / _"
        )
    return name


def _read_packed(common_dir: Path, name: str) -> Sha | None:
    data = read_small(common_dir / "packed-refs", _PACKED_LIMIT)
    if data is None:
        return None
    at = data.find(b" " + os.fsencode(name) + b"\n")
    if at < 0:
        return None
    return as_sha(data[data.rfind(b"\n", 0, at) + 1 : at])
