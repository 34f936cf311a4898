"""Let git convert files as it does when it stores or checks them out, on copies beside the bench.

Loaded only where something converts: a filter, line endings, an encoding. `content` says when.
"""

import os
from collections.abc import Iterable, Mapping, Sequence

from siding.applying.git.attributes import (
    attribute_files,
    converts,
    entry_at,
    files_place,
    refuse_off_filters,
    with_attributes,
)
from siding.applying.git.own_filters import kept_as_stored
from siding.ground.files.durable import write_all
from siding.ground.git.drivers import filters_on_disk, never_without
from siding.ground.git.errors import GitError
from siding.ground.git.paths import NOTHING, c_quote, join, parents, quote_path
from siding.ground.git.settings import UserSettings, filter_environment
from siding.ground.ids import Sha
from siding.record.moving.bench import Bench, Entries, TreeEntry
from siding.record.snapshots.patches import Change

_SYMLINK = "120000"
_AT_ONCE = 16 << 20  # bytes of files read together; larger ones are streamed
_POINTER = b"version https://git-lfs.github.com/spec/"


class FilterMissing(GitError):
    """The person's configuration names a filter whose program is not installed."""

    code = "filter_missing"


def stored(
    bench: Bench,
    user: UserSettings,
    base: Sha,
    changes: Sequence[Change],
    attributes: Mapping[bytes, tuple[TreeEntry, bytes]],
    known: Mapping[tuple[Sha, bytes], Entries],
) -> dict[bytes, TreeEntry]:
    """Let git convert and store copies of the files; return the entries it made."""
    lay_out(bench, with_attributes(changes, attributes))
    if user.missing_filters:
        _refuse_missing_filter(bench, user, [c.path for c in changes])
    # With autocrlf git keeps CRLF in a file whose blob has CRLF already, and it looks for that blob
    # in the index. So the index gets the base's entries first.
    lines = [
        entry.mode + b" " + entry.sha.encode() + b"\t" + change.path
        for change in changes
        if (entry := entry_at(known, base, change.path)) is not None and entry.mode != b"40000"
    ]
    bench.index.unlink(missing_ok=True)
    place = files_place(bench, user)
    kept: dict[bytes, TreeEntry] = {}
    if user.trusted_filters:
        place = place._replace(settings=(*place.settings, *never_without(user.drivers)))
        kept = kept_as_stored(
            bench,
            place,
            user,
            changes,
            base=base,
            entry_at=lambda path: entry_at(known, base, path),
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
        c.path: None if c.new_mode == NOTHING else TreeEntry(c.new_mode.encode(), c.new_sha)
        for c in changes
    }
    directories = {b"", *(above for change in changes for above in parents(change.path))}
    attributes = attribute_files(bench, tree, bench.read_trees((tree, d) for d in directories))
    if not converts(bench, user, attributes):
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
