"""Find the ignored files of a checkout that match a list of patterns."""

from pathlib import Path

from siding.ground.git.command import Place, output_of
from siding.ground.git.repository import Repository
from siding.ground.git.settings import UserSettings


def ignored_matching(
    repository: Repository, user: UserSettings, worktree: Path, git_dir: Path, patterns: Path
) -> list[bytes]:
    """Return the files that git ignores and that `patterns` (gitignore syntax) matches, sorted."""
    place = Place(
        git_dir=git_dir,
        common_dir=repository.paths.common_dir,
        work_tree=worktree,
        settings=user.settings,
    )
    listing = ["ls-files", "--others", "--ignored", "-z", f"--exclude-from={patterns}"]
    doing = "looking for ignored files to take along"
    named = repository.git.run(place, listing, doing=doing)
    if not named:
        return []
    # "./" keeps a name that starts with ":" from being read as a pathspec's magic.
    asked = b"".join(b"./" + path + b"\0" for path in named.split(b"\0")[:-1])
    done = repository.git.attempt(
        place,
        ["check-ignore", "-z", "--stdin"],
        stdin=asked,
        env={"GIT_LITERAL_PATHSPECS": "0"},
    )
    if done.returncode != 1:  # 1: git ignores none of them
        output_of(done, doing=doing)
    return sorted(path.removeprefix(b"./") for path in done.stdout.split(b"\0")[:-1])
