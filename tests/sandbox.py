"""A place of its own for a test: a home, an environment without the machine in it, a repository."""

import atexit
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from forked import siding_in_fork

UNRECORDED = ("running", "cut off")  # of steps that are not in the ledger yet
SIDING = [sys.executable, "-m", "siding"]


def environment(directory: Path) -> dict[str, str]:
    """Return an environment in which nothing of the machine shows; its home is in `directory`."""
    home = directory / "home"
    home.mkdir(parents=True, exist_ok=True)
    tools = Path(sys.executable).parent
    return {
        "PATH": os.pathsep.join([str(tools), os.environ.get("PATH", os.defpath)]),
        "HOME": str(home),
        "SIDING_HOME": str(directory / "siding"),
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_AUTHOR_NAME": "Ada",
        "GIT_AUTHOR_EMAIL": "ada@example.org",
        "GIT_COMMITTER_NAME": "Ada",
        "GIT_COMMITTER_EMAIL": "ada@example.org",
        "TERM": "xterm-256color",
        "TZ": "UTC",
        "LC_ALL": "C.UTF-8",
    }


@cache
def _usual_repository() -> Path:
    """Return the repository that most sandboxes begin with; a copy is cheaper than git."""
    directory = tempfile.TemporaryDirectory(prefix="siding-tests-")
    atexit.register(directory.cleanup)
    made = Sandbox(Path(directory.name), files={"hello.txt": "hello\n", "src/a.py": "a = 1\n"})
    for sample in (made.repo / ".git/hooks").glob("*.sample"):
        sample.unlink()
    return made.repo


def alive(pid: int) -> bool:
    """Return whether a process is there and is more than a zombie nobody has collected."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except (FileNotFoundError, ProcessLookupError):  # it may go as it is read
        return False
    return stat.rpartition(")")[2].split()[0] != "Z"


class Sandbox:
    """A repository with one commit, and the commands to work on it.

    `program` is how Siding is started: as this checkout, if nothing else is said.
    """

    def __init__(
        self,
        directory: Path,
        *,
        files: Mapping[str, str] | None = None,
        program: Sequence[str] = SIDING,
    ) -> None:
        self.directory = directory
        self.program = list(program)
        self.env = environment(directory)
        self.repo = directory / "repo"
        if self.repo.exists():
            return  # made before, by another process
        if files is None:
            shutil.copytree(_usual_repository(), self.repo, symlinks=True)
        else:
            self._begin(files)

    def _begin(self, files: Mapping[str, str]) -> None:
        self.repo.mkdir(parents=True)
        self.git("init", "-q", "-b", "main")
        for name, text in files.items():
            path = self.repo / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        self.git("add", "-A")
        self.git("commit", "-qm", "first")

    def git(self, *arguments: str, cwd: Path | None = None) -> str:
        """Run git as the user; return what it printed."""
        done = subprocess.run(
            ["git", *arguments],
            cwd=cwd or self.repo,
            env=self.env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
            timeout=60,
        )
        assert done.returncode == 0, (arguments, done.stderr)
        return done.stdout.decode("utf-8", "surrogateescape").strip()

    def siding(
        self,
        *arguments: str,
        cwd: Path | None = None,
        status: int | None = 0,
        stdin: bytes | None = None,
        env: Mapping[str, str] | None = None,
        timeout: float = 120,
    ) -> "subprocess.CompletedProcess[bytes]":
        """Run Siding; `status` None accepts any exit status."""
        where, environ = cwd or self.repo, {**self.env, **(env or {})}
        # Variables for Python are read when an interpreter starts: a fork would not see them.
        for_python = any(name.startswith("PYTHON") for name in environ)
        if self.program == SIDING and not for_python:
            ended = siding_in_fork(
                arguments, cwd=where, env=environ, stdin=stdin, timeout_s=timeout
            )
            done = subprocess.CompletedProcess(arguments, ended.status, ended.stdout, ended.stderr)
        else:
            done = subprocess.run(
                [*self.program, *arguments],
                cwd=where,
                env=environ,
                capture_output=True,
                check=False,
                timeout=timeout,
                input=stdin or b"",
                start_new_session=True,
            )
        if status is not None:
            assert done.returncode == status, (arguments, done.returncode, done.stdout, done.stderr)
        return done

    def json(self, *arguments: str, **more: Any) -> Any:
        """Run Siding and return the JSON it printed."""
        import json

        return json.loads(self.siding(*arguments, **more).stdout)

    @property
    def project(self) -> Path:
        """The project's directory in the home."""
        (found,) = (self.directory / "siding" / "projects").iterdir()
        return found

    def workspace(self, task: str | None = None) -> Path:
        """Return the workspace of a task, the active one by default."""
        arguments = ("task", "show", *([] if task is None else [task]), "--format", "json")
        return Path(self.json(*arguments)["workspace"]["path"])

    def steps(self, task: str | None = None) -> list[dict[str, Any]]:
        """Return the ledger of a task, every line of it."""
        named = [] if task is None else ["-t", task]
        found = self.json("log", "--limit", "0", "--format", "json", *named)
        assert isinstance(found, list)
        return [step for step in found if step.get("status") not in UNRECORDED]
