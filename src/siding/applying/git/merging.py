"""Three-way merges of trees without a working tree or index, by `git merge-tree --write-tree`.

git has that command since 2.38. It takes commits, and a merge base only since 2.40, so three
temporary commits are made for it. If one side changed nothing, no merge is needed and an older git
works, too.
"""

from collections.abc import Iterator, Sequence
from itertools import takewhile
from typing import TYPE_CHECKING

from siding.ground.git.command import Place, output_of
from siding.ground.git.errors import DriverOff, GitError
from siding.ground.ids import Sha
from siding.ground.namedtuples import NamedTuple
from siding.record.moving.bench import Bench

if TYPE_CHECKING:
    from siding.record.snapshots.git_details import IndexEntry

NEEDED = (2, 38)


class GitTooOld(GitError):
    """This git cannot do what was asked; a newer one can."""

    code = "git_too_old"


class UnrelatedHistories(GitError):
    """Two commits have no common ancestor."""

    code = "unrelated_histories"


class Conflict(NamedTuple):
    """A conflicting path, with git's word for the kind of conflict ("contents",
    "modify/delete")."""

    path: bytes
    kind: str


class Merged(NamedTuple):
    """The merged tree. If there are conflicts, its files contain conflict markers.

    `ours` and `theirs` are the commit ids in the markers, empty if no merge was needed. `stages`
    are the entries of an index for the paths in conflict: base 1, ours 2, theirs 3.
    """

    tree: Sha
    conflicts: tuple[Conflict, ...] = ()
    ours: str = ""
    theirs: str = ""
    stages: "tuple[IndexEntry, ...]" = ()


def merge_trees(
    bench: Bench, *, base: Sha, ours: Sha, theirs: Sha, place: Place | None = None
) -> Merged:
    """Merge the changes from `base` to `theirs` into `ours`. All three are trees.

    `place` may have a working tree whose `.gitattributes` choose merge drivers. Raises GitTooOld if
    a merge is needed and git is older than 2.38.
    """
    if ours in (base, theirs):
        return Merged(tree=theirs)
    if theirs == base:
        return Merged(tree=ours)
    ancestor = bench.commit(base)
    one, other = bench.commit(ours, (ancestor,)), bench.commit(theirs, (ancestor,))
    return merge_commits(bench, ours=one, theirs=other, place=place)


def merge_commits(bench: Bench, *, ours: Sha, theirs: Sha, place: Place | None = None) -> Merged:
    """Merge two commits with what their histories have in common as the base.

    Raises GitTooOld, and UnrelatedHistories if they have nothing in common.
    """
    version = bench.git.version()
    if version < NEEDED:
        shown = ".".join(map(str, version))
        raise GitTooOld(
            f"the target has moved, and git {shown} cannot merge without a working tree",
            hint="install git 2.38 or newer, or merge the target into the workspace yourself",
        )
    done = bench.git.attempt(
        place or bench.place(), ["merge-tree", "--write-tree", "-z", "--messages", ours, theirs]
    )
    if b"unrelated histories" in done.stderr:
        raise UnrelatedHistories(
            f"{ours[:10]} and {theirs[:10]} have no commit in common, so they cannot be merged"
        )
    if done.returncode not in (0, 1):
        _refuse_off(place or bench.place())
        output_of(done, doing="merging")
    tree, _, rest = done.stdout.partition(b"\0")
    merged = Merged(tree=Sha(tree.decode("ascii")), ours=ours, theirs=theirs)
    if done.returncode == 0:
        return merged
    fields = iter(rest.split(b"\0"))
    stages = tuple(_stage(field) for field in takewhile(bool, fields))
    return merged._replace(conflicts=_conflicts(stages, fields), stages=stages)


def _refuse_off(place: Place) -> None:
    """Raise DriverOff if a merge that failed may have needed a merge driver that is off.

    git says only that it could not run a program without a name.
    """
    off = [s.removeprefix("merge.").removesuffix(".driver=") for s in place.settings if _is_off(s)]
    if off:
        raise DriverOff(
            "both sides changed a file that is merged by a driver of this repository's own "
            f"configuration ({', '.join(map(repr, off))}), which is off until you trust it",
            hint="nothing was changed. `siding trust --show` shows what it runs, `siding trust` "
            "allows exactly that",
        )


def _is_off(setting: str) -> bool:
    return setting.startswith("merge.") and setting.endswith(".driver=")


def _stage(field: bytes) -> "IndexEntry":
    """Return a conflicted entry: ``<mode> <id> <stage>``, a tab, the path."""
    from siding.record.snapshots.git_details import IndexEntry

    about, _, path = field.partition(b"\t")
    mode, sha, stage = about.decode("ascii").split(" ")
    return IndexEntry(path, int(stage), mode, Sha(sha))


def _conflicts(stages: "Sequence[IndexEntry]", messages: Iterator[bytes]) -> tuple[Conflict, ...]:
    """Return the paths in conflict, with the kinds that the messages name."""
    paths = dict.fromkeys((entry.path for entry in stages), "")
    for field in messages:
        if not field.strip().isdigit():
            continue
        involved = [next(messages, b"") for _ in range(int(field))]
        kind, _message = next(messages, b"").decode("utf-8", "replace"), next(messages, b"")
        if kind.startswith("CONFLICT"):
            shown = kind.removeprefix("CONFLICT").strip(" ()")
            for path in involved:
                if path in paths and not paths[path]:
                    paths[path] = shown
    return tuple(Conflict(path=path, kind=kind or "contents") for path, kind in paths.items())
