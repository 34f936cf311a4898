"""The tree that a capture will find after a restoration, if nothing came between.

A restoration brings the task's index to a tree of the store. If git then sees the files as the
index has them, and the index differs from the last snapshot just as that tree does, it is the tree
of what is there. So git need not be asked to write it, nor what is new in it.
"""

from collections.abc import Iterable, Sequence

from siding.ground.git.status import StatusEntry
from siding.ground.ids import Sha
from siding.ground.namedtuples import NamedTuple
from siding.record.snapshots.patches import Change


class ExpectedTree(NamedTuple):
    """The tree of a snapshot that has a name. `changes` lead to it from the tree `old`.

    So its objects are kept already: in the store, or with the task's base, which is pinned in the
    repository (`pin`), as the unchanged files of every snapshot are.
    """

    old: Sha
    tree: Sha
    changes: Sequence[Change]

    def is_found(self, old: Sha, entries: Iterable[StatusEntry]) -> bool:
        """Tell whether the index is this tree, by a status against a snapshot of the tree `old`.

        The caller has seen that the files are as the index has them.
        """
        staged = {each.path: (each.staged, each.in_index) for each in entries}
        wanted = {
            each.path: (each.status, f"{each.new_mode} {each.new_sha}".encode("ascii"))
            for each in self.changes
        }
        found = {path: side for path, side in staged.items() if side[0] != "."}
        return old == self.old and found == wanted
