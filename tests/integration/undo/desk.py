"""One task of one project, worked on through the application, without starting a Python each."""

import os
import shutil
import stat
from pathlib import Path

from sandbox import Sandbox
from siding.applying import apply as applying
from siding.record.ledger.step import Step
from siding.record.place.project import Project, ensure_project
from siding.record.place.wiring import open_app
from siding.record.restoring import rollback as going_back
from siding.record.tasks.task import Task
from siding.running.checkpoint import checkpoint
from siding.running.run import RunRequest, StdinPlan, Terminal, run
from siding.sandbox.request import SandboxRequest
from siding.tasks import gc as collecting
from siding.tasks import reopen as reopening
from siding.tasks.close import Closed, Fate, close_task
from siding.tasks.start import StartRequest, start, start_task
from siding.undo import undo as undoing

Tree = dict[bytes, tuple[str, bytes]]


class Desk:
    """A task with a workspace, and what a person does with it."""

    def __init__(self, sandbox: Sandbox) -> None:
        self.sandbox = sandbox
        app = open_app(env=sandbox.env, cwd=sandbox.repo)
        self.project: Project = ensure_project(app)[0]
        self.task = start_task(self.project, name="work", base=None).task

    @classmethod
    def at(cls, sandbox: Sandbox) -> "Desk":
        """Return the desk of the one task that was begun in a sandbox before."""
        desk = cls.__new__(cls)
        desk.sandbox = sandbox
        desk.project = ensure_project(open_app(env=sandbox.env, cwd=sandbox.repo))[0]
        (task_id,) = desk.project.tasks.ids()
        desk.task = desk.project.tasks.load(task_id)
        return desk

    @classmethod
    def again(cls, desk: "Desk") -> "Desk":
        """Return the same desk as the next command would find it."""
        new = cls.__new__(cls)
        new.sandbox, new.task = desk.sandbox, desk.task
        new.project = ensure_project(open_app(env=desk.sandbox.env, cwd=desk.sandbox.repo))[0]
        return new

    @property
    def root(self) -> Path:
        return self.project.layout.workspace(self.task.id)

    def plan(self, name: str) -> Task:
        """Make one more task, without a workspace and not the active one."""
        return start(self.project, StartRequest(name=name, workspace=False, switch=False)).task

    def steps(self) -> list[Step]:
        return list(self.project.ledger(self.task.id).steps())

    def write(self, name: str, content: bytes | str) -> None:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())

    def read(self, name: str) -> bytes:
        return (self.root / name).read_bytes()

    def run(self, *argv: str, guarded: bool = False) -> Step:
        """Run a command as a recorded step, in a sandbox if it is `guarded`."""
        nowhere = os.open(os.devnull, os.O_RDWR)
        try:
            terminal = Terminal(stdin=StdinPlan.NULL, pty=False, out=nowhere, err=nowhere)
            box = SandboxRequest(sandbox=guarded or None)
            request = RunRequest(argv=argv, task=self.task.id, sandbox=box)
            done = run(self.project, request, terminal)
        finally:
            os.close(nowhere)
        assert done.step is not None
        return done.step

    def shell(self, script: str, *, guarded: bool = False) -> Step:
        return self.run("sh", "-c", script, guarded=guarded)

    def checkpoint(self, message: str = "so far") -> Step:
        return checkpoint(self.project, self.task.id, message, wait=False)

    def rollback(
        self,
        step: int | None,
        *paths: str,
        hard: bool = False,
        force: bool = False,
        files_only: bool = False,
    ) -> going_back.RolledBack:
        """Go back to a step, or to the base (None)."""
        request = self._request(step, paths, hard, force)
        return going_back.rollback(self.project, request._replace(files_only=files_only))

    def preview(self, step: int | None, *paths: str, hard: bool = False) -> going_back.Survey:
        with going_back.preview(self.project, self._request(step, paths, hard, False)) as survey:
            return survey

    def apply(self, mode: applying.Mode, *, close: bool = False) -> applying.Applied:
        """Apply all of the task to the branch `main`."""
        request = applying.ApplyRequest(task=self.task.id, mode=mode, close=close)
        return applying.apply(self.project, request)

    def undo(self, *, force: bool = False) -> undoing.Undone:
        request = undoing.UndoRequest(task=self.task.id, force=force)
        return undoing.undo(self.project, request)

    def redo(self, *, force: bool = False) -> undoing.Undone:
        request = undoing.UndoRequest(task=self.task.id, force=force)
        return undoing.redo(self.project, request)

    def close(self, fate: Fate = Fate.REMOVE) -> Closed:
        return close_task(self.project, self.task, fate=fate, force=True)

    def reopen(self) -> reopening.Reopened:
        return reopening.reopen(self.project, self.task.id)

    def gc(self, *, budget: int | None = None, dry_run: bool = False) -> collecting.Report:
        return collecting.gc(self.project, budget=budget, dry_run=dry_run)

    @property
    def branch(self) -> str:
        """The task's branch."""
        return self.task.branch

    @property
    def git_dir(self) -> Path:
        """The workspace's git directory."""
        return self.sandbox.repo / ".git" / "worktrees" / self.root.name

    def git(self, *arguments: str) -> str:
        """Run git in the workspace, as the agent does."""
        return self.sandbox.git(*arguments, cwd=self.root)

    def commit(self) -> None:
        """Commit everything in the workspace, as the agent does."""
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", "the agent's")

    def tree(self) -> Tree:
        return on_disk(self.root)

    def trash(self) -> list[bytes]:
        """Return the names of all files in the project's trash."""
        return sorted(on_disk(self.project.layout.trash_dir))

    def _request(
        self, step: int | None, paths: tuple[str, ...], hard: bool, force: bool
    ) -> going_back.RollbackRequest:
        return going_back.RollbackRequest(
            step=None if step is None else str(step),
            task=self.task.id,
            paths=paths,
            hard=hard,
            force=force,
        )


def on_disk(root: Path, *, whole: bool = False) -> Tree:
    """Return every file and link below a root with kind, executable bit and bytes.

    Without what is called `.git`, unless `whole`: then with that, directories, pipes and all
    permissions.
    """
    found: Tree = {}
    top = os.fsencode(root)
    waiting = [b""]
    while waiting:
        directory = waiting.pop()
        for name in os.listdir(os.path.join(top, directory)):
            path = os.path.join(directory, name)
            full = os.path.join(top, path)
            mode = os.lstat(full).st_mode
            if name == b".git" and not whole:
                continue
            if stat.S_ISLNK(mode):
                found[path] = ("link", os.readlink(full))
            elif stat.S_ISDIR(mode):
                waiting.append(path)
                if whole:
                    found[path] = (f"directory {stat.S_IMODE(mode):o}", b"")
            elif stat.S_ISREG(mode):
                kind = "executable" if mode & 0o100 else "file"
                with open(full, "rb") as file:
                    found[path] = (f"{kind} {stat.S_IMODE(mode):o}" if whole else kind, file.read())
            elif whole:
                found[path] = (f"special {stat.S_IFMT(mode):o}", b"")
    return found


def remove(path: bytes) -> None:
    """Remove a file, link or directory as a person would."""
    if os.path.isdir(path) and not os.path.islink(path):
        shutil.rmtree(path)
    else:
        os.unlink(path)
