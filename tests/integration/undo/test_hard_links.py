"""Files that are one go back as one, and a rollback writes into no file elsewhere."""

import os

from sandbox import Sandbox


def test_going_back_and_forth_links_and_parts_files(sandbox: Sandbox) -> None:
    sandbox.siding("-q", "task", "start", "t")
    root = sandbox.workspace()

    def are_one() -> bool:
        return os.path.samefile(root / "one", root / "two")

    sandbox.siding("-q", "run", "--", "sh", "-c", "echo x >one; ln one two")
    sandbox.siding("-q", "run", "--", "sh", "-c", "cp two t; mv t two")
    assert not are_one()
    told = sandbox.siding("diff", "2")
    assert b"links: one (alone)" in told.stderr
    sandbox.siding("-q", "rollback", "--step", "1")
    assert are_one()
    assert b"links: one (with two)" in sandbox.siding("diff", "3").stderr
    assert sandbox.siding("rollback", "--step", "1", "--dry-run").stdout == b""
    sandbox.siding("-q", "undo")
    assert not are_one()
    sandbox.siding("-q", "redo")
    assert are_one()
    assert (root / "two").read_text(encoding="utf-8") == "x\n"


def test_a_step_of_links_or_directories_alone_says_so(sandbox: Sandbox) -> None:
    sandbox.siding("-q", "task", "start", "t")
    sandbox.siding("-q", "run", "--", "sh", "-c", "echo x >one; echo x >two")
    told = sandbox.siding("run", "--", "ln", "-f", "one", "two").stderr
    assert b"links of 2 files" in told
    told = sandbox.siding("run", "--", "mkdir", "-p", "a/b", "c").stderr
    assert b"2 empty directories" in told
    told = sandbox.siding("run", "--", "rmdir", "c").stderr
    assert b"1 empty directory" in told
    told = sandbox.siding("run", "--", "sh", "-c", "rmdir a/b; echo y >one").stderr
    assert b"directories" not in told
    log = sandbox.siding("log").stdout
    assert (log.count(b"links"), log.count(b"directories")) == (1, 2)
    assert b"links of 2 files" in sandbox.siding("show", "2").stdout


def test_links_made_since_are_not_taken_back_unasked(sandbox: Sandbox) -> None:
    sandbox.siding("-q", "task", "start", "t")
    root = sandbox.workspace()
    sandbox.siding("-q", "run", "--", "sh", "-c", "echo x >one; echo x >two")
    os.remove(root / "two")
    os.link(root / "one", root / "two")
    refused = sandbox.siding("undo", status=None)
    assert refused.returncode != 0
    assert b"two" in refused.stderr
