"""Every mode carries all of the task: each commit of the agent's, and what it left uncommitted."""

import os
from pathlib import Path

from .conftest import Stage

TWO_COMMITS_AND_MORE = (
    "echo one >one.txt; git add .; git commit -qm 'agent one'; "
    "echo two >two.txt; git add .; git commit -qm 'agent two'; "
    "echo rest >rest.txt; rm hello.txt"
)
ALL = ["one.txt", "rest.txt", "run.sh", "src/a.py", "text.txt", "two.txt"]


def test_commit_carries_every_commit_and_the_rest(stage: Stage) -> None:
    stage.agent(TWO_COMMITS_AND_MORE)
    stage.apply()
    assert stage.files() == ALL
    assert stage.subjects()[:3] == ["Fix the parser", "agent two", "agent one"]
    who = stage.git("log", "-2", "--format=%an by %cn", "main").splitlines()
    assert who == ["Ada by Ada", "Bot by Ada"]
    assert stage.status() == []
    assert not stage.workspace.exists()


def test_commits_lead_back_to_the_task_and_its_steps(stage: Stage) -> None:
    stage.agent(TWO_COMMITS_AND_MORE)
    stage.apply("--co-author", "Claude <noreply@example.org>", "-m", "Parse it\n\nRefs: #7")
    body = stage.git("log", "-1", "--format=%B", "main")
    assert body.splitlines() == [
        "Parse it",
        "",
        "Refs: #7",
        f"Siding-Task: {stage.task}",
        "Siding-Steps: 0001",
        "Co-authored-by: Claude <noreply@example.org>",
    ]
    trailers = stage.git("log", "-3", "--format=%(trailers:key=Siding-Task,valueonly)", "main")
    assert trailers.split() == [stage.task] * 3


def test_a_clean_tree_with_commits_is_applied(stage: Stage) -> None:
    """The bar tool could never apply it: `nothing to commit`."""
    stage.agent("echo one >one.txt; git add .; git commit -qm 'agent one'")
    stage.apply()
    assert stage.subjects()[0] == "agent one"
    assert stage.show("one.txt") == "one\n"


def test_squash_makes_one_commit(stage: Stage) -> None:
    stage.agent(TWO_COMMITS_AND_MORE)
    stage.apply("--mode", "squash")
    assert stage.files() == ALL
    assert stage.subjects()[1] == "second"
    assert "* agent one\n* agent two" in stage.git("log", "-1", "--format=%B", "main")


def test_merge_keeps_the_agents_commits_as_they_are(stage: Stage) -> None:
    stage.agent(TWO_COMMITS_AND_MORE)
    own = stage.git("rev-list", "-2", "HEAD", cwd=stage.workspace).splitlines()
    before = stage.git("rev-parse", "main")
    stage.apply("--mode", "merge")
    assert stage.files() == ALL
    first, second = stage.git("log", "-1", "--format=%P", "main").split()
    assert first == before
    assert stage.git("rev-list", "-3", second).splitlines()[1:] == own


def test_merge_without_commits_of_the_agents(stage: Stage) -> None:
    stage.agent("echo rest >rest.txt")
    stage.apply("--mode", "merge", "-m", "Join it")
    assert stage.subjects()[0] == "Join it"
    assert len(stage.git("log", "-1", "--format=%P", "main").split()) == 2


def test_rebase_onto_a_target_that_moved(stage: Stage) -> None:
    stage.agent(TWO_COMMITS_AND_MORE)
    (stage.repo / "theirs.txt").write_text("theirs\n")
    stage.git("add", ".")
    stage.git("commit", "-qm", "theirs")
    stage.apply("--mode", "rebase")
    assert stage.subjects()[:4] == ["Fix the parser", "agent two", "agent one", "theirs"]
    assert stage.files() == sorted([*ALL, "theirs.txt"])


def test_patch_writes_files_and_nothing_else(stage: Stage) -> None:
    stage.agent(TWO_COMMITS_AND_MORE + "; chmod +x run.sh")
    before = stage.git("rev-parse", "main"), stage.git("ls-files", "-s")
    said = stage.apply("--mode", "patch")
    assert "uncommitted" in said
    assert (stage.git("rev-parse", "main"), stage.git("ls-files", "-s")) == before
    assert stage.status() == [
        " D hello.txt",
        " M run.sh",
        "?? one.txt",
        "?? rest.txt",
        "?? two.txt",
    ]
    assert os.access(stage.repo / "run.sh", os.X_OK)
    assert stage.leftovers() == []


def test_a_dry_run_shows_what_no_step_has_yet(stage: Stage) -> None:
    stage.agent("echo one >one.txt")
    (stage.workspace / "unseen.txt").write_text("unseen\n")
    said = stage.apply("--dry-run")
    assert "A  one.txt" in said
    assert "A  unseen.txt" in said


def test_a_patch_of_another_branch_goes_where_that_is_checked_out(
    stage: Stage, tmp_path: Path
) -> None:
    stage.agent("echo new >new.txt")
    stage.git("branch", "side")
    onto = ("--mode", "patch", "--onto", "side")
    assert "'side' is checked out nowhere" in stage.apply(*onto, status=2)
    stage.git("worktree", "add", "-q", str(tmp_path / "side"), "side")
    stage.apply(*onto)
    assert (tmp_path / "side/new.txt").read_text() == "new\n"
    assert stage.status(tmp_path / "side") == ["?? new.txt"]
    assert stage.status() == []


def test_patch_to_a_file_applies_with_git(stage: Stage, tmp_path: Path) -> None:
    stage.agent("printf 'a\\0b' >bin.dat; echo rest >rest.txt; rm hello.txt")
    before = stage.everything()
    stage.apply("--mode", "patch", "--output", str(tmp_path / "it.patch"))
    assert stage.everything() == before
    assert stage.workspace.exists()
    stage.git("apply", str(tmp_path / "it.patch"))
    assert (stage.repo / "bin.dat").read_bytes() == b"a\0b"


def test_commits_that_cannot_be_carried_one_by_one_become_one(stage: Stage) -> None:
    """The agent changed a line and took it back; the target changed that line meanwhile."""
    stage.agent(
        "sed -i 's/line 5$/agent/' text.txt; git commit -qam there; "
        "sed -i 's/agent/line 5/' text.txt; echo new >new.txt; git add .; git commit -qm back"
    )
    text = (stage.repo / "text.txt").read_text()
    (stage.repo / "text.txt").write_text(text.replace("line 5\n", "mine\n"))
    stage.git("commit", "-qam", "mine")
    assert "conflict" in stage.apply("--mode", "rebase", status=1)
    assert "applied as one commit" in stage.apply()
    assert "mine\n" in stage.show("text.txt")
    assert stage.show("new.txt") == "new\n"
    assert stage.subjects()[:2] == ["Fix the parser", "mine"]


def test_ignored_files_that_the_agent_committed_are_carried(stage: Stage) -> None:
    stage.agent(
        "echo 'build/' >.gitignore; mkdir build; echo out >build/out; "
        "git add -f .; git commit -qm 'with build'; echo more >more.txt"
    )
    stage.apply()
    assert stage.show("build/out") == "out\n"
    assert stage.show("more.txt") == "more\n"


def test_steps_paths_and_pick_choose_a_part(stage: Stage) -> None:
    stage.agent("echo one >one.txt")
    stage.agent("echo two >two.txt; echo x >>hello.txt")
    stage.agent("echo three >three.txt")
    assert "stays open" in stage.apply("--steps", "2..2", "-m", "second step")
    assert stage.files() == ["hello.txt", "run.sh", "src/a.py", "text.txt", "two.txt"]
    assert stage.git("log", "-1", "--format=%(trailers:key=Siding-Steps,valueonly)") == "0002"
    stage.apply("--paths", "one.txt")
    assert "one.txt" in stage.files()
    assert "three.txt" not in stage.files()
    stage.apply("--pick", stdin=b"1\n")
    assert "three.txt" in stage.files()
    assert stage.status() == []
    stage.apply()
    assert not stage.workspace.exists()


def test_apply_twice_applies_what_is_new(stage: Stage) -> None:
    """The second apply is relative to the first, also where the target went on in between."""
    stage.agent("sed -i 's/line 5$/agent/' text.txt; git commit -qam one")
    stage.apply("--no-close")
    text = (stage.repo / "text.txt").read_text()
    (stage.repo / "text.txt").write_text(text.replace("agent\n", "better\n"))
    stage.git("commit", "-qam", "better")
    stage.agent("sed -i 's/line 15$/again/' text.txt; git commit -qam two")
    stage.apply()
    assert "better\n" in stage.show("text.txt")
    assert "again\n" in stage.show("text.txt")
    assert stage.subjects()[:3] == ["two", "better", "one"]


def test_a_target_that_the_agent_merged_is_not_merged_again(stage: Stage) -> None:
    stage.agent("sed -i 's/line 5$/agent/' text.txt; git commit -qam one")
    text = (stage.repo / "text.txt").read_text()
    (stage.repo / "text.txt").write_text(text.replace("line 5\n", "mine\n"))
    stage.git("commit", "-qam", "mine")
    stage.agent(
        "git merge -q main || true; sed -i '/^[<=>]\\{7\\}/d; s/^agent$/both/; /^mine$/d' text.txt;"
        " git commit -qam merged; echo rest >rest.txt"
    )
    stage.apply()
    assert "both\n" in stage.show("text.txt")
    assert "mine\n" not in stage.show("text.txt")
    assert stage.show("rest.txt") == "rest\n"
