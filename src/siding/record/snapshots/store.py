"""The store of snapshots: a bare git directory of our own, with one git directory per task in it.

::

    snapshots.git/            config, objects, info/attributes: shared by all tasks
      refs/tasks/<task id>    the task's last snapshot; each has the one before as first parent
      tasks/<task id>/        the task's git directory
        commondir, HEAD       what makes it one
        index                 what the last snapshot holds, with the stat data of the worktree
        ledger-head, next-task   the anchor of the task's ledger; nothing here reads it
        base                  the commit that the task started from
        excludes, sparse               what seeding found out (`seeding.py`)
        seen                  the directories of the worktree, a cache (`directory_scan.py`)
        modes                 their permissions and the files', a cache (`mode_look.py`)
        incoming/             objects of a capture that is under way
      peeks/, applies/        directories of looks and applies under way (`scratch.py`)

What a snapshot needs is in this store or reachable from its base commit in the user's
repository, which one ref there keeps alive (`seeding.py`). The user's other objects are only read,
through the environment; nothing here depends on them, so that no `git gc` of the user's breaks a
snapshot, and no ref of ours is seen, pushed or packed by the user's git.
"""

import os
import stat
import time
from collections.abc import Sequence
from pathlib import Path

from siding.ground.files.regular import read_small
from siding.ground.git import objects, refs
from siding.ground.git.command import Git, Place
from siding.ground.git.discovery import RepositoryPaths
from siding.ground.git.errors import SnapshotDamaged
from siding.ground.ids import Sha, TaskId
from siding.ground.namedtuples import NamedTuple

PEEKS, APPLIES = "peeks", "applies"  # where looks and applies under way have their directories
_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
SETTINGS = (
    "core.autocrlf=false",
    "core.fileMode=true",
    "core.symlinks=true",
    "core.ignoreCase=false",
    "core.precomposeUnicode=false",
    "core.protectHFS=false",
    "core.protectNTFS=false",
    "core.preloadIndex=true",
)
PACKS_BEFORE_TIDYING = 50


class TaskDirectory(NamedTuple):
    """A task's git directory in the store."""

    path: Path
    ref: str

    @property
    def index_file(self) -> Path:
        return self.path / "index"

    @property
    def incoming(self) -> Path:
        return self.path / "incoming"

    @property
    def excludes(self) -> Path:
        return self.path / "excludes"

    @property
    def base(self) -> Path:
        return self.path / "base"

    @property
    def seen(self) -> Path:
        return self.path / "seen"

    @property
    def modes(self) -> Path:
        return self.path / "modes"

    @property
    def sparse(self) -> Path:
        return self.path / "sparse"

    @property
    def ledger_head(self) -> Path:
        """The anchor of the task's ledger. It is here so that it does not lie beside the ledger."""
        return self.path / "ledger-head"


class SnapshotStore:
    """One project's snapshots."""

    def __init__(self, git: Git, root: Path, repository: RepositoryPaths) -> None:
        self.git = git
        self.root = root
        self.repository = repository
        self.objects = root / "objects"

    def task(self, task_id: TaskId) -> TaskDirectory:
        """Return where a task is kept, whether it is there or not."""
        # Another tool's ids may begin with a dash, which git would take for an option.
        name = refs.check_ref_part(f"id{task_id}" if task_id.startswith("-") else task_id)
        return TaskDirectory(path=self.root / "tasks" / name, ref=f"refs/tasks/{name}")

    def tasks(self) -> list[TaskId]:
        """Return the tasks that have a snapshot."""
        names = (entry.name for entry in os.scandir(self.root / "refs" / "tasks"))
        return sorted(TaskId(name) for name in names if not name.endswith(".lock"))

    def tip(self, task_id: TaskId) -> Sha | None:
        """Return the task's last snapshot."""
        return refs.read_ref(self.root, self.task(task_id).ref)

    def base(self, task_id: TaskId) -> Sha:
        """Return the commit that the task's snapshots are relative to."""
        data = read_small(self.task(task_id).base, 200)
        sha = refs.as_sha(data.strip()) if data else None
        if sha is None:
            raise SnapshotDamaged(f"the base commit of task {task_id!r} is not recorded")
        return sha

    def place(self, task: TaskDirectory | None = None, **more: object) -> Place:
        """Return how git reads this store and, through it, the user's objects.

        Raises SnapshotDamaged when the store is not there.
        """
        if not self.objects.is_dir():
            raise SnapshotDamaged(
                f"the snapshot store {str(self.root)!r} is missing or damaged",
                hint="`siding doctor` makes a new one and says what cannot be gone back to",
            )
        given = Place(
            git_dir=task.path if task else self.root,
            alternates=(self.repository.objects,),
            settings=SETTINGS,
        )
        return given._replace(**more)  # type: ignore[arg-type]

    def read_commit(self, sha: Sha) -> objects.Commit:
        """Return a commit of this store or of the user's; no process when it is loose here."""
        body = objects.read_loose(self.objects, sha, "commit")
        if body is None:
            done = self.git.attempt(self.place(), ["cat-file", "commit", sha])
            if done.returncode:
                raise lost_snapshot(sha)
            body = done.stdout
        return objects.parse_commit(body)

    def read_blob(self, sha: str, limit: int) -> bytes | None:
        """Return the content of a blob of this store or of the user's; None when it is longer than
        `limit` bytes or not there. A loose one of ours needs no process.
        """
        body = objects.read_loose_blob(self.objects, sha, limit)
        if body is not None:
            return body
        place = self.place()
        size = self.git.attempt(place, ["cat-file", "-s", sha])
        if size.returncode != 0 or int(size.stdout) > limit:
            return None
        found = self.git.attempt(place, ["cat-file", "blob", sha])
        return found.stdout if found.returncode == 0 else None

    def read_blobs(self, shas: Sequence[str], limit: int) -> dict[str, bytes]:
        """Return the contents of those of the blobs that are there and have at most `limit` bytes.

        Takes two processes, however many they are, and none if all of them are loose.
        """
        found: dict[str, bytes] = {}
        for sha in shas:
            body = objects.read_loose_blob(self.objects, sha, limit)
            if body is not None:
                found[sha] = body
        asked = [sha for sha in shas if sha not in found]
        if not asked:
            return found
        checked = self.git.attempt(
            self.place(),
            ["cat-file", "--batch-check=%(objectname) %(objecttype) %(objectsize)"],
            stdin="".join(f"{sha}\n" for sha in asked).encode("ascii"),
        )
        lines = [line.split() for line in checked.stdout.decode("ascii", "replace").splitlines()]
        sizes = {
            words[0]: int(words[2])
            for words in lines
            if words[1:2] == ["blob"] and int(words[2]) <= limit
        }
        if not sizes:
            return found
        output = self.git.attempt(
            self.place(),
            ["cat-file", "--batch=%(objectname)"],
            stdin="".join(f"{sha}\n" for sha in sizes).encode("ascii"),
        ).stdout
        at = 0
        for sha, size in sizes.items():
            begin = at + len(sha) + 1
            body = output[begin : begin + size]
            if objects.object_id("blob", body, self.repository.object_format) != sha:
                break  # of a damaged object git writes less: where the next one begins is not known
            found[sha] = body
            at = begin + size + 1
        return found

    def present(self, shas: Sequence[str], *, with_base: bool = False) -> set[str]:
        """Return those of the objects that this store itself holds.

        With `with_base`, also those that are in the user's repository, as those of the base are.
        """
        asked = "".join(f"{sha}\n" for sha in shas).encode("ascii")
        output = self.git.run(
            self.place() if with_base else self.place(alternates=()),
            ["cat-file", "--batch-check=%(objectname)"],
            doing="looking for objects in the snapshot store",
            stdin=asked,
        )
        lines = output.decode("ascii").splitlines()
        return {line for line in lines if not line.endswith(" missing")}

    def packs(self) -> int:
        """Return how many packs the store has; each capture that finds a change adds one."""
        return sum(1 for _ in (self.objects / "pack").glob("*.pack"))

    def has_many_packs(self) -> bool:
        """Tell whether so many packs have gathered that they should be joined."""
        return self.packs() >= PACKS_BEFORE_TIDYING


def lost_snapshot(sha: str) -> SnapshotDamaged:
    """Return the error for a snapshot that the store does not hold, or not whole."""
    return SnapshotDamaged(
        f"snapshot {sha} is lost or damaged",
        hint="`siding verify` names what is; `siding doctor` lets the recording go on",
    )


def remove_tree(path: Path) -> None:
    """Remove a directory of our own with all in it; links are unlinked, never followed.

    One that is not there is fine. (`shutil` has the same, and loads three compressors.)
    """
    for is_last in (False, False, False, True):
        try:
            fd = os.open(path, _DIRECTORY)
        except FileNotFoundError:
            return
        try:
            _remove_below(fd)
            path.rmdir()
        except OSError:  # somebody, a git of ours that is about to end, still writes there
            if is_last:
                raise
            time.sleep(0.01)
        else:
            return
        finally:
            os.close(fd)


def _remove_below(directory: int) -> None:
    mode = stat.S_IMODE(os.fstat(directory).st_mode)
    if mode & 0o700 != 0o700:  # a copy of a directory that forbids to change it
        os.fchmod(directory, mode | 0o700)
    with os.scandir(directory) as entries:
        found = list(entries)
    for entry in found:
        if not entry.is_dir(follow_symlinks=False):
            os.unlink(entry.name, dir_fd=directory)
            continue
        fd = os.open(entry.name, _DIRECTORY, dir_fd=directory)
        try:
            _remove_below(fd)
        finally:
            os.close(fd)
        os.rmdir(entry.name, dir_fd=directory)
