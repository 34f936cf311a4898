"""Plan a restoration: which paths of a worktree are written and deleted, and which are left.

The paths to write and to delete are known exactly before anything is changed: they are the paths
that differ between the snapshot taken just now and the one to restore. Files that no snapshot holds
(ignored, too large, special) are in neither tree, so nothing touches them. If one of them is where
a file has to be written, `obstacles` reports it and nothing is done at all.

Empty directories are made, and taken away. One is taken away only if it is proved that the state
gone to did not have it: that state says which directories without files it had, and no file of its
tree, nothing ignored and nothing skipped was in it. Only an empty directory is ever removed; what
gets a file in that moment stays.
"""

import os
from collections.abc import Collection, Sequence
from enum import StrEnum

from siding.ground.git.paths import GITLINK, NOTHING, is_selected, join, parents
from siding.ground.git.roots import WorktreeRoot
from siding.ground.namedtuples import NamedTuple
from siding.record.snapshots.mode_changes import ModeChange
from siding.record.snapshots.modes import Bare, Links, Modes
from siding.record.snapshots.patches import Change


class Why(StrEnum):
    """Why a path that differs stays as it is."""

    REPOSITORY = "a repository of its own"
    NOT_CAPTURED = "not captured by the snapshot"
    IGNORED = "ignored there"
    IN_USE = "a program works in it"
    FOREIGN = "its permissions are another user's to change"


class LeftPath(NamedTuple):
    """A path that differs and is not touched."""

    path: bytes
    why: Why


class Restoration(NamedTuple):
    """The changes of a restoration. Paths are in byte order; no path is in two lists.

    `chmods` are paths that get other permissions and no other content. `modes` are the permissions
    of the restored snapshot, None if they were not recorded. `links` are groups of `writes` that
    become one file each. `made` are those of `directories` that are not there. `removed` are
    directories that did not belong there, the deepest first: they are empty, or become so.
    """

    writes: tuple[Change, ...]
    deletes: tuple[Change, ...]
    left: tuple[LeftPath, ...]
    directories: tuple[bytes, ...]  # empty ones that belong there
    chmods: tuple[ModeChange, ...] = ()
    modes: Modes | None = None
    links: Links = ()
    made: tuple[bytes, ...] = ()
    removed: tuple[bytes, ...] = ()


def plan_restoration(
    changes: Sequence[Change],
    *,
    unknown: Collection[bytes] = (),
    ignored: Collection[bytes] = (),
    paths: Sequence[bytes] = (),
    directories: Sequence[bytes] = (),
    mode_changes: Sequence[ModeChange] = (),
    modes: Modes | None = None,
) -> Restoration:
    """Return the restoration that turns the old side of `changes` into the new one.

    `unknown` are paths that either snapshot did not capture, `ignored` those that are ignored by
    the rules of the new side: both are left as they are. `paths` limits it to these and what is
    below them; none means everything. `directories` are the empty ones of the new side, `modes` its
    permissions, `mode_changes` what else differs in these.
    """
    untouchable = set(unknown)
    writes: list[Change] = []
    deletes: list[Change] = []
    left: list[LeftPath] = []
    for change in sorted(changes, key=lambda each: each.path):
        if not is_selected(change.path, paths):
            continue
        if GITLINK in (change.old_mode, change.new_mode):
            left.append(LeftPath(path=change.path, why=Why.REPOSITORY))
        elif change.path in untouchable or any(p in untouchable for p in parents(change.path)):
            left.append(LeftPath(path=change.path, why=Why.NOT_CAPTURED))
        elif change.new_mode != NOTHING:
            writes.append(change)
        elif change.path in ignored:
            left.append(LeftPath(path=change.path, why=Why.IGNORED))
        else:
            deletes.append(change)
    empty = [path for path in directories if is_selected(path, paths)]
    empty += [c.path for c in changes if c.new_mode == GITLINK and is_selected(c.path, paths)]
    done = {*(change.path for change in writes), *(each.path for each in left)}
    chmods = [
        each
        for each in mode_changes
        if is_selected(each.path, paths)
        and each.path not in done
        and (each.is_directory or each.path not in untouchable)
    ]
    return Restoration(
        writes=tuple(writes),
        deletes=tuple(deletes),
        left=tuple(left),
        directories=tuple(sorted(empty)),
        chmods=tuple(chmods),
        modes=modes,
    )


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
