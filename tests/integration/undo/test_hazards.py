"""The ways in which others' rollbacks lost work, each as a case that ours must pass.

The names say which: H1 to H14 are reproduced hazards of git itself, the others are reports about
tools that went back with `git clean`, a stash, a moved HEAD or an incomplete snapshot.
"""

import os
import subprocess

import pytest

from sandbox import Sandbox
from siding.ground.errors import SidingError
from siding.ground.ids import Sha
from siding.record.ledger.run_details import CheckpointDetail
from siding.record.ledger.step import StepStatus
from siding.record.recording.recorder import OUTSIDE
from siding.record.restoring.refusal import Refusal

from .desk import Desk


def test_h1_an_edit_of_the_same_size_in_the_same_moment_is_seen(desk: Desk) -> None:
    desk.write("a.txt", "one")
    desk.checkpoint()
    path = desk.root / "a.txt"
    times = path.stat()
    path.write_text("two")
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
    desk.rollback(1)
    assert desk.read("a.txt") == b"one"
    desk.undo()
    assert desk.read("a.txt") == b"two"


def test_h2_a_nested_repository_without_a_commit_spoils_no_snapshot(desk: Desk) -> None:
    desk.shell("mkdir sub && git init -q sub && echo inside >sub/f && echo more >>hello.txt")
    desk.rollback(None, force=True)
    assert desk.read("hello.txt") == b"hello\n"
    assert (desk.root / "sub/.git").is_dir()
    desk.undo()
    assert desk.read("sub/f") == b"inside\n"
    assert desk.read("hello.txt") == b"hello\nmore\n"


def test_h3_the_files_of_a_nested_repository_come_back_and_its_history_stays(desk: Desk) -> None:
    git = "git -c user.name=x -c user.email=x@x"
    desk.shell(
        f"mkdir sub && cd sub && git init -q && echo 1 >f && git add f && {git} commit -qm 1"
    )
    head = (desk.root / "sub/.git/logs/HEAD").read_bytes()
    desk.shell("echo 2 >sub/f; echo g >sub/g")
    with pytest.raises(Refusal, match="only the files"):
        desk.rollback(1)
    desk.rollback(1, force=True)
    assert desk.read("sub/f") == b"1\n"
    assert not (desk.root / "sub/g").exists()
    assert (desk.root / "sub/.git/logs/HEAD").read_bytes() == head


def test_h4_h5_bytes_come_back_whatever_attributes_and_settings_say(desk: Desk) -> None:
    desk.git("config", "core.autocrlf", "true")
    desk.write(
        ".gitattributes", "*.txt text eol=lf\n*.bin filter=lfs\n*.u working-tree-encoding=UTF-16\n"
    )
    contents = {
        "a.txt": b"x\r\ny\n",
        "b.bin": b"\0\1\r\n",
        "c.u": b"\xff\xfeplain",
        "d.txt": b"$Id$\r",
    }
    for name, content in contents.items():
        desk.write(name, content)
    desk.checkpoint()
    for name in contents:
        desk.write(name, b"other\n")
    desk.rollback(1)
    assert {name: desk.read(name) for name in contents} == contents


def test_h6_an_ignored_file_in_the_place_of_a_file_is_not_overwritten(desk: Desk) -> None:
    desk.write("notes", "recorded")
    desk.checkpoint()
    desk.shell("rm notes && echo notes >.gitignore")
    desk.write("notes", "mine, never recorded")
    with pytest.raises(Refusal, match="notes"):
        desk.rollback(1)
    assert desk.read("notes") == b"mine, never recorded"
    done = desk.rollback(1, force=True)
    assert desk.read("notes") == b"recorded"
    assert done.restored is not None
    assert done.restored.trash is not None
    assert (done.restored.trash / "aside/notes").read_bytes() == b"mine, never recorded"
    desk.undo(force=True)
    assert desk.read("notes") == b"mine, never recorded"


def test_h6_an_ignored_file_in_a_directory_that_shall_be_a_file_is_kept(desk: Desk) -> None:
    desk.write("place", "a file")
    desk.checkpoint()
    desk.shell("rm place && mkdir place && echo '*.log' >.gitignore && echo keep >place/x.log")
    with pytest.raises(Refusal, match=r"place/x\.log"):
        desk.rollback(1)
    desk.rollback(1, force=True)
    assert desk.read("place") == b"a file"
    desk.undo(force=True)
    assert desk.read("place/x.log") == b"keep\n"


def test_h7_a_changed_ignore_file_costs_no_ignored_file(desk: Desk) -> None:
    """cline#14367: the ignore rules went back first, then `clean` took what they had protected."""
    desk.write(".gitignore", "data/\n")
    desk.write("data/big", "hours of work")
    desk.checkpoint()
    desk.rollback(None)
    assert not (desk.root / ".gitignore").exists()
    assert desk.read("data/big") == b"hours of work"


def test_a_file_that_was_ignored_there_stays(desk: Desk) -> None:
    """The reverse: the agent drops the rule, the file gets recorded, the rule comes back."""
    desk.write(".gitignore", ".env\n")
    desk.write(".env", "TOKEN=1")
    desk.checkpoint()
    desk.shell("rm .gitignore")
    done = desk.rollback(1)
    assert desk.read(".env") == b"TOKEN=1"
    assert [left.path for left in done.survey.plan.left] == [b".env"]
    desk.shell("true")
    assert desk.steps()[-1].parent == desk.steps()[-1].snapshot
    desk.undo()
    assert desk.read(".env") == b"TOKEN=1"
    assert not (desk.root / ".gitignore").exists()


def test_h8_p12_closing_and_reopening_is_the_identity(desk: Desk) -> None:
    from .test_reopen import make_everything, state_of

    make_everything(desk)
    before = state_of(desk)
    desk.close()
    desk.reopen()
    assert state_of(desk) == before


def test_h10_no_snapshot_is_seen_or_pushed_by_the_users_git(desk: Desk) -> None:
    desk.write("secret", "not to be pushed")
    desk.checkpoint()
    desk.rollback(None)
    desk.undo()
    subprocess.run(
        ["git", "init", "-q", "--bare", str(desk.sandbox.directory / "mirror")], check=True
    )
    desk.sandbox.git("push", "-q", "--mirror", str(desk.sandbox.directory / "mirror"))
    for where in (desk.sandbox.repo, desk.sandbox.directory / "mirror"):
        assert "secret" not in desk.sandbox.git("log", "--all", "--name-only", cwd=where)


def test_h12_h7_nobodys_stash_is_touched(desk: Desk) -> None:
    desk.write("hello.txt", "stashed")
    desk.git("stash")
    stashes = desk.git("stash", "list")
    desk.write("new", "x")
    desk.write("hello.txt", "changed again")
    desk.rollback(None)
    desk.undo()
    assert desk.git("stash", "list") == stashes
    assert desk.git("diff", "--name-only") == "hello.txt"


def test_h13_names_links_and_what_no_snapshot_holds(desk: Desk) -> None:
    names = [b"tab\there", b"line\nbreak", b"\xff\xfe", b'quo"te\\', b":(glob)*", b"-rf", b" ~"]
    root = os.fsencode(desk.root)
    for name in names:
        with open(os.path.join(root, name), "wb") as file:
            file.write(name)
    os.symlink(b"no/where", os.path.join(root, b"dangling"))
    os.mkfifo(desk.root / "pipe")
    (desk.root / "empty").mkdir()
    desk.checkpoint()
    there = desk.tree()
    desk.rollback(None)
    assert not set(names) & set(desk.tree())
    assert (desk.root / "pipe").is_fifo()
    assert not (desk.root / "empty").exists()
    desk.write("empty/late", "x")
    desk.rollback(1)
    assert desk.tree() == there
    assert (desk.root / "empty").is_dir()


def test_h14_nothing_is_added_to_the_users_objects(desk: Desk) -> None:
    objects = desk.project.paths.objects
    before = sorted(path for path in objects.rglob("*") if path.is_file())
    for number in range(3):
        desk.write("f", str(number))
        desk.checkpoint()
    desk.rollback(1)
    desk.undo()
    assert sorted(path for path in objects.rglob("*") if path.is_file()) == before


def test_a_restore_never_cleans(desk: Desk) -> None:
    """copilot-cli#1675: `git clean -fd` took a gigabyte that a script had made."""
    desk.checkpoint()
    desk.shell("mkdir out && echo 1 >out/result")
    desk.rollback(None)
    assert not (desk.root / "out").exists()
    desk.undo()
    assert desk.read("out/result") == b"1\n"


def test_an_incomplete_snapshot_says_so_first(desk: Desk) -> None:
    """opencode#26893: a snapshot that had failed was used as if it were whole."""
    config = desk.project.layout.config_yaml
    config.write_text("snapshot: {max_file_size: 1KiB}\n")
    desk = Desk.again(desk)
    desk.write("huge", b"x" * 5000)
    desk.write("small", "1")
    desk.checkpoint()
    desk.write("small", "2")
    with pytest.raises(Refusal, match="huge"):
        desk.rollback(1)
    assert desk.read("small") == b"2"
    desk.rollback(1, force=True)
    assert desk.read("small") == b"1"
    assert desk.read("huge") == b"x" * 5000


def test_what_was_too_large_then_is_left_alone_now(desk: Desk) -> None:
    config = desk.project.layout.config_yaml
    config.write_text("snapshot: {max_file_size: 1KiB}\n")
    desk = Desk.again(desk)
    desk.write("file", b"x" * 5000)
    desk.checkpoint()
    desk.write("file", "now small enough")
    desk.checkpoint()
    done = desk.rollback(1, force=True)
    assert desk.read("file") == b"now small enough"
    assert [left.path for left in done.survey.plan.left] == [b"file"]


def test_a_base_that_was_not_captured_whole_says_so(sandbox: Sandbox) -> None:
    desk = Desk(sandbox)
    config = desk.project.layout.config_yaml
    config.write_text("snapshot: {max_file_size: 1KiB}\n")
    desk = Desk.again(desk)
    desk.write("hello.txt", "small")
    with desk.project.changing("the test"):
        (workspace,) = desk.project.registry.all()
        desk.project.registry.put(workspace._replace(base_snapshot=Sha("")))
    desk.write("big", b"x" * 5000)
    desk.checkpoint()
    desk.write("hello.txt", "changed")
    with pytest.raises(Refusal, match="big"):
        desk.rollback(None)
    desk.rollback(None, force=True)
    assert desk.read("hello.txt") == b"small"
    assert desk.read("big") == b"x" * 5000


def test_paths_limit_it_to_them(desk: Desk) -> None:
    """opencode#39513: a restore in a subdirectory wrote over its siblings."""
    desk.write("src/a.py", "changed")
    desk.write("src/b/new", "x")
    desk.write("srcs/c", "sibling")
    desk.write("hello.txt", "changed")
    desk.checkpoint()
    desk.rollback(None, "src")
    assert desk.read("src/a.py") == b"a = 1\n"
    assert not (desk.root / "src/b").exists()
    assert desk.read("srcs/c") == b"sibling"
    assert desk.read("hello.txt") == b"changed"
    desk.write("hello.txt", "elsewhere, later")
    desk.undo()
    assert desk.read("src/b/new") == b"x"
    assert desk.read("hello.txt") == b"elsewhere, later"


def _committed_and_staged(desk: Desk) -> str:
    """Commit a file and stage another, as the agent does; return the commit."""
    desk.write("done", "1")
    desk.git("add", "done")
    desk.git("-c", "core.hooksPath=/dev/null", "commit", "-qm", "the agent's")
    desk.write("staged", "x")
    desk.git("add", "staged")
    desk.checkpoint()
    return desk.git("rev-parse", "HEAD")


def test_with_files_alone_head_branch_and_index_stay_the_agents(desk: Desk) -> None:
    """Maestro#1483: staged stays staged, HEAD is not moved, `git status` tells the truth."""
    head = _committed_and_staged(desk)
    done = desk.rollback(None, files_only=True)
    assert desk.git("rev-parse", "HEAD") == head
    assert done.branch is not None
    assert "keeps a commit made since" in done.branch
    assert desk.git("status", "--porcelain").splitlines() == ["D done", "AD staged"]
    desk.undo()
    assert desk.git("status", "--porcelain") == "A  staged"


def test_head_branch_and_index_go_along(desk: Desk) -> None:
    base = desk.git("rev-parse", "HEAD")
    head = _committed_and_staged(desk)
    done = desk.rollback(None)
    assert desk.git("rev-parse", "HEAD") == base
    assert done.branch is None
    assert desk.git("status", "--porcelain") == ""
    desk.undo()
    assert desk.git("rev-parse", "HEAD") == head
    assert desk.git("status", "--porcelain") == "A  staged"


def test_a_dry_run_tells_the_truth_and_does_nothing(desk: Desk) -> None:
    """entire#668: a preview that was not what then happened."""
    desk.shell("echo 2 >>hello.txt; echo n >new; rm src/a.py; mkdir d; echo 1 >d/1")
    desk.write("unrecorded", "x")
    before, steps = desk.tree(), len(desk.steps())
    survey = desk.preview(None)
    assert desk.tree() == before
    assert len(desk.steps()) == steps
    written = {change.path for change in survey.plan.writes}
    deleted = {change.path for change in survey.plan.deletes}
    assert written == {b"hello.txt", b"src/a.py"}
    assert deleted == {b"new", b"d/1", b"unrecorded"}
    desk.rollback(None)
    after = desk.tree()
    assert set(before) - set(after) == deleted
    assert {p for p in after if before.get(p) != after[p]} == written


def test_what_only_exists_now_is_in_the_snapshot_first(desk: Desk) -> None:
    desk.shell("true")
    desk.write("only here", "unrecorded")
    done = desk.rollback(None)
    assert [step.detail for step in done.settled] == [CheckpointDetail(OUTSIDE, "outside")]
    desk.undo()
    assert desk.read("only here") == b"unrecorded"


def test_hard_moves_ignored_files_away_and_undo_brings_them_back(desk: Desk) -> None:
    desk.shell("printf 'node_modules\\n*.log\\n' >.gitignore; mkdir -p node_modules/x src/deep")
    desk.shell(
        "echo dep >node_modules/x/y; echo log >src/deep/a.log; git init -q node_modules/x/repo"
    )
    everything = desk.tree()
    desk.rollback(1, hard=True)
    assert not (desk.root / "node_modules").exists()
    assert not (desk.root / "src/deep/a.log").exists()
    assert any(path.endswith(b"node_modules/x/y") for path in desk.trash())
    desk.undo()
    assert desk.tree() == everything
    assert (desk.root / "node_modules/x/repo/.git").is_dir()
    desk.redo()
    assert not (desk.root / "node_modules").exists()
    desk.undo()
    assert desk.tree() == everything
    assert desk.trash() == []


def test_a_link_planted_on_the_way_leads_nowhere(desk: Desk) -> None:
    outside = desk.sandbox.directory / "outside"
    outside.mkdir()
    (outside / "a.py").write_text("precious")
    desk.write(".gitignore", "src\n")
    desk.shell("rm -r src")
    (desk.root / "src").symlink_to(outside)
    with pytest.raises((Refusal, SidingError)):
        desk.rollback(None, "src")
    assert (outside / "a.py").read_text() == "precious"
    desk.rollback(None, force=True)
    assert (outside / "a.py").read_text() == "precious"
    assert desk.read("src/a.py") == b"a = 1\n"
    assert not (desk.root / "src").is_symlink()


def test_undo_that_would_take_later_work_along_asks(desk: Desk) -> None:
    desk.shell("echo 1 >one")
    desk.rollback(None)
    desk.write("two", "2\n")
    with pytest.raises(Refusal, match="two"):
        desk.undo()
    desk.undo(force=True)
    assert desk.read("one") == b"1\n"
    assert not (desk.root / "two").exists()
    desk.redo()
    assert desk.read("two") == b"2\n"
    assert not (desk.root / "one").exists()


@pytest.mark.parametrize(
    ("by_hand", "named"),
    [
        (("add", "a"), "what is staged"),
        (("switch", "-qc", "aside"), "HEAD"),
        (("commit", "-q", "--allow-empty", "-m", "hers"), "HEAD"),
    ],
)
def test_so_does_one_that_would_take_along_what_git_was_told(
    desk: Desk, by_hand: tuple[str, ...], named: str
) -> None:
    desk.shell("echo 1 >a")
    desk.git(*by_hand)
    with pytest.raises(Refusal, match=f"step 0001 would be taken back with it: {named}"):
        desk.undo()
    desk.undo(force=True)
    assert desk.git("status", "--porcelain") == ""
    desk.redo()
    assert desk.read("a") == b"1\n"


def test_private_permissions_survive_a_rollback(desk: Desk) -> None:
    desk.write("key", "1")
    (desk.root / "key").chmod(0o600)
    desk.checkpoint()
    desk.write("key", "2")
    desk.rollback(1)
    assert (desk.root / "key").stat().st_mode & 0o777 == 0o600


def test_the_ledger_has_the_fields_of_a_rollback(desk: Desk) -> None:
    desk.shell("echo 1 >one")
    desk.shell("echo 2 >two")
    desk.rollback(1)
    record = desk.steps()[-1].line
    assert (record["target"], record["target_step"], record["hard"]) == ("step", "0001", False)
    assert record["status"] == StepStatus.COMPLETED
    desk.rollback(None)
    record = desk.steps()[-1].line
    assert (record["target"], record["target_step"]) == ("base", None)
    desk.undo()
    assert desk.steps()[-1].line["undoes"] == "0004"
