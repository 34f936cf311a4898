"""Find the traps that no snapshot has: ignored ones, and those of repositories in the workspace.

They are looked for on disk, in a few places only: an ignored path itself, what a pattern means that
begins with its name (``.bin`` in an ignored ``node_modules``), the hooks and settings of a nested
repository. Nobody walks through all that is ignored. A directory is one trap.
"""

import json
import os
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path

from siding.agents.traps import LARGEST, Table, TrapRow, has_form, part_of
from siding.ground.errors import NotARegularFile
from siding.ground.files.regular import open_with_stat, read_small
from siding.ground.git.paths import quote_path
from siding.ground.hashing import Sha256, sha256_hex, sha256_of_file
from siding.record.ledger.reports import Trap
from siding.record.traps.finding import LINK_OUT, leads_out

MOST = 50_000  # entries of one directory that are looked at
READ = 4  # MiB; of a larger file its status counts, which changes whenever its content does
_NESTED = (
    (b".git/config", TrapRow("git", "when it is used in this repository", "")),
    (b".git/hooks", TrapRow("git", "at its hooks in this repository", "")),
)


def unrecorded_traps(
    table: Table, root: Path, ignored: Sequence[bytes], nested: Sequence[bytes]
) -> dict[str, Trap]:
    """Return the traps that are there now, by their paths; `how` is "made" in all of them.

    `ignored` and `nested` are paths below the `root`: what git ignores, and the directories that
    are repositories of their own.
    """
    top = os.fsencode(root)
    found: dict[str, Trap] = {}
    for path, row in (*_places(table, top, ignored), *_of_repositories(nested)):
        trap = _trap_at(top, path, row)
        if trap is not None:
            found.setdefault(trap.path, trap)
    return found


def _of_repositories(nested: Sequence[bytes]) -> Iterator[tuple[bytes, TrapRow]]:
    for directory in nested:
        for inner, row in _NESTED:
            yield directory + b"/" + inner, row


def _places(
    table: Table, top: bytes, ignored: Sequence[bytes]
) -> Iterator[tuple[bytes, TrapRow | None]]:
    """Yield the paths to look at with their rows; None for one that counts if it leads out."""
    for path in ignored:
        mode = _mode(top, path)
        is_directory = stat.S_ISDIR(mode)
        if stat.S_ISLNK(mode):
            yield path, None
        for each in table.below(path):
            if not each.components:
                if is_directory == each.is_directory:
                    yield path, each.row
            elif is_directory:
                for inner in _inside(top, path, each.components):
                    if stat.S_ISDIR(_mode(top, inner)) == each.is_directory:
                        yield inner, each.row


def _inside(top: bytes, path: bytes, components: Sequence[str]) -> Iterator[bytes]:
    """Yield the paths below a directory whose components have these forms; follows no link."""
    if not components:
        yield path
        return
    first, *rest = components
    for name in _names(top, path):
        if has_form(first, name.decode("utf-8", "surrogateescape").casefold()):
            yield from _inside(top, path + b"/" + name, rest)


def _names(top: bytes, path: bytes) -> list[bytes]:
    if not stat.S_ISDIR(_mode(top, path)):
        return []
    try:
        return sorted(os.listdir(os.path.join(top, path)))
    except OSError:
        return []


def _mode(top: bytes, path: bytes) -> int:
    """Return the mode of what is there; 0 if nothing is."""
    try:
        return os.lstat(os.path.join(top, path)).st_mode
    except OSError:
        return 0


def _trap_at(top: bytes, path: bytes, row: TrapRow | None) -> Trap | None:
    mode = _mode(top, path)
    if stat.S_ISDIR(mode):
        content = _of_directory(top, path) if row is not None else ""
        return _made(path + b"/", row, content) if content and row is not None else None
    if row is None:
        return _made(path, LINK_OUT, _of_link(top, path)) if _leads_out(top, path) else None
    if row.part and stat.S_ISREG(mode):
        whole = read_small(Path(os.fsdecode(os.path.join(top, path))), LARGEST + 1) or b""
        part = part_of(whole, row.part)
        return _made(path, row, f"part {sha256_hex(part)}") if part else None
    content = _of_file(top, path, mode)
    return _made(path, row, content) if content else None


def _made(path: bytes, row: TrapRow, content: str) -> Trap:
    quoted = quote_path(path)
    digest = sha256_hex(json.dumps([quoted, content]).encode())
    return Trap(path=quoted, by=row.by, when=row.when, how="made", content=digest)


def _of_directory(top: bytes, path: bytes) -> str:
    """Return a digest of all that is in a directory; "" if nothing is."""
    digest = Sha256()
    left = MOST
    waiting = [path]
    while waiting and left > 0:
        at = waiting.pop()
        for name in _names(top, at)[:left]:
            left -= 1
            inner = at + b"/" + name
            mode = _mode(top, inner)
            if stat.S_ISDIR(mode):
                waiting.append(inner)
            else:
                digest.update(quote_path(inner).encode() + _of_file(top, inner, mode).encode())
    return "" if left == MOST else digest.hexdigest()


def _of_file(top: bytes, path: bytes, mode: int) -> str:
    """Return what stands for the content of a file or link; "" for what is neither."""
    if stat.S_ISLNK(mode):
        return _of_link(top, path)
    if not stat.S_ISREG(mode):
        return ""
    try:
        fd, status = open_with_stat(Path(os.fsdecode(os.path.join(top, path))))
    except (OSError, NotARegularFile):
        return f"unreadable {mode:o}"
    try:
        runs = "x" if status.st_mode & 0o111 else "-"
        if status.st_size > READ << 20:
            return f"{runs} {status.st_size} {status.st_mtime_ns} {status.st_ctime_ns}"
        return f"{runs} {sha256_of_file(fd)}"
    finally:
        os.close(fd)


def _of_link(top: bytes, path: bytes) -> str:
    return f"link {sha256_hex(_target(top, path))}"


def _leads_out(top: bytes, path: bytes) -> bool:
    return leads_out(path, _target(top, path))


def _target(top: bytes, path: bytes) -> bytes:
    try:
        return os.readlink(os.path.join(top, path))
    except OSError:
        return b""
