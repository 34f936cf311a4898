"""A real home whose record is tampered with, and put back."""

import json
import shutil
from hashlib import sha256
from pathlib import Path
from typing import Any

from sandbox import Sandbox
from siding.record.ledger.anchor import Anchor
from siding.record.place.project import require_project
from siding.record.place.wiring import open_app
from siding.record.recording.verify import Proof, verify

TASK = "demo"
STEPS = (
    ("run", "--no-tty", "--", "sh", "-c", "echo one >one.txt; echo said"),
    ("run", "--no-tty", "--", "sh", "-c", "echo two >two.txt; exit 3"),
    ("run", "--no-tty", "--", "sh", "-c", "echo three >three.txt"),
    ("run", "--no-tty", "--", "sh", "-c", "echo four >four.txt; echo last"),
)


class Home:
    """A real home with a task of four steps and one of two, which can be put back as it was."""

    def __init__(self, directory: Path) -> None:
        self.sandbox = Sandbox(directory)
        self.kept: dict[int, Path] = {}
        self.heads: list[str] = []
        self.sandbox.siding("-q", "task", "start", "other")
        for words in STEPS[:2]:
            self.sandbox.siding("-q", *words, status=None)
        self.sandbox.siding("-q", "task", "start", TASK)
        for number, words in enumerate(STEPS, start=1):
            self.sandbox.siding("-q", *words, status=None)
            self.heads.append(self.sandbox.json("verify", "--format", "json")["head"])
            self.kept[number] = directory / f"kept-{number}"
            self._copy(self.sandbox.project, self.kept[number])
        self.id = self._id(TASK)
        self.root = self.sandbox.project / "tasks" / self.id
        self.ledger = self.root / "ledger.jsonl"
        self.artifacts = self.root / "artifacts"
        self.task_json = self.root / "task.json"
        self.store = self.sandbox.project / "snapshots.git"
        self.anchor = self.store / "tasks" / self.id / "ledger-head"
        self.ref = self.store / "refs" / "tasks" / self.id
        self.registry = self.sandbox.project / "worktrees.json"
        self.other = self.sandbox.project / "tasks" / self._id("other")

    def _id(self, name: str) -> str:
        return str(self.sandbox.json("task", "show", name, "--format", "json")["id"])

    def _copy(self, source: Path, target: Path) -> None:
        """Copy all of a project but its workspaces."""
        shutil.copytree(source, target, ignore=shutil.ignore_patterns("workspaces"))

    def put_back(self, name: str = "", *, as_of: int = len(STEPS)) -> None:
        """Make the project, or a part of it, what it was after that many steps."""
        source, target = self.kept[as_of] / name, self.sandbox.project / name
        if source.is_file():
            shutil.copyfile(source, target)
            return
        for each in target.iterdir():
            if each.name == "workspaces" and not name:
                continue
            shutil.rmtree(each) if each.is_dir() and not each.is_symlink() else each.unlink()
        self._copy_over(source, target)

    def _copy_over(self, source: Path, target: Path) -> None:
        shutil.copytree(source, target, dirs_exist_ok=True)

    def lines(self) -> list[bytes]:
        return self.ledger.read_bytes().splitlines(keepends=True)

    def write(self, lines: list[bytes]) -> None:
        self.ledger.write_bytes(b"".join(lines))

    def edit(self, number: int, **fields: Any) -> None:
        """Change fields of a line; negative numbers count from the end; None removes a field."""
        lines = self.lines()
        line = json.loads(lines[number])
        line.update(fields)
        line = {name: value for name, value in line.items() if name not in fields or value != GONE}
        lines[number] = as_line(line)
        self.write(lines)

    def chain_again(self) -> None:
        """Give each line the hash of the one before it, as a forger would."""
        before, made = "0" * 64, []
        for raw in self.lines():
            line = as_line({**json.loads(raw), "prev": before})
            before = sha256(line[:-1]).hexdigest()
            made.append(line)
        self.write(made)

    def anchor_again(self) -> None:
        """Write the anchor that belongs to the ledger as it is now."""
        lines = self.lines()
        head = sha256(lines[-1][:-1]).hexdigest()
        self.anchor.write_bytes(Anchor(len(lines), len(b"".join(lines)), head).encoded())

    def change(self, path: Path, **fields: Any) -> None:
        """Change fields of a document."""
        path.write_text(json.dumps({**json.loads(path.read_bytes()), **fields}))

    def change_workspace(self, **fields: Any) -> None:
        document = json.loads(self.registry.read_bytes())
        for entry in document["worktrees"]:
            if entry["task_id"] == self.id:
                entry.update(fields)
        self.registry.write_text(json.dumps(document))

    def verify(self, *words: str, status: int | None = None) -> str:
        done = self.sandbox.siding("verify", *words, status=status)
        assert b"Traceback" not in done.stderr
        return (done.stdout + done.stderr).decode()

    def prove(self) -> Proof:
        """Verify in this process, where a start costs nothing."""
        project = require_project(open_app(env=self.sandbox.env, cwd=self.sandbox.repo))
        return verify(project, TASK)


GONE = "to be removed"


def as_line(record: dict[str, Any]) -> bytes:
    return json.dumps(record, separators=(",", ":"), ensure_ascii=False).encode() + b"\n"
