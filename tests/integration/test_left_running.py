"""What a run leaves running: it is listed, reached, paused, and ended or kept by choice."""

import json
import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from bwrap import needs_bwrap
from dashboards import Dashboard
from sandbox import SIDING, Sandbox, alive
from siding.record.place.project import require_project
from siding.record.place.wiring import open_app
from siding.running.hosting import host
from siding.running.request import RunRequest
from siding.running.stop import stop
from terminal import Terminal

# Each way leaves a process that writes its number into `pid`, and works on.
WORKER = "import os,time; open('pid','w').write(str(os.getpid())); time.sleep(600)"
IGNORING = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); " + WORKER
DAEMON = "import os,sys; os.fork() and os._exit(0); os.setsid(); os.fork() and os._exit(0); "
BARE = "os.execve(sys.executable, [sys.executable, '-c', sys.argv[1]], {})"
UNTIL_GO = "while [ ! -e go ]; do sleep .02; done"
WAIT = "while [ ! -s pid ]; do sleep .01; done"
WAYS = {
    "a job": f'python3 -c "{WORKER}" & {WAIT}',
    "a session of its own": f'setsid python3 -c "{WORKER}" & {WAIT}',
    "a daemon without its environment": f'python3 -c "{DAEMON}{BARE}" "{WORKER}"; {WAIT}',
    "one that ignores SIGTERM": f'setsid python3 -c "{IGNORING}" & {WAIT}',
}
TTY, PIPES, DETACHED = ("--tty",), ("--no-tty",), ("--detach", "--no-tty")
DETACHED_TTY = ("--detach", "--tty")


@pytest.fixture
def task(sandbox: Sandbox) -> Iterator[Sandbox]:
    sandbox.siding("task", "start", "left")
    there = sandbox.workspace()
    yield sandbox
    for path in (there / "pid", there / "child"):
        with suppress(OSError, ValueError):
            os.kill(int(path.read_text()), signal.SIGKILL)


def rows(sandbox: Sandbox) -> list[dict[str, Any]]:
    return list(sandbox.json("runs", "--format", "json"))


def left(sandbox: Sandbox) -> list[int]:
    """Return the processes that are listed as left running."""
    listed = [each for row in rows(sandbox) for each in row.get("processes", ())]
    return [each["pid"] for each in listed]


def document(sandbox: Sandbox) -> Path:
    (found,) = sandbox.project.glob("tasks/*/runs/*.left")
    return found


def wait_until(condition: Callable[[], object], seconds: float = 30) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not come to pass"
        time.sleep(0.01)


def number_in(path: Path) -> int:
    wait_until(lambda: path.exists() and path.read_text().strip().isdigit())
    return int(path.read_text())


def leave(sandbox: Sandbox, script: str, *options: str) -> int:
    """Run a shell script that leaves a process behind; return it when the run is recorded."""
    sandbox.siding("run", *options, "--", "sh", "-c", script)
    wait_until(lambda: all(row["state"] == "left running" for row in rows(sandbox)))
    return number_in(sandbox.workspace() / "pid")


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("options", [TTY, PIPES, DETACHED, DETACHED_TTY], ids=" ".join)
def test_it_is_listed_and_ended(task: Sandbox, way: str, options: tuple[str, ...]) -> None:
    pid = leave(task, WAYS[way], *options)
    (row,) = rows(task)
    assert (row["run"], row["state"]) == ("r1", "left running")
    assert left(task) == [pid]
    (process,) = row["processes"]
    assert "time.sleep(600)" in process["command"]
    shown = task.siding("runs").stdout
    assert b"ended, left running:" in shown
    assert b"process %d" % pid in shown
    done = task.siding("stop", "r1")
    assert b"ended what r1 had left running: process %d (" % pid in done.stderr
    assert not alive(pid)
    assert rows(task) == []
    assert not list(task.project.glob("tasks/*/runs/*.left"))
    assert b"nothing runs in task" in task.siding("stop", status=None).stderr
    task.siding("verify")


def test_a_run_that_makes_no_step_is_listed_too(task: Sandbox) -> None:
    pid = leave(task, WAYS["a session of its own"], "--no-record")
    assert left(task) == [pid]
    task.siding("stop")
    assert not alive(pid)


def test_all_ends_what_lives_and_what_was_left(task: Sandbox) -> None:
    pid = leave(task, WAYS["a job"])
    task.siding("run", "--detach", "--", "sleep", "600")
    found = json.loads(task.siding("stop", "--all", "--json").stdout)
    assert [each["run"] for each in found] == ["r2", "r1"]
    assert [each["pid"] for each in found[1]["left_running_ended"]] == [pid]
    assert not alive(pid)
    assert rows(task) == []


def test_it_goes_by_the_name_of_the_run(task: Sandbox) -> None:
    pid = leave(task, WAYS["a job"], "--name", "web")
    assert task.siding("__complete", "--", "stop", "").stdout == b"web\tended, r1\n"
    assert task.siding("__complete", "--", "attach", "").stdout.split() == []
    task.siding("stop", "web")
    assert not alive(pid)


def test_what_it_starts_later_belongs_to_it(task: Sandbox) -> None:
    later = f"{UNTIL_GO}; setsid sleep 600 & echo $! >child; wait"
    pid = leave(task, f"setsid sh -c 'echo $$ >pid; {later}' & {WAIT}")
    (task.workspace() / "go").touch()
    child = number_in(task.workspace() / "child")
    assert left(task) == [pid, child]
    os.kill(pid, signal.SIGKILL)  # the child's parent is another one now
    wait_until(lambda: left(task) == [child])
    task.siding("checkpoint")  # which looks whether anything is left
    task.siding("stop")
    assert not alive(child)


def test_what_is_below_it_belongs_to_it_without_any_environment(task: Sandbox) -> None:
    later = f"{UNTIL_GO}; sleep 600 & echo $! >child; wait"
    bare = "setsid env -i PATH=$PATH sh -c"
    pid = leave(task, f"{bare} 'echo $$ >pid; {later}' & {WAIT}")
    (task.workspace() / "go").touch()
    child = number_in(task.workspace() / "child")
    assert left(task) == [pid, child]
    task.siding("stop")
    assert not alive(pid)
    assert not alive(child)


@pytest.mark.parametrize("change", ["another process", "another boot", "torn"])
def test_a_number_alone_means_nothing(task: Sandbox, change: str) -> None:
    pid = leave(task, WAYS["a job"])
    path = document(task)
    record = json.loads(path.read_text())
    record["token"] = ""  # by which it would be found all the same
    if change == "another process":
        record["processes"][0]["started"] += 1
    elif change == "another boot":
        record["boot"] = "an earlier one"
    path.write_text("{" if change == "torn" else json.dumps(record))
    assert rows(task) == []
    assert b"nothing runs" in task.siding("stop", status=None).stderr
    assert path.exists(), "what looks removed it"
    task.siding("task", "close", "--keep")
    assert alive(pid)
    assert not path.exists()


def test_a_document_of_a_later_version_is_left_alone(task: Sandbox) -> None:
    leave(task, WAYS["a job"])
    path = document(task)
    path.write_text(json.dumps({**json.loads(path.read_text()), "version": 2}))
    assert rows(task) == []
    task.siding("run", "--", "true")
    assert path.exists()


def test_what_ended_by_itself_is_dropped(task: Sandbox) -> None:
    pid = leave(task, WAYS["a job"])
    path = document(task)
    task.siding("run", "--", "true")
    assert path.exists()
    os.kill(pid, signal.SIGKILL)
    wait_until(lambda: not alive(pid))
    assert rows(task) == []
    task.siding("run", "--", "true")
    assert not path.exists()


def test_it_is_paused_while_the_state_is_moved(task: Sandbox) -> None:
    ticks = task.workspace() / "ticks"
    ticking = "while :; do date +%s.%N >>ticks; sleep .003; done"
    pid = leave(task, f"setsid sh -c 'echo $$ >pid; {ticking}' & {WAIT}")
    for _ in range(3):
        wait_until(lambda: ticks.exists() and ticks.stat().st_size > 100)
        done = task.siding("rollback", "--base")
        assert b"what r1 `sh -c" in done.stderr
        assert b"left running was paused and goes on" in done.stderr
        back = task.steps()[-1]
        store = str(task.project / "snapshots.git")
        trees = [
            task.git("--git-dir", store, "log", "-1", "--format=%T", str(back[name]))
            for name in ("snapshot", "restored")
        ]
        assert trees[0] == trees[1], "something was written between the moving and the snapshot"
    assert alive(pid)
    wait_until(lambda: ticks.exists() and ticks.stat().st_size > 100)
    task.siding("rollback", "--base", "--stop")
    assert not alive(pid)
    assert not ticks.exists()


@pytest.mark.parametrize("verb", [("task", "close"), ("worktree", "remove"), ("task", "close -k")])
def test_closing_and_removing_refuse(task: Sandbox, verb: tuple[str, str]) -> None:
    words = ("task", "close", "--keep") if verb[1] == "close -k" else verb
    pid = leave(task, WAYS["a session of its own"])
    task.siding("checkpoint")
    done = task.siding(*words, status=None)
    assert done.returncode != 0
    assert b"run r1 `sh -c" in done.stderr
    assert b"has ended, and left running: process %d (" % pid in done.stderr
    assert b"`siding stop r1` ends that; --stop does it first" in done.stderr
    assert alive(pid)
    (task.workspace() / "pid").unlink()
    done = task.siding(*words, "--stop")
    assert b"ended what r1 had left running" in done.stderr
    assert not alive(pid)


def test_an_apply_leaves_the_task_open(task: Sandbox) -> None:
    pid = leave(task, WAYS["a job"])
    done = task.siding("apply")
    assert b"the task stays open: what r1 left running works on in it" in done.stderr, done
    assert alive(pid)
    assert (task.repo / "pid").exists()


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("options", [TTY, PIPES, DETACHED], ids=" ".join)
def test_end_leaves_nothing(task: Sandbox, way: str, options: tuple[str, ...]) -> None:
    task.siding("run", "--leave", "end", *options, "--", "sh", "-c", WAYS[way])
    wait_until(lambda: rows(task) == [])
    pid = number_in(task.workspace() / "pid")
    assert not alive(pid)
    (step,) = task.steps()
    assert (step["status"], step["exit_code"]) == ("completed", 0)
    assert [each["pid"] for each in step["processes"]["ended"]] == [pid]
    assert step["processes"]["left_running"] == []
    assert b"%d (python3) ended with the step" % pid in task.siding("show").stdout


def test_end_lets_what_is_about_to_end_finish(task: Sandbox) -> None:
    late = "for each in 1 2 3 4 5 6 7 8 9; do sleep .05; echo $each; done; echo late >late"
    script = f"({late}) & echo early"
    task.siding("run", "--leave", "end", "--", "sh", "-c", script)
    assert (task.workspace() / "late").read_text() == "late\n"
    assert task.siding("output").stdout.splitlines() == [b"early", *b"1 2 3 4 5 6 7 8 9".split()]
    assert "processes" not in task.steps()[0]


def test_the_setting_is_for_all_runs(task: Sandbox) -> None:
    (task.project / "config.yaml").write_text("version: 1\nruns:\n  leave: end\n")
    done = task.siding("run", "--", "sh", "-c", WAYS["a job"])
    pid = number_in(task.workspace() / "pid")
    assert b"ended what the command left running: process %d (python3)" % pid in done.stderr
    (task.workspace() / "pid").unlink()
    pid = leave(task, WAYS["a job"], "--leave", "keep")
    assert left(task) == [pid]
    (task.project / "config.yaml").write_text("version: 1\nruns:\n  leave: maybe\n")
    done = task.siding("run", "--", "true", status=None)
    assert b"runs.leave" in done.stderr
    assert b"one of keep, end" in done.stderr


@needs_bwrap
def test_in_a_sandbox_of_bwrap_nothing_is_kept(task: Sandbox) -> None:
    script = f"setsid sh -c 'echo $$ >pid; exec sleep 600' & {WAIT}"
    done = task.siding("run", "--sandbox", "--leave", "keep", "--", "sh", "-c", script)
    (step,) = task.steps()
    (note,) = [each for each in step["notes"] if "nothing outlives the command" in each]
    assert note.encode() in done.stderr
    assert rows(task) == []
    assert not list(task.project.glob("tasks/*/runs/*.left"))


def test_those_who_watch_are_told(task: Sandbox) -> None:
    script = f"{WAYS['a session of its own']}; {UNTIL_GO}"
    task.siding("run", "--detach", "--tty", "--", "sh", "-c", script)
    pid = number_in(task.workspace() / "pid")
    viewer = Terminal([*SIDING, "attach"], cwd=task.repo, env=task.env)
    try:
        viewer.wait_for(b"leaves it running")
        (task.workspace() / "go").touch()
        viewer.wait_for(b"r1 has ended, and left running: process %d (" % pid)
        viewer.wait_for(b"siding stop r1 ends it")
        assert viewer.finish() == 0
    finally:
        viewer.kill()
    done = task.siding("output", "r1", "--follow")
    assert b"r1 has ended, and left running: process %d (" % pid in done.stderr
    done = task.siding("send", "r1", "hello", status=None)
    assert b"no run 'r1' lives" in done.stderr or b"nothing runs in task" in done.stderr
    assert b"r1 has ended and left running: process %d (" % pid in done.stderr


def test_status_and_the_day_say_so(task: Sandbox) -> None:
    pid = leave(task, WAYS["a job"])
    told = b"left running: process %d (" % pid
    assert told in task.siding("status").stdout
    assert task.json("status", "--format", "json")["left_running"][0]["processes"][0]["pid"] == pid
    assert told in task.siding("today").stdout
    (line,) = task.json("today", "--format", "json")["runs"]
    assert line["command"].startswith("siding stop r1 -t ")
    assert [row["run"] for row in task.json("runs", "--all", "--format", "json")] == ["r1"]


def test_a_run_started_by_it_is_another_run(task: Sandbox) -> None:
    inner = "siding run --detach -- sleep 600"
    task.siding("run", "--", "sh", "-c", f"{inner} && {WAYS['a job']}")
    pid = number_in(task.workspace() / "pid")
    found = {row["run"]: row for row in rows(task)}
    assert (found["r1"]["state"], found["r2"]["state"]) == ("left running", "running")
    assert left(task) == [pid]
    task.siding("stop", "r1")
    (row,) = rows(task)
    assert (row["run"], row["state"]) == ("r2", "running")
    task.siding("stop", "r2")


def test_it_cannot_end_itself(task: Sandbox) -> None:
    siding = " ".join(SIDING)
    later = f"{UNTIL_GO}; {siding} stop r1 >said 2>&1; touch done; sleep 600"
    pid = leave(task, f"setsid sh -c 'echo $$ >pid; {later}' & {WAIT}")
    (task.workspace() / "go").touch()
    wait_until((task.workspace() / "done").exists)
    assert "this command runs in what r1 left running" in (task.workspace() / "said").read_text()
    assert alive(pid)
    task.siding("stop")
    assert not alive(pid)


def test_a_command_inside_it_does_not_pause_itself(task: Sandbox) -> None:
    siding = " ".join(SIDING)
    back = f"{siding} rollback --base --force >../said 2>&1; touch ../done"
    later = f"sleep 600 & {UNTIL_GO}; {back}; sleep 600"
    pid = leave(task, f"setsid sh -c 'echo $$ >pid; {later}' & {WAIT}")
    (task.workspace() / "go").touch()
    wait_until((task.workspace().parent / "done").exists)
    said = (task.workspace().parent / "said").read_text()
    assert "back to the base" in said
    assert "was paused" not in said
    assert alive(pid)
    task.siding("stop")
    assert not alive(pid)


@pytest.mark.parametrize("where", ["in the program", "outside"])
def test_what_a_run_of_a_program_left_is_not_part_of_its_other_runs(
    task: Sandbox, where: str
) -> None:
    project = require_project(open_app(env=task.env, cwd=task.repo))
    beside = host(project, RunRequest(argv=("cat",)))
    beside.began()
    leaves = host(project, RunRequest(argv=("sh", "-c", WAYS["a session of its own"])))
    assert leaves.wait().exit_code == 0
    pid = number_in(task.workspace() / "pid")
    assert left(task) == [pid]
    if where == "outside":
        task.siding("stop", "r2")
    else:
        (ended,) = stop(project, None, ["r2"]).left
        assert [each.pid for each in ended.ended] == [pid]
    assert not alive(pid)
    assert [row["run"] for row in rows(task)] == ["r1"]
    beside.end_input()
    assert beside.wait().exit_code == 0


def test_secrets_are_kept_out_of_the_document(task: Sandbox) -> None:
    key = "ghp_" + "a1B2" * 9
    script = f'python3 -c "{WORKER}" --token {key} & {WAIT}'
    pid = leave(task, script)
    assert key not in document(task).read_text()
    assert left(task) == [pid]
    assert key.encode() not in task.siding("runs").stdout


def test_the_dashboard_says_so_and_does_not_close(task: Sandbox) -> None:
    pid = leave(task, WAYS["a job"])
    with Dashboard(task) as dashboard:
        (row,) = rows(task)
        page = shown(dashboard, f"/tasks/{row['task']}")
        assert f"left running: process {pid} (" in page
        assert "<code>siding stop r1</code>" in page
        closing = shown(dashboard, f"/tasks/{row['task']}/plan?act=close")
        assert "something still runs that was left by r1" in closing
        assert 'name="code"' not in closing
        back = shown(dashboard, f"/tasks/{row['task']}/plan?act=rollback&step=base")
        assert "what r1 left running is paused meanwhile, and goes on" in back


def shown(dashboard: Dashboard, path: str) -> str:
    status, body = dashboard.get(f"/view{path}")
    assert status == 200, body
    return body.decode()
