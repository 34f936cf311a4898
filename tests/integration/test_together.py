"""Many commands at once, and commands that are told to stop."""

import json
import os
import signal
import subprocess
import sys
import time
from itertools import pairwise
from pathlib import Path

import pytest

from sandbox import SIDING, Sandbox, alive

PYTHON = sys.executable


def start(sandbox: Sandbox, *arguments: str, said: bool = False) -> "subprocess.Popen[bytes]":
    """Start Siding beside the test; `said` keeps what it prints, for `communicate`."""
    stream = subprocess.PIPE if said else subprocess.DEVNULL
    return subprocess.Popen(
        [*SIDING, *arguments],
        cwd=sandbox.repo,
        env=sandbox.env,
        stdin=subprocess.DEVNULL,
        stdout=stream,
        stderr=stream,
        start_new_session=True,
    )


def wait_for(path: Path, *, seconds: float = 30) -> None:
    end = time.monotonic() + seconds
    while not path.exists():
        assert time.monotonic() < end, f"{path} did not appear"
        time.sleep(0.01)


def test_many_tasks_start_and_run_at_the_same_time(sandbox: Sandbox) -> None:
    sandbox.siding("init")
    command = ("-q", "task", "start", "--no-switch")
    started = [start(sandbox, *command, f"task {n}", said=True) for n in range(8)]
    ids = []
    for process in started:
        out, err = process.communicate(timeout=90)
        assert process.returncode == 0, err
        ids.append(out.decode().strip())
    assert len(set(ids)) == 8
    running = [
        start(sandbox, "run", "-t", task, "--", "sh", "-c", f"echo {task} >mine.txt", said=True)
        for task in ids
    ]
    for process in running:
        _out, err = process.communicate(timeout=90)
        assert process.returncode == 0, err
    for task in ids:
        assert (sandbox.workspace(task) / "mine.txt").read_text() == f"{task}\n"
        (step,) = sandbox.steps(task)
        assert step["diff_stat"]["file_list"] == ["mine.txt"]
        sandbox.siding("verify", task)
    assert len(sandbox.json("worktree", "list", "--format", "json")) == 8
    sandbox.siding("doctor")


def test_a_second_run_is_told_who_holds_the_task(sandbox: Sandbox) -> None:
    sandbox.siding("task", "start", "busy")
    mark = sandbox.workspace() / "started"
    script = "touch started; while [ ! -e go ]; do sleep .05; done"
    first = start(sandbox, "run", "--", "sh", "-c", script)
    wait_for(mark)
    done = sandbox.siding("task", "close", "--force", status=1)
    assert b"is busy: run r1 `sh -c" in done.stderr
    assert f"by process {first.pid} since".encode() in done.stderr
    status = sandbox.json("status", "--format", "json")
    assert status["in_progress"]["number"] == 1
    assert status["running"] == ["r1"]
    assert status["holder"] is None  # nobody holds the lock while the command runs
    assert b"running" in sandbox.siding("log").stdout
    assert b"b/started" in sandbox.siding("diff").stdout  # a look takes no lock
    second = start(sandbox, "run", "--wait", "--", "sh", "-c", "echo second", said=True)
    (sandbox.workspace() / "go").touch()
    assert first.wait(timeout=60) == 0
    out, err = second.communicate(timeout=60)
    assert (second.returncode, out) == (0, b"second\n"), err
    assert [step["step_id"] for step in sandbox.steps()] == ["0001", "0002"]


def test_parallel_runs_in_one_task_never_share_a_number(sandbox: Sandbox) -> None:
    sandbox.siding("task", "start", "one")
    together = [start(sandbox, "run", "--wait", "--", "true") for _ in range(8)]
    for process in together:
        assert process.wait(timeout=90) == 0
    assert [step["step_id"] for step in sandbox.steps()] == [f"{n:04d}" for n in range(1, 9)]
    sandbox.siding("verify")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_told_to_stop_it_ends_everything_and_records_it(
    sandbox: Sandbox, number: signal.Signals
) -> None:
    sandbox.siding("task", "start", "told")
    mark = sandbox.workspace() / "child.pid"
    script = "trap '' TERM HUP INT; echo $$ >child.pid; echo out; while :; do sleep 1; done"
    running = start(sandbox, "run", "--", "sh", "-c", script)
    wait_for(mark)
    running.send_signal(number)
    assert running.wait(timeout=60) == 128 + number
    (step,) = sandbox.steps()
    assert step["status"] == "interrupted"
    assert step["diff_stat"]["file_list"] == ["child.pid"]
    assert not alive(int(mark.read_text()))


@pytest.mark.parametrize("victim", ["siding", "agent", "both"])
def test_killed_at_any_moment_nothing_is_lost(sandbox: Sandbox, victim: str) -> None:
    sandbox.siding("task", "start", "killed")
    workspace = sandbox.workspace()
    script = "echo before; echo kept >kept.txt; echo $$ >child.pid; exec sleep 600"
    running = start(sandbox, "run", "--", "sh", "-c", script)
    wait_for(workspace / "child.pid")
    time.sleep(0.2)  # let the output through
    child = int((workspace / "child.pid").read_text())
    if victim in ("siding", "both"):
        running.kill()
    if victim in ("agent", "both"):
        os.kill(child, signal.SIGKILL)
    running.wait(timeout=60)
    if victim != "agent":
        assert b"r1  " in sandbox.siding("log").stdout  # it is shown before it is recorded
    done = sandbox.siding("run", "--", "true")
    steps = sandbox.steps()
    assert [step["step_id"] for step in steps] == ["0001", "0002"]
    first = steps[0]
    assert set(first["diff_stat"]["file_list"]) == {"child.pid", "kept.txt"}
    assert sandbox.siding("show", "1", "--raw").stdout == b"before\n"
    if victim == "agent":
        assert (first["status"], first["exit_code"]) == ("failed", 137)
    else:
        assert first["status"] == "interrupted"
        assert b"step 0001 recorded first: it was cut off" in done.stderr
        assert not alive(child)
    sandbox.siding("verify")


def test_a_reader_that_goes_away(sandbox: Sandbox) -> None:
    code = "import sys\nfor n in range(200000): print('line', n)"
    script = f'{PYTHON} -m siding run -- {PYTHON} -c "{code}" | head -1; echo ${{PIPESTATUS[0]}}'
    done = subprocess.run(
        ["bash", "-c", script],
        cwd=sandbox.repo,
        env=sandbox.env,
        capture_output=True,
        check=True,
        timeout=60,
    )
    assert done.stdout == b"line 0\n0\n"
    (step,) = sandbox.steps()
    assert step["exit_code"] == 0
    assert sandbox.siding("show", "1", "--raw").stdout.count(b"\n") == 200_000
    listing = f"{PYTHON} -m siding log --format json | head -c 1; echo; echo ${{PIPESTATUS[0]}}"
    done = subprocess.run(
        ["bash", "-c", listing],
        cwd=sandbox.repo,
        env=sandbox.env,
        capture_output=True,
        check=True,
        timeout=60,
    )
    assert done.stderr == b""


def test_an_open_pipe_does_not_hang_the_command(sandbox: Sandbox) -> None:
    reading, writing = os.pipe()
    try:
        done = subprocess.run(
            [*SIDING, "run", "--", "cat"],
            cwd=sandbox.repo,
            env=sandbox.env,
            stdin=reading,
            capture_output=True,
            timeout=60,
            check=True,
        )
    finally:
        os.close(reading)
        os.close(writing)
    assert b"nothing came on standard input" in done.stderr
    assert done.stdout == b""


@pytest.mark.parametrize(("flag", "given"), [([], b"on purpose"), (["--stdin", "none"], b"")])
def test_standard_input(sandbox: Sandbox, flag: list[str], given: bytes) -> None:
    done = sandbox.siding("run", *flag, "--", "cat", stdin=b"on purpose")
    assert done.stdout == given


def test_what_changed_by_hand_is_a_step_of_its_own(sandbox: Sandbox) -> None:
    sandbox.siding("run", "--", "sh", "-c", "echo 1 >a.txt")
    (sandbox.workspace() / "by-hand.txt").write_text("me\n")
    done = sandbox.siding("run", "--", "sh", "-c", "echo 2 >a.txt")
    assert b"changes made outside Siding: 1 file +1 -0" in done.stderr
    steps = sandbox.steps()
    assert [(s["kind"], s["diff_stat"]["file_list"]) for s in steps] == [
        ("run", ["a.txt"]),
        ("checkpoint", ["by-hand.txt"]),
        ("run", ["a.txt"]),
    ]
    for before, after in pairwise(steps):
        assert after["parent"] == before["snapshot"]


def test_without_a_record(sandbox: Sandbox) -> None:
    sandbox.siding("task", "start", "quiet")
    done = sandbox.siding("run", "--no-record", "--", "sh", "-c", "echo x >x; exit 4", status=4)
    assert b"step" not in done.stderr
    assert sandbox.steps() == []


def test_the_step_as_json(sandbox: Sandbox) -> None:
    env = ("-e", "API_TOKEN=abc", "-e", "MODE=fast")
    done = sandbox.siding("run", "--json", *env, "--", "echo", "hi")
    step = json.loads(done.stdout)
    assert b"hi\n" in done.stderr
    assert step["env"] == {"API_TOKEN": "[redacted:token]", "MODE": "fast"}
    assert step["cmd"] == ["echo", "hi"]
    assert set(step) >= {
        "v",
        "step_id",
        "kind",
        "cmd",
        "cwd",
        "env",
        "started_at",
        "ended_at",
        "duration_ms",
        "exit_code",
        "diff_stat",
        "artifacts",
        "policy_events",
        "snapshot",
        "parent",
        "coverage",
        "status",
        "prev",
    }
    assert step["cwd"] == "."


def test_it_runs_where_the_caller_stands(sandbox: Sandbox) -> None:
    sandbox.siding("run", "--", "sh", "-c", "pwd >where.txt", cwd=sandbox.repo / "src")
    assert (sandbox.workspace() / "src" / "where.txt").exists()
    (step,) = sandbox.steps()
    assert step["cwd"] == "src"
    sandbox.siding("run", "--cwd", "../..", "--", "true", status=2)
    sandbox.siding("run", "--cwd", "nowhere", "--", "true", status=2)
    # From inside the workspace, the task is the one whose workspace it is.
    sandbox.siding("task", "start", "other")
    inside = sandbox.directory / "siding"
    (first,) = [p.parent for p in inside.rglob("where.txt")]
    done = sandbox.json("status", "--format", "json", cwd=first)
    assert done["task_name"] == "sh: pwd >where.txt"
