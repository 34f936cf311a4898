"""The workspace of a run is recorded while its command lives: by a timer, and in quiet moments."""

import json
import os
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from integration.no_room import fill, small_disk
from integration.test_many_runs import living, wait_until
from sandbox import Sandbox, alive
from warm import put_program

BUSY = "while [ ! -e go ]; do :; done"  # takes all of a processor and prints nothing
PRINTS = "while [ ! -e go ]; do echo .; sleep .3; done"
WAITS = "while [ ! -e go ]; do sleep .4; done"  # takes next to nothing


@pytest.fixture
def task(sandbox: Sandbox) -> Sandbox:
    sandbox.siding("task", "start", "long")
    return sandbox


def wait_for_steps(sandbox: Sandbox, count: int, *, seconds: float = 60) -> list[dict[str, Any]]:
    """Wait until the ledger has this many steps."""
    end = time.monotonic() + seconds
    while len(found := sandbox.steps()) < count:
        assert time.monotonic() < end, found
        time.sleep(0.05)
    return found


def go(sandbox: Sandbox) -> None:
    (sandbox.workspace() / "go").touch()


def wait_for_look(sandbox: Sandbox, *, seconds: float = 60) -> None:
    """Wait until a look that began after this was called has ended."""
    end = time.monotonic() + seconds
    known = looks(sandbox)
    while not (new := looks(sandbox) - known):
        assert time.monotonic() < end
        time.sleep(0.01)
    while new & looks(sandbox):
        assert time.monotonic() < end
        time.sleep(0.01)


def looks(sandbox: Sandbox) -> set[int]:
    """Return the processes that look for a turn in the repository."""
    mark = b"\0" + os.fsencode(sandbox.repo) + b"\0-q\0checkpoint\0--run\0"
    found = set()
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            if mark in path.read_bytes() and alive(int(path.parent.name)):
                found.add(int(path.parent.name))
    return found


def test_a_quiet_moment_is_a_turn_and_only_if_something_changed(task: Sandbox) -> None:
    script = f"echo 1 >one; {WAITS}"
    with living(task, "--checkpoint-quiet", "500ms", "--", "true") as refused:
        assert refused.wait(60) == 2, "fractions are written 0.5s"
    with living(task, "--checkpoint-quiet", "0.5s", "--", "sh", "-c", script) as host:
        (turn,) = wait_for_steps(task, 1)
        assert (turn["origin"], turn["run"], turn["moment"]) == ("turn", "r1", "quiet")
        assert turn["diff_stat"]["file_list"] == ["one"]
        assert turn["beside"] == ["r1"]
        time.sleep(1.5)
        assert len(task.steps()) == 1, "nothing changed since"
        go(task)
        assert host.wait(60) == 0
    _turn, run = task.steps()
    assert run["diff_stat"]["file_list"] == ["go"]
    task.siding("verify")


@pytest.mark.parametrize("script", [BUSY, PRINTS], ids=["works", "prints"])
def test_a_command_that_works_or_prints_has_no_quiet_moment(task: Sandbox, script: str) -> None:
    words = ("--no-tty", "--checkpoint-quiet", "1s", "--", "sh", "-c", f"touch began; {script}")
    with living(task, *words) as host:
        wait_until(task, "began")
        time.sleep(3)
        assert not task.steps()
        go(task)
        assert host.wait(60) == 0
    assert len(task.steps()) == 1


def test_the_timer_records_also_what_is_never_quiet(task: Sandbox) -> None:
    script = f"echo 1 >one; {BUSY}"
    with living(task, "--checkpoint-every", "0.5s", "--", "sh", "-c", script) as host:
        (turn,) = wait_for_steps(task, 1)
        assert (turn["moment"], turn["diff_stat"]["file_list"]) == ("timer", ["one"])
        (task.workspace() / "two").touch()
        _one, two = wait_for_steps(task, 2)
        assert two["diff_stat"]["file_list"] == ["two"]
        go(task)
        assert host.wait(60) == 0
    run = task.steps()[-1]
    assert any("pauses of" in note for note in run["notes"]), "looks took longer than a twentieth"


def test_settings_ask_for_turns_and_an_option_for_none(task: Sandbox) -> None:
    (task.project / "config.yaml").write_text("version: 1\nturns:\n  quiet: 0.5s\n")
    script = f"echo 1 >one; {WAITS}"
    with living(task, "--", "sh", "-c", script) as host:
        assert wait_for_steps(task, 1)[0]["moment"] == "quiet"
        go(task)
        assert host.wait(60) == 0
    (task.workspace() / "go").unlink()
    with living(task, "--checkpoint-quiet", "never", "--", "sh", "-c", f"rm one; {WAITS}"):
        time.sleep(2)
        assert len(task.steps()) == 3, "a checkpoint of the missing `go`, and no turn"
        go(task)
    (task.project / "config.yaml").write_text("version: 1\nturns:\n  every: often\n")
    done = task.siding("run", "--", "true", status=2)
    assert b"turns.every" in done.stderr


def test_a_turn_that_cannot_be_recorded_is_said_and_tried_again(sandbox: Sandbox) -> None:
    small = sandbox.directory / "small"
    sandbox.env["SIDING_HOME"] = str(small / "home")
    sandbox.env["TMPDIR"] = str(sandbox.directory)
    with small_disk(small, "size=40m"):
        sandbox.siding("-q", "task", "start", "long")
        sandbox.siding("-q", "run", "--", "true")
        words = (
            "--no-tty",
            "--checkpoint-every",
            "0.5s",
            "--",
            "sh",
            "-c",
            f"touch began; {WAITS}",
        )
        with living(sandbox, *words) as host:
            wait_for_steps(sandbox, 2)
            fill(small)
            # A name in a directory that is there takes no room on this disk; its snapshot does.
            (sandbox.workspace() / "began").rename(sandbox.workspace() / "moved")
            wait_for_look(sandbox)
            assert len(sandbox.steps()) == 2
            assert host.poll() is None, "the run goes on"
            (small / "filler").unlink()
            turn = wait_for_steps(sandbox, 3)[2]
            assert turn["run"] == "r2"
            go(sandbox)
            assert host.wait(60) == 0
            assert host.stderr is not None
            assert b"a turn could not be recorded" in host.stderr.read()
        run = sandbox.steps()[-1]
        (note,) = [each for each in run["notes"] if "could not be recorded" in each]
        assert "a later one made up for it" in note
        sandbox.siding("verify")


def test_checkpoint_as_a_turn_is_for_hooks_of_agents(task: Sandbox) -> None:
    inside = 'siding checkpoint --run "$SIDING_RUN_ID"'
    task.siding("run", "--", "sh", "-c", f"echo 1 >one; {inside}; {inside}; echo 2 >two")
    turn, run = task.steps()
    assert (turn["run"], turn["moment"]) == ("r1", "asked")
    assert run["diff_stat"]["file_list"] == ["two"]
    done = task.siding("checkpoint", "--run", "r1", status=1)
    assert b"no run 'r1' lives in task 'long'" in done.stderr


def test_a_turn_is_a_step_like_any_other(task: Sandbox) -> None:
    inside = 'siding checkpoint --run "$SIDING_RUN_ID"'
    task.siding("run", "--", "sh", "-c", f"echo 1 >one; {inside}; echo 2 >two; {inside}")
    assert b"turn of r1" in task.siding("show", "1").stdout
    assert b"+++ b/two" in task.siding("diff", "2").stdout
    done = task.siding("undo")
    assert b"undid step 0002 (turn of r1 (asked))" in done.stderr
    assert not (task.workspace() / "two").exists()
    task.siding("undo")
    assert not (task.workspace() / "one").exists()
    task.siding("redo")
    assert (task.workspace() / "one").exists()
    task.siding("rollback", "--step", "2")
    assert (task.workspace() / "two").exists()
    assert json.loads(task.siding("show", "r1", "--format", "json").stdout)["kind"] == "run"
    task.siding("verify")


def turning(count: int) -> tuple[str, ...]:
    """Return the words of a run with this many turns."""
    inside = 'siding checkpoint --run "$SIDING_RUN_ID"'
    script = f"for i in $(seq {count}); do echo $i >t; {inside}; done; echo end >t"
    return "run", "--", "sh", "-c", script


def shown(sandbox: Sandbox, *words: str) -> list[list[str]]:
    """Return the first two columns of `siding log`, with the blanks before a number."""
    lines = sandbox.siding("log", *words).stdout.decode().splitlines()[1:]
    found = []
    for line in lines:
        number, kind, *_more = line.split()
        found.append([line[: line.index(number)] + number, kind])
    return found


def test_log_shows_few_turns_below_their_run_and_counts_many(task: Sandbox) -> None:
    task.siding("run", "--", "sh", "-c", "echo 0 >zero")
    task.siding(*turning(2))
    task.siding(*turning(5))
    assert shown(task) == [
        ["0001", "run"],
        ["0004", "run"],
        ["  0002", "turn"],
        ["  0003", "turn"],
        ["0010", "run"],
        ["  ...", "turn"],
    ]
    assert b"5 turns of r3; siding log --turns" in task.siding("log").stdout
    assert [first for first, _ in shown(task, "--turns")] == [
        "0001",
        "0004",
        "  0002",
        "  0003",
        "0010",
        *(f"  000{number}" for number in range(5, 10)),
    ]
    assert [each["step_id"] for each in task.json("log", "--format", "json")] == [
        f"{number:04d}" for number in range(1, 11)
    ]
    newest = [first for first, _ in shown(task, "-n", "2")]
    assert newest == ["0004", "  0002", "  0003", "0010", "  ..."]
    assert [first for first, _ in shown(task, "--grep", "turn of r2")] == ["0002", "0003"]


def test_log_shows_the_turns_of_a_run_that_lives_and_what_was_left_behind(task: Sandbox) -> None:
    inside = 'siding checkpoint --run "$SIDING_RUN_ID"'
    with living(task, "--", "sh", "-c", f"echo 1 >one; {inside}; touch began; {WAITS}") as host:
        wait_until(task, "began")
        assert shown(task) == [["r1", "run"], ["  0001", "turn"]]
        go(task)
        assert host.wait(60) == 0
    task.siding("rollback", "--base")
    assert shown(task)[:2] == [["(0002)", "run"], ["  (0001)", "turn"]]
    assert b"2 steps left behind" in task.siding("log").stderr


def test_what_two_runs_may_have_changed_is_no_ones_turn(task: Sandbox) -> None:
    with living(task, "--", "sh", "-c", f"echo 1 >one; {WAITS}") as first:
        wait_until(task, "one")
        task.siding("run", "--", "true")
        with living(task, "--", "sh", "-c", f"echo 2 >two; {WAITS}") as second:
            wait_until(task, "two")
            task.siding("run", "--", "true")
            go(task)
            assert first.wait(60) == 0
            assert second.wait(60) == 0
    beside = {
        step["step_id"]: step["beside"] for step in task.steps() if step["kind"] == "checkpoint"
    }
    alone, both = beside
    assert (beside[alone], beside[both]) == (["r1"], ["r1", "r3"])
    numbers = [number for number, _ in shown(task)]
    assert f"  {alone}" in numbers
    assert both in numbers


def test_many_turns_do_not_push_the_steps_before_them_out(task: Sandbox) -> None:
    for number in range(3):
        task.siding("run", "--", "sh", "-c", f"echo {number} >a")
    put_program(task.directory / "warm")  # 120 programs of Siding: each a fork, not an interpreter
    path = os.pathsep.join([str(task.directory / "warm"), task.env["PATH"]])
    task.siding(*turning(120), env={"PATH": path})
    assert [first for first, _ in shown(task)] == ["0001", "0002", "0003", "0124", "  ..."]
    assert b"120 turns of r4" in task.siding("log", "-n", "1").stdout


@pytest.mark.parametrize("first", [False, True], ids=["after a step", "as the first step"])
def test_a_retry_goes_back_to_where_a_run_with_turns_began(task: Sandbox, first: bool) -> None:
    if not first:
        task.siding("run", "--", "sh", "-c", "echo kept >kept")
    script = "echo 1 >>out; siding -q checkpoint; echo 2 >>out; siding -q checkpoint; echo 3 >>out"
    task.siding("run", "--", "sh", "-c", script)
    assert (task.workspace() / "out").read_text() == "1\n2\n3\n"
    assert len(task.steps()) == (3 if first else 4)
    task.siding("retry")
    assert (task.workspace() / "out").read_text() == "1\n2\n3\n"
    assert (task.workspace() / "kept").exists() is not first
    task.siding("undo")
    assert (task.workspace() / "out").read_text() == "1\n2\n3\n"
    task.siding("verify")


def test_a_run_tells_what_its_turns_changed(task: Sandbox, tmp_path: Path) -> None:
    put_program(tmp_path / "bin")
    task.env["PATH"] = f"{tmp_path / 'bin'}:{task.env['PATH']}"
    turn = 'siding checkpoint -q --run "$SIDING_RUN_ID"'
    script = f"echo 1 >one; {turn}; echo 2 >>one; echo 2 >two; {turn}"
    said = task.siding("run", "--", "sh", "-c", script).stderr.decode()
    told = "2 files in 2 turns (0001-0002)"
    assert f"step 0003 · exit 0 · {told} · " in said
    assert f"changed   {told}\n" in task.siding("show").stdout.decode()
    assert told in task.siding("status").stdout.decode()
    line = task.steps()[-1]
    assert line["turns"] == {"number": 2, "files": 2, "steps": ["0001", "0002"]}
    rows = task.siding("log").stdout.decode().splitlines()
    assert rows[1].endswith("  2 in turns")
    undone = task.siding("undo").stderr.decode()
    assert "passed over step 0003" in undone
    assert "it changed nothing after its last turn, 0002" in undone

    said = task.siding(
        "run", "--", "sh", "-c", f"echo 4 >four; {turn}; echo 5 >five"
    ).stderr.decode()
    assert "exit 0 · 1 file in 1 turn (0005), then 1 file +1 -0" in said
    task.siding("verify")


def test_a_run_that_was_cut_off_tells_it_too_and_begins_again_where_it_began(task: Sandbox) -> None:
    script = f"echo 1 >one; {WAITS}"
    with living(task, "--checkpoint-quiet", "0.5s", "--", "sh", "-c", script) as host:
        wait_for_steps(task, 1)
        host.kill()
    task.siding("checkpoint", "-m", "after")
    cut_off = task.steps()[1]
    assert (cut_off["status"], cut_off["since"]) == ("interrupted", "base")
    assert cut_off["turns"] == {"number": 1, "files": 1, "steps": ["0001"]}
    task.siding("retry", "2", "--", "sh", "-c", "ls >there")
    assert "one" not in (task.workspace() / "there").read_text().split()
