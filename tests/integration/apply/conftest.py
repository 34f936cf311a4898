"""A person's repository, and a task in it in which an agent works."""

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from prepared import prepared
from sandbox import Sandbox


class Stage:
    """One repository of Ada's with one task; `agent` runs a shell command in its workspace."""

    def __init__(self, sandbox: Sandbox) -> None:
        self.box = sandbox
        self.repo = sandbox.repo
        self.git = sandbox.git

    def start(self, *options: str) -> Path:
        self.box.siding("-q", "task", "start", "Fix the parser", *options)
        self.workspace = self.box.workspace()
        self.task = str(self.box.json("task", "show", "--format", "json")["id"])
        return self.workspace

    def agent(self, script: str) -> None:
        bot = (
            "export GIT_AUTHOR_NAME=Bot GIT_AUTHOR_EMAIL=bot@example.org"
            " GIT_COMMITTER_NAME=Bot GIT_COMMITTER_EMAIL=bot@example.org; "
        )
        self.box.siding("-q", "run", "-t", self.task, "--", "sh", "-ec", bot + script)

    def apply(
        self, *options: str, status: int = 0, env: Mapping[str, str] | None = None, **more: Any
    ) -> str:
        """Apply; return what was said on both streams."""
        done = self.box.siding("apply", "-t", self.task, *options, status=status, env=env, **more)
        return (done.stdout + done.stderr).decode("utf-8", "replace")

    def subjects(self, revision: str = "main") -> list[str]:
        return self.git("log", "--format=%s", revision).splitlines()

    def show(self, path: str, revision: str = "main") -> str:
        """Return a file of a commit, byte for byte as text."""
        done = subprocess.run(
            ["git", "show", f"{revision}:{path}"],
            cwd=self.repo,
            env=self.box.env,
            capture_output=True,
            check=True,
        )
        return done.stdout.decode("latin-1")

    def files(self, revision: str = "main") -> list[str]:
        return self.git("ls-tree", "-r", "--name-only", revision).splitlines()

    def status(self, cwd: Path | None = None) -> list[str]:
        """Return `git status`, one entry a line."""
        output = subprocess.run(
            ["git", "status", "--porcelain", "--untracked-files=all"],
            cwd=cwd or self.repo,
            env=self.box.env,
            capture_output=True,
            check=True,
        ).stdout
        return output.decode().splitlines()

    def everything(self) -> tuple[Any, ...]:
        """Return all that an apply that did not happen must leave alone."""
        files = {
            str(path.relative_to(self.repo)): (path.read_bytes(), os.lstat(path).st_mode)
            for path in sorted(self.repo.rglob("*"))
            if path.is_file() and ".git" not in path.relative_to(self.repo).parts
        }
        refs = self.git("for-each-ref")
        staged = self.git("ls-files", "-s")
        return files, refs, staged, self.git("stash", "list"), self.leftovers()

    def leftovers(self) -> list[str]:
        """Return what no apply may leave behind in the repository."""
        found = [*self.repo.glob(".git/**/*.lock"), *self.repo.glob(".git/**/siding-index-*")]
        applies = self.box.project / "snapshots.git" / "applies"
        found += list(applies.iterdir()) if applies.is_dir() else []
        return sorted(map(str, found))


def _begin(sandbox: Sandbox) -> None:
    made = Stage(sandbox)
    lines = "".join(f"line {number}\n" for number in range(1, 21))
    (made.repo / "text.txt").write_text(lines, encoding="utf-8")
    (made.repo / "run.sh").write_text("echo hi\n", encoding="utf-8")
    sandbox.git("add", "-A")
    sandbox.git("commit", "-qm", "second")
    made.start()


@pytest.fixture
def stage() -> Stage:
    """A repository with a few files and a task that has just begun."""
    made = Stage(prepared(_begin))
    (made.workspace,) = (made.box.project / "workspaces").iterdir()
    made.task = made.workspace.name
    made.git("update-index", "-q", "--refresh")  # the files of a copy have other inodes
    return made
