"""`status`, `log`, `show` and `diff` of an empty task, a failed run and a run that was cut off."""

from pathlib import Path

import pytest

from integration.undo.desk import Desk
from sandbox import Sandbox
from unit.faces.cli.in_process import CommandLine, cut_off


@pytest.fixture
def failed(desk: Desk) -> Desk:
    """A task with one step: a run that changed a file and ended with 3."""
    desk.shell("echo out; echo err >&2; echo more >>hello.txt; exit 3")
    return desk


def test_status_without_a_task(siding: CommandLine, sandbox: Sandbox) -> None:
    siding("init")
    assert "none active; `siding task start NAME` makes one" in siding("status").out
    assert siding.json("status", "--format", "json") == {
        "repository": str(sandbox.repo),
        "active_task": None,
    }


def test_an_empty_task(desk: Desk, siding: CommandLine) -> None:
    shown = siding("status").out
    assert f"work ({desk.task.id}, " in shown
    assert "none yet; `siding run -- COMMAND` makes one" in shown
    assert "no step yet" in siding("log").err
    assert siding.json("log", "--format", "json") == []
    assert "no step" in siding("show", status=1).err
    found = siding.json("diff", "--format", "json")
    assert (found["files"], found["file_list"]) == (0, [])


def test_the_status_of_an_empty_task_for_programs(desk: Desk, siding: CommandLine) -> None:
    found = siding.json("status", "--format", "json")
    assert found["active_task"] == desk.task.id
    assert (found["steps"], found["last_step"], found["in_progress"]) == (0, None, None)
    assert (found["status"], found["workspace_present"]) == ("clean", True)
    assert Path(found["workspace"]) == desk.root


def test_a_failed_run_in_status_and_log(failed: Desk, siding: CommandLine) -> None:
    shown = siding("status").out
    assert "0001 run " in shown
    assert "failed (3), 1 file +1 -0" in shown
    header, row = siding("log").out.splitlines()
    assert header.split() == ["STEP", "KIND", "COMMAND", "WHEN", "TIME", "EXIT", "CHANGED"]
    assert row.startswith("0001  run ")
    assert row.endswith("3     1 +1 -0")


def test_a_failed_run_for_programs(failed: Desk, siding: CommandLine) -> None:
    last = siding.json("status", "--format", "json")["last_step"]
    (line,) = siding.json("log", "--format", "json")
    assert line == last == siding.json("show", "--format", "json")
    assert (line["status"], line["exit_code"]) == ("failed", 3)
    assert line["diff_stat"]["file_list"] == ["hello.txt"]


def test_show_has_how_it_ended_what_it_changed_and_its_output(
    failed: Desk, siding: CommandLine
) -> None:
    page = siding("show", "1").out
    assert "failed, exit 3, after" in page
    assert "hello.txt" in page
    assert page.index("--- stdout (4 B)\nout\n") < page.index("--- stderr (4 B)\nerr\n")
    raw = siding("show", "--raw")
    assert (raw.out, raw.err) == ("out\n", "err\n")


def test_diff_in_its_forms(failed: Desk, siding: CommandLine) -> None:
    assert siding("diff", "--stat").out.splitlines() == [
        "M         +1 -0  hello.txt",
        "1 file +1 -0",
    ]
    patch = siding("diff").out
    assert patch.startswith("diff --git a/hello.txt b/hello.txt\n")
    assert "\n hello\n+more\n" in patch
    found = siding.json("diff", "--step", "1", "--format", "json")
    assert (found["additions"], found["file_list"]) == (1, ["hello.txt"])


def test_a_change_that_no_step_has_yet(failed: Desk, siding: CommandLine) -> None:
    failed.write("new", "new\n")
    assert "1 file changed since the last step" in siding("status").out
    assert siding.json("status", "--format", "json")["status"] == "dirty"
    assert "new" in siding("diff", "--stat", "--from", "last").out


def test_an_act_that_was_cut_off(failed: Desk, siding: CommandLine) -> None:
    cut_off(failed, "sleep", "60")
    shown = siding("status").out
    assert "0002 `sleep 60`; the next command in this task records it" in shown
    last = siding("log").out.splitlines()[-1]
    assert last.startswith("0002  run   sleep 60")
    assert "cut off" in last
    assert "sleep 60" in siding("show", "2").out
    found = siding.json("status", "--format", "json")
    assert (found["in_progress"]["number"], found["steps"]) == (2, 1)
    assert siding.json("log", "--format", "json")[-1]["status"] == "cut off"


def test_steps_that_are_not_there(failed: Desk, siding: CommandLine) -> None:
    assert "siding: error: " in siding("show", "7", status=1).err
    assert "'seven' is not a step" in siding("show", "seven", status=2).err
    assert "siding: error: " in siding("diff", "--step", "1", "--from", "base", status=2).err
    assert "siding: error: " in siding("diff", "nowhere.txt", status=1).err


def test_results_in_a_file(failed: Desk, siding: CommandLine, tmp_path: Path) -> None:
    for verb in ("log", "show", "diff"):
        target = tmp_path / verb
        said = siding(verb, "--format", "json", "-o", str(target))
        assert (said.out, f"written to {target}" in said.err) == ("", True)
        assert "hello.txt" in target.read_text(encoding="utf-8")
    assert siding("log", "--format", "markdown").out.startswith("# Steps of work\n")
