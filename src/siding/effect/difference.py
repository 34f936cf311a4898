"""What a command did to a copy of the workspace: its files, and a patch of bounded size."""

import os
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path

from siding.effect.copying import Seen, Stamp, look
from siding.effect.effect import Touch, TouchedFile
from siding.ground.namedtuples import NamedTuple
from siding.ground.process.capture import run_captured
from siding.tasks.carry import copy_entry

MOST_KEPT = 200  # files that are named, and that the patch has
MOST_AFTER = 100_000  # files and directories that are looked at afterwards
_LARGEST = 256 << 10  # bytes of a file in the patch
_MOST_IN_PATCH = 4 << 20  # bytes of all files in it
_MOST_PATCH = 64 << 20  # what git may print
_GIT_S = 20.0
_CHUNK = 1 << 20
HEAD = "diff --git "


class Difference(NamedTuple):
    """What is different. `patch` has not lost its secrets yet; `cut` says what it lacks."""

    touched: tuple[TouchedFile, ...]
    added: int
    changed: int
    deleted: int
    places: tuple[str, ...]
    patch: str
    at_least: bool
    cut: str = ""


def difference(
    root: Path, copy: Path, before: Seen, after_copying: Seen, scratch: Path, env: Mapping[str, str]
) -> Difference:
    """Compare a copy with how it was made.

    `before` is the workspace as it was copied, from which the texts before the command are read;
    `after_copying` is the copy before the command. `scratch` is a directory of our own.
    """
    after = look(copy, most=MOST_AFTER)
    was, now = after_copying.stamps, after.stamps
    old, new = _files(was), _files(now)  # a file may stand now where a directory stood
    deleted = [] if after.is_cut else sorted(old - new)
    added = sorted(new - old)
    both = [path for path in old & new if was[path] != now[path]]
    changed = sorted(
        path for path in both if not _is_same(root, copy, path, before, was[path], now[path])
    )
    kinds = [
        *((path, Touch.DELETED) for path in deleted),
        *((path, Touch.CHANGED) for path in changed),
        *((path, Touch.ADDED) for path in added),
    ]
    patch, cut = _patch(root, copy, before, kinds[:MOST_KEPT], scratch, env)
    if len(kinds) > MOST_KEPT:
        cut = f"the patch has the first {MOST_KEPT} files"
    lines = lines_in(patch)
    touched = tuple(
        TouchedFile(os.fsdecode(path), how, *lines.get(os.fsdecode(path), (0, 0)))
        for path, how in kinds[:MOST_KEPT]
    )
    return Difference(
        touched=touched,
        added=len(added),
        changed=len(changed),
        deleted=len(deleted),
        places=tuple(_places(deleted, was, now)),
        patch=patch,
        at_least=after.is_cut,
        cut=cut,
    )


def _files(stamps: Mapping[bytes, Stamp]) -> set[bytes]:
    return {path for path, stamp in stamps.items() if not stat.S_ISDIR(stamp.mode)}


def _is_same(root: Path, copy: Path, path: bytes, before: Seen, was: Stamp, now: Stamp) -> bool:
    """Tell whether only times differ of what is at a path."""
    if (was.mode, was.size) != (now.mode, now.size):
        return False
    source, target = (os.path.join(os.fsencode(each), path) for each in (root, copy))
    if not _is_as_seen(source, before.stamps.get(path)):
        return False
    if stat.S_ISLNK(now.mode):
        return os.readlink(source) == os.readlink(target)
    try:
        with open(source, "rb") as one, open(target, "rb") as other:
            while True:
                ours, theirs = one.read(_CHUNK), other.read(_CHUNK)
                if ours != theirs:
                    return False
                if not ours:
                    return True
    except PermissionError:
        return False


def _places(
    deleted: list[bytes], was: Mapping[bytes, Stamp], now: Mapping[bytes, Stamp]
) -> Iterator[str]:
    """Yield the outermost directories that are gone, and deleted files outside of these."""
    told: set[bytes] = set()
    for path in deleted:
        place, above = path, os.path.dirname(path)
        while above and not (above in now and stat.S_ISDIR(now[above].mode)):
            place, above = above, os.path.dirname(above)
        if place not in told and len(told) < MOST_KEPT:
            told.add(place)
            yield os.fsdecode(place) + ("/" if stat.S_ISDIR(was[place].mode) else "")


def _patch(
    root: Path,
    copy: Path,
    before: Seen,
    kinds: list[tuple[bytes, Touch]],
    scratch: Path,
    env: Mapping[str, str],
) -> tuple[str, str]:
    """Return the patch of these files, and a sentence on what it lacks."""
    if not kinds:
        return "", ""
    old, new, left = os.fsencode(scratch / "a"), os.fsencode(scratch / "b"), _MOST_IN_PATCH
    lacking = 0
    for each in (old, new):
        os.mkdir(each, 0o700)
    for path, how in kinds:
        source = os.path.join(os.fsencode(root), path)
        is_there = how is Touch.ADDED or _is_as_seen(source, before.stamps.get(path))
        size = max(_size(source), _size(os.path.join(os.fsencode(copy), path)))
        if not is_there or size > _LARGEST or size > left:
            lacking += 1
            continue
        left -= size
        try:
            if how is not Touch.ADDED:
                copy_entry(source, os.path.join(old, path))
            if how is not Touch.DELETED:
                copy_entry(os.path.join(os.fsencode(copy), path), os.path.join(new, path))
        except OSError:  # it cannot be read, or a file stands where a directory stood
            lacking += 1
    patch = patch_between(scratch, env)
    said = f"the patch lacks {lacking} files, which are large or have changed meanwhile"
    return patch, said if lacking else ""


def patch_between(scratch: Path, env: Mapping[str, str]) -> str:
    """Return the patch between the directories `a` and `b` in a directory of our own."""
    words = [
        "git",
        "-c",
        "core.quotePath=false",
        "diff",
        "--no-index",
        "--no-prefix",
        "--no-ext-diff",
        "--no-textconv",
    ]
    words += ["--no-renames", "--no-color", "--", "a", "b"]
    clean = {
        "PATH": env.get("PATH", os.defpath),
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CEILING_DIRECTORIES": str(scratch.parent),
        "LC_ALL": "C",
    }
    done = run_captured(words, env=clean, cwd=scratch, timeout_s=_GIT_S, max_output=_MOST_PATCH)
    patch = done.stdout.decode("utf-8", "surrogateescape")
    return "\n".join(map(_headed, patch.split("\n")))


def _is_as_seen(path: bytes, stamp: Stamp | None) -> bool:
    try:
        return stamp is not None and Stamp.of(os.lstat(path)) == stamp
    except OSError:
        return False


def _size(path: bytes) -> int:
    try:
        return os.lstat(path).st_size
    except OSError:
        return 0


def lines_in(patch: str) -> dict[str, tuple[int, int]]:
    """Return how many lines each file of a patch adds and deletes."""
    found: dict[str, tuple[int, int]] = {}
    name, in_hunk = "", False
    for line in patch.split("\n"):
        if line.startswith(HEAD):
            name, in_hunk = name_in(line), False
        elif line.startswith("@@"):
            in_hunk = True
        elif in_hunk and line[:1] in ("+", "-"):
            added, gone = found.get(name, (0, 0))
            found[name] = (added + (line[0] == "+"), gone + (line[0] == "-"))
    return found


def name_in(head: str) -> str:
    """Return the path in the first line of a file's part: it is there twice, behind a/ or b/."""
    rest = head.removeprefix(HEAD)
    return rest[: len(rest) // 2].strip('"')[2:]


def _headed(line: str) -> str:
    """Return a line of a patch; git says `a/x a/x` of a file that is in one directory only."""
    if not line.startswith(HEAD):
        return line
    quote, name = '"' if line.endswith('"') else "", name_in(line)
    return f"{HEAD}{quote}a/{name}{quote} {quote}b/{name}{quote}"
