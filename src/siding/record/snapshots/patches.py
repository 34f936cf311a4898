"""Compare two snapshots: as a list of paths, as figures, or as a patch for `git apply`."""

import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from siding.ground.git.command import Place, output_of
from siding.ground.git.errors import not_comparable, said_by
from siding.ground.git.paths import c_quote, is_under, join, parents
from siding.ground.ids import Sha
from siding.ground.namedtuples import NamedTuple
from siding.record.snapshots.store import SnapshotStore

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
    """Lines added and deleted in one file; None for a binary one.

    `change` are its modes and ids, None where only the lines were counted.
    """

    status: str
    path: bytes
    additions: int | None
    deletions: int | None
    old_path: bytes | None = None
    change: Change | None = None


class DiffStat(NamedTuple):
    """The figures of a difference."""

    files: int
    additions: int
    deletions: int
    per_file: tuple[FileStat, ...]


class DiffPart(NamedTuple):
    """Two states to compare (commits or trees), and how what differs is called.

    ``below`` is the directory that they are the contents of, ``without`` what of them is compared
    elsewhere, ``objects`` a further place where git finds their objects.
    """

    old: str
    new: str
    below: bytes = b""
    without: tuple[bytes, ...] = ()
    objects: Path | None = None


def diff_trees(store: SnapshotStore, old: Sha, new: Sha) -> list[Change]:
    """Return every path that differs between two snapshots or trees; renames are not looked for."""
    return _changes(store, DiffPart(old, new), ())


def _changes(store: SnapshotStore, part: DiffPart, paths: Sequence[bytes]) -> list[Change]:
    raw = ["diff-tree", "-r", "--raw", "-z", "--no-renames", "--no-abbrev"]
    done = store.git.attempt(_place(store, part), [*raw, *_sides(part, paths)])
    if done.returncode:
        raise not_comparable(part.old, part.new, "; ".join(said_by(done.stderr)))
    return parse_raw(done.stdout)


def paths_in_tree(store: SnapshotStore, tree: Sha, paths: Sequence[bytes]) -> set[bytes]:
    """Return which of the paths, files or directories, a snapshot or tree has."""
    arguments = [
        "ls-tree",
        "-z",
        "--name-only",
        "--full-tree",
        tree,
        "--",
        *map(os.fsdecode, paths),
    ]
    listed = store.git.run(_place(store), arguments, doing="looking for paths").split(b"\0")
    # Of a directory and something in it git names all that the directory has, and not itself.
    there = {*listed, *(above for each in listed for above in parents(each))}
    return there & set(paths)


def write_patch(
    store: SnapshotStore, parts: Sequence[DiffPart], fd: int, *, paths: Sequence[bytes] = ()
) -> None:
    """Write the difference into `fd` as a patch, byte for byte as `git apply` takes it.

    Goes straight from git into the file, whatever its size. ``paths`` limits it to these paths
    and what is below them.
    """
    for part, inside in _concerned(parts, paths):
        changes = _changes(store, part, ())
        gone = {change.path for change in changes if change.status == "D"}
        made = [change.path for change in changes if change.status == "A"]
        whole = [*_patch_of(part), *_renames(gone, made), *_sides(part, inside)]
        misread = [change.path for change in changes if b" /" in change.path]
        _write_part(store, part, whole, misread, fd)


def write_patch_counted(store: SnapshotStore, parts: Sequence[DiffPart], fd: int) -> DiffStat:
    """Write the patch as `write_patch` does, and return its figures: both are made at once."""
    if len(parts) != 1:
        write_patch(store, parts, fd)
        return diff_stat(store, parts)
    (part,) = parts
    counting = store.git.start(_place(store, part), [*_COUNT, *_sides(part, ())])
    try:
        _write_whole(store, part, [*_patch_of(part), *_sides(part, ())], fd)
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
        whole = [*_patch_of(part), *renames, *_sides(part, ())]
        _write_part(store, part, whole, misread, fd)
    return stat


def _renames(gone: set[bytes], made: Iterable[bytes]) -> tuple[str, ...]:
    """Return the option for a patch in which a directory takes the place of a file.

    A rename to below the old name is told as a deletion and a new file: `git apply` takes a link
    that is renamed away for still being there.
    """
    replaced = any(parent in gone for path in made for parent in parents(path))
    return ("--no-renames",) if replaced else ()


def _write_part(
    store: SnapshotStore,
    part: DiffPart,
    arguments: Sequence[str],
    misread: Sequence[bytes],
    fd: int,
) -> None:
    if misread:
        named = [_named(part, path) for path in misread]
        with_headers_quoted(store, _place(store, part), arguments, named, fd)
    else:
        _write_whole(store, part, arguments, fd)


def _write_whole(store: SnapshotStore, part: DiffPart, arguments: Sequence[str], fd: int) -> None:
    store.git.run_to_fd(_place(store, part), arguments, doing="writing the patch", stdout=fd)


def with_headers_quoted(
    store: SnapshotStore, place: Place, arguments: Sequence[str], paths: Sequence[bytes], fd: int
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
        running = store.git.start(place, arguments, stdout=writer)
    finally:
        os.close(writer)
    with open(reader, "rb", buffering=1 << 16) as lines, open(fd, "wb", closefd=False) as out:
        out.writelines(quoted.get(line, line) for line in lines)
    output_of(running.finish(), doing="writing the patch")


def diff_stat(
    store: SnapshotStore, parts: Sequence[DiffPart], *, paths: Sequence[bytes] = ()
) -> DiffStat:
    """Return the figures of the difference, with renames found as in `write_patch`."""
    found: list[FileStat] = []
    for part, inside in _concerned(parts, paths):
        done = store.git.attempt(_place(store, part), [*_COUNT, *_sides(part, inside)])
        stat = parse_stat(output_of(done, doing="counting changed lines"))
        found += (_renamed(part, each) for each in stat.per_file)
    return _summed(found)


def _renamed(part: DiffPart, stat: FileStat) -> FileStat:
    if not part.below:
        return stat
    old_path = None if stat.old_path is None else _named(part, stat.old_path)
    return stat._replace(path=_named(part, stat.path), old_path=old_path)


def _named(part: DiffPart, path: bytes) -> bytes:
    return join(part.below, path) if part.below else path


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
                    change=changes.get(path),
                )
            )
    return _summed(per_file)


def _summed(per_file: Sequence[FileStat]) -> DiffStat:
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


def _place(store: SnapshotStore, part: DiffPart | None = None) -> Place:
    place = store.place()
    place = place._replace(settings=place.settings + _PLAIN)
    if part is None:
        return place
    more = () if part.objects is None else (part.objects,)
    alternates = (*place.alternates, *more)
    return place._replace(alternates=alternates, magic_pathspecs=bool(part.without))


def _patch_of(part: DiffPart) -> list[str]:
    if not part.below:
        return list(_PATCH)
    below = os.fsdecode(part.below)
    # git writes a rename's two names without the prefix, and `git apply` then refuses the patch.
    return [*_PATCH, f"--src-prefix=a/{below}/", f"--dst-prefix=b/{below}/", "--no-renames"]


def _sides(part: DiffPart, paths: Sequence[bytes]) -> list[str]:
    """Return the two sides of a comparison, and the paths that it is limited to."""
    named = [os.fsdecode(path) for path in paths]
    if part.without:
        named = [f":(top,literal){path}" for path in named]
        named += [f":(top,exclude,literal){os.fsdecode(path)}" for path in part.without]
    return [part.old, part.new, *(["--", *named] if named else [])]


def _concerned(
    parts: Sequence[DiffPart], paths: Sequence[bytes]
) -> Iterator[tuple[DiffPart, tuple[bytes, ...]]]:
    """Yield the parts that some of the paths (all, when there are none) lie in, and where."""
    for part in parts:
        if not paths or (part.below and any(is_under(part.below, path) for path in paths)):
            yield part, ()
        elif inside := tuple(path for path in paths if is_under(path, part.below)):
            yield part, tuple(path[len(part.below) :].lstrip(b"/") for path in inside)
