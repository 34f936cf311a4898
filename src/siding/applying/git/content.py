"""Convert files of a snapshot to what git would commit, and back.

A snapshot holds files as they are on disk. A commit holds them as the person's git stores them:
line endings normalised, `filter=lfs` content as pointers, `$Id$` collapsed. git itself converts
them, on copies of the snapshot's files beside the snapshot's `.gitattributes`. Only files that the
task changed are converted; all others keep their blobs. Only filters of the person's own settings
run, and those of the repository that they trusted (`settings.py`); others are refused
(`own_filters.py`).
"""

import os
import re
from collections.abc import Iterable, Mapping, Sequence

from siding.applying.git.own_filters import changed_files, kept_as_stored, refuse_off
from siding.ground.files.durable import write_all
from siding.ground.files.regular import read_small
from siding.ground.git.attributes import filters_on_disk
from siding.ground.git.command import Place
from siding.ground.git.drivers import never_without
from siding.ground.git.errors import GitError
from siding.ground.git.paths import c_quote, join, parents, quote_path
from siding.ground.git.settings import UserSettings, filter_environment
from siding.ground.ids import Sha
from siding.ground.namedtuples import NamedTuple
from siding.record.moving.bench import Bench, Entries, TreeEntry
from siding.record.snapshots.patches import Change
from siding.record.snapshots.store import remove_tree

_ATTRIBUTES = b".gitattributes"
# What may change bytes when a file is stored. `binary` and other macros change nothing by
# themselves, and one that does is defined with these words.
_CONVERTING = re.compile(rb"text|eol|ident|filter|encoding|crlf")
_MERGING = re.compile(rb"merge|binary|conflict-marker-size")  # `binary` merges nothing
_NOTHING, _SYMLINK = "000000", "120000"
_AT_ONCE = 16 << 20  # bytes of files read together; larger ones are streamed
_POINTER = b"version https://git-lfs.github.com/spec/"
_PLAIN = (
    "core.fileMode=true",
    "core.symlinks=true",
    "core.ignoreCase=false",
    "core.precomposeUnicode=false",
    "core.sparseCheckout=false",
    "index.sparse=false",
    "core.safecrlf=false",  # it only warns or refuses; the bytes on disk are what they are
)


class FilterMissing(GitError):
    """The person's configuration names a filter whose program is not installed."""

    code = "filter_missing"


class Content(NamedTuple):
    """The tree entries that commit some changes of a snapshot; None removes a path.

    `attributes`: the bench's files include `.gitattributes` that convert, or say how to merge.
    """

    edits: dict[bytes, TreeEntry | None]
    attributes: bool


def committed(
    bench: Bench,
    user: UserSettings,
    *,
    base: Sha,
    snapshot: Sha,
    changes: Sequence[Change],
) -> Content:
    """Return the entries with which `changes` are committed on top of `base`.

    `base` and `snapshot` are trees; `changes` lead to `snapshot` and bring no gitlinks. The bench's
    files are those of this snapshot afterwards, and of no other that was asked for before.
    """
    remove_tree(bench.files)
    refuse_off_filters(bench, user, (snapshot, base), changes)
    present = [c for c in changes if c.new_mode != _NOTHING]
    directories = {b"", *(above for change in changes for above in parents(change.path))}
    known = bench.read_trees(
        [*((base, d) for d in directories), *((snapshot, d) for d in directories)]
    )
    attributes = _attribute_files(bench, snapshot, known)
    edits: dict[bytes, TreeEntry | None] = {
        change.path: None for change in changes if change.new_mode == _NOTHING
    }
    converting = bool(present) and _converts(bench, user, attributes)
    merging = any(_MERGING.search(body) for _, body in attributes.values())
    if converting:
        stored = _stored(bench, user, base, present, attributes, known)
    else:
        if merging:
            lay_out(bench, _with_attributes([], attributes))
        stored = {c.path: TreeEntry(mode=c.new_mode.encode(), sha=c.new_sha) for c in present}
    edits |= stored
    edits = {path: entry for path, entry in edits.items() if _at(known, base, path) != entry}
    return Content(edits=edits, attributes=converting or merging)


def _attribute_files(
    bench: Bench, snapshot: Sha, known: Mapping[tuple[Sha, bytes], Entries]
) -> dict[bytes, tuple[TreeEntry, bytes]]:
    """Return the `.gitattributes` files that apply to the changed paths, as path -> (entry,
    bytes)."""
    found = {
        (directory + b"/" if directory else b"") + _ATTRIBUTES: entries[_ATTRIBUTES]
        for (tree, directory), entries in known.items()
        if tree == snapshot and _ATTRIBUTES in entries
    }
    files = {path: entry for path, entry in found.items() if entry.mode.startswith(b"100")}
    bodies = bench.read([entry.sha for entry in files.values()], kind=b"blob")
    return {path: (files[path], body) for path, body in zip(files, bodies, strict=True)}


def _converts(
    bench: Bench, user: UserSettings, attributes: Mapping[bytes, tuple[TreeEntry, bytes]]
) -> bool:
    own = read_small(bench.repository.paths.common_dir / "info" / "attributes") or b""
    texts = [own, *(body for _, body in attributes.values())]
    return user.converts or any(_CONVERTING.search(text) for text in texts)


def _stored(
    bench: Bench,
    user: UserSettings,
    base: Sha,
    changes: Sequence[Change],
    attributes: Mapping[bytes, tuple[TreeEntry, bytes]],
    known: Mapping[tuple[Sha, bytes], Entries],
) -> dict[bytes, TreeEntry]:
    """Let git convert and store copies of the files; return the entries it made."""
    lay_out(bench, _with_attributes(changes, attributes))
    if user.missing_filters:
        _refuse_missing_filter(bench, user, [c.path for c in changes])
    # With autocrlf git keeps CRLF in a file whose blob has CRLF already, and it looks for that blob
    # in the index. So the index gets the base's entries first.
    lines = [
        entry.mode + b" " + entry.sha.encode() + b"\t" + change.path
        for change in changes
        if (entry := _at(known, base, change.path)) is not None and entry.mode != b"40000"
    ]
    bench.index.unlink(missing_ok=True)
    place = files_place(bench, user)
    kept: dict[bytes, TreeEntry] = {}
    if user.trusted_filters:
        place = place._replace(settings=(*place.settings, *never_without(user.drivers)))
        kept = kept_as_stored(
            bench, place, user, changes, base=base, entry_at=lambda path: _at(known, base, path)
        )
    if lines:
        bench.git.run(
            place,
            ["update-index", "-z", "--index-info"],
            doing="preparing the files",
            stdin=b"\0".join(lines) + b"\0",
        )
    paths = b"".join(change.path + b"\0" for change in changes if change.path not in kept)
    bench.git.run(
        place,
        ["update-index", "--add", "--replace", "-z", "--stdin"],
        doing="storing the changed files",
        stdin=paths,
        env=filter_environment(bench.git, user),
    )
    listed = bench.git.run(place, ["ls-files", "-s", "-z"], doing="reading what was stored")
    found: dict[bytes, TreeEntry] = {}
    for line in listed.split(b"\0")[:-1]:
        about, _, path = line.partition(b"\t")
        mode, sha, _stage = about.split(b" ")
        found[path] = TreeEntry(mode=mode, sha=Sha(sha.decode("ascii")))
    found |= kept
    return {change.path: found[change.path] for change in changes}


def smudged(
    bench: Bench, user: UserSettings, tree: Sha, changes: Sequence[Change]
) -> dict[bytes, TreeEntry | None]:
    """Return the entries of `changes`, which lead to `tree`, with the bytes a checkout would
    write. Raises DriverOff if one goes through a filter that is off."""
    refuse_off_filters(bench, user, (tree,), changes)
    edits: dict[bytes, TreeEntry | None] = {
        c.path: None if c.new_mode == _NOTHING else TreeEntry(c.new_mode.encode(), c.new_sha)
        for c in changes
    }
    directories = {b"", *(above for change in changes for above in parents(change.path))}
    attributes = _attribute_files(bench, tree, bench.read_trees((tree, d) for d in directories))
    if not _converts(bench, user, attributes):
        return edits
    written = [c for c in changes if c.new_mode.startswith("100")]
    root = bench.root / f"smudged-{os.urandom(4).hex()}"
    root.mkdir(mode=0o700)
    index = root.with_suffix(".index")
    place = files_place(bench, user)._replace(work_tree=root, index_file=index)
    lines = [f"{c.new_mode} {c.new_sha}".encode() + b"\t" + c.path for c in written]
    lines += [b"100644 " + e.sha.encode() + b"\t" + path for path, (e, _) in attributes.items()]
    bench.git.run(
        place,
        ["update-index", "-z", "--index-info"],
        doing="preparing the files",
        stdin=b"\0".join(lines) + b"\0",
    )
    bench.git.run(
        place,
        ["checkout-index", "-a", "-q"],
        doing="writing the files",
        env=filter_environment(bench.git, user),
    )
    names = [join(os.fsencode(root), c.path) for c in written]
    output = bench.git.run(
        place,
        ["hash-object", "-w", "--no-filters", "--stdin-paths"],
        doing="storing the files",
        stdin=b"".join(c_quote(name) + b"\n" for name in names),
    )
    for change, sha in zip(written, output.decode("ascii").split(), strict=True):
        edits[change.path] = TreeEntry(change.new_mode.encode(), Sha(sha))
    return edits


def lay_out(bench: Bench, changes: Iterable[Change]) -> None:
    """Write the new side of `changes` into the bench's directory of files, byte for byte."""
    bench.files.mkdir(mode=0o700, exist_ok=True)
    root = os.fsencode(bench.files)
    waiting = [c for c in changes if not os.path.lexists(join(root, c.path))]
    place = bench.place()
    sizes = _sizes(bench, [c.new_sha for c in waiting])
    small = [c for c in waiting if sizes[c.new_sha] <= _AT_ONCE]
    for change in waiting:
        os.makedirs(os.path.dirname(join(root, change.path)), exist_ok=True)
    while small:
        room = _AT_ONCE
        batch: list[Change] = []
        while small and room > 0:
            batch.append(small.pop())
            room -= sizes[batch[-1].new_sha]
        bodies = bench.read([c.new_sha for c in batch], kind=b"blob")
        for change, body in zip(batch, bodies, strict=True):
            _write(join(root, change.path), change, body)
    for change in waiting:
        if sizes[change.new_sha] > _AT_ONCE:
            fd = _create(join(root, change.path), change)
            try:
                bench.git.run_to_fd(
                    place, ["cat-file", "blob", change.new_sha], doing="reading a file", stdout=fd
                )
            finally:
                os.close(fd)


def _write(path: bytes, change: Change, body: bytes) -> None:
    if change.new_mode == _SYMLINK:
        os.symlink(body, path)
        return
    fd = _create(path, change)
    try:
        write_all(fd, body)
    finally:
        os.close(fd)


def _create(path: bytes, change: Change) -> int:
    mode = 0o755 if change.new_mode == "100755" else 0o644
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode)


def _sizes(bench: Bench, shas: Sequence[str]) -> dict[str, int]:
    if not shas:
        return {}
    output = bench.git.run(
        bench.place(),
        ["cat-file", "--batch-check=%(objectname) %(objectsize)"],
        doing="reading the snapshot",
        stdin="".join(f"{sha}\n" for sha in shas).encode("ascii"),
    )
    lines = [line.split(" ") for line in output.decode("ascii").splitlines()]
    missing = [words[0] for words in lines if not words[1].isdigit()]
    if missing:
        raise GitError(f"the snapshot lacks {missing[0]}", hint="`siding verify` tells more")
    return {sha: int(size) for sha, size in lines}


def refuse_off_filters(
    bench: Bench, user: UserSettings, trees: Iterable[Sha], changes: Sequence[Change]
) -> None:
    """Raise DriverOff if a changed file goes through a filter that is off in one of the trees."""
    if changes and user.off_filters:
        scratch = bench.root / f"attributes-{os.urandom(4).hex()}"
        place = bench.place(work_tree=bench.root)
        refuse_off(bench.git, place, user, trees, changed_files(changes), scratch=scratch)


def files_place(bench: Bench, user: UserSettings) -> Place:
    """Return the place of a git command on the bench's files."""
    place = bench.place(work_tree=bench.files, index_file=bench.index)
    given = () if bench.settings else user.settings
    return place._replace(settings=(*given, *place.settings, *_PLAIN))


def _with_attributes(
    changes: Sequence[Change], attributes: Mapping[bytes, tuple[TreeEntry, bytes]]
) -> list[Change]:
    changed = {change.path for change in changes}
    zeros = Sha("0" * 40)
    return [
        *changes,
        *(
            Change(
                status="A",
                path=path,
                old_mode=_NOTHING,
                new_mode="100644",
                old_sha=zeros,
                new_sha=entry.sha,
            )
            for path, (entry, _) in attributes.items()
            if path not in changed
        ),
    ]


def _refuse_missing_filter(bench: Bench, user: UserSettings, paths: Sequence[bytes]) -> None:
    """Raise FilterMissing if a file needs a filter that is not installed: committing its raw bytes
    would be wrong. A Git LFS pointer is what the filter would store, so it is fine."""
    for path, name in filters_on_disk(bench.git, files_place(bench, user), paths).items():
        if name not in user.missing_filters:
            continue
        with open(os.path.join(os.fsencode(bench.files), path), "rb") as file:
            if file.read(len(_POINTER)) == _POINTER:
                continue
        raise FilterMissing(
            f"{quote_path(path)} goes through the filter {name!r}, whose program is not installed",
            hint=f"install {name!r}, or leave the file out with --paths",
        )


def _at(known: Mapping[tuple[Sha, bytes], Entries], tree: Sha, path: bytes) -> TreeEntry | None:
    directory, _, name = path.rpartition(b"/")
    return known.get((tree, directory), {}).get(name)
