"""What sandboxed runs left where no snapshot looks: noted between their begin and their end.

Of what git ignores there is no patch that says what a run changed. So the contents of these places
are noted before a sandboxed run starts, and compared when it is over. What differs is its, and is
held until a person has seen it; what others change while no sandboxed run lives is theirs, and a
person's editor and installations ask nobody. The caller of all of this holds the task's lock.

These traps are looked for on disk (`unrecorded_traps`), in a few places only: an ignored path
itself, what a pattern means that begins with its name (``.bin`` in an ignored ``node_modules``),
the hooks and settings of a nested repository. Nobody walks through all that is ignored. A directory
is one trap.
"""

import json
import os
import stat
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path

from siding.agents.traps import LARGEST, Table, TrapRow, has_form, part_of
from siding.ground.errors import NotARegularFile, UsageError
from siding.ground.files.regular import open_with_stat, read_small
from siding.ground.git.paths import quote_path
from siding.ground.hashing import Sha256, sha256_hex, sha256_of_file
from siding.ground.ids import TaskId
from siding.ground.namedtuples import NamedTuple
from siding.ground.storage.documents import DamagedFile, read_document_or_none, write_document
from siding.ground.storage.fields import mapping, strings, text
from siding.record.ledger.reports import Trap
from siding.record.place.project import Project
from siding.record.place.trust import trust_json, trusted_traps
from siding.record.tasks.registry import Workspace
from siding.record.traps.traps import LINK_OUT, TrapSettings, leads_out, trap_settings

LEFT_VERSION = 1
MOST = 50_000  # entries of one directory that are looked at
READ = 4  # MiB; of a larger file its status counts, which changes whenever its content does
_NESTED = (
    (b".git/config", TrapRow("git", "when it is used in this repository", "")),
    (b".git/hooks", TrapRow("git", "at its hooks in this repository", "")),
)


class Unrecorded(NamedTuple):
    """The places of a workspace that no snapshot has, as a look at it found them."""

    ignored: Sequence[bytes]
    nested: Sequence[bytes]


class Left(NamedTuple):
    """What is known of a task's traps that no snapshot has.

    `known` are their contents at the last look, `runs` the sandboxed runs that lived then: what
    changed since counts as theirs. `left` are the paths that such runs changed, and of which no
    person has seen what is there.
    """

    known: Mapping[str, str]
    runs: tuple[str, ...] = ()
    left: tuple[str, ...] = ()


def begin(
    project: Project, workspace: Workspace, run: str, live: Collection[str], look: Unrecorded
) -> None:
    """Note what is there before a sandboxed run starts. `live` are the runs that live by now."""
    before = _read(project, workspace.task_id)
    now = _contents(traps_there(project, workspace, look))
    if before is None:
        _write(project, workspace.task_id, Left(now, (run,)))
        return
    if before.runs:
        before = _settled(before, now)
    runs = tuple(each for each in before.runs if each in live)
    _write(project, workspace.task_id, before._replace(known=now, runs=(*runs, run)))


def settle(
    project: Project, workspace: Workspace, live: Collection[str], look: Unrecorded
) -> tuple[Trap, ...]:
    """Note what sandboxed runs have left since the last look; return it.

    `live` are the runs that go on. What a person has seen meanwhile is not theirs any more.
    """
    before = _read(project, workspace.task_id)
    if before is None or not (before.runs or before.left):
        return ()
    there = traps_there(project, workspace, look)
    now = _contents(there)
    after = _settled(before, now) if before.runs else before
    new = [path for path in after.left if path in now and before.known.get(path) != now[path]]
    seen = trusted_traps(trust_json(project))
    after = Left(
        now if before.runs else before.known,
        tuple(run for run in before.runs if run in live),
        tuple(path for path in after.left if path in now and now[path] not in seen),
    )
    if after != before:
        _write(project, workspace.task_id, after)
    if not before.runs:
        return ()
    how = {path: "changed" if path in before.known else "made" for path in new}
    return tuple(there[path]._replace(how=how[path]) for path in sorted(new))


def left_traps(project: Project, workspace: Workspace, look: Unrecorded) -> tuple[Trap, ...]:
    """Return what sandboxed runs left that is still there, seen or not; nothing is noted."""
    found = _read(project, workspace.task_id)
    if found is None or not (found.runs or found.left):
        return ()
    there = traps_there(project, workspace, look)
    left = _settled(found, _contents(there)).left if found.runs else found.left
    return tuple(there[path] for path in sorted(left) if path in there)


def carry(project: Project, giver: TaskId, taker: TaskId) -> None:
    """Note what was left in a workspace that another task gets, or gets ignored files of.

    What runs of the giver have changed since the last look counts as left, too.
    """
    found = _read(project, giver)
    if found is not None and (found.runs or found.left):
        _write(project, taker, found)


def traps_there(project: Project, workspace: Workspace, look: Unrecorded) -> dict[str, Trap]:
    """Return the traps in these places now, by path.

    A mistake in the settings keeps no run from being recorded: then the table counts as it comes.
    """
    try:
        table = trap_settings(project).table
    except UsageError:
        table = TrapSettings().table
    return unrecorded_traps(table, Path(workspace.path), look.ignored, look.nested)


def _settled(before: Left, now: Mapping[str, str]) -> Left:
    changed = (path for path, content in now.items() if before.known.get(path) != content)
    return before._replace(left=tuple(sorted({*before.left, *changed})))


def _contents(there: Mapping[str, Trap]) -> dict[str, str]:
    return {path: each.content for path, each in there.items()}


def _read(project: Project, task_id: TaskId) -> Left | None:
    path = project.task_layout(task_id).traps_json
    try:
        found = read_document_or_none(path, what="the traps of the task", version=LEFT_VERSION)
    except DamagedFile:
        return Left({}, ("unknown",))  # then all that is there may be a run's
    if found is None:
        return None
    known = {str(path): text(content) for path, content in mapping(found.get("known")).items()}
    return Left(known, strings(found.get("runs")), strings(found.get("left")))


def _write(project: Project, task_id: TaskId, left: Left) -> None:
    document = {
        "version": LEFT_VERSION,
        "known": dict(left.known),
        "runs": list(left.runs),
        "left": list(left.left),
    }
    write_document(project.task_layout(task_id).traps_json, document)


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
