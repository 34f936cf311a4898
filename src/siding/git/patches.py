"""Differences between two snapshots: as a list, as figures, as a patch that `git apply` takes."""

import os
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from siding.git.command import Place, output_of
from siding.git.errors import not_comparable, said_by
from siding.git.paths import c_quote, parents
from siding.git.store import SnapshotStore
from siding.ids import Sha

_SAFE = ("--no-ext-diff", "--no-textconv", "--ignore-submodules=none")
_PATCH = ("diff-tree", "-r", "-p", "--binary", "--full-index", "-M", *_SAFE)
_COUNT = ("diff-tree", "-r", "--raw", "--numstat", "-z", "-M", "--no-abbrev", *_SAFE)
# Settings of git's that would make a patch look different from what `git apply` expects.
_PLAIN = (
    "diff.noprefix=false",
    "diff.mnemonicPrefix=false",
    "diff.relative=false",
    "diff.renameLimit=1000",
    "diff.renames=true",
    "diff.algorithm=default",
    "diff.suppressBlankEmpty=false",
    "diff.interHunkContext=0",
    "diff.context=3",
    "diff.orderFile=/dev/null",
    "diff.submodule=short",
    "diff.indentHeuristic=true",
    "core.quotePath=true",
    "core.bigFileThreshold=64m",  # above it git does not look for lines, which takes much memory
)


class Change(NamedTuple):
    """How one path differs. ``status`` is git's letter: A M D T, or R and C with `old_path`.

    Modes are octal text (``000000`` where there is nothing), ids all zeros where there is none.
    """

    status: str
    path: bytes
    old_mode: str
    new_mode: str
    old_sha: Sha
    new_sha: Sha
    old_path: bytes | None = None


class FileStat(NamedTuple):
    """Lines added and deleted in one file; None for a binary one."""

    status: str
    path: bytes
    additions: int | None
    deletions: int | None
    old_path: bytes | None = None


class DiffStat(NamedTuple):
    """The figures of a difference."""

    files: int
    additions: int
    deletions: int
    per_file: tuple[FileStat, ...]


def diff_trees(store: SnapshotStore, old: Sha, new: Sha) -> list[Change]:
    """Return every path that differs between two snapshots or trees; renames are not looked for."""
    arguments = ["diff-tree", "-r", "--raw", "-z", "--no-renames", "--no-abbrev", old, new]
    done = store.git.attempt(_place(store), arguments)
    if done.returncode:
        raise not_comparable(old, new, "; ".join(said_by(done.stderr)))
    return parse_raw(done.stdout)


def write_patch(
    store: SnapshotStore, old: Sha, new: Sha, fd: int, *, paths: Sequence[bytes] = ()
) -> None:
    """Write the difference into `fd` as a patch, byte for byte as `git apply` takes it.

    Goes straight from git into the file, whatever its size. ``paths`` limits it to these paths
    and what is below them.
    """
    changes = diff_trees(store, old, new)
    gone = {change.path for change in changes if change.status == "D"}
    made = [change.path for change in changes if change.status == "A"]
    whole = [*_PATCH, *_renames(gone, made), old, new, *_only(paths)]
    misread = [change.path for change in changes if b" /" in change.path]
    if not misread:
        _write_whole(store, whole, fd)
        return
    with_headers_quoted(store, whole, misread, fd)


def write_patch_counted(store: SnapshotStore, old: Sha, new: Sha, fd: int) -> DiffStat:
    """Write the patch as `write_patch` does, and return its figures: both are made at once."""
    counting = store.git.start(_place(store), [*_COUNT, old, new])
    try:
        _write_whole(store, [*_PATCH, old, new], fd)
    except BaseException:
        counting.end()
        raise
    stat = parse_stat(output_of(counting.finish(), doing="counting changed lines"))
    misread = [each.path for each in stat.per_file if b" /" in each.path]
    gone = {each.old_path or each.path for each in stat.per_file if each.status in ("D", "R")}
    renames = _renames(gone, [each.path for each in stat.per_file if each.status in ("A", "R")])
    if misread or renames:
        os.ftruncate(fd, 0)
        os.lseek(fd, 0, os.SEEK_SET)
        with_headers_quoted(store, [*_PATCH, *renames, old, new], misread, fd)
    return stat


def _renames(gone: set[bytes], made: Iterable[bytes]) -> tuple[str, ...]:
    """Return the option for a patch in which a directory takes the place of a file.

    A rename to below the old name is told as a deletion and a new file: `git apply` takes a link
    that is renamed away for still being there.
    """
    replaced = any(parent in gone for path in made for parent in parents(path))
    return ("--no-renames",) if replaced else ()


def _write_whole(store: SnapshotStore, arguments: Sequence[str], fd: int) -> None:
    store.git.run_to_fd(_place(store), arguments, doing="writing the patch", stdout=fd)


def with_headers_quoted(
    store: SnapshotStore, arguments: Sequence[str], paths: Sequence[bytes], fd: int
) -> None:
    """Write a patch with the names of these paths quoted in the lines that begin a file.

    `git diff` leaves a name as it is when it has only spaces in it, and `git apply` then takes
    the space before a slash for the end of the name, where no other line of that file's part says
    the name (binary content, an empty file, a change of mode). It reads the quoted form.
    """
    quoted = {
        b"diff --git a/%b b/%b\n" % (path, path): b"diff --git %b %b\n"
        % (c_quote(b"a/" + path), c_quote(b"b/" + path))
        for path in paths
    }
    reader, writer = os.pipe()
    try:
        running = store.git.start(_place(store), arguments, stdout=writer)
    finally:
        os.close(writer)
    with open(reader, "rb", buffering=1 << 16) as lines, open(fd, "wb", closefd=False) as out:
        out.writelines(quoted.get(line, line) for line in lines)
    output_of(running.finish(), doing="writing the patch")


def diff_stat(store: SnapshotStore, old: Sha, new: Sha, *, paths: Sequence[bytes] = ()) -> DiffStat:
    """Return the figures of the difference, with renames found as in `write_patch`."""
    done = store.git.attempt(_place(store), [*_COUNT, old, new, *_only(paths)])
    return parse_stat(output_of(done, doing="counting changed lines"))


def parse_raw(output: bytes) -> list[Change]:
    """Return the entries of `--raw -z`."""
    fields = iter(output.split(b"\0"))
    return [_change(field, fields) for field in fields if field.startswith(b":")]


def parse_stat(output: bytes) -> DiffStat:
    """Return what `--raw --numstat -z` says: all raw entries, then all figures."""
    fields = iter(output.split(b"\0"))
    changes: dict[bytes, Change] = {}
    per_file: list[FileStat] = []
    for field in fields:
        if field.startswith(b":"):
            change = _change(field, fields)
            changes[change.path] = change
        elif field:
            added, deleted, path = field.split(b"\t", 2)
            old_path = None
            if not path:  # a rename: the two names follow
                old_path, path = next(fields), next(fields)
            per_file.append(
                FileStat(
                    status=changes[path].status if path in changes else "M",
                    path=path,
                    additions=None if added == b"-" else int(added),
                    deletions=None if deleted == b"-" else int(deleted),
                    old_path=old_path,
                )
            )
    return DiffStat(
        files=len(per_file),
        additions=sum(f.additions or 0 for f in per_file),
        deletions=sum(f.deletions or 0 for f in per_file),
        per_file=tuple(per_file),
    )


def _change(field: bytes, fields: Iterator[bytes]) -> Change:
    # :100644 100644 <sha> <sha> M, then the path; R and C have a score and two paths
    old_mode, new_mode, old_sha, new_sha, status = field[1:].decode("ascii").split(" ")
    path, old_path = next(fields), None
    if status[0] in "RC":
        path, old_path = next(fields), path
    return Change(
        status=status[0],
        path=path,
        old_mode=old_mode,
        new_mode=new_mode,
        old_sha=Sha(old_sha),
        new_sha=Sha(new_sha),
        old_path=old_path,
    )


def _place(store: SnapshotStore) -> Place:
    place = store.place()
    return place._replace(settings=place.settings + _PLAIN)


def _only(paths: Sequence[bytes]) -> list[str]:
    return ["--", *map(os.fsdecode, paths)] if paths else []
