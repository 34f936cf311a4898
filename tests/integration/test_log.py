"""The log of a task that went back and forth, and the search of it."""

import json

import pytest

from prepared import prepared
from sandbox import Sandbox


def _worked(sandbox: Sandbox) -> None:
    sandbox.siding("task", "start", "T")
    for script in ("echo 1 >one", "mkdir dir; echo 2 >'dir/t ä'", "exit 3"):
        sandbox.siding("run", "--", "sh", "-c", script, status=None)
    sandbox.siding("rollback", "--step", "1")
    sandbox.siding("run", "--", "sh", "-c", "echo four >four")


@pytest.fixture
def worked() -> Sandbox:
    return prepared(_worked)


def first_words(sandbox: Sandbox, *arguments: str) -> list[str]:
    done = sandbox.siding("log", *arguments)
    return [line.split()[0] for line in done.stdout.decode().splitlines()[1:]]


def test_what_is_left_behind_is_in_brackets_and_counted(worked: Sandbox) -> None:
    assert first_words(worked) == ["0001", "(0002)", "(0003)", "0004", "0005"]
    assert b"2 steps left behind" in worked.siding("log").stderr
    assert b"left behind" not in worked.siding("log", "-n", "2").stderr
    ons = [line["on"] for line in json.loads(worked.siding("log", "--format", "json").stdout)]
    assert ons == ["base", "0001", "0002", "0001", "0004"]


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        (["--grep", "FOUR"], ["0005"]),
        (["--grep", "back to"], ["0004"]),
        (["--path", "dir"], ["(0002)", "0004"]),
        (["--path", "dir/t ä"], ["(0002)", "0004"]),
        (["--path", "di"], []),
        (["--failed"], ["(0003)"]),
        (["--agent", "codex"], []),
        (["--path", "dir", "-n", "1"], ["0004"]),
        (["--grep", "exit", "--failed"], ["(0003)"]),
    ],
)
def test_a_search_looks_at_all_steps(worked: Sandbox, asked: list[str], found: list[str]) -> None:
    assert first_words(worked, *asked) == found


def test_a_search_that_finds_nothing_does_not_say_that_there_is_no_step(worked: Sandbox) -> None:
    said = worked.siding("log", "--agent", "codex").stderr
    assert b"no step fits" in said
    assert b"no step yet" not in said


def test_a_graph_of_a_search_draws_what_was_found(worked: Sandbox) -> None:
    shown = worked.siding("log", "--graph").stdout.decode().splitlines()
    assert [line.split("  ")[0] for line in shown] == ["*", "| *", "| *", "*"]
    assert "(0002)  on 0001 · run" in shown[1]
    assert len(worked.siding("log", "--graph", "--grep", "four").stdout.splitlines()) == 1


def test_one_step_or_two_attempts_are_compared(worked: Sandbox) -> None:
    def stat(*arguments: str) -> list[str]:
        text = worked.siding("diff", *arguments, "--stat").stdout.decode()
        return [line.split()[-1] for line in text.splitlines()[:-1]]

    assert stat("5") == ["four"]
    assert stat("2", "dir") == stat("--step", "2") != []
    assert stat("--between", "2", "5")[-1] == "four"
    assert len(stat("--between", "base", "2")) == 2
    (worked.repo / "5").write_text("")
    assert worked.siding("diff", "5", status=None).returncode != 0  # a path, and none of the task's
    assert (
        b"--between names both"
        in worked.siding("diff", "--between", "1", "2", "--to", "3", status=2).stderr
    )
