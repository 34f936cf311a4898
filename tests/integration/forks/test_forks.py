"""A fork is the recorded state to the byte, is on no board, and its workspace serves again."""

import os
import re
import shutil
from pathlib import Path

import pytest

from integration.undo.desk import Desk
from prepared import prepared
from siding.forks.forks import ForkInUse, drop, fork, forked, keep, reopened
from siding.forks.parentage import Parentage, fork_rows
from siding.forks.state import recorded
from siding.forks.sweep import sweep
from siding.ground.errors import NotFound, UsageError
from siding.ground.git.errors import SnapshotDamaged
from siding.ground.storage.locks import FileLock
from siding.record.recording.verify import verify
from siding.record.tasks.registry import SNAPSHOTS_LOST
from siding.undo.undo import UndoRequest, undo

from .bench import CHANGES, contents, dropped, git, git_says, left_of_the_pool, made, state


@pytest.fixture
def desk() -> Desk:
    return Desk.at(prepared(Desk))


def test_files_modes_head_and_index_are_those_of_the_state(desk: Desk) -> None:
    desk.run("sh", "-c", CHANGES)
    wanted, said = contents(desk.root), git_says(desk, desk.root)
    found = made(desk, state(desk))
    ignored = b"a.log"
    assert contents(found.path) == {p: e for p, e in wanted.items() if p != ignored}
    assert git_says(desk, found.path) == said
    assert git(desk, found.path, "rev-parse", "--abbrev-ref", "HEAD") == "HEAD\n"
    (desk.root / "more").write_text("x")  # the fork has its own
    assert not (found.path / "more").exists()


def test_a_workspace_of_the_pool_is_taken_to_any_other_state(desk: Desk) -> None:
    """Also back to the base, and to a state that was left behind."""
    steps = ["base"]
    for number, change in enumerate((CHANGES, "rm -rf empty bytes c; mkdir c; echo x >c/in"), 1):
        desk.run("sh", "-c", change)
        steps.append(str(number))
    wanted = {}
    for step in steps:
        found = made(desk, state(desk, step))
        wanted[step] = (contents(found.path), git_says(desk, found.path))
        found.close()  # a workspace of its own for each
    undo(desk.project, UndoRequest(task=desk.task.id))
    serving = made(desk, state(desk, "base"))
    slot = serving.path
    dropped(desk.project, serving)
    for step in [*steps, *reversed(steps)]:
        found = made(desk, state(desk, step))
        assert found.path == slot
        assert (contents(found.path), git_says(desk, found.path)) == wanted[step], step
        assert not dropped(desk.project, found)


def test_commits_that_only_our_store_has_are_given_to_the_repository(desk: Desk) -> None:
    desk.run("sh", "-c", "echo 1 >f; git add f; git commit -qm lost")
    head = git(desk, desk.root, "rev-parse", "HEAD").strip()
    git(desk, desk.root, "reset", "-q", "--hard", "HEAD~1")
    git(desk, desk.root, "reflog", "expire", "--expire=now", "--all")
    git(desk, desk.root, "-c", "gc.pruneExpire=now", "gc", "-q", "--prune=now")
    found = made(desk, state(desk, "1"))
    assert git(desk, found.path, "log", "-1", "--format=%H %s") == f"{head} lost\n"
    assert git(desk, found.path, "status", "--porcelain") == ""


def test_nothing_of_a_fork_is_on_the_board_or_among_the_refs(desk: Desk) -> None:
    refs = git(desk, desk.sandbox.repo, "for-each-ref")
    board = desk.sandbox.siding("task", "list", "--format", "json").stdout
    with forked(desk.project, state(desk)) as found:
        (found.path / "new").write_text("x")
        desk.sandbox.siding("run", "-t", found.id, "--", "sh", "-c", "echo 2 >two")
        assert desk.sandbox.siding("task", "list", "--format", "json").stdout == board
        assert git(desk, desk.sandbox.repo, "for-each-ref") == refs
        assert desk.sandbox.steps(found.id)[0]["kind"] == "checkpoint"
        assert desk.sandbox.siding("path", found.id).stdout.decode().strip() == str(found.path)
        assert [row.id for row in fork_rows(desk.project)] == [found.id]
        listed = desk.sandbox.siding("task", "list", "--children", desk.task.id).stdout.decode()
        assert found.id in listed
    assert desk.sandbox.siding("doctor").stdout.decode().strip() == "everything agrees"
    assert not [each for each in verify(desk.project, found.id).findings if each.serious]


def test_steps_and_undo_work_in_a_fork(desk: Desk) -> None:
    found = made(desk, state(desk))
    before = contents(found.path)
    desk.sandbox.siding(
        "run", "--", "sh", "-c", "echo 1 >f; git add f; git commit -qm one", cwd=found.path
    )
    assert desk.sandbox.siding("undo", cwd=found.path).returncode == 0
    assert contents(found.path) == before
    assert git(desk, found.path, "status", "--porcelain") == ""
    desk.sandbox.siding("redo", cwd=found.path)
    assert (found.path / "f").read_text() == "1\n"
    assert [step["kind"] for step in desk.sandbox.steps(found.id)] == ["run"] + ["rollback"] * 2


@pytest.mark.parametrize(
    "change",
    [
        "echo x >ignored.log",
        "git switch -qc mine",
        "git commit -q --allow-empty -m mine",
        "git config --worktree core.pager evil || true; echo x >$(git rev-parse --git-dir)/own",
        "mkfifo pipe",
        "git init -q inner; echo x >inner/f",
        "ln hello.txt other",
        "chmod 700 src; mkdir -p a/b/c",
        "echo merging >$(git rev-parse --git-dir)/MERGE_MSG",
    ],
)
def test_the_next_fork_has_nothing_of_the_last_one(desk: Desk, change: str) -> None:
    desk.write(".gitignore", "*.log\n")
    at = state(desk)
    first = made(desk, at)
    wanted, said = contents(first.path), git_says(desk, first.path)
    git(desk, first.path, "status")
    os.system(f"cd {first.path} && {change} >/dev/null 2>&1")
    dropped(desk.project, first)
    second = made(desk, at)
    assert contents(second.path) == wanted
    assert git_says(desk, second.path) == said
    git_dir = Path(second.workspace.git_dir)
    assert set(os.listdir(git_dir)) <= {"HEAD", "commondir", "gitdir", "index", "logs", "refs"}
    assert "mine" not in git(desk, second.path, "reflog")


def test_what_differs_is_recorded_before_a_workspace_is_given_back(desk: Desk) -> None:
    first = made(desk, state(desk))
    (first.path / "work").write_text("mine\n")
    assert drop(desk.project, first).differs
    started = keep(desk.project, desk.project.tasks.load(first.id), "kept")
    assert started.workspace is not None
    assert (Path(started.workspace.path) / "work").read_text() == "mine\n"
    assert started.task.branch in git(desk, desk.sandbox.repo, "branch", "--list", "siding/kept*")


def test_a_sweep_takes_what_does_not_differ_and_leaves_nothing(desk: Desk) -> None:
    at = state(desk)
    plain, changed, in_use = (made(desk, at, call) for call in ("a", "b", "c"))
    (changed.path / "work").write_text("mine\n")
    plain.close()
    changed.close()
    swept = sweep(desk.project, group="g")
    assert (swept.dropped, swept.differ, swept.busy) == ((plain.id,), (changed.id,), (in_use.id,))
    assert (changed.path / "work").exists()
    in_use.close()
    dropped(desk.project, reopened(desk.project, desk.project.tasks.load(changed.id)))
    (desk.project.layout.root / "config.yaml").write_text("version: 1\nforks:\n  pool: 0\n")
    sweep(Desk.again(desk).project)
    assert left_of_the_pool(desk) == []
    assert git(desk, desk.sandbox.repo, "worktree", "prune", "-n", "-v") == ""


def test_a_fork_that_somebody_works_with_is_not_given_to_another_one(desk: Desk) -> None:
    found = made(desk, state(desk))
    with pytest.raises(ForkInUse):
        reopened(desk.project, found.task)
    found.close()
    again = reopened(desk.project, found.task)
    assert again.path == found.path
    dropped(desk.project, again)
    parentage = Parentage.of(desk.project.tasks.load(found.id))
    assert parentage is not None
    assert (parentage.parent, parentage.group) == (desk.task.id, "g")


def test_what_cannot_be_forked_leaves_nothing(desk: Desk) -> None:
    with pytest.raises(NotFound):
        state(desk, "7")
    desk.run("sh", "-c", "echo 1 >f")
    at = state(desk)
    with pytest.raises(UsageError):
        made(desk, at, call="-x")
    shutil.rmtree(desk.project.snapshots.objects / "pack")
    (desk.project.snapshots.objects / "pack").mkdir()
    with pytest.raises(SnapshotDamaged):
        fork(desk.project, at)
    assert left_of_the_pool(desk) == []
    assert list(desk.project.tasks.fork_ids()) == []


def test_a_state_whose_snapshot_is_lost_is_not_forked_and_the_one_after_it_is(desk: Desk) -> None:
    for name in "abc":
        desk.write(name, name)
        desk.checkpoint(name)
    workspace = desk.project.registry.of_task(desk.task.id)
    assert workspace is not None
    with desk.project.changing("test"):
        desk.project.registry.put(workspace._replace(rest={**workspace.rest, SNAPSHOTS_LOST: 2}))
    for step in ("1", "2"):
        with pytest.raises(SnapshotDamaged):
            state(desk, step)
    assert state(desk, "3").step == desk.steps()[2].id


def test_a_worktree_that_was_tampered_with_is_not_used(desk: Desk) -> None:
    at = state(desk)
    first = made(desk, at)
    slot = first.path
    dropped(desk.project, first)
    shutil.rmtree(slot)
    slot.mkdir()
    second = made(desk, at)
    assert second.path != slot
    assert (second.path / "hello.txt").exists()


@pytest.mark.parametrize("verb", ["apply", "pr", "sync", "task close", "worktree remove"])
def test_acts_for_tasks_of_the_board_are_refused(desk: Desk, verb: str) -> None:
    found = made(desk, state(desk))
    named = ["-t"] if verb in ("apply", "pr", "sync") else []
    said = desk.sandbox.siding(*verb.split(), *named, found.id, status=2).stderr.decode()
    assert "is a fork" in said
    assert FileLock(desk.project.task_layout(found.id).lease).is_locked()


def test_a_fork_of_a_fork(desk: Desk) -> None:
    first = made(desk, state(desk))
    (first.path / "one").write_text("1")
    second = made(desk, recorded(desk.project, first.task))
    assert (second.path / "one").read_text() == "1"
    assert not dropped(desk.project, second)
    assert dropped(desk.project, first)


def test_siding_fork_starts_a_task_from_a_step(desk: Desk) -> None:
    desk.run("sh", "-c", "echo 1 >one")
    desk.run("sh", "-c", "echo 2 >two")
    desk.sandbox.siding("fork", "other", "--step", "1", "-t", desk.task.id)
    root = desk.sandbox.workspace("other")
    assert ((root / "one").exists(), (root / "two").exists()) == (True, False)


def test_ignored_directories_come_along_if_the_lock_files_are_the_same(desk: Desk) -> None:
    desk.write(".gitignore", "node_modules\n")
    desk.write("package-lock.json", "{}")
    desk.write("node_modules/a/index.js", "a")
    (desk.root / "node_modules/b").symlink_to("a")
    settings = "version: 1\nforks:\n  warm: [node_modules, src, nowhere]\n"
    (desk.project.layout.root / "config.yaml").write_text(settings)
    desk = Desk.again(desk)
    found = made(desk, state(desk))
    own, theirs = (root / "node_modules/a/index.js" for root in (found.path, desk.root))
    assert own.read_text() == "a"
    assert own.stat().st_ino != theirs.stat().st_ino
    assert (found.path / "node_modules/b").is_symlink()
    assert "node_modules" not in git(desk, found.path, "status", "--porcelain")
    assert not dropped(desk.project, found)
    at = state(desk)
    desk.write("package-lock.json", "{ }")
    again = made(desk, at)
    assert not (again.path / "node_modules").exists()


def test_the_doctor_finds_and_throws_away_what_is_half_made(desk: Desk) -> None:
    found = made(desk, state(desk))
    found.close()
    desk.project.task_layout(found.id).task_json.unlink()  # killed before it was written
    said = desk.sandbox.siding("doctor", status=None).stdout.decode()
    assert "left half-made" in said
    assert not found.path.exists()
    assert desk.sandbox.siding("doctor").stdout.decode().strip() == "everything agrees"
    assert found.id not in desk.project.tasks.fork_ids()


def test_where_the_files_of_a_dropped_fork_are_is_said(desk: Desk) -> None:
    found = made(desk, state(desk))
    (found.path / ".gitignore").write_text("*.log\n")
    (found.path / "a.log").write_text("ignored\n")
    found.close()
    said = desk.sandbox.siding("task", "drop", found.id).stderr.decode()
    (place,) = re.findall(r"moved to (\S+)", said)
    assert (Path(place) / "a.log").read_text() == "ignored\n"
    again = made(desk, state(desk))
    assert not (again.path / "a.log").exists()
    os.mkfifo(again.path / "pipe")  # no snapshot has it: the workspace does not serve again
    again.close()
    said = desk.sandbox.siding("task", "drop", again.id).stderr.decode()
    (place,) = re.findall(r"moved to (\S+)", said)
    assert (Path(place) / "workspace/pipe").is_fifo()
