"""Move a branch together with the checkout that has it, without touching the person's own work.

The branch moves by compare-and-swap. The checkout follows by a two-tree merge, which changes only
the paths that differ. The person's git must not run between the two, and a crash must not leave one
without the other. Therefore:

- git's ``index.lock`` of the checkout is taken first, with a token in it. So no other git command
  changes the index, and after a crash it is known that the lock is ours.
- git writes the new files beside the checkout first; then each is exchanged with the one that is
  there, so that nothing is overwritten (`staged_checkout.py`).
- The new index is made beside the old one and renamed into place at the end.
- The caller has written the `Move` to disk before. So `recover` can bring the branch and the
  checkout to the same side after a crash at any point.

Nothing here stashes, switches a branch, writes conflict markers into the person's files, or
overwrites an ignored or untracked file. Nothing is moved in a checkout with an unfinished merge,
rebase or the like (`unfinished_in`): `git status` says the same, but only as text for people, so
the files are read that git itself reads.
"""

import os
from collections.abc import Callable, Collection, Sequence
from enum import StrEnum
from pathlib import Path
from shlex import quote

from siding.ground.files.durable import flush_dir
from siding.ground.files.regular import read_small
from siding.ground.git import refs
from siding.ground.git.command import Place
from siding.ground.git.errors import said_by
from siding.ground.git.index_file import exceptions_in
from siding.ground.git.paths import is_under, quote_path
from siding.ground.git.repository import Repository
from siding.ground.git.settings import UserSettings
from siding.ground.ids import Sha
from siding.ground.namedtuples import NamedTuple
from siding.record.moving import checkout as checkouts
from siding.record.moving.bench import Bench
from siding.record.moving.model import (
    CheckoutBusy,
    CheckoutPlace,
    Move,
    Overlapping,
    Overlaps,
    RefusedMove,
    TargetMoved,
)
from siding.record.moving.ref_locks import PresentLocks, present_locks, sweep_locks
from siding.record.snapshots.patches import Change, DiffStat, parse_raw, parse_stat
from siding.record.worktrees.listing import worktrees

_NAMED = 5


class RecoveredSide(StrEnum):
    """The side to which a move that was cut off was brought: old (undone) or new (done)."""

    DONE = "done"
    UNDONE = "undone"


def checkout_of(repository: Repository, branch: str) -> CheckoutPlace | None:
    """Return the checkout of a branch, None if it is checked out nowhere.

    A worktree whose directory is gone does not count. Raises CheckoutBusy if the branch is being
    rebased, is checked out twice, or its checkout is busy.
    """
    found: list[CheckoutPlace] = []
    for info in worktrees(repository):
        if info.path is None or not info.path.is_dir():
            continue
        _refuse_rebase_of(info.git_dir, info.path, branch)
        if info.head is not None and info.head.branch == branch:
            found.append(CheckoutPlace(root=info.path, git_dir=info.git_dir))
    if len(found) > 1:
        places = " and ".join(repr(str(each.root)) for each in found)
        raise CheckoutBusy(
            f"branch {branch!r} is checked out at {places}", hint="let one of them go elsewhere"
        )
    if found:
        refuse_busy(repository, found[0])
    return found[0] if found else None


def refuse_busy(repository: Repository, place: CheckoutPlace) -> None:
    """Raise CheckoutBusy if a merge, a rebase or the like is unfinished in the checkout.

    Conflicts in the index count as well: `git stash pop` leaves conflicts and no other trace.
    """
    found = unfinished_in(repository, place)
    if found is not None:
        raise CheckoutBusy(
            f"{found.what} in {str(place.root)!r}", hint=f"{found.finish}; nothing was changed"
        )


def changed_paths(repository: Repository, place: Place, old: Sha, new: Sha) -> list[Change]:
    """Return the paths that differ between two commits or trees."""
    arguments = ["diff-tree", "-r", "--raw", "-z", "--no-renames", "--no-abbrev", old, new]
    return parse_raw(repository.git.run(place, arguments, doing="comparing with the target"))


def counted_paths(bench: Bench, old: Sha, new: Sha) -> tuple[list[Change], DiffStat]:
    """Return the paths that differ between two trees, and the numbers of changed lines."""
    arguments = [
        "diff-tree",
        "-r",
        "--raw",
        "--numstat",
        "-z",
        "--no-renames",
        "--no-abbrev",
        "--no-ext-diff",
        "--no-textconv",
        old,
        new,
    ]
    output = bench.git.run(bench.place(), arguments, doing="comparing with the target")
    return parse_raw(output), parse_stat(output)


def overlaps(
    repository: Repository,
    user: UserSettings,
    place: CheckoutPlace,
    changes: Sequence[Change],
    *,
    index: Path | None = None,
) -> Overlaps:
    """Return the person's files in a checkout that `changes` would overwrite.

    Writes nothing, except that a copy of the index given as `index` is refreshed.
    """
    if not changes:
        return Overlaps(changed=(), unknown=())
    dirty, excused = checkouts.dirty_paths(repository, user, place, changes, index=index)
    incoming = [change.path for change in changes]
    exact = set(incoming)
    changed = {
        path
        for path in dirty
        if path in exact or any(is_under(path, p) or is_under(p, path) for p in incoming)
    }
    unknown = checkouts.in_the_way(place, changes) - changed
    # git takes a path that is excused from comparison for unchanged, whatever is on disk.
    unknown |= excused - changed
    return Overlaps(changed=tuple(sorted(changed)), unknown=tuple(sorted(unknown)))


def refuse_overlaps(found: Overlaps, place: CheckoutPlace) -> None:
    """Raise Overlapping if files of the person are in the way."""
    if found.all:
        raise Overlapping(found, place.root)


def pushed_to(repository: Repository, commit: Sha) -> list[str]:
    """Return the remote-tracking branches that contain the commit."""
    output = repository.git.run(
        Place(git_dir=repository.paths.common_dir),
        ["for-each-ref", "--format=%(refname:short)", "--contains", commit, "refs/remotes"],
        doing="looking for remote branches",
    )
    return output.decode("utf-8", "replace").split()


def swap(
    repository: Repository,
    move: Move,
    *,
    reason: str,
    hooks: Sequence[str] = (),
    keep_fds: Sequence[int] = (),
) -> None:
    """Move the branch if it is still at `move.old`, durably.

    Raises TargetMoved, RefusedMove or CheckoutBusy; then nothing was changed.
    """
    refs.check_ref_part(move.branch)
    git_dir = move.checkout.git_dir if move.checkout else repository.paths.common_dir
    place = Place(
        git_dir=git_dir,
        common_dir=repository.paths.common_dir,
        settings=("core.logAllRefUpdates=always", *hooks),
    )
    name = f"refs/heads/{move.branch}"
    foreign = present_locks(_ref_locks(repository, move))
    done = repository.git.attempt(
        place,
        ["update-ref", "--create-reflog", "-m", reason, name, move.new, move.old],
        keep_fds=keep_fds,
    )
    # It may have been killed, or failed to remove them.
    sweep_ref_locks(repository, move, spare=foreign)
    if done.returncode == 0:
        _flush_ref(repository, name)
        return
    present = repository.branch(move.branch)
    if present == move.new:
        return
    if present != move.old:
        shown = present[:12] if present else "gone"
        raise TargetMoved(
            f"branch {move.branch!r} is at {shown} now, not at {move.old[:12]}",
            hint="look at the preview again; nothing was changed",
        )
    said = "; ".join(said_by(done.stderr)) or "git did not say why"
    if hooks:
        raise RefusedMove(
            f"branch {move.branch!r} could not be moved: {said}", hint="nothing was changed"
        )
    raise CheckoutBusy(
        f"branch {move.branch!r} could not be moved: {said}",
        hint="another git may be at work on it; try again. Nothing was changed",
    )


def sweep_ref_locks(
    repository: Repository, move: Move, *, spare: PresentLocks | None = None
) -> None:
    """Remove locks of the branch and of HEAD that a git of ours left when it died.

    Our locks contain one of the move's commit ids, or the beginning of one. Those in `spare` were
    there before our git began, so they are not ours.
    """
    sweep_locks(_ref_locks(repository, move), [move.new, move.old], spare=spare)


def _ref_locks(repository: Repository, move: Move) -> list[Path]:
    if not move.branch:
        return []
    common = repository.paths.common_dir
    git_dir = move.checkout.git_dir if move.checkout else common
    return [common / f"refs/heads/{move.branch}.lock", git_dir / "HEAD.lock"]


def _refuse_rebase_of(git_dir: Path, path: Path, branch: str) -> None:
    for name in ("rebase-merge", "rebase-apply"):
        head = read_small(git_dir / name / "head-name", 4096) or b""
        if head.strip() == f"refs/heads/{branch}".encode():
            raise CheckoutBusy(
                f"branch {branch!r} is being rebased in {str(path)!r}",
                hint="finish the rebase first; nothing was changed",
            )


def _flush_ref(repository: Repository, name: str) -> None:
    """Flush the directories above a branch, up to `refs/heads`: git flushes only the ref's file.

    Those below `refs/heads` may have been made just now. It itself is there from the beginning, and
    git never removes it.
    """
    if repository.paths.ref_format != "files":
        return
    heads = repository.paths.common_dir / "refs" / "heads"
    path = (repository.paths.common_dir / name).parent
    while path.is_relative_to(heads) and path.is_dir():
        flush_dir(path)
        path = path.parent


class Unfinished(NamedTuple):
    """An unfinished git command: `what` begins a sentence, `finish` tells what a person can do.

    `conflicts` are the paths with unresolved conflicts in the index.
    """

    what: str
    finish: str
    conflicts: tuple[bytes, ...]


def unfinished_in(repository: Repository, place: CheckoutPlace) -> Unfinished | None:
    """Return the unfinished git command or conflict in a checkout, None if there is none."""
    git_dir = place.git_dir
    command = _command_under_way(
        lambda name: os.path.lexists(git_dir / name),
        lambda: read_small(git_dir / "sequencer" / "todo", 4096) or b"",
    )
    return _unfinished(place.root, command, unmerged_paths(repository, place))


def unfinished_then(
    root: Path, names: Collection[str], todo: Callable[[], bytes], conflicts: tuple[bytes, ...]
) -> Unfinished | None:
    """Return what was unfinished in a recorded state of the checkout `root`.

    `names` are the small files that its git directory had, `todo` returns that of a sequencer.
    """
    return _unfinished(
        root,
        _command_under_way(
            lambda name: any(each == name or each.startswith(f"{name}/") for each in names), todo
        ),
        conflicts,
    )


def _unfinished(root: Path, command: str | None, conflicts: tuple[bytes, ...]) -> Unfinished | None:
    at = f"git -C {quote(str(root))}"
    if command is not None:
        finish = f"finish it (`{at} {command} --continue`) or give it up (`{at} {command} --abort`)"
        if command == "bisect":
            finish = f"end it (`{at} bisect reset`)"
        return Unfinished(f"`git {command}` is under way", finish, conflicts)
    if conflicts:
        named = ", ".join(quote_path(path) for path in conflicts[:_NAMED])
        more = f" and {len(conflicts) - _NAMED} more" if len(conflicts) > _NAMED else ""
        return Unfinished(
            f"there are conflicts that are not resolved ({named}{more})",
            f"resolve them there, then say so with `{at} add PATH`",
            conflicts,
        )
    return None


def unmerged_paths(repository: Repository, place: CheckoutPlace) -> tuple[bytes, ...]:
    """Return the paths with unresolved conflicts: the index has several stages of each.

    Returns none if git cannot read the index; the command that needs the index reports that.
    """
    paths = repository.paths
    found = exceptions_in(place.git_dir / "index", paths.hash_size // 2)
    if found is not None:
        return found.unmerged
    where = Place(git_dir=place.git_dir, common_dir=paths.common_dir, work_tree=place.root)
    done = repository.git.attempt(where, ["ls-files", "--unmerged", "-z"])
    lines = done.stdout.split(b"\0")[:-1] if done.returncode == 0 else []
    return tuple(dict.fromkeys(line.partition(b"\t")[2] for line in lines))


def _command_under_way(
    is_there: Callable[[str], bool], sequence: Callable[[], bytes]
) -> str | None:
    """Return the git command that left its state in a git directory."""

    def there(*names: str) -> bool:
        return any(map(is_there, names))

    if there("rebase-apply/applying"):
        return "am"
    if there("rebase-merge", "rebase-apply"):
        return "rebase"  # before the others: a rebase that stops may leave their files, too
    if there("MERGE_HEAD"):
        return "merge"
    if there("CHERRY_PICK_HEAD"):
        return "cherry-pick"
    if there("REVERT_HEAD"):
        return "revert"
    if there("sequencer"):  # between two commits of a row of them
        return "revert" if sequence().startswith(b"revert") else "cherry-pick"
    return "bisect" if there("BISECT_START", "BISECT_LOG") else None
