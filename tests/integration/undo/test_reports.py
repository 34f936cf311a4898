"""Ways in which users of other tools lost work, each as a case that ours must pass.

`docs/reference/hazards.md` lists them all, with the test that stands for each; the hazards of git
itself are in `test_hazards.py`.
"""

import pytest

from sandbox import Sandbox
from siding.tasks.close import Fate, NotSwitchedOver, close_task

from .desk import Desk

FILES = ("-c", "protocol.file.allow=always")


def test_h8_a_commit_made_in_a_submodule_outlives_its_workspace(sandbox: Sandbox) -> None:
    """daintree#12089: `worktree remove --force` took the submodule's store, commit and all."""
    library = sandbox.directory / "library"
    sandbox.git("clone", "-q", str(sandbox.repo), str(library))
    sandbox.git(*FILES, "submodule", "add", "-q", str(library), "lib")
    sandbox.git("commit", "-qm", "with a library")
    desk = Desk(sandbox)
    desk.git(*FILES, "submodule", "update", "-q", "--init")
    desk.write("lib/new", "by the agent")
    sandbox.git("add", "new", cwd=desk.root / "lib")
    sandbox.git("commit", "-qm", "only here", cwd=desk.root / "lib")
    made = sandbox.git("rev-parse", "HEAD", cwd=desk.root / "lib")
    desk.close()
    assert [each.failed for each in desk.gc().done] == [None]
    sandbox.git("gc", "-q", "--prune=now")
    desk.reopen()
    assert sandbox.git("rev-parse", "HEAD", cwd=desk.root / "lib") == made
    assert desk.read("lib/new") == b"by the agent"
    assert sandbox.git("status", "--porcelain", cwd=desk.root / "lib") == ""


@pytest.mark.parametrize("fate", [Fate.REMOVE, Fate.DELETE])
def test_work_that_git_does_not_track_keeps_a_task_from_closing(desk: Desk, fate: Fate) -> None:
    """claude-code#35862: the check before the cleanup asked git for tracked files only."""
    desk.write("untracked", "hours of work")
    with pytest.raises(NotSwitchedOver, match="1 changed file"):
        close_task(desk.project, desk.task, fate=fate, force=False)
    assert desk.read("untracked") == b"hours of work"


def test_no_object_of_the_users_is_touched_by_deleting_a_task(desk: Desk) -> None:
    """vibe-kanban#3406: deleting a workspace emptied `.git/objects`."""
    objects = desk.project.paths.objects
    before = {path: path.read_bytes() for path in objects.rglob("*") if path.is_file()}
    desk.write("f", "1")
    desk.checkpoint()
    desk.close(Fate.DELETE)
    desk.gc()
    assert {path: path.read_bytes() for path in before if path.is_file()} == before
    desk.sandbox.git("fsck", "--no-dangling")


def test_a_workspace_that_is_there_is_never_made_anew(desk: Desk) -> None:
    """agent-orchestrator#1926: "restoring" a worktree removed it by force and made another."""
    desk.write("unrecorded", "x")
    there = desk.tree()
    desk.sandbox.siding("worktree", "add", desk.task.id, status=1)
    desk.sandbox.siding("doctor")
    assert desk.tree() == there


def test_an_index_that_is_empty_for_a_moment_makes_no_empty_snapshot(desk: Desk) -> None:
    """entire#2111: an index read while git renamed it became a commit of the empty tree."""
    index = desk.root / desk.git("rev-parse", "--git-path", "index")
    desk.write("new", "1")
    content = index.read_bytes()
    for broken in (b"", content[:20], None):
        index.unlink()
        if broken is not None:
            index.write_bytes(broken)
        desk.write("new", repr(broken))
        step = desk.checkpoint()
        assert step.diff_stat.file_list == ("new",)
    index.write_bytes(content)
    before = desk.tree()
    desk.rollback(None)
    assert sorted(desk.tree()) == [b"hello.txt", b"src/a.py"]
    desk.undo()
    assert desk.tree() == before


def test_what_a_shell_command_did_goes_back_like_any_edit(desk: Desk) -> None:
    """claude-code#94657: only the edits of the agent's own tools could be taken back."""
    desk.shell("sed -i s/hello/hallo/ hello.txt; mv src/a.py src/b.py; seq 9 >made; chmod +x made")
    desk.rollback(None)
    assert desk.tree() == {b"hello.txt": ("file", b"hello\n"), b"src/a.py": ("file", b"a = 1\n")}


def test_the_rules_of_every_directory_there_count(desk: Desk) -> None:
    for place in ("", "src/", "deep/er/"):
        desk.write(f"{place}.gitignore", f"{place.partition('/')[0]}.env\n")
    for name in (".env", "src/src.env", "deep/er/deep.env"):
        desk.write(name, "SECRET=1")
    desk.checkpoint()
    desk.shell("rm .gitignore src/.gitignore deep/er/.gitignore; echo more >more")
    assert "src/src.env" in desk.steps()[-1].diff_stat.file_list
    desk.rollback(1)
    for name in (".env", "src/src.env", "deep/er/deep.env"):
        assert desk.read(name) == b"SECRET=1"
    assert not (desk.root / "more").exists()
