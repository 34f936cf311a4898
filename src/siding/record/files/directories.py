"""Plan which empty directories a restoration makes, and which it takes away.

One is taken away only if it is proved that the state gone to did not have it: that state says which
directories without files it had, and no file of its tree, nothing ignored and nothing skipped was
in it. Only an empty directory is ever removed; what gets a file in that moment stays.
"""

import os
from collections.abc import Collection, Sequence

from siding.ground.git.paths import NOTHING, is_selected, join, parents
from siding.ground.git.roots import WorktreeRoot
from siding.record.files.plan import LeftPath, Restoration, Why
from siding.record.snapshots.bare import Bare
from siding.record.snapshots.patches import Change


def with_directories(
    root: WorktreeRoot,
    plan: Restoration,
    changes: Sequence[Change],
    now: Bare | None,
    then: Bare | None,
    paths: Sequence[bytes],
) -> Restoration:
    """Return `plan` with its `made` and `removed`.

    `changes` are the differences of the trees, `now` and `then` the directories without files of
    both states; None if they are not known. `paths` limits it as in `plan_restoration`.
    """
    base = os.fsencode(root.path)
    deleted = {change.path for change in plan.deletes}
    made = (p for p in plan.directories if p in deleted or not os.path.lexists(join(base, p)))
    plan = plan._replace(made=tuple(made))
    if now is None or then is None:
        return plan
    there = {change.path for change in changes if change.new_mode != NOTHING}
    there |= {above for path in there for above in parents(path)}
    there |= then.may_have()
    unclear = {*then.unknown, *now.unknown}

    def may_go(path: bytes) -> bool:
        return (
            path not in there
            and is_selected(path, paths)
            and not any(above in unclear for above in parents(path))
        )

    gone = {path for path in now.empty if may_go(path)}
    vanishing = gone | deleted
    above = {each for path in gone for each in parents(path) if may_go(each)}
    gone |= {path for path in above if _vanishes(base, path, vanishing)}
    return plan._replace(removed=tuple(sorted(gone, reverse=True)))


def leaving(plan: Restoration, in_use: Collection[bytes]) -> Restoration:
    """Return `plan` without the removal of these directories, and of those above them."""
    stays = {*in_use, *(above for path in in_use for above in parents(path))}
    left = {LeftPath(path, Why.IN_USE) for path in plan.removed if path in in_use}
    return plan._replace(
        left=tuple(sorted({*plan.left, *left})),
        removed=tuple(path for path in plan.removed if path not in stays),
    )


def not_as_planned(root: WorktreeRoot, plan: Restoration) -> set[bytes]:
    """Return the directories that are there and should not be, and those that should be."""
    base = os.fsencode(root.path)
    stays = {path for path in plan.removed if os.path.lexists(join(base, path))}
    return stays | {path for path in plan.made if not os.path.lexists(join(base, path))}


def _vanishes(base: bytes, directory: bytes, gone: Collection[bytes]) -> bool:
    """Tell whether nothing will be left in a directory."""
    try:
        with os.scandir(join(base, directory)) as entries:
            below = [(entry.name, entry.is_dir(follow_symlinks=False)) for entry in entries]
    except OSError:
        return False  # nobody can look into it
    paths = [(os.path.join(directory, name), is_directory) for name, is_directory in below]
    return all(path in gone or (is_dir and _vanishes(base, path, gone)) for path, is_dir in paths)
