"""A user's repository, a task's worktree in it, and a snapshot store: all real."""

import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

from siding.ground.git.command import Git
from siding.ground.git.discovery import RepositoryPaths, find_repository
from siding.ground.git.repository import Repository
from siding.ground.git.roots import WorktreeRoot, recorded_root
from siding.ground.git.settings import UserSettings, load_settings
from siding.ground.ids import Sha, TaskId
from siding.record.snapshots.capture import Capture, capture
from siding.record.snapshots.changes import CaptureLimits
from siding.record.snapshots.expected_tree import ExpectedTree
from siding.record.snapshots.seeding import Seed, add_task, pin
from siding.record.snapshots.status_look import CaptureRequest
from siding.record.snapshots.store import SnapshotStore
from siding.record.snapshots.store_upkeep import create_store
from siding.record.worktrees.linked import AddedWorktree, add_worktree

TASK = TaskId("task2345")
MEGABYTE = 1 << 20
Tree = dict[bytes, tuple[str, bytes]]


class World:
    """One repository of a user called Ada, and one task of hers.

    Git makes the repository, or it is a copy of the one in `begun`.
    """

    def __init__(
        self,
        directory: Path,
        *,
        object_format: str = "sha1",
        bare: bool = False,
        begun: Path | None = None,
    ) -> None:
        self.directory = directory
        self.home = directory / "home"
        self.home.mkdir(parents=True)
        self.env = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.home),
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_AUTHOR_NAME": "Ada",
            "GIT_AUTHOR_EMAIL": "ada@example.org",
            "GIT_COMMITTER_NAME": "Ada",
            "GIT_COMMITTER_EMAIL": "ada@example.org",
            "LC_ALL": "C",
        }
        self.root = directory / "repo"
        if begun is None:
            options = [f"--object-format={object_format}", *(["--bare"] if bare else [])]
            self.user("init", "-q", "-b", "main", *options, str(self.root), cwd=directory)
            self.user("config", "gc.auto", "0")
        else:
            shutil.copytree(begun, self.root, symlinks=True)
            self.user("update-index", "-q", "--refresh")
        self.git = Git.find(self.env)
        self.worktree = directory / "work" / TASK
        self.branch = "siding/task"
        self.step = 0
        self.documents: dict[str, bytes] = {}

    def user(
        self, *arguments: str, cwd: Path | None = None, stdin: bytes = b"", check: bool = True
    ) -> bytes:
        """Run git as Ada does, in her repository."""
        done = subprocess.run(
            ["git", *arguments],
            cwd=cwd or self.root,
            env=self.env,
            input=stdin,
            capture_output=True,
            check=False,
        )
        if check and done.returncode:
            raise AssertionError(f"{arguments}: {done.stderr.decode()}")
        return done.stdout

    def commit(self, files: Mapping[str, bytes | str], message: str = "a commit") -> Sha:
        """Commit these files on Ada's branch."""
        for name, content in files.items():
            write(self.root / name, content)
        self.user("add", "-A", "-f")
        self.user("commit", "-q", "--allow-empty", "-m", message)
        return self.head()

    def head(self, cwd: Path | None = None) -> Sha:
        return Sha(self.user("rev-parse", "HEAD", cwd=cwd).decode().strip())

    @property
    def paths(self) -> RepositoryPaths:
        return find_repository(self.root)

    @property
    def repository(self) -> Repository:
        return Repository(self.git, self.paths)

    @property
    def settings(self) -> UserSettings:
        return load_settings(self.git, self.paths)

    @property
    def store(self) -> SnapshotStore:
        store = SnapshotStore(self.git, self.directory / "siding" / "snapshots.git", self.paths)
        create_store(store)
        return store

    def add(self, base: Sha | None = None) -> AddedWorktree:
        """Make the task's worktree."""
        base = base or self.head()
        self.worktree.parent.mkdir(exist_ok=True)
        pin(self.git, self.paths, base)
        return add_worktree(
            self.repository, self.worktree, self.branch, base, user=self.settings, workers=2
        )

    def start(self, base: Sha | None = None, *, fresh: bool = True) -> AddedWorktree:
        """Make the worktree and the task's part of the store."""
        base = base or self.head()
        added = self.add(base)
        index = added.git_dir / "index" if fresh and added.pristine else None
        self.begin(base, index)
        return added

    def begin(self, base: Sha, fresh_index: Path | None = None) -> None:
        """Make the task's part of the store for the worktree that is there."""
        git_dir = self.root / ".git" / "worktrees" / TASK
        add_task(
            self.store,
            Seed(
                task_id=TASK,
                base=base,
                worktree=self.worktree,
                own_git_dir=git_dir,
                fresh_index=fresh_index,
                excludes=self.settings.excludes,
                at=1_700_000_000,
                message="base",
            ),
        )
        self.git_dir = git_dir
        self.where: WorktreeRoot = recorded_root(self.worktree)

    def capture(
        self,
        *,
        max_file_bytes: int = 50 * MEGABYTE,
        ignored: tuple[str, ...] = (),
        expected: ExpectedTree | None = None,
    ) -> Capture:
        """Take a snapshot of the task's worktree."""
        self.step += 1
        return capture(
            self.store,
            CaptureRequest(
                task_id=TASK,
                root=self.where,
                git_dir=self.git_dir,
                branch=self.branch,
                step=f"{self.step:04d}",
                kind="run",
                at=1_700_000_000 + self.step,
                limits=CaptureLimits(max_file_bytes=max_file_bytes, ignored=ignored),
                documents=lambda: self.documents,
                expected=expected,
            ),
        )

    def stored(self, revision: str) -> Tree:
        """Return what a snapshot holds, read by git from the snapshot store."""
        store = self.store
        listed = store.git.run(store.place(), ["ls-tree", "-r", "-z", revision], doing="listing")
        entries = [line.partition(b"\t") for line in listed.split(b"\0")[:-1]]
        asked = [(name, *about.split(b" ")) for about, _, name in entries]
        blobs = [sha for _, _, kind, sha in asked if kind == b"blob"]
        output = store.git.run(
            store.place(), ["cat-file", "--batch"], doing="reading", stdin=b"\n".join(blobs) + b"\n"
        )
        found: Tree = {}
        for name, mode, kind, _ in asked:
            body = b""
            if kind == b"blob":
                header, _, output = output.partition(b"\n")
                size = int(header.split(b" ")[2])
                body, output = output[:size], output[size + 1 :]
            found[name] = (mode.decode(), body)
        return found

    def close(self) -> None:
        shutil.rmtree(self.directory)


def write(path: Path, content: bytes | str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())


def on_disk(root: Path, *, below: bytes = b"") -> Tree:
    """Return every file and link below a root, but for anything named `.git`."""
    found: Tree = {}
    top = os.fsencode(root)
    for entry in os.scandir(os.path.join(top, below) if below else top):
        path = os.path.join(below, entry.name) if below else entry.name
        if entry.name == b".git":
            continue
        if entry.is_symlink():
            found[path] = ("120000", os.readlink(entry.path))
        elif entry.is_dir(follow_symlinks=False):
            found |= on_disk(root, below=path)
        elif entry.is_file(follow_symlinks=False):
            with open(entry.path, "rb") as file:
                mode = "100755" if entry.stat().st_mode & 0o100 else "100644"
                found[path] = (mode, file.read())
    return found


def bytes_below(root: Path, *, without: tuple[str, ...] = ()) -> dict[str, bytes]:
    """Return every file below a root with its bytes: to show that nothing there changed."""
    return {
        str(path.relative_to(root)): path.read_bytes()
        for path in sorted(root.rglob("*"))
        if path.is_file() and not path.is_symlink()
        if not any(str(path.relative_to(root)).startswith(prefix) for prefix in without)
    }
