"""Compare submodules that were checked out ("filled") in a workspace.

The base has a submodule's commit id and none of its files. A snapshot of a workspace in which the
submodule was checked out has the files. Compared directly, all of them would be new. So they are
compared with the files of the commit, which are read from the submodule's own repository. Nothing
in that repository is run.
"""

import os
from collections.abc import Iterable
from pathlib import Path

from siding.ground.git.discovery import read_git_file
from siding.ground.git.paths import is_under, join
from siding.ground.ids import Sha
from siding.ground.namedtuples import NamedTuple
from siding.record.snapshots.patches import Change, diff_trees
from siding.record.snapshots.store import SnapshotStore

_GITLINK, _NOTHING = "160000", "000000"


class Filled(NamedTuple):
    """A submodule that has files on one side and is only named on the other.

    ``old`` and ``new`` are commits or trees; ``objects`` is where the submodule's are.
    """

    path: bytes
    old: str
    new: str
    objects: Path


def filled_between(
    store: SnapshotStore, root: Path, git_dir: Path | None, old: Sha, new: Sha
) -> tuple[Filled, ...]:
    """Return the submodules that a workspace filled or emptied between two snapshots or trees.

    `git_dir` is git's directory of the workspace `root`. Costs nothing where no submodule was ever
    checked out in it. A submodule whose repository lacks the commit is left out.
    """
    if git_dir is None or not (git_dir / "modules").is_dir():
        return ()
    changes = diff_trees(store, old, new)
    found = (_filled(store, root, git_dir, (old, new), each) for each in _links(changes))
    return tuple(each for each in found if each is not None)


def repository_of(root: Path, git_dir: Path, path: bytes) -> Path | None:
    """Return the repository of a workspace's submodule; None for one that lies elsewhere."""
    named = read_git_file(Path(os.fsdecode(join(os.fsencode(root), path))) / ".git")
    if named is None:
        return None
    modules, there = os.path.realpath(git_dir / "modules"), os.path.realpath(named)
    return Path(there) if there.startswith(modules + os.sep) else None


def tree_in(store: SnapshotStore, repository: Path, commit: str) -> str | None:
    """Return the tree of a commit that a submodule's repository has."""
    place = store.place(alternates=(store.repository.objects, repository / "objects"))
    done = store.git.attempt(place, ["rev-parse", "--verify", "-q", f"{commit}^{{tree}}"])
    return done.stdout.decode("ascii").strip() if done.returncode == 0 else None


def _links(changes: list[Change]) -> Iterable[Change]:
    """Return the links to commits that files took the place of, or that took theirs."""
    for link in changes:
        if (link.old_mode, link.new_mode) in ((_GITLINK, _NOTHING), (_NOTHING, _GITLINK)) and any(
            each is not link and is_under(each.path, link.path) for each in changes
        ):
            yield link


def _filled(
    store: SnapshotStore, root: Path, git_dir: Path, sides: tuple[Sha, Sha], link: Change
) -> Filled | None:
    repository = repository_of(root, git_dir, link.path)
    if repository is None:
        return None
    was_filled = link.new_mode == _GITLINK
    tree = tree_in(store, repository, link.new_sha if was_filled else link.old_sha)
    if tree is None:
        return None
    files = f"{sides[0 if was_filled else 1]}:{os.fsdecode(link.path)}"
    old, new = (files, tree) if was_filled else (tree, files)
    return Filled(path=link.path, old=old, new=new, objects=repository / "objects")
