"""A repository of 1,000 files with a home of its own, in which commands are measured."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path

from benchmarks import repositories

FILES = 1_000
EDITED = 10
LONG_LEDGER = 1_000  # steps
_PROGRAM = "import siding.__main__"  # unlike `-m`, it loads nothing of its own


class Scratch:
    """A repository with a task whose agent has changed ten files."""

    def __init__(self, directory: Path, source: Path, *, files: int) -> None:
        self.directory = directory
        self.source = source
        self.repository = directory / "repository"
        home = directory / "home"
        home.mkdir()
        self.env: Mapping[str, str] = {
            "PATH": os.environ.get("PATH", os.defpath),
            "HOME": str(home),
            "SIDING_HOME": str(directory / "siding"),
            "PYTHONPATH": str(source),
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_AUTHOR_NAME": "Ada",
            "GIT_AUTHOR_EMAIL": "ada@example.org",
            "GIT_COMMITTER_NAME": "Ada",
            "GIT_COMMITTER_EMAIL": "ada@example.org",
            "LC_ALL": "C.UTF-8",
            "TMPDIR": str(directory),
            "TZ": "UTC",
        }
        self._files = files
        self._edits = 0
        repositories.make(self.repository, files=files, env=self.env)
        # An index of the second of its files is not trusted by git, until it is written again.
        self.run(["git", "status", "--short"])
        self.siding("task", "start", "measured")
        self.edit()

    def argv(self, words: Sequence[str]) -> list[str]:
        """Return the command line that starts a verb, as the installed program does."""
        return [sys.executable, "-c", _PROGRAM, *words]

    def siding(self, *words: str) -> None:
        """Run a verb that is not measured."""
        self.run(self.argv(words))

    def edit(self) -> None:
        """Record a run that appends a line to some files."""
        self._edits += 1
        names = " ".join(repositories.name_of(number) for number in range(min(EDITED, self._files)))
        line = f"for f in {names}; do echo edit {self._edits} >> $f; done"
        self.siding("run", "--", "sh", "-c", line)

    def lengthen_ledger(self, steps: int = LONG_LEDGER) -> None:
        """Append lines to the task's ledger, each like its shortest run, until it has so many."""
        (path,) = self.directory.glob("siding/projects/*/tasks/*/ledger.jsonl")
        lines = path.read_bytes().splitlines()
        runs = [line for line in lines if json.loads(line)["kind"] == "run"]
        pattern = json.loads(min(runs, key=len))
        with path.open("ab") as file:
            for number in range(len(lines) + 1, steps + 1):
                before = sha256(lines[-1]).hexdigest()
                line = {**pattern, "step_id": f"{number:04d}", "prev": before}
                lines.append(json.dumps(line, separators=(",", ":")).encode())
                file.write(lines[-1] + b"\n")

    def run(self, argv: Sequence[str], *, status: int = 0) -> None:
        """Run a command in the repository. Raises RuntimeError if its exit status is another."""
        done = subprocess.run(
            argv,
            cwd=self.repository,
            env=self.env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
        )
        if done.returncode != status:
            said = done.stderr.decode("utf-8", "replace")
            raise RuntimeError(f"{argv} ended with {done.returncode}: {said}")


@contextmanager
def scratch(source: Path, *, files: int = FILES) -> Iterator[Scratch]:
    """Give a scratch repository for the package below `source`, for a block."""
    directory = Path(tempfile.mkdtemp(prefix="siding-house-")).resolve()
    try:
        yield Scratch(directory, source, files=files)
    finally:
        shutil.rmtree(directory, ignore_errors=True)
