"""Whatever is planted in a worktree or a repository, no command of ours runs it (P14)."""

import os
import subprocess
from pathlib import Path

import pytest

from unit.record.git.test_hostile import VECTORS, Vector

from .arena import FULL, Command, resolve
from .commands import GATE, act, changed, workspace_of

pytestmark = GATE

EVERYTHING = (
    ("status",),
    ("log",),
    ("diff",),
    ("show", "1"),
    ("task", "list"),
    ("task", "show"),
    ("worktree", "list"),
    ("worktree", "status"),
    ("verify",),
    ("doctor", "--check"),
    ("policy", "check", "--", "git", "status"),
    ("policy", "test"),
    ("policy", "list"),
    ("policy", "show"),
    ("run", "--", "true"),
    ("trust", "--show"),
    ("checkpoint",),
    ("run", "--sandbox", "--", "true"),
    ("doctor", "--sandbox"),
    ("inbox",),
    ("decide", "list"),
    ("phase", "start", "impl", "begin"),
    ("phase", "next-step", "more"),
    ("phase", "status"),
    ("rollback", "--base", "--dry-run"),
    ("rollback", "--base"),
    ("undo",),
    ("redo",),
    ("undo",),
    ("apply", "--dry-run"),
    ("apply", "--no-close", "-m", "it"),
    ("undo",),
    ("gc", "--dry-run"),
    ("task", "start", "more", "--carry"),
    ("doctor",),
    ("worktree", "keep", "alpha"),
    ("worktree", "remove", "alpha", "--force"),
    ("worktree", "add", "alpha"),
    ("task", "close", "alpha", "--force"),
    ("verify", "alpha"),
)


class Attacked:
    """A home and its repository, in the shape the vectors of the git package are planted in."""

    def __init__(self, case: Path) -> None:
        changed(case)
        self.directory, self.home, self.root = case, case, case / "repo"
        self.worktree = workspace_of(case, "alpha")

    def user(
        self, *words: str, cwd: Path | None = None, stdin: bytes = b"", check: bool = True
    ) -> bytes:
        _, env, _ = resolve(Command(argv=()), self.directory)
        done = subprocess.run(
            ["git", *words],
            cwd=cwd or self.root,
            env=env,
            input=stdin,
            capture_output=True,
            check=False,
            timeout=60,
        )
        assert done.returncode == 0 or not check, done
        return done.stdout


TOGETHER = [vector for vector in VECTORS if "evil" not in vector.name]
# With the others beside it, that one is switched off by their settings.
IN_THE_SUITE = ("evil submodule", "evil .git file", "evil repository", "an included file")
ALONE = [vector for vector in VECTORS if FULL or vector.name in IN_THE_SUITE]


@pytest.mark.parametrize("vector", ALONE, ids=lambda vector: vector.name.replace(" ", "-"))
def test_no_command_runs_what_is_planted(tmp_path: Path, vector: Vector) -> None:
    _attack(tmp_path, [vector])


def test_no_command_runs_any_of_it(tmp_path: Path) -> None:
    assert len(TOGETHER) >= 25
    _attack(tmp_path, TOGETHER)


def test_what_is_planted_would_run(tmp_path: Path) -> None:
    """Plain git, at the same place, sets it off: the gates above can fail."""
    world = Attacked(tmp_path)
    for vector in TOGETHER:
        vector.plant(world)  # type: ignore[arg-type]
    (tmp_path / "fired").unlink(missing_ok=True)
    world.user("status", cwd=world.worktree, check=False)
    assert (tmp_path / "fired").exists()


def _attack(case: Path, vectors: list[Vector]) -> None:
    world = Attacked(case)
    for vector in vectors:
        vector.plant(world)  # type: ignore[arg-type]
    fired = case / "fired"
    fired.unlink(missing_ok=True)  # planting is done with plain git, which may set it off
    done = 0
    for words in EVERYTHING:
        ran = act(case, *words, status=None)
        done += ran.status == 0
        assert not fired.exists(), f"{[each.name for each in vectors]} ran in {words}: {ran}"
    assert done >= 8, f"only {done} commands worked"
    assert os.path.isdir(world.root)
