"""Save the objects that only a removed worktree's git directory names, and give objects back.

A removed worktree has its HEAD, log and index in the trash, where the user's `git gc` does not
look: it would prune commits that no branch has and content that was only staged. So these are saved
in a pack beside them. When the worktree comes back, the pack is given to the repository if it lacks
any of them. What the repository has collected of the snapshots' commits is given to it from our
store (`give_objects`).
"""

import os
import re
from pathlib import Path

from siding.ground.files.durable import flush, flush_dir
from siding.ground.files.regular import read_small
from siding.ground.git import refs
from siding.ground.git.command import Place
from siding.ground.git.errors import GitError, SnapshotDamaged, said_by
from siding.ground.git.repository import Repository, give_pack
from siding.ground.ids import Sha
from siding.record.snapshots.patches import parse_raw
from siding.record.snapshots.scratch import scratch
from siding.record.snapshots.store import APPLIES, SnapshotStore

PACK_NAME = "objects.pack"
_REFLOG_READ = 1 << 20
_COMMIT = re.compile(rb"^[0-9a-f]+ ([0-9a-f]{40,64}) ", re.MULTILINE)
_DOING = "giving the repository what it has lost since"


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


def give_objects(repository: Repository, store: SnapshotStore, wanted: list[Sha]) -> None:
    """Give the repository these objects with all that they need, as far as it lacks any of it.

    Raises SnapshotDamaged if a part of it is nowhere any more. Refs are not changed.
    """
    if not wanted:
        return
    needed = _lost_commits(repository, store, wanted)
    if not missing_objects(repository, needed):
        return
    with scratch(store.root / APPLIES / os.urandom(8).hex()) as directory:
        pack = directory / "given.pack"
        fd = os.open(pack, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        try:
            repository.git.run_to_fd(
                _both(repository, store),
                ["pack-objects", "-q", "--stdout"],
                doing=_DOING,
                stdout=fd,
                stdin=_lines(needed),
            )
        finally:
            os.close(fd)
        give_pack(repository, pack, doing=_DOING)


def _lost_commits(repository: Repository, store: SnapshotStore, wanted: list[Sha]) -> list[Sha]:
    """Return the objects that `wanted` needs and that no ref of the repository leads to."""
    # A partial clone rightly lacks objects that it was promised.
    listing = ["rev-list", "--objects", "--no-object-names", "--missing=allow-promisor"]
    listing += ["--stdin", "--not", "--all"]
    done = repository.git.attempt(_both(repository, store), listing, stdin=_lines(wanted))
    if done.returncode:
        said = "; ".join(said_by(done.stderr)) or "git did not say which"
        raise SnapshotDamaged(
            f"commits of that state are lost: {said}",
            hint="--files goes back with the files alone; nothing was changed",
        )
    return [Sha(sha) for sha in done.stdout.decode("ascii").split()]


def _both(repository: Repository, store: SnapshotStore) -> Place:
    """Return a place in which git reads the repository's objects and the store's."""
    return Place(git_dir=repository.paths.common_dir, alternates=(store.objects,))


def _lines(names: list[Sha]) -> bytes:
    return "".join(f"{name}\n" for name in names).encode("ascii")
