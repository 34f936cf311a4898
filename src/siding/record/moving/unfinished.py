"""Detect an unfinished merge, rebase or the like in a checkout, and say how to finish it.

`git status` says the same, but only as text for people. This reads the files that git itself reads.
"""

import os
from collections.abc import Callable, Collection
from pathlib import Path
from shlex import quote

from siding.ground.files.regular import read_small
from siding.ground.git.command import Place
from siding.ground.git.index_file import exceptions_in
from siding.ground.git.paths import quote_path
from siding.ground.git.repository import Repository
from siding.ground.namedtuples import NamedTuple
from siding.record.moving.model import CheckoutPlace

_NAMED = 5


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
