"""Three-way merges of trees without a working tree or index, by `git merge-tree --write-tree`.

git has that command since 2.38. It takes commits, and a merge base only since 2.40, so three
temporary commits are made for it. If one side changed nothing, no merge is needed and an older git
works, too.
"""

from siding.git.applying.bench import Bench
from siding.git.command import Place, output_of
from siding.git.errors import GitError
from siding.ids import Sha
from siding.namedtuples import NamedTuple

NEEDED = (2, 38)


class GitTooOld(GitError):
    """This git cannot do what was asked; a newer one can."""

    code = "git_too_old"


class Conflict(NamedTuple):
    """A conflicting path, with git's word for the kind of conflict ("contents",
    "modify/delete")."""

    path: bytes
    kind: str


class Merged(NamedTuple):
    """The merged tree. If there are conflicts, its files contain conflict markers.

    `ours` and `theirs` are the commit ids in the markers, empty if no merge was needed.
    """

    tree: Sha
    conflicts: tuple[Conflict, ...] = ()
    ours: str = ""
    theirs: str = ""


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
    version = bench.git.version()
    if version < NEEDED:
        shown = ".".join(map(str, version))
        raise GitTooOld(
            f"the target has moved, and git {shown} cannot merge without a working tree",
            hint="install git 2.38 or newer, or merge the target into the workspace yourself",
        )
    ancestor = bench.commit(base)
    one, other = bench.commit(ours, (ancestor,)), bench.commit(theirs, (ancestor,))
    done = bench.git.attempt(
        place or bench.place(), ["merge-tree", "--write-tree", "-z", "--messages", one, other]
    )
    if done.returncode not in (0, 1):
        output_of(done, doing="merging")
    tree, _, rest = done.stdout.partition(b"\0")
    conflicts = _conflicts(rest) if done.returncode == 1 else ()
    return Merged(tree=Sha(tree.decode("ascii")), conflicts=conflicts, ours=one, theirs=other)


def _conflicts(output: bytes) -> tuple[Conflict, ...]:
    """Parse the conflicted entries, then the messages; each part ends with an empty field."""
    fields = iter(output.split(b"\0"))
    paths: dict[bytes, str] = {}
    for field in fields:
        if not field:
            break
        paths.setdefault(field.partition(b"\t")[2], "")
    for field in fields:
        if not field.strip().isdigit():
            continue
        involved = [next(fields, b"") for _ in range(int(field))]
        kind, _message = next(fields, b"").decode("utf-8", "replace"), next(fields, b"")
        if kind.startswith("CONFLICT"):
            shown = kind.removeprefix("CONFLICT").strip(" ()")
            for path in involved:
                if path in paths and not paths[path]:
                    paths[path] = shown
    return tuple(Conflict(path=path, kind=kind or "contents") for path, kind in paths.items())
