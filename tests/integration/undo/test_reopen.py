"""Close, delete, collect, reopen: the workspace comes back as it was, to the last byte."""

import os
from pathlib import Path

import pytest

from siding.ground.errors import IllegalTransition, SidingError
from siding.ground.git.errors import BranchInUse
from siding.record.tasks.task import TaskState, WorkspaceState
from siding.tasks.close import Fate
from siding.tasks.gc import Report

from .desk import Desk, Tree, on_disk


def make_everything(desk: Desk) -> None:
    """Fill a workspace with all that a snapshot alone would not give back."""
    desk.write(".gitignore", "ignored/\n*.env\n")
    desk.write("ignored/deep/file", b"\0\xff")
    desk.write("local.env", "SECRET=1")
    desk.write("committed", "by the agent")
    desk.git("add", "committed", ".gitignore")
    desk.git("commit", "-qm", "local")
    desk.write("staged only", "never on disk again")
    desk.git("add", "staged only")
    desk.write("staged only", "changed after")
    (desk.root / "nested").mkdir()
    desk.write("nested/f", "1")
    desk.sandbox.git("init", "-q", cwd=desk.root / "nested")
    desk.sandbox.git("add", "f", cwd=desk.root / "nested")
    desk.sandbox.git("commit", "-qm", "nested", cwd=desk.root / "nested")
    (desk.root / "empty/er").mkdir(parents=True)
    os.mkfifo(desk.root / "pipe")
    desk.write("private", "x")
    (desk.root / "private").chmod(0o600)
    os.symlink("nowhere", desk.root / "dangling")
    with open(os.path.join(os.fsencode(desk.root), b"line\nbreak \xff"), "wb") as file:
        file.write(b"\r\n")


def state_of(desk: Desk) -> tuple[Tree, list[str]]:
    """Return every file, directory and permission, and what git says of the workspace."""
    said = [
        desk.git("status", "--porcelain", "-z"),
        desk.git("log", "--format=%H %s"),
        desk.git("diff", "--cached"),
        desk.git("rev-parse", "HEAD"),
        desk.git("ls-files", "-s"),
        desk.sandbox.git("log", "--format=%H", cwd=desk.root / "nested"),
    ]
    return on_disk(desk.root, whole=True), said


@pytest.mark.parametrize("collect", [False, True], ids=["in the trash", "collected"])
@pytest.mark.parametrize("fate", [Fate.REMOVE, Fate.DELETE])
def test_everything_comes_back(desk: Desk, fate: Fate, collect: bool) -> None:
    make_everything(desk)
    before = state_of(desk)
    desk.close(fate)
    assert not desk.root.exists()
    if collect:
        _must_free(desk.gc())
        assert desk.trash() == []
    done = desk.reopen()
    assert done.task.status is TaskState.ACTIVE
    assert state_of(desk) == before
    assert desk.shell("echo on >>hello.txt").status == "completed"
    assert not list((desk.project.layout.root / "archives").glob("*"))


def test_a_gc_of_the_users_loses_nothing_meanwhile(desk: Desk) -> None:
    make_everything(desk)
    desk.git("commit", "-qm", "then thrown away")
    desk.git("reset", "-q", "--soft", "HEAD~1")
    lost = desk.git("rev-parse", "HEAD@{1}")
    before = state_of(desk)
    desk.close()
    desk.sandbox.git("reflog", "expire", "--expire=now", "--all")
    desk.sandbox.git("gc", "-q", "--prune=now")
    desk.reopen()
    assert state_of(desk) == before
    assert desk.git("cat-file", "-t", lost) == "commit"


def test_a_branch_that_was_deleted_is_made_again(desk: Desk) -> None:
    desk.write("committed", "1")
    desk.git("add", "-A")
    desk.git("commit", "-qm", "local")
    head = desk.git("rev-parse", "HEAD")
    branch = desk.git("symbolic-ref", "--short", "HEAD")
    desk.close()
    desk.sandbox.git("branch", "-D", branch)
    desk.sandbox.git("gc", "-q", "--prune=now")
    done = desk.reopen()
    assert desk.git("rev-parse", "HEAD") == head
    assert any("deleted" in note for note in done.notes)


def test_a_branch_that_is_in_use_elsewhere_stops_it(desk: Desk) -> None:
    branch = desk.git("symbolic-ref", "--short", "HEAD")
    desk.commit()
    desk.close()
    desk.sandbox.git("worktree", "add", "-q", str(desk.sandbox.directory / "elsewhere"), branch)
    trash = desk.trash()
    with pytest.raises(BranchInUse):
        desk.reopen()
    assert desk.trash() == trash
    desk.sandbox.git("worktree", "remove", str(desk.sandbox.directory / "elsewhere"))
    desk.reopen()
    assert desk.read("hello.txt") == b"hello\n"


def test_what_took_its_place_stops_it(desk: Desk) -> None:
    desk.close()
    desk.root.mkdir()
    (desk.root / "somebody's").write_text("x")
    with pytest.raises(SidingError, match="in the way"):
        desk.reopen()
    assert (desk.root / "somebody's").read_text() == "x"


def test_without_trash_and_archive_the_newest_snapshot_comes_back(desk: Desk) -> None:
    import shutil

    desk.write("untracked", b"\r\n\0")
    (desk.root / "hello.txt").chmod(0o755)
    os.symlink("hello.txt", desk.root / "link")
    before = desk.tree()
    desk.close()
    shutil.rmtree(desk.project.layout.trash_dir)
    done = desk.reopen()
    assert desk.tree() == before
    assert any("snapshot" in note for note in done.notes)
    assert desk.git("status", "--porcelain").splitlines() == [
        "M hello.txt",
        "?? link",
        "?? untracked",
    ]
    assert desk.shell("true").files == 0


def test_an_open_task_cannot_be_reopened(desk: Desk) -> None:
    with pytest.raises((SidingError, IllegalTransition), match="open"):
        desk.reopen()


def test_undo_and_redo_of_a_closing(desk: Desk) -> None:
    desk.write("f", "1")
    desk.close(Fate.DELETE)
    assert desk.task.id not in desk.project.tasks.ids()
    desk.undo()
    assert desk.read("f") == b"1"
    desk.redo()
    assert desk.task.id not in desk.project.tasks.ids()
    desk.undo()
    desk.write("f", "2")
    with pytest.raises(SidingError, match="came after"):
        desk.redo()
    assert desk.read("f") == b"2"


def test_gc_leaves_open_and_kept_ones_and_keeps_to_its_budget(desk: Desk) -> None:
    desk.write("ignored.bin", b"x" * 100_000)
    assert desk.gc().chosen == ()
    desk.close()
    assert desk.gc(budget=1 << 30).chosen == ()
    dry = desk.gc(dry_run=True)
    assert [use.id for use in dry.chosen] == [desk.task.id]
    assert desk.trash() != []
    _must_free(desk.gc())
    (workspace,) = desk.project.registry.all()
    assert workspace.status is WorkspaceState.REMOVED
    desk.reopen()
    desk.close(Fate.KEEP)
    assert desk.gc().chosen == ()
    assert desk.root.is_dir()


def test_a_damaged_snapshot_keeps_the_trash(desk: Desk) -> None:
    """The damage is in the contents of a file, which nothing but the check before it reads."""
    desk.write("f", os.urandom(50_000))
    desk.close()
    packs = (desk.project.snapshots.objects / "pack").glob("*.pack")
    pack = max(packs, key=lambda each: each.stat().st_size)
    pack.chmod(0o600)
    data = bytearray(pack.read_bytes())
    data[len(data) // 2] ^= 0xFF
    pack.write_bytes(data)
    trash = desk.trash()
    (done,) = desk.gc().done
    assert done.failed is not None
    assert desk.trash() == trash


def test_an_archive_that_reads_back_differently_deletes_nothing(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    from siding.record.workspaces import archives

    desk.write(".gitignore", "x\n")
    desk.write("x", "ignored")
    desk.close()
    real = archives._read_back

    def meddled(archive: Path, entries: list[archives.ArchiveEntry]) -> None:
        target = next(each.path for each in entries if each.path.endswith("/workspace/x"))
        Path(target).write_text("changed!")
        real(archive, entries)

    monkeypatch.setattr(archives, "_read_back", meddled)
    (done,) = desk.gc().done
    assert done.failed is not None
    assert any(path.endswith(b"/workspace/x") for path in desk.trash())
    assert not list((desk.project.layout.root / "archives").iterdir())


def _must_free(report: Report) -> None:
    assert [each.failed for each in report.done] == [None]
