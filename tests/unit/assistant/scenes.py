"""A repository, a home and a clock: what the agent is told of them."""

import asyncio
import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

from siding.assistant.briefing import Briefing, Facts, briefing
from siding.assistant.tools.place import Place
from siding.ground.process.capture import run_captured


class StillClock:
    """A clock that is moved by hand."""

    def __init__(self) -> None:
        self.at = datetime(2026, 11, 25, 12, tzinfo=UTC)

    def now(self) -> datetime:
        return self.at

    def monotonic(self) -> float:
        return self.at.timestamp()


class Scene:
    """A workspace in a repository of its own. The machine's own files are never read."""

    def __init__(self, tmp_path: Path) -> None:
        top = Path(os.path.realpath(tmp_path))
        self.root, self.home = top / "repo", top / "home"
        self.root.mkdir()
        self.home.mkdir()
        self.clock = StillClock()
        self.env = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.home),
            "GIT_CONFIG_NOSYSTEM": "1",
            "LC_ALL": "C",
        }
        self.facts = Facts(
            Place(
                workspace=self.root,
                results=top / "results",
                home=self.home,
                env=self.env,
                clock=self.clock,
            ),
            model="scripted:x",
            machine=top / "etc" / "AGENTS.md",
        )

    def git(self, *arguments: str, cwd: Path | None = None) -> str:
        """Run git as the person would."""
        who = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org")
        argv = ["git", "-C", str(cwd or self.root), *who, *arguments]
        done = run_captured(argv, env=self.env)
        assert done.returncode == 0, done
        return done.stdout.decode()

    def commit(self, message: str = "first") -> None:
        """Commit all there is; begin with `init` if there is no repository."""
        if not (self.root / ".git").exists():
            self.git("init", "-q", "-b", "main")
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", message)

    def write(self, name: str, text: str | bytes) -> Path:
        """Write a file: below the repository, or `~/` the home."""
        path = self.home / name[2:] if name.startswith("~/") else self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        return path

    def tomorrow(self) -> None:
        """Let a day pass."""
        self.clock.at += timedelta(days=1)

    def briefing(self, **facts: object) -> Briefing:
        """Gather what the model is told."""
        return asyncio.run(briefing(Facts(**{**self.facts._asdict(), **facts})))
