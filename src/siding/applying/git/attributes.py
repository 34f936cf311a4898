"""The `.gitattributes` that apply to changed files, and where git reads them on the bench."""

import os
import re
from collections.abc import Iterable, Mapping, Sequence

from siding.ground.files.regular import read_small
from siding.ground.git.command import Place
from siding.ground.git.paths import NOTHING
from siding.ground.git.settings import UserSettings
from siding.ground.ids import Sha
from siding.record.moving.bench import Bench, Entries, TreeEntry
from siding.record.snapshots.patches import Change

_ATTRIBUTES = b".gitattributes"
# What may change bytes when a file is stored. `binary` and other macros change nothing by
# themselves, and one that does is defined with these words.
_CONVERTING = re.compile(rb"text|eol|ident|filter|encoding|crlf")
_PLAIN = (
    "core.fileMode=true",
    "core.symlinks=true",
    "core.ignoreCase=false",
    "core.precomposeUnicode=false",
    "core.sparseCheckout=false",
    "index.sparse=false",
    "core.safecrlf=false",  # it only warns or refuses; the bytes on disk are what they are
)


def attribute_files(
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


def converts(
    bench: Bench, user: UserSettings, attributes: Mapping[bytes, tuple[TreeEntry, bytes]]
) -> bool:
    """Tell whether git may change bytes when it stores or checks out a file."""
    own = read_small(bench.repository.paths.common_dir / "info" / "attributes") or b""
    texts = [own, *(body for _, body in attributes.values())]
    return user.converts or any(_CONVERTING.search(text) for text in texts)


def refuse_off_filters(
    bench: Bench, user: UserSettings, trees: Iterable[Sha], changes: Sequence[Change]
) -> None:
    """Raise DriverOff if a changed file goes through a filter that is off in one of the trees."""
    if changes and user.off_filters:
        from siding.applying.git.own_filters import changed_files, refuse_off

        scratch = bench.root / f"attributes-{os.urandom(4).hex()}"
        place = bench.place(work_tree=bench.root)
        refuse_off(bench.git, place, user, trees, changed_files(changes), scratch=scratch)


def files_place(bench: Bench, user: UserSettings) -> Place:
    """Return the place of a git command on the bench's files."""
    place = bench.place(work_tree=bench.files, index_file=bench.index)
    given = () if bench.settings else user.settings
    return place._replace(settings=(*given, *place.settings, *_PLAIN))


def entry_at(
    known: Mapping[tuple[Sha, bytes], Entries], tree: Sha, path: bytes
) -> TreeEntry | None:
    """Return what a tree has at a path, as far as its directories are known."""
    directory, _, name = path.rpartition(b"/")
    return known.get((tree, directory), {}).get(name)


def with_attributes(
    changes: Sequence[Change], attributes: Mapping[bytes, tuple[TreeEntry, bytes]]
) -> list[Change]:
    """Return the changes, and one for each of the `.gitattributes` that is not among them."""
    changed = {change.path for change in changes}
    zeros = Sha("0" * 40)
    return [
        *changes,
        *(
            Change(
                status="A",
                path=path,
                old_mode=NOTHING,
                new_mode="100644",
                old_sha=zeros,
                new_sha=entry.sha,
            )
            for path, (entry, _) in attributes.items()
            if path not in changed
        ),
    ]
