"""Keep the base commits of tasks alive in the user's repository.

One ref per base commit, `refs/siding/base/<sha>`. It points at a commit of the user's own, so that
`git log --all` shows nothing new by it, and a mirror push carries none of our snapshots.
"""

from siding.ground.files.durable import make_dirs, replace_by_lock
from siding.ground.git import refs
from siding.ground.git.command import Git, Place
from siding.ground.git.discovery import RepositoryPaths
from siding.ground.git.errors import UnknownRevision
from siding.ground.ids import Sha

_PREFIX = "refs/siding/base/"


def pin(git: Git, repository: RepositoryPaths, sha: Sha) -> None:
    """Keep the commit alive, durably; safe to repeat. The caller serialises per repository."""
    name = _PREFIX + sha
    place = Place(git_dir=repository.common_dir)
    if refs.read_ref(repository.common_dir, name) == sha:
        return
    if git.attempt(place, ["cat-file", "-e", sha + "^{commit}"]).returncode:
        raise UnknownRevision(f"the repository has no commit {sha!r}")
    if repository.ref_format != "files":
        git.run(place, ["update-ref", name, sha], doing=f"keeping commit {sha}")
        return
    path = repository.common_dir / name
    make_dirs(path.parent)
    # The name says what the ref holds: two writers write the same, and git packs it as any other.
    replace_by_lock(path, sha.encode("ascii") + b"\n", mode=0o644)
