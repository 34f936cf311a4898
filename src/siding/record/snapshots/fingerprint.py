"""Take a cheap fingerprint of a repository, to find out later what changed.

No git process is started. It has the names of files, the content of a few small ones, and the stat
data of the others. The index is opened but not read: git replaces it by a rename, so the descriptor
still leads to the old index, which is read only if there is a new one. One that is written over in
its place is noticed, and not compared. Refs in another format than
files (`reftable`) are not seen.

Of a workspace's own git directory, `OwnGitDir` has the parts that decide what git does there next.
Without a sandbox a run can write anything there. Most of it is git's ordinary work. These parts
could make a later git command move another branch or run a program.
"""

import os
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path

from siding.ground.files.regular import read_small
from siding.ground.git.index_file import read_entries
from siding.ground.namedtuples import NamedTuple

# What of a git directory decides what git does next, apart from refs and configuration.
_STEERING = (
    "info/attributes",
    "info/exclude",
    "info/sparse-checkout",
    "info/grafts",
    "shallow",
    "objects/info/alternates",
    "config.worktree",
)
MOST_REFS = 200  # loose ones whose values are read; further ones are compared by their marks
LARGEST_INDEX = 64 << 20  # bytes; a larger one is not compared
LARGEST_PACKED = 32 << 20
Mark = tuple[int, int, int, int]  # mode, inode, size, time of the last change in ns
# Of this worktree alone: its settings, which repository it belongs to, what it leaves out.
_STEERING_SETTINGS = ("config.worktree", "commondir", "gitdir", "info/sparse-checkout")
_TODO = "rebase-merge/git-rebase-todo"
_BRANCH = b"ref: refs/heads/"
_COMMANDS = (b"exec ", b"x ")


class LooseRef(NamedTuple):
    """A ref that is a file. `value` is None if the file was not read: see `MOST_REFS`."""

    mark: Mark | None
    value: bytes | None


class Fingerprint(NamedTuple):
    """The fingerprint. `packed` is None if there is no such file. `close` closes `index_file`."""

    head: bytes | None
    loose: Mapping[str, "LooseRef"]
    packed: bytes | None
    index_file: int | None
    index_mark: Mark | None
    config: bytes | None
    hooks: Mapping[str, Mark]
    steering: Mapping[str, Mark | None]
    worktrees: Mapping[str, Mark | None]  # of each linked worktree, its HEAD

    def close(self) -> None:
        if self.index_file is not None:
            os.close(self.index_file)


class RefChange(NamedTuple):
    """A ref that has another value now; None: there is no such ref."""

    name: str
    before: str | None
    after: str | None


def take(git_dir: Path) -> Fingerprint:
    """Return the fingerprint of the git directory of a main checkout or a bare repository."""
    index = git_dir / "index"
    return Fingerprint(
        head=read_small(git_dir / "HEAD", 4096),
        loose=dict(_loose(git_dir)),
        packed=read_small(git_dir / "packed-refs", LARGEST_PACKED),
        index_file=_opened(index),
        index_mark=mark_of(index),
        config=read_small(git_dir / "config"),
        hooks=dict(_marks_in(git_dir / "hooks")),
        steering={name: mark_of(git_dir / name) for name in _STEERING},
        worktrees=dict(_worktrees(git_dir / "worktrees")),
    )


def mark_of(path: Path | str) -> Mark | None:
    """Return numbers that differ between two states of a file; None if it does not exist."""
    try:
        found = os.lstat(path)
    except OSError:
        return None
    return (found.st_mode, found.st_ino, found.st_size, found.st_ctime_ns)


def has_ref(found: Fingerprint, name: str) -> bool:
    """Whether there was a ref of this name."""
    return name in found.loose or name in _packed(found.packed)


def values(found: Fingerprint) -> dict[str, str]:
    """Return the ids of the objects that the refs name, of those whose values were read."""
    named = _packed(found.packed)
    for name, loose in found.loose.items():
        if loose.value is None:
            named.pop(name, None)
        else:
            named[name] = loose.value.strip().decode("ascii", "replace")
    return {name: sha for name, sha in named.items() if len(sha) in (40, 64)}


def changed_refs(before: Fingerprint, after: Fingerprint) -> list[RefChange]:
    """Return every ref with another value; packing refs changes none."""
    if before.packed == after.packed:
        names = {
            name
            for name in {*before.loose, *after.loose}
            if not _is_same(before.loose.get(name), after.loose.get(name))
        }
        packed_before = packed_after = _packed(before.packed) if names else {}
    else:
        packed_before, packed_after = _packed(before.packed), _packed(after.packed)
        names = {*before.loose, *after.loose, *packed_before, *packed_after}
    return [
        change
        for name in sorted(names)
        if (change := _change(name, before, after, packed_before, packed_after)) is not None
    ]


def changed_index(before: Fingerprint, after: Fingerprint, hash_bytes: int) -> list[bytes] | None:
    """Return the paths the two indexes have differently; None when that cannot be told.

    git rewrites an index to note times of files: that changes nothing.
    """
    if before.index_mark == after.index_mark:
        return []
    if before.index_mark is None or after.index_mark is None:
        return None
    if before.index_mark[1] == after.index_mark[1]:
        return None  # not git did this: the file was written over, and what it held is gone
    old_bytes, new_bytes = _bytes_of(before.index_file), _bytes_of(after.index_file)
    if old_bytes is None or new_bytes is None:
        return None
    if old_bytes == new_bytes:
        return []
    old, new = read_entries(old_bytes, hash_bytes), read_entries(new_bytes, hash_bytes)
    if old is None or new is None:
        return None
    return sorted(path for path in {*old, *new} if old.get(path) != new.get(path))


def changed_settings(before: bytes | None, after: bytes | None) -> list[str]:
    """Return the keys of a configuration file whose lines changed; never their values."""
    if before == after:
        return []
    old, new = _lines(before or b""), _lines(after or b"")
    return sorted({key for key, _ in old ^ new}) or ["(its layout)"]


def changed_marks(
    before: Mapping[str, Mark | None], after: Mapping[str, Mark | None]
) -> list[tuple[str, str]]:
    """Return (name, "made", "removed" or "changed") of every file that is not as it was."""
    found = []
    for name in sorted({*before, *after}):
        old, new = before.get(name), after.get(name)
        if old != new:
            found.append((name, "made" if old is None else "removed" if new is None else "changed"))
    return found


def _opened(path: Path | str) -> int | None:
    try:
        return os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return None


def _bytes_of(descriptor: int | None) -> bytes | None:
    if descriptor is None:
        return None
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode) or status.st_size > LARGEST_INDEX:
            return None
        return os.pread(descriptor, status.st_size, 0)
    except OSError:
        return None


def _change(
    name: str,
    before: Fingerprint,
    after: Fingerprint,
    packed_before: Mapping[str, str],
    packed_after: Mapping[str, str],
) -> RefChange | None:
    first, second = before.loose.get(name), after.loose.get(name)
    if first is not None and _is_same(first, second):
        return None
    old = _value(first, packed_before.get(name))
    new = _value(second, packed_after.get(name))
    return None if old == new else RefChange(name=name, before=old, after=new)


def _is_same(first: LooseRef | None, second: LooseRef | None) -> bool:
    """Compare two refs: by value if both were read, because packing and unpacking change none.

    Which ones are read depends on the order in the directory, which any new ref may change.
    """
    if first is None or second is None:
        return first is second
    if first.value is None or second.value is None:
        return first.mark == second.mark
    return first.value == second.value


def _value(loose: LooseRef | None, packed: str | None) -> str | None:
    """Return the value of a ref; of one that was not read its mark, as ``?…``."""
    if loose is None:
        return packed
    if loose.value is None:
        return "?" + ".".join(map(str, loose.mark or ()))
    return loose.value.strip().decode("utf-8", "backslashreplace")


def _loose(git_dir: Path) -> Iterator[tuple[str, LooseRef]]:
    """Yield the refs that are files."""
    top = f"{git_dir}/"
    left = MOST_REFS
    waiting = ["refs"]
    while waiting:
        directory = waiting.pop()
        try:
            entries = list(os.scandir(top + directory))
        except OSError:
            continue
        for entry in entries:
            name = f"{directory}/{entry.name}"
            if entry.is_dir(follow_symlinks=False):
                waiting.append(name)
            elif not name.endswith(".lock"):
                left -= 1
                value = _read_ref(entry.path) if left >= 0 else None
                yield name, LooseRef(mark_of(entry.path), value or None)


def _read_ref(path: str) -> bytes | None:
    """Return a ref's bytes; never waits on a pipe and never follows a link."""
    descriptor = _opened(path)
    if descriptor is None:
        return None
    try:
        return os.read(descriptor, 4096)
    except OSError:
        return None
    finally:
        os.close(descriptor)


def _packed(data: bytes | None) -> dict[str, str]:
    found: dict[str, str] = {}
    for line in (data or b"").splitlines():
        sha, space, name = line.partition(b" ")
        if space and sha[:1] not in (b"#", b"^"):
            found[name.decode("utf-8", "surrogateescape")] = sha.decode("ascii", "replace")
    return found


def _marks_in(directory: Path) -> Iterator[tuple[str, Mark]]:
    try:
        names = os.listdir(directory)
    except OSError:
        return
    for name in names:
        mark = None if name.endswith(".sample") else mark_of(directory / name)
        if mark is not None:
            yield name, mark


def _worktrees(directory: Path) -> Iterator[tuple[str, Mark | None]]:
    try:
        names = os.listdir(directory)
    except OSError:
        return
    for name in names:
        yield name, mark_of(f"{directory}/{name}/HEAD")


def _lines(config: bytes) -> set[tuple[str, str]]:
    """Return (section.key, line) of a configuration file, as far as lines can be told apart."""
    found = set()
    section = ""
    for line in config.decode("utf-8", "backslashreplace").splitlines():
        text = line.strip()
        if text.startswith("["):
            section, _, text = text[1:].partition("]")
            section = section.replace(' "', ".").replace('"', "").strip()
            text = text.strip()
        if text and text[0] not in "#;":
            key = text.partition("=")[0].strip()
            found.add((f"{section}.{key}" if key.replace("-", "").isalnum() else section, text))
    return found


class OwnGitDir(NamedTuple):
    """``head`` is what HEAD holds, None when it cannot be read. ``todo`` are the lines that an
    unfinished rebase still has to do, None when there is none."""

    head: bytes | None
    steering: Mapping[str, Mark | None]
    todo: tuple[bytes, ...] | None

    @property
    def branch(self) -> str | None:
        """Return the branch that HEAD names, None for a commit."""
        head = (self.head or b"").strip()
        if not head.startswith(_BRANCH):
            return None
        return head.removeprefix(_BRANCH).decode("utf-8", "surrogateescape")

    @property
    def commands(self) -> tuple[bytes, ...]:
        """Return the commands that the rebase will run."""
        return tuple(line for line in self.todo or () if line.startswith(_COMMANDS))


def take_own(git_dir: Path) -> OwnGitDir:
    """Return what a workspace's git directory is like now."""
    todo = read_small(git_dir / _TODO)
    return OwnGitDir(
        head=read_small(git_dir / "HEAD", 4096),
        steering={name: mark_of(git_dir / name) for name in _STEERING_SETTINGS},
        todo=None if todo is None else tuple(line.strip() for line in todo.splitlines()),
    )
