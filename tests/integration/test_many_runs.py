"""Many runs in one task: they live beside each other, and what each one leaves is recorded."""

import json
import os
import signal
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from itertools import pairwise
from pathlib import Path

import pytest

from bwrap import needs_bwrap
from sandbox import SIDING, Sandbox, alive
from siding.ground.storage.locks import FileLock

UNTIL_GO = "while [ ! -e go ]; do sleep .02; done"


@contextmanager
def living(sandbox: Sandbox, *words: str) -> Iterator["subprocess.Popen[bytes]"]:
    """Start ``siding run`` beside the test; end it in any case."""
    process = subprocess.Popen(
        [*SIDING, "run", *words],
        cwd=sandbox.repo,
        env=sandbox.env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    try:
        yield process
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
        process.communicate(timeout=60)


def wait_until(sandbox: Sandbox, *names: str, seconds: float = 30) -> None:
    """Wait until files of these names are in the workspace."""
    end = time.monotonic() + seconds
    missing = [sandbox.workspace() / name for name in names]
    while missing := [each for each in missing if not each.exists()]:
        assert time.monotonic() < end, f"{missing} did not appear"
        time.sleep(0.01)


def names(sandbox: Sandbox) -> list[str]:
    return [row["run"] for row in sandbox.json("runs", "--format", "json")]


def runs_left(sandbox: Sandbox) -> list[str]:
    """Return the files of runs that are there, without the one that counts them."""
    found = sandbox.project.glob("tasks/*/runs/*")
    return sorted(path.name for path in found if path.name != "last")


@pytest.fixture
def task(sandbox: Sandbox) -> Sandbox:
    sandbox.siding("task", "start", "many")
    return sandbox


def test_a_second_run_works_beside_the_first(task: Sandbox) -> None:
    with living(task, "--", "sh", "-c", f"echo 1 >first; {UNTIL_GO}; echo 2 >>first") as first:
        wait_until(task, "first")
        done = task.siding("run", "--", "sh", "-c", "echo $SIDING_RUN_ID; echo x >second")
        assert done.stdout == b"r2\n"
        assert b"recorded first: changes made while runs live: 1 file +1 -0" in done.stderr
        assert names(task) == ["r1"]
        (task.workspace() / "go").touch()
        assert first.wait(60) == 0
    before, second, last = task.steps()
    assert (before["kind"], before["origin"], before["beside"]) == ("checkpoint", "running", ["r1"])
    assert before["diff_stat"]["file_list"] == ["first"]
    assert (second["run"], second["beside"]) == ("r2", ["r1"])
    assert second["diff_stat"]["file_list"] == ["second"]
    assert last["run"] == "r1"
    assert "beside" not in last
    assert sorted(last["diff_stat"]["file_list"]) == ["first", "go"]
    assert not last["isolation"]["changes"], "what other commands record is no alarm"
    assert runs_left(task) == []
    task.siding("verify")


def test_where_a_run_began_is_recorded_if_steps_came_in_between(task: Sandbox) -> None:
    task.siding("run", "--", "sh", "-c", "echo 0 >zero")
    with living(task, "--", "sh", "-c", f"touch began; {UNTIL_GO}") as first:
        wait_until(task, "began")
        task.siding("checkpoint", "-m", "in the middle")
        (task.workspace() / "go").touch()
        first.wait(60)
    zero, middle, last = task.steps()
    assert "since" not in zero
    assert middle["message"] == "in the middle"
    assert middle["beside"] == ["r2"]
    assert last["since"] == zero["step_id"]


def test_a_checkpoint_inside_a_run_is_a_step_of_its_own(task: Sandbox) -> None:
    script = 'echo 1 >a; "$@" checkpoint -m one; echo 2 >b'
    done = task.siding("run", "--", "sh", "-c", script, "sh", *SIDING)
    assert done.returncode == 0
    one, run = task.steps()
    assert (one["message"], one["diff_stat"]["file_list"]) == ("one", ["a"])
    assert run["diff_stat"]["file_list"] == ["b"]
    task.siding("undo")
    assert sorted(os.listdir(task.workspace())) == sorted({*os.listdir(task.repo)} | {"a"})


@pytest.mark.parametrize(
    "words",
    [
        ("apply", "--resolve"),
        ("task", "close", "--force"),
        ("worktree", "remove", "--force"),
    ],
)
def test_what_would_change_the_files_under_a_run_is_refused(
    task: Sandbox, words: tuple[str, ...]
) -> None:
    task.siding("run", "--", "sh", "-c", "echo 1 >one")
    with living(task, "--", "sh", "-c", f"touch began; {UNTIL_GO}"):
        wait_until(task, "began")
        done = task.siding(*words, status=1)
        assert b"is busy: run r2 `sh -c" in done.stderr
        assert (task.workspace() / "one").exists()
        assert len(task.steps()) == 1


def test_inside_a_run_it_is_refused_at_once_even_with_wait(task: Sandbox) -> None:
    task.siding("run", "--", "sh", "-c", "echo 1 >one")
    done = task.siding("run", "--", *SIDING, "rollback", "--base", "--wait", status=1)
    assert b"runs inside run r2 of task" in done.stderr
    assert b"siding checkpoint" in done.stderr
    assert (task.workspace() / "one").exists()


def test_wait_waits_until_the_runs_have_ended(task: Sandbox) -> None:
    with living(task, "--", "sh", "-c", f"touch began; {UNTIL_GO}") as first:
        wait_until(task, "began")
        with living(task, "--wait", "--", "sh", "-c", "echo $PPID") as second:
            time.sleep(0.3)
            assert names(task) == ["r1"]
            (task.workspace() / "go").touch()
            assert first.wait(60) == 0
            assert second.wait(60) == 0
    assert [step["run"] for step in task.steps()] == ["r1", "r2"]


def test_a_run_whose_host_was_killed_is_recorded_by_the_next_command(task: Sandbox) -> None:
    script = "sleep 300 & echo $! >pid; echo half >file; wait"
    with living(task, "--", "sh", "-c", script) as first:
        wait_until(task, "pid", "file")
        task.siding("checkpoint", "-m", "while it lives")
        (task.workspace() / "file").write_text("more\n")
        first.kill()
        first.wait(60)
    pid = int((task.workspace() / "pid").read_text())
    assert b"cut off" in task.siding("status").stdout
    task.siding("run", "--", "true")
    middle, cut, _last = task.steps()
    assert (cut["run"], cut["status"]) == ("r1", "interrupted")
    assert cut["parent"] == middle["snapshot"]
    assert cut["diff_stat"]["file_list"] == ["file"]
    assert not alive(pid)
    assert runs_left(task) == []
    task.siding("verify")


def test_a_run_without_a_record_that_was_cut_off_leaves_nothing(task: Sandbox) -> None:
    script = "sleep 300 & echo $! >pid; wait"
    with living(task, "--no-record", "--", "sh", "-c", script) as first:
        wait_until(task, "pid")
        assert names(task) == ["r1"]
        first.kill()
        first.wait(60)
    pid = int((task.workspace() / "pid").read_text())
    task.siding("checkpoint", "-m", "after")
    assert not alive(pid)
    assert runs_left(task) == []
    assert [step["kind"] for step in task.steps()] == ["checkpoint"]


def test_eight_runs_at_once_leave_a_whole_record(task: Sandbox) -> None:
    script = 'for i in 1 2 3; do echo "$SIDING_RUN_ID $i" >>"$SIDING_RUN_ID.txt"; done'
    processes = [
        subprocess.Popen(
            [*SIDING, "run", "--", "sh", "-c", script],
            cwd=task.repo,
            env=task.env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        for _ in range(8)
    ]
    for process in processes:
        said, _ = process.communicate(timeout=120)
        assert process.returncode == 0, said
    steps = task.steps()
    runs = [step["run"] for step in steps if step["kind"] == "run"]
    assert sorted(runs, key=lambda each: int(each[1:])) == [f"r{n}" for n in range(1, 9)]
    recorded = {path for step in steps for path in step["diff_stat"]["file_list"]}
    assert recorded == {f"r{n}.txt" for n in range(1, 9)}
    for before, after in pairwise(steps):
        assert after["parent"] == before["snapshot"]
    task.siding("verify")
    task.siding("doctor")


def test_stop_ends_everything_that_a_run_started(task: Sandbox) -> None:
    script = "trap '' TERM; setsid sleep 300 & echo $! >pid; sleep 300"
    with living(task, "--", "sh", "-c", script) as first:
        wait_until(task, "pid")
        done = task.siding("stop")
        assert b"ended r1 (sh -c" in done.stderr
        assert b"step 0001" in done.stderr
        assert first.wait(60) == 143
    assert not alive(int((task.workspace() / "pid").read_text()))
    (step,) = task.steps()
    assert step["status"] == "interrupted"


def test_stop_kills_a_host_that_does_not_react(
    task: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    from siding.record.place.project import require_project
    from siding.record.place.wiring import open_app
    from siding.running import stop

    monkeypatch.setattr(stop, "_PATIENCE_S", 0.2)
    with living(task, "--", "sh", "-c", "echo $$ >p; mv p pid; sleep 300") as first:
        wait_until(task, "pid")
        project = require_project(open_app(env=task.env, cwd=task.repo))
        layout = project.task_layout(next(iter(project.tasks.ids())))
        # To record its run the host needs the task's lock, which it does not get here.
        lock = FileLock(layout.lock).acquire(timeout_s=None)

        def let_go() -> None:
            first.wait()
            lock.release()

        ended = threading.Thread(target=let_go)
        ended.start()
        (found,) = stop.stop(project, None, ["r1"]).runs
        ended.join()
        assert found.by_force
        assert found.step is not None
        assert found.step.status == "interrupted"
    assert not alive(int((task.workspace() / "pid").read_text()))


def test_stop_ends_a_run_that_is_suspended(task: Sandbox) -> None:
    with living(task, "--", "sh", "-c", "echo $$ >pid; sleep 300") as first:
        wait_until(task, "pid")
        first.send_signal(signal.SIGSTOP)
        task.siding("stop")
        assert first.wait(60) == 143
    assert not alive(int((task.workspace() / "pid").read_text()))


def test_stop_wants_a_name_where_several_runs_live(task: Sandbox) -> None:
    assert b"nothing runs in task 'many'" in task.siding("stop", status=1).stderr
    assert b"nothing runs" in task.siding("stop", "--all").stderr
    with (
        living(task, "--name", "one", "--", "sh", "-c", "touch a; sleep 300"),
        living(task, "--name", "two", "--", "sh", "-c", "touch b; sleep 300"),
    ):
        wait_until(task, "a", "b")
        assert b"2 runs live in task 'many'" in task.siding("stop", status=2).stderr
        assert b"no run 'three' lives" in task.siding("stop", "three", status=1).stderr
        assert len(names(task)) == 2
        task.siding("stop", "two")
        assert [row["name"] for row in task.json("runs", "--format", "json")] == ["one"]
        (step,) = json.loads(task.siding("stop", "--all", "--json").stdout)
        assert step["status"] == "interrupted"
    assert names(task) == []


def test_a_run_in_the_background_outlives_the_command_line(task: Sandbox) -> None:
    script = f"echo began; echo aside >&2; {UNTIL_GO}; echo over"
    done = task.siding("run", "--detach", "--name", "web", "--", "sh", "-c", script)
    assert b"many \xc2\xb7 r1 runs in the background" in done.stderr
    (row,) = task.json("runs", "--format", "json")
    assert (row["run"], row["name"], row["task_name"]) == ("r1", "web", "many")
    assert os.getsid(row["host"]) != os.getsid(0)
    with subprocess.Popen(
        [*SIDING, "output", "web", "--follow"],
        cwd=task.repo,
        env=task.env,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as following:
        (task.workspace() / "go").touch()
        out, err = following.communicate(timeout=60)
    assert out == b"began\nover\n"
    assert err == b"aside\n"
    assert names(task) == []
    (step,) = task.steps()
    assert (step["status"], step["exit_code"]) == ("completed", 0)
    again = task.siding("output", "r1")
    assert (again.stdout, again.stderr) == (b"began\nover\n", b"aside\n")


def test_a_run_in_the_background_prints_nothing_on_the_terminal_it_left(task: Sandbox) -> None:
    ours, its = os.openpty()
    with subprocess.Popen(
        [*SIDING, "run", "-d", "--", "sh", "-c", f"echo LOUD; echo LOUD >&2; touch a; {UNTIL_GO}"],
        cwd=task.repo,
        env=task.env,
        stdin=its,
        stdout=its,
        stderr=its,
        start_new_session=True,
    ) as starting:
        assert starting.wait(60) == 0
    wait_until(task, "a")
    (task.workspace() / "go").touch()
    task.siding("output", "r1", "--follow")
    os.close(its)
    seen = b""
    with suppress(OSError):  # nobody has the other end any more
        while data := os.read(ours, 4096):
            seen += data
    os.close(ours)
    assert b"r1 runs in the background" in seen
    assert b"it has nothing to read; --tty gives it a terminal" in seen
    assert b"LOUD" not in seen
    assert task.siding("output", "r1").stdout == b"LOUD\n"


def test_in_the_background_what_does_not_start_is_told(task: Sandbox) -> None:
    done = task.siding("run", "--detach", "--", "no-such-program", status=127)
    assert b"'no-such-program': command not found" in done.stderr
    assert b"step 0001 \xc2\xb7 exit 127" in done.stderr
    assert b"--cwd" in task.siding("run", "-d", "--cwd", "..", "--", "true", status=2).stderr
    assert names(task) == []


def test_the_log_and_the_status_name_each_run_that_lives(task: Sandbox) -> None:
    with ExitStack() as both:
        for name in ("one", "two"):
            script = f"echo {name}; touch {name}; sleep 300"
            both.enter_context(living(task, "--", "sh", "-c", script))
            wait_until(task, name)
        status = task.siding("status").stdout.decode()
        assert "running     r1 `sh -c" in status
        assert "running     r2 `sh -c" in status
        assert task.json("status", "--format", "json")["running"] == ["r1", "r2"]
        log = task.siding("log").stdout.decode()
        # What the first one changed before the second one began is below it.
        assert [line.split()[0] for line in log.splitlines()][1:] == ["r1", "0001", "r2"]
        assert b"one" in task.siding("show", "r1").stdout
        assert b"two" in task.siding("show", "r2").stdout
        lines = {row["run"]: row["last_line"] for row in task.json("runs", "--format", "json")}
        assert lines == {"r1": "one", "r2": "two"}


def test_a_question_is_shown_with_the_run_that_asked_it(task: Sandbox, tmp_path: Path) -> None:
    question = tmp_path / "q.json"
    item = {"id": 1, "title": "Which way?", "kind": "text"}
    question.write_text(json.dumps({"task": "t", "source": "s", "items": [item]}))
    script = 'touch began; "$@"'
    asking = (*SIDING, "decide", "--file", str(question), "--timeout", "60")
    with living(task, "--", "sh", "-c", script, "sh", *asking) as run:
        end = time.monotonic() + 30
        while not any(row["waits_for"] for row in task.json("runs", "--format", "json")):
            assert time.monotonic() < end
            time.sleep(0.05)
        assert b"you: siding decide answer" in task.siding("runs").stdout
        assert b", run r1" in task.siding("decide", "show").stdout
        run.terminate()
        run.wait(60)


def test_a_run_that_lives_shows_nothing_of_the_step_that_got_its_number(task: Sandbox) -> None:
    with living(task, "--", "sh", "-c", "echo mine; touch a; sleep 300"):
        wait_until(task, "a")
        task.siding("run", "--", "sh", "-c", "echo theirs; echo x >b")
        for name in ("r1", "last"):
            shown = task.siding("show", name).stdout
            assert b"mine" in shown
            assert b"theirs" not in shown
        assert task.siding("output", "r1").stdout == b"mine\n"


def test_cut_off_while_its_output_got_its_number_a_run_keeps_it(task: Sandbox) -> None:
    """Killed between the renaming of its artifacts and its line, beside a step with its number."""
    with living(task, "--", "sh", "-c", "echo mine; touch a; sleep 300") as first:
        wait_until(task, "a")
        task.siding("run", "--", "sh", "-c", "echo theirs; echo x >b")
        first.kill()
        first.wait(60)
    task.siding("stop", "--all")
    (artifacts,) = task.project.glob("tasks/*/artifacts")
    (mine,) = artifacts.glob("a*.output")
    newest = int(task.steps()[-1]["step_id"])
    mine.rename(artifacts / f"{newest + 1:04d}.output")
    for empty in artifacts.glob("a*.stderr*"):
        empty.unlink()
    task.siding("checkpoint", "-m", "after")
    (cut,) = [step for step in task.steps() if step.get("run") == "r1"]
    assert task.siding("show", cut["step_id"], "--raw").stdout == b"mine\n"
    (theirs,) = [step for step in task.steps() if step.get("run") == "r2"]
    assert task.siding("show", theirs["step_id"], "--raw").stdout == b"theirs\n"
    task.siding("verify")


@needs_bwrap
def test_a_second_sandboxed_run_leaves_the_quarantine_to_the_first(task: Sandbox) -> None:
    commit = "git add -A; git commit -qm"
    script = f"echo 1 >first; touch began; {UNTIL_GO}; {commit} 'of the first'"
    with living(task, "--sandbox", "--", "sh", "-c", script) as first:
        wait_until(task, "began")
        script = f"echo 2 >second; {commit} 'of the second' || echo read-only"
        done = task.siding("run", "--sandbox", "--", "sh", "-c", script)
        assert b"another sandboxed run of this task lives" in done.stderr
        assert b"read-only" in done.stdout
        (task.workspace() / "go").touch()
        assert first.wait(60) == 0
    subjects = task.git("log", "--format=%s", "-2", cwd=task.workspace()).splitlines()
    assert subjects[0] == "of the first"
    assert "of the second" not in subjects
    again = task.siding("run", "--sandbox", "--", "git", "commit", "-q", "--allow-empty", "-m", "x")
    assert b"read-only" not in again.stderr
    task.siding("doctor")


def test_the_first_run_raises_the_version_of_the_project(task: Sandbox) -> None:
    """An earlier Siding would take a task with live runs for one in which nothing happens."""
    path = task.project / "project.json"
    document = json.loads(path.read_bytes())
    old = json.dumps({**document, "version": 1}).encode()
    path.write_bytes(old)
    task.siding("checkpoint", "-m", "looks")
    assert path.read_bytes() == old
    task.siding("run", "--", "true")
    assert json.loads(path.read_bytes()) == {**document, "version": 2}
    assert (task.project / "project.json.v1.bak").read_bytes() == old


def test_what_a_run_of_another_task_commits_is_no_alarm(task: Sandbox) -> None:
    """That run began earlier, and nothing of its task is written while it lives."""
    script = (
        "touch began; while [ ! -e now ]; do sleep .02; done; git add -A; git commit -qm theirs"
    )
    with living(task, "--", "sh", "-c", f"{script}; touch done; {UNTIL_GO}"):
        wait_until(task, "began")
        there = task.workspace()
        task.siding("task", "start", "--no-switch", "other")
        meanwhile = f"touch {there}/now; while [ ! -e {there}/done ]; do sleep .02; done"
        task.siding("run", "-t", "other", "--", "sh", "-c", meanwhile)
        (there / "go").touch()
    (step,) = task.steps("other")
    assert step["isolation"]["changes"] == []


def test_doctor_records_what_was_cut_off_beside_a_run_that_lives(task: Sandbox) -> None:
    with (
        living(task, "--", "sh", "-c", "touch a; sleep 300"),
        living(task, "--", "sh", "-c", "touch b; sleep 300") as second,
    ):
        wait_until(task, "a", "b")
        second.kill()
        second.wait(60)
        said = task.siding("doctor", status=None)
        assert b"was cut off" in said.stdout + said.stderr
        assert len(names(task)) == 1
        (cut,) = [step for step in task.steps() if step["kind"] == "run"]
        assert cut["status"] == "interrupted"
        assert cut["beside"] == names(task)
        task.siding("doctor")


def test_a_run_that_was_stopped_on_request_waits_for_nobody(task: Sandbox) -> None:
    with living(task, "--", "sh", "-c", "echo $$ >pid; sleep 300") as first:
        wait_until(task, "pid")
        time.sleep(0.3)  # its control socket is there
        task.siding("stop")
        assert first.wait(60) == 143
    (step,) = task.steps()
    assert (step["status"], step["ending"]) == ("interrupted", "stopped")
    assert step["reason"] == "it was stopped on request"
    assert task.json("inbox", "--here", "--json") == []
    assert b"!" not in task.siding("status", "--short").stdout


@needs_bwrap
def test_commits_of_two_sandboxed_runs_and_a_plain_one_are_all_there(task: Sandbox) -> None:
    """The plain one is first at the branch; what comes too late is kept beside it, and said."""
    commit = "git add {0}; git commit -qm {0}"
    sandboxed = "touch begun; until [ -e go ]; do sleep .02; done; echo a >a; "
    branch = task.json("task", "show", "--format", "json")["branch"]
    with living(task, "--sandbox", "--", "sh", "-c", sandboxed + commit.format("a")) as first:
        wait_until(task, "begun")
        script = "echo b >b; git log -1 >seen; ! git add b"
        second = task.siding("run", "--sandbox", "--", "sh", "-c", script)
        assert b"another sandboxed run of this task lives" in second.stderr
        task.siding("run", "--no-sandbox", "--", "sh", "-c", f"echo c >c; {commit.format('c')}")
        (task.workspace() / "go").touch()
        said = first.communicate(timeout=60)[1].decode()
    assert first.returncode == 0, said
    beside = f"{branch}-beside-1"
    assert f"what the run committed is branch '{beside}'" in said
    assert task.git("log", "-1", "--format=%s", branch) == "c"
    assert task.git("log", "-2", "--format=%s", beside).split() == ["a", "first"]
    assert {"a", "b", "c"} <= {path.name for path in task.workspace().iterdir()}
    task.git("fsck", "--strict")
    task.siding("verify")
    again = task.siding("run", "--sandbox", "--", "sh", "-c", commit.format("b"))
    assert b"not moved" not in again.stderr
    assert task.git("log", "-1", "--format=%s", branch) == "b"
