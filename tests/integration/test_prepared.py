"""What is put back for the next test is what the real commands made."""

import os
import stat
from pathlib import Path

from prepared import prepared
from sandbox import Sandbox

REGISTRY = "worktrees.json"  # it names the workspace's inode, which a copy has another of


def _work(sandbox: Sandbox) -> None:
    sandbox.siding("task", "start", "work")
    sandbox.siding(
        "run", "--", "sh", "-c", "echo 1 >one; ln -s one link; echo 2 >two; chmod 700 two"
    )


def tree(root: Path) -> dict[str, tuple[int, bytes]]:
    found = {}
    for path in sorted(root.rglob("*")):
        mode = path.lstat().st_mode
        link = os.readlink(path).encode() if stat.S_ISLNK(mode) else b""
        whole = stat.S_ISREG(mode) and path.name != REGISTRY
        found[str(path.relative_to(root))] = mode, path.read_bytes() if whole else link
    return found


def test_a_test_finds_what_the_commands_made_and_nothing_of_the_one_before() -> None:
    sandbox = prepared(_work)
    made = tree(sandbox.directory)
    workspace = sandbox.workspace()
    (workspace / "left").write_text("by a test\n")
    sandbox.siding("run", "--", "sh", "-c", "rm one")
    sandbox.git("branch", "of-a-test")
    assert tree(sandbox.directory) != made

    again = prepared(_work)
    assert again.directory == sandbox.directory
    assert tree(again.directory) == made
    assert again.workspace() == workspace
    assert again.siding("doctor").stdout == b"everything agrees\n"
    again.siding("verify")
    assert again.git("status", "--porcelain", cwd=workspace) == "?? link\n?? one\n?? two"
    again.siding("run", "--", "true")
    assert [step["step_id"] for step in again.steps()] == ["0001", "0002"]
    again.siding("rollback", "--base")
    assert not (workspace / "one").exists()


def test_other_words_have_another_place() -> None:
    def begin(sandbox: Sandbox, name: str) -> None:
        sandbox.siding("task", "start", name)

    first, second = prepared(begin, "a"), prepared(begin, "b")
    assert first.directory != second.directory
    assert [each.json("task", "show", "--format", "json")["name"] for each in (first, second)] == [
        *("a", "b")
    ]
