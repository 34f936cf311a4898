"""Give a sandboxed run a copy of the workspace's git directory, and put back what is safe.

git writes many files beside HEAD and the index: locks, messages, a rebase's to-do list. Many of
them could make the next git command run a program or move another branch. So the run gets a copy.
Three things are checked and put back afterwards: the index, HEAD, and new lines of HEAD's log. The
files of an unfinished merge or rebase go into the copy of the next run, as long as the workspace's
HEAD and index are still the ones that the earlier run left.
"""

import os
import re
import shutil
import stat
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from siding.ground.files.durable import flush, flush_dir, write_all, write_and_rename
from siding.ground.files.regular import read_small
from siding.ground.git import refs
from siding.ground.git.command import Place
from siding.ground.git.errors import GitError
from siding.ground.git.index_check import BadIndex, UsableIndex, check_index
from siding.ground.git.repository import Repository
from siding.ground.hashing import sha256_hex
from siding.ground.namedtuples import NamedTuple
from siding.record.moving.checkout import (
    discard_index,
    private_index,
    put_in_place,
    release_dead_lock,
    take_lock,
)
from siding.record.moving.model import CheckoutPlace
from siding.record.quarantine.objects import discard, open_up

LARGEST_INDEX = 1 << 30
_LARGEST_LOG = 64 << 20
_NEWEST_LINES = 1000  # of HEAD's log, that one run may add
_CARRIED = "carried"
_SETTINGS = "config.worktree"
_LOG_LINE = re.compile(
    rb"([0-9a-f]{40,64}) ([0-9a-f]{40,64}) [^\n\0]*> \d{1,15} [+-]\d{4}(?:\t[^\n\0]*)?\n"
)
_SHA = re.compile(rb"\b[0-9a-f]{40}(?:[0-9a-f]{24})?\b")
# What git leaves between two commands of one operation.
_GOES_ON = re.compile(
    r"(?:[A-Z_]+_HEAD|MERGE_(?:MSG|MODE|RR|AUTOSTASH)|SQUASH_MSG|AUTO_MERGE|COMMIT_EDITMSG"
    r"|BISECT_[A-Z_]+|rebase-merge|rebase-apply|sequencer)"
)
_UNFINISHED = {
    "rebase-merge": "rebase",
    "rebase-apply": "rebase",
    "MERGE_HEAD": "merge",
    "CHERRY_PICK_HEAD": "cherry-pick",
    "REVERT_HEAD": "revert",
    "BISECT_LOG": "bisect",
}
_ORDINARY = re.compile(r"HEAD|index|logs|refs|commondir|gitdir|locked|sharedindex\..*|.*\.lock")


class Before(NamedTuple):
    """The state of the workspace's git directory when the run began."""

    git_dir: str
    head: str
    index_digest: str  # "" without one
    log: int  # bytes of HEAD's log
    token: str  # under which locks and files of ours are found again


class HandedOver(NamedTuple):
    """What was taken over already while the run went on, so that it is not taken for another's.

    `branches` are where branches were moved to, `head` is what HEAD was set to, and `index_digest`
    that of the index that was put in place: each is written down before it is done. `copy_index` is
    the hash of the copy's index that was taken over; what was put in place lacks parts that only
    make git faster. `outer_log` and `copy_log` are bytes of HEAD's log in the workspace's git
    directory and in the copy that belong to what was taken over. `said` are sentences for the
    person.
    """

    branches: Mapping[str, str] = {}
    head: str = ""
    index_digest: str = ""
    copy_index: str = ""
    outer_log: int = 0
    copy_log: int = 0
    said: tuple[str, ...] = ()


NOTHING_YET = HandedOver()


class QuarantineContent(NamedTuple):
    """What the run changed in its copy, as far as it is well formed.

    `head` is the content of HEAD, None if unchanged. `new_index` is None if the index is unchanged,
    or if it cannot be used: `bad_index` then says why. `log` has the new lines of HEAD's log.
    """

    head: str | None = None
    new_index: UsableIndex | None = None
    staged: frozenset[str] = frozenset()  # blobs that the index did not name before
    bad_index: str = ""
    log: tuple[bytes, ...] = ()
    copy_index: str = ""  # the hash of the copy's index as it was found
    log_end: int = 0  # bytes of the copy's log that were looked at
    operation: frozenset[str] = frozenset()  # objects that an unfinished operation needs

    @property
    def logged(self) -> tuple[str, ...]:
        """Return the commits that the new lines of the log name, oldest first."""
        return tuple(sha for line in self.log for sha in named_by(line))


def copy_git_dir(git_dir: Path, root: Path, *, own_settings: bool) -> tuple[Path, Before]:
    """Make the copy in `root`; return its path, and the state that was copied.

    `own_settings`: the repository has `extensions.worktreeConfig`, so git reads `config.worktree`.
    """
    copy, old = root / "worktree", root / "worktree.old"
    discard(old)
    if copy.is_dir():
        open_up(copy)
        copy.rename(old)
    _copy_tree(git_dir, copy)
    before = state_of(git_dir)
    if _carried(root) == before.head + before.index_digest and not _unfinished(git_dir):
        _copy_tree(old, copy, only=_GOES_ON)
    discard(old)
    if own_settings:
        (copy / _SETTINGS).touch()  # only a file that exists can be mounted read-only
    return copy, before


def state_of(git_dir: Path) -> Before:
    """Return the present state of a workspace's git directory."""
    return Before(
        git_dir=str(git_dir),
        head=_text(read_small(git_dir / "HEAD", 4096)),
        index_digest=_digest(git_dir / "index"),
        log=len(_read_log(git_dir)),
        token=os.urandom(8).hex(),
    )


def left_in(
    copy: Path, before: Before, hash_bytes: int, handed: HandedOver = NOTHING_YET
) -> QuarantineContent:
    """Return what the run changed in its copy, and what of it was not taken over yet."""
    head = _text(read_small(copy / "HEAD", 4096))
    index, bad = None, ""
    digest = _digest(copy / "index")
    if digest not in (before.index_digest, handed.copy_index or before.index_digest):
        try:
            index = read_index(copy, hash_bytes)
        except BadIndex as error:
            bad = str(error)
    return QuarantineContent(
        head=None if head == before.head else head,
        log_end=log_size(copy),
        new_index=index,
        copy_index=digest,
        staged=frozenset() if index is None else index.blobs - _blobs_before(before, hash_bytes),
        bad_index=bad,
        log=_new_lines(copy, before, handed),
        operation=frozenset(_objects_of_operation(copy)) if _unfinished(copy) else frozenset(),
    )


def read_index(git_dir: Path, hash_bytes: int) -> UsableIndex:
    """Return the index of a git directory; raises BadIndex."""
    return check_index(read_small(git_dir / "index", LARGEST_INDEX) or b"", hash_bytes)


def left_behind(copy: Path, git_dir: Path) -> tuple[str, ...]:
    """Return sentences about unusual files that the run wrote and that stay in its copy."""
    said = []
    names = sorted({_UNFINISHED[name] for name in _unfinished(copy) - _unfinished(git_dir)})
    said += [
        f"a {name} is unfinished: it goes on in the next sandboxed run of this task, and only there"
        for name in names
    ]
    odd = [
        name
        for name in sorted(_names(copy) - _names(git_dir))
        if not _ORDINARY.fullmatch(name) and not _GOES_ON.fullmatch(name)
    ]
    if _SETTINGS in odd and not read_small(copy / _SETTINGS):
        odd.remove(_SETTINGS)  # we made it, to keep the run from it
    if odd:
        shown = ", ".join(repr(name) for name in odd[:10]) + (", ..." if len(odd) > 10 else "")
        said.append(f"left behind, because git would go by it outside: {shown}")
    return tuple(said)


def log_size(git_dir: Path) -> int:
    """Return the bytes of HEAD's log."""
    try:
        return (git_dir / "logs" / "HEAD").lstat().st_size
    except OSError:
        return 0


def head_text(git_dir: Path) -> str:
    """Return the content of HEAD."""
    return _text(read_small(git_dir / "HEAD", 4096))


def index_digest(git_dir: Path) -> str:
    """Return the hash of the index, "" if there is none."""
    return _digest(git_dir / "index")


def put_head(before: Before, head: str, handed: HandedOver = NOTHING_YET) -> bool:
    """Write HEAD, durably. Returns False if it was changed outside the run meanwhile."""
    git_dir = Path(before.git_dir)
    current = _text(read_small(git_dir / "HEAD", 4096))
    if current == head:
        return True
    if current not in (before.head, handed.head or before.head):
        return False
    made = git_dir / f"siding-head-{before.token}"
    write_and_rename(made, git_dir / "HEAD", _bytes(head) + b"\n", mode=0o644)
    flush_dir(git_dir)
    return True


def put_index(
    before: Before,
    data: bytes,
    *,
    mtime_ns: int | None = None,
    handed: HandedOver = NOTHING_YET,
) -> bool:
    """Replace the index under git's lock. Returns False if it was changed outside the run
    meanwhile.

    `mtime_ns` is when the run wrote it: git compares that with the files' times to know which ones
    it must read again. Raises IndexLocked.
    """
    place = _place(before)
    now = _digest(place.git_dir / "index")
    if now == sha256_hex(data):
        return True
    if now not in (before.index_digest, handed.index_digest or before.index_digest):
        return False
    lock = take_lock(place, before.token)
    try:
        made = private_index(place, before.token)
        write_and_rename(made.with_suffix(".new"), made, data, mode=0o644)
        if mtime_ns is not None:
            os.utime(made, ns=(mtime_ns, mtime_ns))
        put_in_place(place, made)
    finally:
        discard_index(place, before.token)
        lock.release()
    return True


def index_of_head(repository: Repository, before: Before) -> bytes:
    """Return the bytes of an index of HEAD's commit."""
    place = _place(before)
    made = private_index(place, before.token)
    try:
        repository.git.run(
            Place(git_dir=place.git_dir, common_dir=repository.paths.common_dir, index_file=made),
            ["read-tree", "HEAD"],
            doing="making an index of HEAD",
        )
        return made.read_bytes()
    finally:
        discard_index(place, before.token)


def put_log(before: Before, lines: Iterable[bytes], handed: HandedOver = NOTHING_YET) -> None:
    """Append lines to HEAD's log. Safe to repeat after an interruption."""
    data = b"".join(lines)
    git_dir = Path(before.git_dir)
    if not data or not is_directory(git_dir / "logs"):
        return
    there = _read_log(git_dir)[handed.outer_log or before.log :]
    if there.startswith(data):
        return
    data = data.removeprefix(there)  # what we wrote already when we were killed
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
    fd = os.open(git_dir / "logs" / "HEAD", flags, 0o644)
    try:
        write_all(fd, data)
        flush(fd)
    finally:
        os.close(fd)


def sweep(before: Before) -> None:
    """Remove locks and files that a killed Siding process left in the workspace's git directory."""
    place = _place(before)
    if place.git_dir.is_dir():
        release_dead_lock(place, before.token)
        discard_index(place, before.token)
        (place.git_dir / f"siding-head-{before.token}").unlink(missing_ok=True)


def remember(root: Path, git_dir: Path) -> None:
    """Store the present HEAD and index digest. While both stay the same, the next run can continue
    an unfinished merge or rebase."""
    now = state_of(git_dir)
    (root / _CARRIED).write_bytes(_bytes(now.head + now.index_digest))
    discard(root / "worktree" / "index")  # the next run begins with the workspace's own


def read_log_lines(git_dir: Path) -> list[bytes]:
    """Return the lines of HEAD's log, whatever they are."""
    return _read_log(git_dir).splitlines(keepends=True)


def named_by(line: bytes) -> tuple[str, ...]:
    """Return the commits that a line of a reflog names, none if it is not such a line."""
    found = _LOG_LINE.fullmatch(line)
    named = found.groups() if found else ()
    return tuple(sha.decode("ascii") for sha in named if sha.strip(b"0"))


def is_directory(path: Path) -> bool:
    """Whether this is a directory, and no link to one."""
    try:
        return stat.S_ISDIR(path.lstat().st_mode)
    except OSError:
        return False


def check_head(head: str) -> tuple[str | None, str | None]:
    """Return (branch, None) or (None, commit) for the content of a HEAD, (None, None) if
    invalid."""
    if not head.startswith("ref:"):
        return None, refs.as_sha(head.encode("utf-8", "replace"))
    name = head.removeprefix("ref:").strip()
    try:
        named = name.startswith("refs/heads/")
        return (refs.check_ref_part(name.removeprefix("refs/heads/")) if named else None), None
    except GitError:
        return None, None


def _copy_tree(source: Path, target: Path, *, only: re.Pattern[str] | None = None) -> None:
    """Copy plain files and directories, but no links, pipes, locks or submodules' repositories."""
    target.mkdir(mode=0o700, exist_ok=True)
    try:
        entries = list(os.scandir(source))
    except OSError:
        return
    for entry in entries:
        if entry.name.endswith(".lock") or (only is not None and not only.fullmatch(entry.name)):
            continue
        made = target / entry.name
        if entry.is_dir(follow_symlinks=False):
            if entry.name == "modules":
                made.mkdir(exist_ok=True)  # the real ones are mounted there, read-only
            else:
                _copy_tree(Path(entry.path), made)
        elif entry.is_file(follow_symlinks=False):
            with suppress(PermissionError):  # what nobody may read is of no use to git either
                shutil.copyfile(entry.path, made, follow_symlinks=False)
                shutil.copystat(entry.path, made, follow_symlinks=False)


def _carried(root: Path) -> str:
    return _text(read_small(root / _CARRIED, 8192))


def _unfinished(directory: Path) -> frozenset[str]:
    return frozenset(_UNFINISHED) & _names(directory)


def _names(directory: Path) -> frozenset[str]:
    try:
        return frozenset(os.listdir(directory))
    except OSError:
        return frozenset()


def _objects_of_operation(copy: Path) -> Iterator[str]:
    """Yield the object ids in the files of an unfinished operation, whose commits must be kept."""
    for name in sorted(_names(copy)):
        if not _GOES_ON.fullmatch(name):
            continue
        top = copy / name
        files = sorted(top.iterdir()) if is_directory(top) else [top]
        for file in files[:50]:
            for found in _SHA.findall(read_small(file, 1 << 16) or b"")[:50]:
                yield found.decode("ascii")


def _blobs_before(before: Before, hash_bytes: int) -> frozenset[str]:
    """Return the blobs of the workspace's own index. A partial clone may rightly lack them."""
    try:
        return read_index(Path(before.git_dir), hash_bytes).blobs
    except BadIndex:
        return frozenset()


def _new_lines(copy: Path, before: Before, handed: HandedOver) -> tuple[bytes, ...]:
    if not is_directory(copy / "logs"):
        return ()
    data = _read_log(copy)
    if data[: before.log] != _read_log(Path(before.git_dir))[: before.log]:
        return ()  # it was rewritten: what is ours stays
    lines = data[handed.copy_log or before.log :].splitlines(keepends=True)
    return tuple(line for line in lines[-_NEWEST_LINES:] if _LOG_LINE.fullmatch(line))


def _read_log(git_dir: Path) -> bytes:
    return read_small(git_dir / "logs" / "HEAD", _LARGEST_LOG) or b""


def _digest(path: Path) -> str:
    data = read_small(path, LARGEST_INDEX)
    return "" if data is None else sha256_hex(data)


def _place(before: Before) -> CheckoutPlace:
    return CheckoutPlace(root=Path(before.git_dir), git_dir=Path(before.git_dir))


def _text(data: bytes | None) -> str:
    return (data or b"").strip().decode("utf-8", "surrogateescape")


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")
