"""A task whose agent asks a person about a command, and what is known of its effect."""

import hashlib
import json
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from prepared import prepared
from sandbox import SIDING, Sandbox
from siding.effect.ask import pending_of
from siding.effect.count import Asked, count
from siding.effect.effect import Effect
from siding.record.place.project import Project, require_project
from siding.record.place.wiring import open_app
from siding.record.tasks.registry import Workspace

from ..broker.inside import until
from ..broker.test_judged_agents import CLAUDE, call

POLICY = """\
version: 1
rules:
  - {name: ask-me, action: ask, reason: it is asked about, pattern: '^(?!claude)'}
"""


def task_with_ignored_files(sandbox: Sandbox) -> None:
    """A task with files that git ignores, and a policy that asks about every command."""
    programs = sandbox.directory / "programs"
    programs.mkdir()
    (programs / "claude").write_text(CLAUDE)
    (programs / "claude").chmod(0o755)
    (sandbox.repo / ".gitignore").write_text("build/\n*.log\n")
    sandbox.git("add", "-A")
    sandbox.git("commit", "-qm", "ignore")
    sandbox.siding("task", "start", "effect")
    (sandbox.repo / ".siding").mkdir(exist_ok=True)
    (sandbox.repo / ".siding" / "policy.yaml").write_text(POLICY)
    root = sandbox.workspace()
    for number in range(30):
        path = root / "build" / f"d{number % 3}" / f"{number}.o"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{number}\n")


class Bench:
    """The task of `task_with_ignored_files`, whose agent asks, or in which this process counts."""

    def __init__(self) -> None:
        self.sandbox = sandbox = prepared(task_with_ignored_files)
        programs = sandbox.directory / "programs"
        sandbox.env["PATH"] = os.pathsep.join([str(programs), sandbox.env["PATH"]])
        self.root = sandbox.workspace()

    def project(self) -> Project:
        return require_project(open_app(env=self.sandbox.env, cwd=self.sandbox.repo))

    def workspace(self, project: Project) -> Workspace:
        (found,) = project.registry.entered().values()
        return found

    def question(self, about: str = "Which?") -> str:
        """Ask something that nobody answers; return its session."""
        self.sandbox.siding("decide", about, "a", "b", "--no-wait", cwd=self.root)
        (decision,) = self.sandbox.json("decide", "list", "--json")
        session: str = decision["session_id"]
        return session

    def counted(self, command: str) -> Effect:
        """Count the effect of a command in this process, as the process of a question does."""
        project, session = self.project(), self.question(command)
        asked = Asked(session, command, self.root)
        found = count(project, asked, self.workspace(project), pending_of(project, asked))
        assert found is not None
        self.sandbox.siding("decide", "answer", session, "-c", "1=a")
        return found

    @contextmanager
    def asking(self, command: str, **more: Any) -> Iterator["Question"]:
        """Have the agent ask whether it may run a command; refuse it after the block."""
        with self.asking_for("Bash", {"command": command}, **more) as question:
            yield question

    @contextmanager
    def asking_for(self, tool: str, given: object, **more: Any) -> Iterator["Question"]:
        """Have the agent ask whether it may use a tool; it is killed after the block."""
        calls = [call(tool, given, tool_use_id="c1", **more)]
        run = subprocess.Popen(
            [*SIDING, "run", "--ask", "wait", "--", "claude"],
            cwd=self.sandbox.repo,
            env=self.sandbox.env | {"CALLS": json.dumps(calls)},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        try:
            until(lambda: self.sandbox.json("decide", "list", "--json"))
            (decision,) = self.sandbox.json("decide", "list", "--json")
            yield Question(self, decision["session_id"], run)
        finally:
            run.kill()
            run.communicate()

    @property
    def trials(self) -> Path:
        return self.sandbox.project / "trials"


class Question:
    """A question that waits."""

    def __init__(self, bench: Bench, session: str, run: "subprocess.Popen[bytes]") -> None:
        self.bench = bench
        self.session = session
        self.run = run

    def effect(self) -> Any:
        (entry,) = self.bench.sandbox.json("inbox", "--json")
        return entry["effect"]

    def known(self) -> dict[str, Any]:
        """Wait until the effect is not pending any more."""
        until(lambda: (self.effect() or {}).get("state") not in (None, "pending"))
        found: dict[str, Any] = self.effect()
        return found

    def answer(self, value: str) -> list[Any]:
        """Answer; return what the agent was told."""
        self.bench.sandbox.siding("decide", "answer", self.session, "-c", f"1={value}")
        output, _ = self.run.communicate(timeout=60)
        return [json.loads(line) for line in output.splitlines()]


def digests(*roots: Path) -> dict[str, str]:
    """Return what is below: contents, modes, times of change; directories by their entries."""
    found = {}
    for root in roots:
        for path in [root, *sorted(root.rglob("*"))]:
            seen = path.lstat()
            data = b""
            if path.is_symlink():
                data = os.fsencode(os.readlink(path))
            elif path.is_file():
                data = path.read_bytes()
            told = (seen.st_mode, seen.st_size, seen.st_mtime_ns, seen.st_ino, seen.st_nlink)
            found[str(path)] = hashlib.sha256(data + repr(told).encode()).hexdigest()
    return found


__all__ = ["Bench", "Question", "digests"]
