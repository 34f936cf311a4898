"""`siding bisect`: the step that broke it is found, nothing of the task is touched, a kill loses
one look."""

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from bwrap import needs_bwrap
from integration.undo.desk import Desk
from integration.undo.test_prompt_again import AGENT, SESSION
from prepared import prepared
from sandbox import Sandbox
from siding.bisect.states import Range, states_of

CHECK = "grep -qx good state"


def six_steps(sandbox: Sandbox) -> None:
    """A task of six steps; the fourth breaks it, the fifth changes nothing."""
    desk = Desk(sandbox)
    for number in range(1, 7):
        if number != 5:
            state = "bad" if number >= 4 else "good"
            desk.shell(f"echo {state} >state; echo {number} >>n; echo x >{number}.pyc")
        else:
            desk.shell("true")


@pytest.fixture
def desk() -> Desk:
    return Desk.at(prepared(six_steps))


class Said:
    """What a command printed, and what it said about it."""

    def __init__(self, sandbox: Sandbox, *words: str, status: int | None = 0) -> None:
        done = sandbox.siding(*words, status=status)
        self.stdout, self.stderr = done.stdout.decode(), done.stderr.decode()


def said(desk: Desk, *words: str, status: int | None = 0) -> Said:
    return Said(desk.sandbox, "bisect", *words, status=status)


def forks_left(desk: Desk) -> str:
    return Said(desk.sandbox, "task", "list", "--children").stdout


def begun(desk: Desk, check: str) -> "subprocess.Popen[bytes]":
    """Return a search that goes on in another process."""
    argv = [sys.executable, "-m", "siding", "bisect", "--check", check]
    return subprocess.Popen(argv, cwd=desk.sandbox.repo, env=desk.sandbox.env, stderr=-1)


def test_the_step_is_named_with_its_patch_and_the_workspace_stays(desk: Desk) -> None:
    before = {path: path.read_bytes() for path in desk.root.iterdir() if path.is_file()}
    steps = len(desk.steps())
    found = said(desk, "--check", f"test -d $SIDING_ORIGIN && touch litter && {CHECK}")
    assert "step 0004 broke it" in found.stderr
    assert "siding rollback --step 0003" in found.stderr
    assert found.stdout == Said(desk.sandbox, "diff", "4").stdout != ""
    assert {path: path.read_bytes() for path in desk.root.iterdir() if path.is_file()} == before
    assert len(desk.steps()) == steps
    assert forks_left(desk) == ""


def test_as_json_with_each_look_and_where_its_output_is(desk: Desk) -> None:
    record = json.loads(said(desk, "--json", "--check", f"echo seen; {CHECK}", "2..6").stdout)
    assert (record["holds"], record["fails"], record["step_id"]) == ("0003", "0004", "0004")
    assert [record["first"], record["last"], record["states"]] == ["0002", "0006", 4]
    assert "+bad" in record["patch"]
    look = record["looks"][-1]
    shown = Said(desk.sandbox, "show", look["step"], "-t", look["fork"]).stdout
    assert "seen" in shown
    assert len(record["looks"]) <= 3


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--check", "true"), "nothing broke it"),
        (("--check", "false", "2.."), "it fails after step 0002 already"),
        (("--check", "nosuchprogram"), "the check itself cannot be run there"),
        (("--check", "exit 125"), "none of these states could be judged"),
        (("--check", "test $(wc -l <n) -lt 3 || exit 125"), "none after it could be judged"),
        (("--check", "sleep 60", "--timeout", "0.1", "4..6"), "it fails after step 0004 already"),
    ],
)
def test_an_answer_that_is_no_step_is_said_and_is_no_success(
    desk: Desk, words: tuple[str, ...], told: str
) -> None:
    assert told in said(desk, *words, status=1).stderr


def test_what_cannot_be_judged_is_passed_by_or_leaves_a_range(desk: Desk) -> None:
    lines = "x=$(wc -l <n);"
    passed = said(desk, "--check", f"{lines} test $x = 2 && exit 125; {CHECK}")
    assert "step 0004 broke it" in passed.stderr
    left = said(
        desk, "--check", f"{lines} test $x -ge 3 -a $x -lt 5 && exit 125; {CHECK}", status=1
    )
    assert "siding diff --from 0002 --to 0006" in left.stderr


def test_ranges_that_make_no_sense_are_refused(desk: Desk) -> None:
    desk.sandbox.siding("rollback", "--step", "5")
    for words, told in (
        ("7..", "did not lead to"),  # the rollback is where the state comes from, no step of it
        ("6..", "did not lead to the present state"),
        ("9..", "has no step"),
        ("5..3", "comes before"),
        ("4..5", "nothing changed"),
        ("x", "is not a step"),
    ):
        assert told in said(desk, "--check", "true", words, status=None).stderr
    assert "no terminal" in said(desk, status=2).stderr
    states = [state.step for state in states_of(desk.project, desk.task, Range())]
    assert states == ["base", "0001", "0002", "0003", "0004"]


def test_what_no_step_has_yet_is_recorded_first(desk: Desk) -> None:
    desk.write("state", "good\n")
    desk.write("late", "x")
    found = said(desk, "--check", "test ! -e late")
    assert "step 0007 broke it" in found.stderr


def test_a_state_that_is_lost_is_skipped(desk: Desk) -> None:
    for step in desk.steps()[2:4]:
        sha = str(step.snapshot)
        (desk.project.snapshots.objects / sha[:2] / sha[2:]).unlink()
    found = said(desk, "--check", CHECK, status=1)
    assert "after step 0003 · skipped: " in found.stderr
    assert "siding diff --from 0002 --to 0006" in found.stderr


def test_killed_it_goes_on_and_ended_it_begins_anew(desk: Desk, tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    waits = f"test -e {gate} || test $(wc -l <n) -le 2 || sleep 60"
    check = f"echo look >>{tmp_path}/looks; {waits}; {CHECK}"
    first = begun(desk, check)
    looks = tmp_path / "looks"
    end = time.monotonic() + 60
    while not looks.exists() or looks.read_text().count("look") < 2:
        assert time.monotonic() < end
        time.sleep(0.02)
    first.kill()
    first.communicate()
    gate.touch()
    again = said(desk, "--check", check)
    assert "goes on after 1 look" in again.stderr
    assert "step 0004 broke it" in again.stderr
    assert looks.read_text().count("look") == 2 + 2  # the one that was cut off, and one more
    assert forks_left(desk) == ""
    assert "goes on" not in said(desk, "--check", check).stderr
    assert desk.sandbox.siding("doctor").returncode == 0


def test_two_at_once_are_refused_and_one_that_is_interrupted_says_so(
    desk: Desk, tmp_path: Path
) -> None:
    looks = tmp_path / "looks"
    first = begun(desk, f"echo look >>{looks}; sleep 60")
    end = time.monotonic() + 60
    while not looks.exists():
        assert time.monotonic() < end
        time.sleep(0.02)
    assert f"by process {first.pid}" in said(desk, "--check", "true", status=1).stderr
    first.send_signal(signal.SIGINT)
    told = first.communicate(timeout=60)[1].decode()
    assert first.returncode != 0
    assert "broke" not in told
    assert "the check was cut off" in told


@needs_bwrap
def test_in_a_sandbox_the_workspace_of_the_task_can_be_read_and_not_written(desk: Desk) -> None:
    settings = desk.project.layout.config_yaml
    settings.write_text(settings.read_text() + "\nsandbox: {mode: require}\n")
    check = f"test -f $SIDING_ORIGIN/n && touch litter && {CHECK}"
    assert "step 0004 broke it" in said(desk, "--check", check).stderr
    assert "nothing broke it" in said(desk, "--check", "! touch $SIDING_ORIGIN/x", status=1).stderr


def test_the_prompt_is_named_that_asked_for_it(sandbox: Sandbox) -> None:
    program = sandbox.directory / "bin" / "claude"
    program.parent.mkdir()
    program.write_text(AGENT.format(python=sys.executable, session=SESSION))
    program.chmod(0o755)
    sandbox.env["PATH"] = f"{program.parent}:{sandbox.env['PATH']}"
    sandbox.env["SEEN"] = str(sandbox.directory / "seen")
    sandbox.siding("guard", "off")
    sandbox.siding("task", "start", "talks")
    for what in ("one", "two", "three"):
        sandbox.siding("run", "--no-tty", "--", "claude", "-p", f"make {what}")
    found = Said(sandbox, "bisect", "--check", "test ! -e m-two")
    assert "prompt · claude · make two" in found.stderr
    turn = next(each for each in sandbox.steps() if each.get("prompt") == "make two")
    assert f"siding rewind {int(turn['step_id'])}" in found.stderr
