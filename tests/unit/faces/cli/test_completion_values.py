"""The values that `__complete` offers a shell for the last word of a command line."""

from integration.undo.desk import Desk
from unit.faces.cli.in_process import CommandLine


def values(siding: CommandLine, *words: str) -> list[str]:
    said = siding("__complete", "--", *words)
    assert said.err == ""
    return said.out.split()


def test_verbs_groups_and_the_verbs_of_a_group(siding: CommandLine) -> None:
    assert values(siding, "st") == ["status", "stop"]
    assert {"log", "task", "--help"} <= set(values(siding, ""))
    assert values(siding, "task", "re") == ["reopen"]
    assert values(siding, "zzz", "") == []


def test_options_of_a_verb(siding: CommandLine) -> None:
    assert values(siding, "log", "--st") == ["--step"]
    assert {"--dry-run", "--hard", "--color"} <= set(values(siding, "rollback", "--"))


def test_tasks_by_id_and_name_and_steps(desk: Desk, siding: CommandLine) -> None:
    desk.shell("true")
    assert values(siding, "log", "-t", "") == [desk.task.id, "work"]
    assert values(siding, "task", "close", "wo") == ["work"]
    assert values(siding, "show", "") == ["0001", "base", "last", "now"]
    assert values(siding, "diff", "--from", "l") == ["last"]


def test_what_a_task_can_start_from(desk: Desk, siding: CommandLine) -> None:
    desk.sandbox.git("update-ref", "refs/remotes/origin/fix", "main")
    desk.sandbox.git("symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/fix")
    found = values(siding, "task", "start", "new", "--from", "")
    assert found == ["main", desk.branch, "origin/fix", desk.task.id, "work"]
    assert values(siding, "task", "start", "new", "--from", "wo") == ["work"]
    assert "--from" in values(siding, "task", "start", "--")


def test_a_closed_task_is_offered_nowhere(desk: Desk, siding: CommandLine) -> None:
    desk.close()
    assert values(siding, "log", "-t", "") == []


def test_nothing_is_offered_for_the_command_of_a_run(desk: Desk, siding: CommandLine) -> None:
    assert values(siding, "run", "--", "") == []


def test_outside_of_a_project_it_is_silent(siding: CommandLine) -> None:
    assert values(siding, "log", "-t", "") == []
    assert values(siding, "completion", "") == ["bash", "zsh", "fish"]
