"""A home without room, and one that cannot be written: what still works, and what makes room."""

import os
import stat
from pathlib import Path

import pytest

from privileges import behind, without_privileges
from sandbox import Sandbox

from .no_room import fill, remount, small_disk, use_up_names

LOOKS = [
    ("status",),
    ("log",),
    ("show", "last"),
    ("diff",),
    ("diff", "--step", "1"),
    ("rollback", "--step", "1", "--dry-run"),
    ("rollback", "--base", "--dry-run"),
    ("apply", "--dry-run"),
    ("task", "list"),
    ("inbox",),
    ("verify",),
    ("doctor", "--check"),
    ("gc", "--dry-run"),
]


def worked_in(sandbox: Sandbox) -> Path:
    """Make a closed task that has something to free, and an open one with unrecorded work."""
    sandbox.siding("-q", "task", "start", "old")
    sandbox.siding("-q", "run", "--", "sh", "-c", "head -c 2000000 /dev/urandom >big; echo a >a")
    sandbox.siding("-q", "task", "close", "--force", "old")
    sandbox.siding("-q", "task", "start", "new")
    sandbox.siding("-q", "run", "--", "sh", "-c", "echo one >>hello.txt")
    sandbox.siding("-q", "run", "--", "sh", "-c", "echo two >>hello.txt")
    root = sandbox.workspace()
    (root / "unrecorded").write_text("new\n", encoding="utf-8")
    return root


@pytest.mark.parametrize("lacking", ["bytes", "names"])
def test_without_room_one_can_look_free_and_close(sandbox: Sandbox, lacking: str) -> None:
    small = sandbox.directory / "small"
    sandbox.env["SIDING_HOME"] = str(small / "home")
    elsewhere = sandbox.directory / "elsewhere"
    elsewhere.mkdir()
    sandbox.env["TMPDIR"] = str(elsewhere)
    options = "size=40m" if lacking == "bytes" else "size=400m,nr_inodes=900"
    with small_disk(small, options):
        worked_in(sandbox)
        (fill if lacking == "bytes" else use_up_names)(small)
        for look in LOOKS:
            sandbox.siding(*look)
        assert "unrecorded" in sandbox.siding("diff").stdout.decode()
        plan = sandbox.siding("rollback", "--base", "--dry-run").stdout.decode()
        assert "write   hello.txt" in plan
        assert "delete  unrecorded" in plan
        before = os.statvfs(small)
        said = sandbox.siding("gc").stderr.decode()
        assert "freed 1.9 MiB of" in said
        after = os.statvfs(small)
        assert after.f_bavail * after.f_frsize - before.f_bavail * before.f_frsize > 1_500_000
        assert after.f_favail > before.f_favail
        sandbox.siding("task", "reopen", "old")
        sandbox.siding("rollback", "--base", "-t", "old")
    assert not os.listdir(elsewhere), "a look left something outside the home"


def test_a_task_can_be_closed_on_a_full_disk(sandbox: Sandbox) -> None:
    small = sandbox.directory / "small"
    sandbox.env["SIDING_HOME"] = str(small / "home")
    with small_disk(small, "size=40m"):
        worked_in(sandbox)
        fill(small)
        sandbox.siding("task", "close", "--force", "new")
        (small / "filler").unlink()
        sandbox.siding("task", "reopen", "new")
        assert (sandbox.workspace("new") / "unrecorded").read_text(encoding="utf-8") == "new\n"
        sandbox.siding("verify", "new")


def test_what_is_packed_last_is_reported_when_it_does_not_fit(sandbox: Sandbox) -> None:
    small = sandbox.directory / "small"
    sandbox.env["SIDING_HOME"] = str(small / "home")
    with small_disk(small, "size=40m"):
        sandbox.siding("-q", "task", "start", "t")
        for _ in range(3):
            sandbox.siding("-q", "run", "--", "sh", "-c", "head -c 2500000 /dev/urandom >big")
        fill(small)
        said = sandbox.siding("gc").stderr.decode()
        assert "the packs of the snapshot store stay as they are" in said
        (small / "filler").unlink()
        assert "stay as they are" not in sandbox.siding("gc").stderr.decode()
        sandbox.siding("verify")


def test_a_read_only_home_can_be_looked_at(sandbox: Sandbox) -> None:
    small = sandbox.directory / "small"
    sandbox.env["SIDING_HOME"] = str(small / "home")
    with small_disk(small, "size=60m"):
        worked_in(sandbox)
        remount(small, "ro")
        for look in LOOKS:
            sandbox.siding(*look)
        assert "unrecorded" in sandbox.siding("diff").stdout.decode()
        said = sandbox.siding("run", "--", "true", status=None).stderr.decode()
        assert "read-only" in said.lower()


def test_a_home_of_which_nothing_may_be_written_can_be_looked_at(sandbox: Sandbox) -> None:
    prefix = without_privileges()
    worked_in(sandbox)
    changed = {}
    for parent, directories, _files in os.walk(sandbox.directory / "siding"):
        for name in (".", *directories):
            path = Path(parent, name)
            changed[path] = stat.S_IMODE(path.stat().st_mode)
    try:
        for path in changed:
            path.chmod(0o500)
        for look in LOOKS:
            behind(sandbox, prefix, *look)
    finally:
        for path, mode in changed.items():
            path.chmod(mode)
