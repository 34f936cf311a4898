"""Paths that go through filters of the repository's own configuration.

While such a filter is off, git would store a file as it is on disk: in clear text, where the filter
encrypts. So whatever stores or writes such a path is refused until a person trusts the filter. A
workspace that was made before that has the files as they are stored. They must not go through the
filter a second time.
"""

import os
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path

from siding.ground.git.command import Git, Place
from siding.ground.git.drivers import filters_in, filters_on_disk
from siding.ground.git.errors import DriverOff, GitError
from siding.ground.git.paths import GITLINK, NOTHING, quote_path
from siding.ground.git.settings import UserSettings, filter_environment
from siding.ground.ids import Sha
from siding.record.moving.bench import Bench, TreeEntry
from siding.record.snapshots.patches import Change

_NAMED = 5
_TELLING = 8  # bytes in a row that a file and its stored form do not have in common by chance
_COMPARED = 4 << 20  # bytes; a larger file counts as changed in its stored form


class StoredForm(GitError):
    """A file was changed in the form in which git stores it, and its filter cannot take that."""

    code = "stored_form"


def refuse_off(
    git: Git,
    place: Place,
    user: UserSettings,
    trees: Iterable[Sha],
    paths: Collection[bytes],
    *,
    scratch: Path,
) -> None:
    """Raise DriverOff if one of the paths goes through a filter that is off.

    The attributes are those of each of `trees`. `scratch` is a path for an index, which is removed.
    """
    off = user.off_filters
    if not off:
        return
    found: dict[str, set[bytes]] = {}
    for tree in dict.fromkeys(trees):
        for path, name in filters_in(git, place, tree, paths, scratch=scratch).items():
            if name in off:
                found.setdefault(name, set()).add(path)
    if found:
        raise refused(found)


def refused(found: Mapping[str, Collection[bytes]]) -> DriverOff:
    """Return the error about paths, by the filter that they go through."""
    said = []
    for name, paths in sorted(found.items()):
        shown = ", ".join(quote_path(path) for path in sorted(paths)[:_NAMED])
        more = f" and {len(paths) - _NAMED} more" if len(paths) > _NAMED else ""
        goes = "goes" if len(paths) == 1 else "go"
        said.append(f"{shown}{more} {goes} through the filter {name!r}")
    return DriverOff(
        f"{'; '.join(said)} of this repository's own configuration, which is off until you trust "
        "it",
        hint="nothing was changed: without the filter git would store these files as they are. "
        "`siding trust --show` shows what it runs, `siding trust` allows exactly that",
    )


def kept_as_stored(
    bench: Bench,
    place: Place,
    user: UserSettings,
    changes: Sequence[Change],
    *,
    base: Sha,
    entry_at: Callable[[bytes], TreeEntry | None],
) -> dict[bytes, TreeEntry]:
    """Return entries of changed files that the workspace has in their stored form already.

    They were moved, copied or made executable. Raises StoredForm for one whose content was changed
    in that form. `entry_at` returns what the base has at a path; `place` has the files.
    """
    names = filters_on_disk(bench.git, place, [c.path for c in changes])
    mine = [c for c in changes if names.get(c.path) in user.trusted_filters]
    kept: dict[bytes, TreeEntry] = {}
    if not mine:
        return kept
    check = _StoredForms(bench, place, user)
    stored = check.blobs_of(base)
    for change in mine:
        entry = entry_at(change.path)
        if change.new_sha in stored and check.is_encoded(change.path, change.new_sha):
            kept[change.path] = TreeEntry(change.new_mode.encode(), change.new_sha)
        elif entry is not None and entry.sha == change.old_sha:
            check.refuse_changed(change, names[change.path])
    return kept


class _StoredForms:
    """Compares files with what their filters make of them."""

    def __init__(self, bench: Bench, place: Place, user: UserSettings) -> None:
        self._bench, self._place = bench, place
        self._env = filter_environment(bench.git, user)

    def blobs_of(self, tree: Sha) -> set[str]:
        listing = ["ls-tree", "-r", "--full-tree", "--format=%(objectname)", tree]
        if self._bench.git.version() < (2, 36):
            listing[3:4] = []
        output = self._bench.git.run(self._place, listing, doing="listing what is stored")
        lines = output.decode("utf-8", "surrogateescape").splitlines()
        return {line.partition("\t")[0].split(" ")[-1] for line in lines}

    def is_encoded(self, path: bytes, sha: str) -> bool:
        """Tell whether the filter decodes the stored content to something else."""
        return self._filtered(path, sha) != self._raw(sha)

    def refuse_changed(self, change: Change, name: str) -> None:
        """Raise StoredForm if the new content still has part of the stored form in it."""
        old = self._raw(change.old_sha)
        if not _shares(old, self._raw(change.new_sha)):
            return  # it was written anew
        if self._cleaned(change.path, old) == change.old_sha:
            return  # the filter leaves the stored form as it is
        if not self.is_encoded(change.path, change.old_sha):
            return
        raise StoredForm(
            f"{quote_path(change.path)} was changed in the form in which the filter {name!r} "
            "stores it: the workspace was made before you trusted that filter",
            hint="nothing was changed: the filter would encode it twice. A task that starts now "
            "has the file decoded; or leave it out with --paths",
        )

    def _raw(self, sha: str) -> bytes:
        (body,) = self._bench.read([sha], kind=b"blob")
        return body

    def _filtered(self, path: bytes, sha: str) -> bytes:
        arguments = ["cat-file", "--filters", f"--path={os.fsdecode(path)}", sha]
        return self._bench.git.run(self._place, arguments, doing="decoding a file", env=self._env)

    def _cleaned(self, path: bytes, body: bytes) -> str:
        arguments = ["hash-object", f"--path={os.fsdecode(path)}", "--stdin"]
        output = self._bench.git.run(
            self._place, arguments, doing="comparing a file", stdin=body, env=self._env
        )
        return output.decode("ascii").strip()


def _shares(old: bytes, new: bytes) -> bool:
    """Tell whether `new` has a part of `old` in it that is too long for chance."""
    if max(len(old), len(new)) > _COMPARED:
        return True
    short = old.strip()
    if len(short) <= _TELLING:
        return bool(short) and short in new
    known = {new[at : at + _TELLING] for at in range(len(new) - _TELLING + 1)}
    return any(old[at : at + _TELLING] in known for at in range(len(old) - _TELLING + 1))


def changed_files(changes: Iterable[Change]) -> list[bytes]:
    """Return the paths of changes that are files on one side at least."""
    return [c.path for c in changes if {c.old_mode, c.new_mode} - {NOTHING, GITLINK}]
