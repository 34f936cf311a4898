"""Where one way is tried: a repository, a store beside it, and programs that run there."""

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

TIMEOUT_S = 60
_SETTINGS = "[user]\nname = A\nemail = a@example.invalid\n[core]\nautocrlf = input\n"


class Ground:
    """One directory with `home`, `repo`, and `store`, where a way keeps what it keeps.

    `work` is where the files are: the repository, or the workspace of a task. `interrupt` is called
    with the next process of `long`, to disturb it.
    """

    def __init__(self, directory: Path) -> None:
        self.home, self.repo, self.store = (directory / n for n in ("home", "repo", "store"))
        for each in (self.home, self.repo, self.store):
            each.mkdir()
        self.work = self.repo
        self.disturbed = False
        self.interrupt: Callable[[subprocess.Popen[bytes]], None] | None = None
        (self.home / ".gitconfig").write_text(_SETTINGS)
        tools = Path(sys.executable).parent
        self.env = {
            "PATH": os.pathsep.join([str(tools), os.environ.get("PATH", os.defpath)]),
            "HOME": str(self.home),
            "SIDING_HOME": str(self.store),
            "GIT_CONFIG_NOSYSTEM": "1",
            "LC_ALL": "C.UTF-8",
            "TZ": "UTC",
        }
        self.run("git", "init", "-q", "-b", "main", "--template=")

    def run(self, *words: str, check: bool = True) -> str:
        """Run a program in `work` to its end; return what it printed."""
        done = subprocess.run(
            words,
            cwd=self.work,
            env=self.env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
            timeout=TIMEOUT_S,
        )
        if check and done.returncode != 0:
            raise Failed(words, done.returncode, done.stderr.decode("utf-8", "replace"))
        return done.stdout.decode("utf-8", "surrogateescape").strip()

    def long(self, script: str) -> None:
        """Run the shell script that goes back: the one that a kill or a writer meets.

        Raises Failed unless something disturbs it.
        """
        process = subprocess.Popen(
            ["sh", "-ec", script],
            cwd=self.work,
            env=self.env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        if self.interrupt is not None:
            interrupt, self.interrupt, self.disturbed = self.interrupt, None, True
            interrupt(process)
        status = process.wait(TIMEOUT_S)
        if status != 0 and not self.disturbed:
            raise Failed((script,), status, "")


class Failed(Exception):
    """A program ended with an error."""

    def __init__(self, words: tuple[str, ...], status: int, said: str) -> None:
        super().__init__(f"{' '.join(words)}: {status}\n{said}")


class Way(NamedTuple):
    """A way to go back. `keep` is called at the state to go back to, `back` goes there from another
    one, and `again` goes to that other one, if the way can."""

    name: str
    keep: Callable[[Ground], None]
    back: Callable[[Ground], None]
    again: Callable[[Ground], None] | None


def kill(process: "subprocess.Popen[bytes]") -> None:
    """Kill a process with all that it started."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


def remove(path: Path) -> None:
    """Remove a file, a link or a directory, if it is there."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
