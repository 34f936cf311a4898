"""Permissions are part of the recorded state: going back brings them back as they were."""

import json
import os
import stat
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from privileges import behind, without_privileges
from sandbox import Sandbox

SETUP = """
umask 022
echo secret >private; chmod 600 private
echo fixed >readonly; chmod 444 readonly
echo shared >group; chmod 664 group
printf '#!/bin/sh\\n' >tool; chmod 700 tool
printf '#!/bin/sh\\n' >shared-tool; chmod 775 shared-tool
mkdir closed fixed setgid 'odd "name'
echo key >closed/key; echo one >fixed/one; echo two >fixed/two
echo s >setgid/s; echo o >'odd "name/o'
chmod 600 closed/key; chmod 700 closed; chmod 2775 setgid; chmod 711 'odd "name'; chmod 555 fixed
"""
# Opens what it has to, as an agent would; the contents of some change, of others only the mode.
UPSET = """
umask 022
chmod -R u+rwX . ; rm -rf closed fixed; mkdir fixed; echo other >fixed/three
chmod 644 private readonly tool; echo more >>private
chmod 600 group shared-tool; rm readonly; chmod 755 setgid 'odd "name'
"""


def modes(root: Path) -> dict[str, str]:
    """Return every file and directory with its whole mode and what it holds."""
    found = {}
    for directory, directories, files in os.walk(root):
        for name in [*directories, *files]:
            path = Path(directory, name)
            mode = stat.S_IMODE(path.lstat().st_mode)
            held = path.read_text(encoding="utf-8") if path.is_file() and name != ".git" else ""
            found[str(path.relative_to(root))] = f"{mode:o} {held}"
    return found


def shell(sandbox: Sandbox, script: str) -> None:
    sandbox.siding("-q", "run", "--", "sh", "-c", script)


@pytest.mark.parametrize("umask", [0o022, 0o077, 0o002])
def test_going_back_and_forth_gives_every_mode_back(sandbox: Sandbox, umask: int) -> None:
    before = os.umask(umask)
    try:
        sandbox.siding("-q", "task", "start", "t")
        root = sandbox.workspace()
        first = modes(root)
        shell(sandbox, SETUP)
        second = modes(root)
        shell(sandbox, UPSET)
        third = modes(root)
        assert second["private"] == "600 secret\n"
        assert second["setgid"] == "2775 "
        for target, expected in (("1", second), ("2", third), ("--base", first), ("1", second)):
            back = ("--base",) if target == "--base" else ("--step", target)
            sandbox.siding("-q", "rollback", *back)
            assert modes(root) == expected, target
        sandbox.siding("-q", "undo")
        assert modes(root) == first
        sandbox.siding("-q", "redo")
        assert modes(root) == second
    finally:
        os.umask(before)


def test_a_change_of_mode_alone_is_a_change(sandbox: Sandbox) -> None:
    sandbox.siding("-q", "task", "start", "t")
    root = sandbox.workspace()
    shell(sandbox, "chmod 600 hello.txt; chmod 700 src")
    shell(sandbox, "chmod 640 hello.txt")
    kept = (root / "hello.txt").stat().st_ino
    shown = sandbox.siding("rollback", "--base", "--dry-run").stdout.decode()
    assert "mode    hello.txt (0640 to 0644)" in shown
    assert "mode    src (0700 to 0755)" in shown
    sandbox.siding("rollback", "--step", "1")
    assert modes(root)["hello.txt"].startswith("600 ")
    sandbox.siding("rollback", "--base")
    assert modes(root)["hello.txt"].startswith("644 ")
    assert modes(root)["src"] == "755 "
    sandbox.siding("undo")
    assert modes(root)["hello.txt"].startswith("600 ")
    assert modes(root)["src"] == "700 "
    assert (root / "hello.txt").stat().st_ino == kept, "a file of equal bytes was written again"
    said = sandbox.siding("rollback", "--step", "1").stderr.decode()
    assert "already" in said
    step = sandbox.steps()[0]
    assert {"path": "hello.txt", "before": "0644", "after": "0600"} in step["modes"]
    assert "modes" in sandbox.siding("log").stdout.decode()
    assert "hello.txt" in sandbox.siding("diff", "--step", "1", "--stat").stdout.decode()


def test_a_mode_changed_outside_is_recorded_and_what_is_equal_is_left_alone(
    sandbox: Sandbox,
) -> None:
    sandbox.siding("-q", "task", "start", "t")
    root = sandbox.workspace()
    shell(sandbox, "echo more >>hello.txt")
    (root / "src/a.py").chmod(0o600)
    untouched = (root / "hello.txt").stat().st_ctime_ns
    sandbox.siding("-q", "checkpoint")
    sandbox.siding("-q", "rollback", "--step", "1")
    assert stat.S_IMODE((root / "src/a.py").stat().st_mode) == 0o644
    assert (root / "hello.txt").stat().st_ctime_ns == untouched
    sandbox.siding("-q", "undo")
    assert stat.S_IMODE((root / "src/a.py").stat().st_mode) == 0o600


def test_empty_directories_have_theirs(sandbox: Sandbox) -> None:
    sandbox.siding("-q", "task", "start", "t")
    root = sandbox.workspace()
    shell(sandbox, "mkdir -m 700 empty; chmod 750 .")
    shell(sandbox, "chmod 755 empty .")
    sandbox.siding("-q", "rollback", "--step", "1")
    assert modes(root)["empty"] == "700 "
    assert stat.S_IMODE(root.stat().st_mode) == 0o750
    shell(sandbox, "rmdir empty; echo more >>hello.txt")
    sandbox.siding("-q", "rollback", "--step", "1")
    assert modes(root)["empty"] == "700 "


def test_a_merge_in_the_workspace_opens_no_private_file(sandbox: Sandbox) -> None:
    sandbox.siding("-q", "task", "start", "t")
    root = sandbox.workspace()
    shell(sandbox, "echo task >hello.txt; chmod 600 hello.txt; git commit -qam task")
    (sandbox.repo / "hello.txt").write_text("person\n", encoding="utf-8")
    sandbox.git("commit", "-qam", "person")
    sandbox.siding("-q", "apply", "--resolve")
    assert modes(root)["hello.txt"].startswith("600 <<<<<<<")
    sandbox.siding("-q", "apply", "--abort")
    assert modes(root)["hello.txt"] == "600 task\n"


def test_paths_limit_modes_too(sandbox: Sandbox) -> None:
    sandbox.siding("-q", "task", "start", "t")
    root = sandbox.workspace()
    shell(sandbox, "chmod 600 hello.txt src/a.py")
    sandbox.siding("-q", "rollback", "--base", "src")
    assert stat.S_IMODE((root / "src/a.py").stat().st_mode) == 0o644
    assert stat.S_IMODE((root / "hello.txt").stat().st_mode) == 0o600


def test_directories_that_forbid_writing_are_no_obstacle(sandbox: Sandbox) -> None:
    prefix = without_privileges()
    behind(sandbox, prefix, "task", "start", "t")
    root = sandbox.workspace()
    behind(sandbox, prefix, "run", "--", "sh", "-c", SETUP)
    first = modes(root)
    behind(sandbox, prefix, "run", "--", "sh", "-c", UPSET)
    second = modes(root)
    behind(sandbox, prefix, "rollback", "--step", "1")
    assert modes(root) == first
    behind(sandbox, prefix, "undo")
    assert modes(root) == second
    behind(sandbox, prefix, "run", "--", "sh", "-c", "chmod 000 fixed")
    behind(sandbox, prefix, "rollback", "--force", "--step", "2")
    assert modes(root) == second, "a directory that nobody could read was not opened again"


def test_closing_freeing_and_reopening_keep_modes(sandbox: Sandbox) -> None:
    prefix = without_privileges()
    behind(sandbox, prefix, "task", "start", "t")
    root = sandbox.workspace()
    behind(sandbox, prefix, "run", "--", "sh", "-c", SETUP)
    before = modes(root)
    behind(sandbox, prefix, "task", "close", "--force", "t")
    behind(sandbox, prefix, "gc")
    behind(sandbox, prefix, "task", "reopen", "t")
    assert modes(root) == before
    behind(sandbox, prefix, "rollback", "--base")
    behind(sandbox, prefix, "undo")
    assert modes(root) == before


def test_a_snapshot_without_modes_restores_as_it_did(sandbox: Sandbox) -> None:
    """As one made before permissions were recorded: the replaced file's are kept."""
    sandbox.siding("-q", "task", "start", "t")
    root = sandbox.workspace()
    shell(sandbox, "echo one >f; chmod 600 f")
    snapshot = forget_modes(sandbox)
    shell(sandbox, "echo two >f; chmod 640 f")
    sandbox.siding("-q", "rollback", "--step", "1")
    assert modes(root)["f"] == "640 one\n"
    sandbox.siding("-q", "undo")
    assert modes(root)["f"] == "640 two\n"
    assert sandbox.steps()[0]["snapshot"] == snapshot
    sandbox.siding("verify")


def test_a_store_whose_memory_is_lost_still_knows(sandbox: Sandbox) -> None:
    sandbox.siding("-q", "task", "start", "t")
    root = sandbox.workspace()
    shell(sandbox, "echo one >f; chmod 600 f")
    for memory in (sandbox.project / "snapshots.git/tasks").glob("*/modes"):
        memory.unlink()
    said = sandbox.siding("checkpoint").stderr.decode()
    assert len(sandbox.steps()) == 2, said
    assert sandbox.steps()[0]["snapshot"] == sandbox.steps()[1]["snapshot"]
    (root / "f").chmod(0o644)
    sandbox.siding("-q", "rollback", "--step", "1")
    assert modes(root)["f"] == "600 one\n"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file to somebody else")
def test_what_belongs_to_another_user_makes_a_snapshot_incomplete() -> None:
    """Their permissions cannot be given back by whoever they do not belong to."""
    nobody = ("setpriv", "--reuid=4242", "--clear-groups")
    with TemporaryDirectory() as place:  # the usual places of tests are closed to other users
        sandbox = Sandbox(Path(place))
        if "siding" not in behind(sandbox, nobody, "--version", status=None):
            pytest.skip("another user cannot run what is tested here")
        sandbox.siding("-q", "task", "start", "t")
        root = sandbox.workspace()
        shell(sandbox, "echo mine >theirs")
        hand_over(sandbox.directory)
        os.chown(root / "theirs", 0, 0)
        (root / "theirs").chmod(0o644)
        (root / "hello.txt").write_text("more\n", encoding="utf-8")
        behind(sandbox, nobody, "checkpoint")
        coverage = sandbox.steps()[-1]["coverage"]
        assert coverage["complete"] is False
        assert coverage["foreign"] == ["theirs"]


def hand_over(directory: Path) -> None:
    """Give all of it to a user without a name."""
    for parent, directories, files in os.walk(directory):
        for name in (".", *directories, *files):
            os.chown(Path(parent, name), 4242, -1, follow_symlinks=False)


def forget_modes(sandbox: Sandbox) -> str:
    """Make the newest snapshot what an older Siding would have made; return it."""
    store = sandbox.project / "snapshots.git"
    (ref,) = (store / "refs/tasks").iterdir()
    old = ref.read_text(encoding="ascii").strip()
    git = ("--git-dir", str(store))
    alternates = {"GIT_ALTERNATE_OBJECT_DIRECTORIES": str(sandbox.repo / ".git/objects")}
    sandbox.env.update(alternates)
    body = sandbox.git(*git, "cat-file", "commit", old)
    lines = [line for line in body.split("\n") if not line.startswith("Modes: ")]
    last_parent = max(at for at, line in enumerate(lines) if line.startswith("parent "))
    modes_parent = body.partition("\nModes: ")[2].split()[0]
    if lines[last_parent] == f"parent {modes_parent}":
        del lines[last_parent]
    made = sandbox.directory / "commit"
    made.write_text("\n".join(lines) + "\n", encoding="utf-8")
    new = sandbox.git(*git, "hash-object", "-t", "commit", "-w", str(made))
    del sandbox.env["GIT_ALTERNATE_OBJECT_DIRECTORIES"]
    ref.write_text(new + "\n", encoding="ascii")
    ledger = next((sandbox.project / "tasks").glob("*/ledger.jsonl"))
    step = json.loads(ledger.read_text(encoding="utf-8").replace(old, new))
    del step["task"]  # no line was anchored then
    ledger.write_text(json.dumps(step) + "\n", encoding="utf-8")
    (anchor,) = store.glob("tasks/*/ledger-head")
    anchor.unlink()
    return new
