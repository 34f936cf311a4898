"""List the files of a worktree that git does not ignore, into files; nothing of it is run."""

from pathlib import Path

from siding.git.command import Git, Place
from siding.git.discovery import find_repository
from siding.git.settings import load_settings
from siding.namedtuples import NamedTuple


class Listing(NamedTuple):
    """What git lists below a directory: paths from the worktree's root, each followed by a NUL.

    `listing` has tracked and other files that are not ignored, `ignored` the tracked ones that
    patterns ignore nevertheless. `prefix` is the directory itself, as these paths begin.
    """

    listing: Path
    ignored: Path
    prefix: str


def list_files(git: Git, directory: Path, scratch: Path) -> Listing | None:
    """List what is below a resolved directory into files in `scratch`.

    Returns None if the directory is ignored itself. Raises GitError, NotARepository among them.
    """
    repository = find_repository(directory)
    root = repository.worktree
    if root is None or not directory.is_relative_to(root):
        return None
    place = Place(
        git_dir=repository.git_dir,
        common_dir=repository.common_dir,
        work_tree=root,
        settings=load_settings(git, repository).settings,
    )
    below = directory.relative_to(root).as_posix()
    found = Listing(scratch / "listing", scratch / "ignored", "" if below == "." else f"{below}/")
    _list(git, place, ["--cached", "--others"], below, found.listing)
    if found.prefix and not found.listing.stat().st_size and _is_ignored(git, place, below):
        return None
    _list(git, place, ["--cached", "--ignored"], below, found.ignored)
    return found


def _list(git: Git, place: Place, what: list[str], below: str, file: Path) -> None:
    arguments = ["ls-files", "-z", *what, "--exclude-standard", "--", below]
    with file.open("xb") as sink:
        git.run_to_fd(place, arguments, doing="listing the files", stdout=sink.fileno())


def _is_ignored(git: Git, place: Place, below: str) -> bool:
    # The command refuses literal pathspecs, and takes its arguments for nothing but paths anyway.
    there = place._replace(magic_pathspecs=True)
    return git.attempt(there, ["check-ignore", "--quiet", "--", f"./{below}"]).returncode == 0
