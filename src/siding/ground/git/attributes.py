"""Ask git for the attributes of paths: through which filter they go, which driver merges them."""

import os
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from siding.ground.files.regular import read_small
from siding.ground.git.command import Git, Place
from siding.ground.git.paths import parents
from siding.ground.ids import Sha
from siding.ground.namedtuples import NamedTuple

if TYPE_CHECKING:
    from siding.ground.git.drivers import Driver

_ATTRIBUTES = b".gitattributes"
_AT_ONCE = 500  # paths on one command line


class PathClass(NamedTuple):
    """The files of a commit that go through one driver, and the patterns that say so."""

    kind: str  # "filter", "merge"
    name: str
    patterns: tuple[str, ...]
    files: int


def path_classes(
    git: Git, place: Place, commit: Sha, drivers: "Iterable[Driver]"
) -> list[PathClass]:
    """Return the files of a commit that go through these drivers; `place` has them on disk.

    A driver that no attribute names is left out.
    """
    wanted = list(drivers)
    if not wanted:
        return []
    listed = git.run(
        place, ["ls-tree", "-r", "-z", "--name-only", "--full-tree", commit], doing="listing files"
    )
    paths = listed.split(b"\0")[:-1]
    found = []
    for kind in dict.fromkeys(each.kind for each in wanted):
        values = list(_asked(git, place, paths, kind).values())
        lines = _lines_with(git, place, commit, kind)
        for name in (each.name for each in wanted if each.kind == kind):
            patterns = tuple(dict.fromkeys(p for p, words in lines if f"{kind}={name}" in words))
            files = values.count(name)
            if patterns or files:
                found.append(PathClass(kind, name, patterns, files))
    return found


def _lines_with(git: Git, place: Place, commit: Sha, kind: str) -> list[tuple[str, list[str]]]:
    """Return pattern and attributes of each line of an attributes file that names a driver."""
    pathspec = ":(glob)**/.gitattributes"
    done = git.attempt(
        place._replace(magic_pathspecs=True),
        ["grep", "-h", "-F", "-e", f"{kind}=", commit, "--", pathspec],
    )
    own = read_small((place.common_dir or place.git_dir) / "info" / "attributes") or b""
    lines = (done.stdout + b"\n" + own).decode("utf-8", "backslashreplace").split("\n")
    words = [line.split() for line in lines if line.strip() and not line.lstrip().startswith("#")]
    return [(each[0], each[1:]) for each in words]


def filters_in(
    git: Git, place: Place, tree: Sha, paths: Iterable[bytes], *, scratch: Path
) -> dict[bytes, str]:
    """Return the filters of the paths by the `.gitattributes` of a tree."""
    asked = list(paths)
    above = dict.fromkeys([b"", *(each for path in asked for each in parents(path))])
    files = [os.path.join(directory, _ATTRIBUTES) for directory in above]
    there = place._replace(index_file=scratch)
    try:
        entries = [entry for some in _batches(files) for entry in _listed(git, there, tree, some)]
        git.run(
            there,
            ["update-index", "--add", "-z", "--index-info"],
            doing="asking for filters",
            stdin=b"".join(entry + b"\0" for entry in entries),
        )
        return _asked(git, there, asked, "filter", cached=True)
    finally:
        scratch.unlink(missing_ok=True)


def filters_on_disk(git: Git, place: Place, paths: Iterable[bytes]) -> dict[bytes, str]:
    """Return the filters of the paths by the `.gitattributes` in a directory of files."""
    return _asked(git, place, list(paths), "filter")


def _listed(git: Git, place: Place, tree: Sha, paths: Sequence[bytes]) -> Iterator[bytes]:
    """Yield the entries of files as `git update-index --index-info` reads them."""
    output = git.run(
        place,
        ["ls-tree", "-z", "--full-tree", tree, "--", *map(os.fsdecode, paths)],
        doing="looking for attributes",
    )
    for line in output.split(b"\0")[:-1]:
        if line.startswith(b"100"):  # git follows no link to attributes
            yield line


def _batches(paths: Sequence[bytes]) -> Iterator[list[bytes]]:
    waiting = iter(paths)
    while some := list(islice(waiting, _AT_ONCE)):
        yield some


def _asked(
    git: Git, place: Place, paths: Sequence[bytes], attribute: str, *, cached: bool = False
) -> dict[bytes, str]:
    output = git.run(
        place,
        ["check-attr", *(["--cached"] if cached else []), "-z", "--stdin", attribute],
        doing="asking for attributes",
        stdin=b"".join(path + b"\0" for path in paths),
    )
    fields = output.split(b"\0")
    found = zip(fields[0::3], fields[2::3], strict=False)
    return {path: value.decode("utf-8", "surrogateescape") for path, value in found}
