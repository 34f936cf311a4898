"""A conflict is resolved in the workspace; the person's checkout never sees a marker."""

from pathlib import Path

from .conftest import Stage


def conflict(stage: Stage) -> None:
    stage.agent("sed -i 's/line 5$/agent/' text.txt; git commit -qam agent; echo new >new.txt")
    path = stage.repo / "text.txt"
    path.write_text(path.read_text().replace("line 5\n", "mine\n"))
    (stage.repo / "more.txt").write_text("more\n")
    stage.git("add", ".")
    stage.git("commit", "-qm", "mine")


def test_resolved_by_an_agent_and_applied(stage: Stage) -> None:
    conflict(stage)
    before = stage.everything()
    said = stage.apply("--resolve")
    assert "conflict  text.txt" in said
    assert stage.everything() == before
    text = (stage.workspace / "text.txt").read_text()
    assert "<<<<<<< main\nmine\n=======\nagent\n>>>>>>> task Fix the parser\n" in text
    assert (stage.workspace / "more.txt").exists()
    assert "markers left in text.txt" in stage.apply("--continue", status=1)
    assert "markers left in text.txt" in stage.apply(status=1)
    assert stage.everything() == before
    stage.agent("sed -i '/^[<=>]\\{7\\}/d; /^mine$/d; s/^agent$/both/' text.txt")
    stage.apply("--continue")
    assert "both\n" in stage.show("text.txt")
    assert stage.show("more.txt") == "more\n"
    assert stage.show("new.txt") == "new\n"
    assert stage.status() == []


def test_given_up(stage: Stage) -> None:
    conflict(stage)
    stage.apply("--resolve")
    stage.apply("--abort")
    assert "agent\n" in (stage.workspace / "text.txt").read_text()
    assert not (stage.workspace / "more.txt").exists()
    assert "begins one" in stage.apply("--continue", status=2)
    assert "conflict  text.txt" in stage.apply(status=1)


def test_it_says_where_a_file_is_that_a_program_has_open(stage: Stage) -> None:
    conflict(stage)
    for option in ("--resolve", "--abort"):
        with open(stage.workspace / "text.txt", "a") as open_file:
            said = stage.apply(option)
            open_file.write("later\n")
        _, _, place = said.partition("by another program: kept as ")
        kept = Path(place.rstrip())
        assert kept.read_text().endswith("later\n")
        assert not (stage.workspace / "text.txt").read_text().endswith("later\n")


def test_a_rollback_past_the_merge_does_not_take_the_targets_work_back(stage: Stage) -> None:
    """Relative to the merged commit, the old state would be a revert of `mine`."""
    conflict(stage)
    stage.apply("--resolve")
    stage.box.siding("rollback", "--step", "1", "-t", stage.task)
    assert "conflict  text.txt" in stage.apply(status=1)
    assert "mine\n" in stage.show("text.txt")


def test_the_target_moved_on_while_it_was_resolved(stage: Stage) -> None:
    conflict(stage)
    stage.apply("--resolve")
    stage.agent("sed -i '/^[<=>]\\{7\\}/d; /^mine$/d; s/^agent$/both/' text.txt")
    path = stage.repo / "text.txt"
    path.write_text(path.read_text().replace("line 15\n", "later\n"))
    stage.git("commit", "-qam", "later")
    stage.apply("--continue")
    assert "both\n" in stage.show("text.txt")
    assert "later\n" in stage.show("text.txt")


def test_no_conflict_no_resolution(stage: Stage) -> None:
    stage.agent("echo new >new.txt")
    assert "do not disagree" in stage.apply("--resolve", status=1)
