"""Save the objects that only a removed worktree's git directory names.

A removed worktree has its HEAD, log and index in the trash, where the user's `git gc` does not
look: it would prune commits that no branch has and content that was only staged. So these are saved
in a pack beside them. When the worktree comes back, the pack is given to the repository if it lacks
any of them.
"""

import os
import re
from pathlib import Path

from siding.ground.files.durable import flush, flush_dir
from siding.ground.files.regular import read_small
from siding.ground.git import refs
from siding.ground.git.command import Place
from siding.ground.git.errors import GitError
from siding.ground.git.packs import give_pack
from siding.ground.git.repository import Repository
from siding.ground.ids import Sha
from siding.record.snapshots.patches import parse_raw

PACK_NAME = "objects.pack"
_REFLOG_READ = 1 << 20
_COMMIT = re.compile(rb"^[0-9a-f]+ ([0-9a-f]{40,64}) ", re.MULTILINE)


def keep_private(repository: Repository, git_dir: Path, base: Sha, target: Path) -> bool:
    """Write a pack of the objects that the worktree's HEAD, log and index name and `base` lacks.

    Durable. Returns False, and writes nothing, if there are none. Call it while `git_dir` is still
    where git expects it.
    """
    wanted = _needed(repository, git_dir, base)
    there = [sha for sha in wanted if sha not in missing_objects(repository, wanted)]
    if not there:
        return False
    temporary = target.with_name(target.name + ".tmp")
    request = "".join(f"{sha}\n" for sha in there) + f"^{base}\n"
    fd = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    try:
        repository.git.run_to_fd(
            Place(git_dir=repository.paths.common_dir),
            ["pack-objects", "-q", "--revs", "--stdout"],
            doing="keeping what only the workspace's git directory names",
            stdout=fd,
            stdin=request.encode("ascii"),
        )
        flush(fd)
    finally:
        os.close(fd)
    temporary.rename(target)
    flush_dir(target.parent)
    return True


def give_back(repository: Repository, git_dir: Path, base: Sha, pack: Path) -> bool:
    """Give the repository the objects of the pack if it lacks one; returns whether it did."""
    if not pack.is_file() or not missing_objects(repository, _needed(repository, git_dir, base)):
        return False
    give_pack(repository, pack, doing="giving the repository its objects back")
    return True


def restore_branch(repository: Repository, git_dir: Path, base: Sha) -> str | None:
    """Create the branch that a stored HEAD names if it is gone, and return its name, else None.

    It gets the newest commit of HEAD's log that still exists, or `base`.
    """
    head = refs.read_head(git_dir, repository.paths.common_dir)
    if head is None or head.branch is None or repository.branch(head.branch) is not None:
        return None
    candidates = [*reversed(_commits_of_log(git_dir)), base]
    lost = missing_objects(repository, candidates)
    sha = next((each for each in candidates if each not in lost), None)
    if sha is None:
        raise GitError(f"branch {head.branch!r} is gone, and so are its commits")
    repository.git.run(
        Place(git_dir=repository.paths.common_dir),
        ["update-ref", f"refs/heads/{head.branch}", sha, "0" * len(sha)],
        doing=f"making branch {head.branch} again",
    )
    return head.branch


def _needed(repository: Repository, git_dir: Path, base: Sha) -> list[Sha]:
    """Return the commits and contents that the git directory names besides the base's."""
    common = repository.paths.common_dir
    place = Place(git_dir=git_dir, common_dir=common)
    found = _commits_of_log(git_dir)
    head = repository.head(git_dir).sha
    if head is not None:
        found.append(head)
    staged = repository.git.attempt(
        place, ["diff-index", "--cached", "--raw", "-z", "--no-renames", "--no-abbrev", base]
    )
    found += [c.new_sha for c in parse_raw(staged.stdout) if c.new_mode not in ("160000", "000000")]
    unmerged = repository.git.attempt(place, ["ls-files", "-u", "-z"])
    found += [
        Sha(line.split(b" ")[1].decode("ascii")) for line in unmerged.stdout.split(b"\0")[:-1]
    ]
    return [sha for sha in dict.fromkeys(found) if sha.strip("0") and sha != base]


def _commits_of_log(git_dir: Path) -> list[Sha]:
    """Return the commits HEAD came to, oldest first."""
    data = read_small(git_dir / "logs" / "HEAD", _REFLOG_READ) or b""
    return [Sha(sha.decode("ascii")) for sha in _COMMIT.findall(data) if sha.strip(b"0")]


def missing_objects(repository: Repository, shas: list[Sha]) -> set[str]:
    """Return those of the objects that the repository does not have."""
    if not shas:
        return set()
    done = repository.git.attempt(
        Place(git_dir=repository.paths.common_dir),
        ["cat-file", "--batch-check=%(objectname)"],
        stdin="".join(f"{sha}\n" for sha in shas).encode("ascii"),
    )
    lines = done.stdout.decode("ascii", "replace").splitlines()
    return {line.split(" ")[0] for line in lines if line.endswith(" missing")}
