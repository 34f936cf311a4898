"""Going back while runs live: they are paused, the state is moved, they go on."""

import fcntl
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from prepared import prepared
from sandbox import SIDING, Sandbox, alive
from siding.record.acts import pausing
from siding.record.acts.pause import BesideRuns
from siding.record.place.project import require_project
from siding.record.place.wiring import open_app
from terminal import Terminal

PAUSED = b" was paused and goes on"
# It writes every few milliseconds, each time to the end of the file.
TICKING = "while :; do date +%s.%N >>ticks; sleep .003; done"


def _task(sandbox: Sandbox) -> None:
    sandbox.siding("task", "start", "beside")
    sandbox.siding("run", "--", "sh", "-c", "echo 1 >one")


@pytest.fixture
def task() -> Sandbox:
    return prepared(_task)


@contextmanager
def living(sandbox: Sandbox, *argv: str, options: tuple[str, ...] = ()) -> Iterator[str]:
    """Run a command in the background; end it in any case. Yields the id of the run."""
    done = sandbox.siding("run", "--detach", *options, "--", *argv)
    (row,) = [row for row in runs(sandbox) if row["run"].encode() in done.stderr]
    try:
        yield str(row["run"])
    finally:
        for each in sandbox.project.glob("tasks/*/runs/paused"):
            each.unlink()
        sandbox.siding("stop", "--all", status=None)


def runs(sandbox: Sandbox) -> list[dict[str, Any]]:
    return list(sandbox.json("runs", "--format", "json"))


def wait_until(condition: Callable[[], object], seconds: float = 30) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not come to pass"
        time.sleep(0.005)


def number_in(path: Path) -> int:
    """Return the number that a command writes into a file."""
    wait_until(lambda: path.exists() and path.read_text().strip().isdigit())
    return int(path.read_text())


def size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


def is_stopped(pid: int) -> bool:
    with suppress(OSError):
        stat = Path(f"/proc/{pid}/stat").read_text()
        return stat[stat.rindex(")") + 2] == "T"
    return False


def assert_went_there(sandbox: Sandbox, step: dict[str, object]) -> None:
    """Nothing was written between the moving of the files and the snapshot after it."""
    store = str(sandbox.project / "snapshots.git")
    trees = {
        sandbox.git("--git-dir", store, "log", "-1", "--format=%T", str(step[name]))
        for name in ("snapshot", "restored")
    }
    assert len(trees) == 1


def test_a_run_is_paused_while_the_state_is_moved_and_goes_on(task: Sandbox) -> None:
    ticks = task.workspace() / "ticks"
    with living(task, "sh", "-c", TICKING) as run:
        wait_until(lambda: size(ticks) > 100)
        done = task.siding("rollback", "--base")
        assert f"{run} `sh -c ".encode() in done.stderr
        assert PAUSED in done.stderr
        wait_until(lambda: size(ticks) > 100)
        assert not (task.workspace() / "one").exists()
        assert [row["run"] for row in runs(task)] == [run]
    *_, back, last = task.steps()
    assert (back["kind"], back["beside"]) == ("rollback", [run])
    assert "at_work" not in back
    assert_went_there(task, back)
    assert (last["run"], last["status"]) == (run, "interrupted")
    task.siding("verify")
    task.siding("doctor")


def test_nothing_is_written_between_the_pause_and_the_end_of_it(task: Sandbox) -> None:
    ticks = task.workspace() / "ticks"
    project = require_project(open_app(env=task.env, cwd=task.repo))
    (workspace,) = [each for each in project.registry.all() if each.branch]
    with living(task, "sh", "-c", TICKING):
        wait_until(lambda: size(ticks) > 100)
        for _ in range(10):
            with pausing.pausing(project, workspace, BesideRuns()) as pause:
                before = (ticks.read_bytes(), ticks.stat().st_mtime_ns)
                time.sleep(0.05)
                assert (ticks.read_bytes(), ticks.stat().st_mtime_ns) == before
                assert before[0].endswith(b"\n"), "it was stopped in the middle of a write"
                pause.go_on()
                wait_until(lambda was=before[0]: ticks.read_bytes() != was)  # type: ignore[misc]


def test_what_left_its_session_is_paused_too(task: Sandbox) -> None:
    there = task.workspace()
    script = f"setsid sh -c 'echo $$ >far; {TICKING}' & sleep 600"
    with living(task, "sh", "-c", script):
        far = number_in(there / "far")
        wait_until(lambda: size(there / "ticks") > 100)
        task.siding("rollback", "--base")
        assert not (there / "far").exists()
        assert alive(far)
        wait_until(lambda: size(there / "ticks") > 100)
    back = [step for step in task.steps() if step["kind"] == "rollback"][-1]
    assert_went_there(task, back)


FORKING = """
import os, time
end = time.monotonic() + 60
for _ in range(4000):
    if time.monotonic() > end:
        break
    if os.fork() == 0:
        with open("forks", "ab") as file:
            file.write(b"x")
        os._exit(0)
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        pass
    time.sleep(0.005)
"""


def test_one_that_forks_200_times_a_second_is_paused(task: Sandbox) -> None:
    there = task.workspace()
    with living(task, "python3", "-c", FORKING):
        wait_until(lambda: size(there / "forks") > 20)
        for _ in range(3):
            task.siding("rollback", "--base")
            wait_until(lambda: size(there / "forks") > 5)
    for step in task.steps():
        if step["kind"] == "rollback":
            assert_went_there(task, step)


def test_a_commit_under_way_is_waited_for(task: Sandbox) -> None:
    there = task.workspace()
    hooks = task.repo / ".git" / "hooks"
    hooks.mkdir(exist_ok=True)
    hook = hooks / "pre-commit"
    hook.write_text("#!/bin/sh\ntouch in-hook; sleep 1; rm in-hook\n")
    hook.chmod(0o755)
    try:
        with living(task, "sh", "-c", "git add one; git commit -qm mine; sleep 600"):
            wait_until((there / "in-hook").exists)
            done = task.siding("rollback", "--base", "--force")
            assert PAUSED in done.stderr
    finally:
        hook.unlink()
    assert task.git("log", "--format=%s", "-1", cwd=there) != "mine"
    recorded = [step for step in task.steps() if step.get("commits")]
    assert recorded, "the commit was made before the state was moved"
    task.siding("undo")
    assert task.git("log", "--format=%s", "-1", cwd=there).strip() == "mine"


def test_a_lock_of_gits_is_waited_for_and_one_that_stays_is_named(task: Sandbox) -> None:
    lock = Path(task.git("rev-parse", "--absolute-git-dir", cwd=task.workspace())) / "index.lock"
    script = 'touch "$1"; touch locked; sleep 1; rm "$1"; while [ ! -e again ]; do sleep .01; done'
    script += '; touch "$1"; touch twice; sleep 600'
    with living(task, "sh", "-c", script, "sh", str(lock)):
        wait_until((task.workspace() / "locked").exists)
        assert PAUSED in task.siding("rollback", "--base", "--files").stderr
        (task.workspace() / "again").touch()
        wait_until((task.workspace() / "twice").exists)
        said = task.siding("rollback", "--base", status=1).stderr
        assert f"git holds {lock}".encode() in said
        lock.unlink()


HOLDING = """
import fcntl, os, sys, time
file = open(sys.argv[1], "a")
fcntl.flock(file, fcntl.LOCK_EX)
open("held", "w").close()
time.sleep(0.5)
fcntl.flock(file, fcntl.LOCK_UN)
time.sleep(600)
"""


@pytest.mark.parametrize("name", ["locks/project", "locks/git", "events.jsonl.lock"])
def test_one_that_holds_a_lock_of_ours_is_not_stopped_with_it(task: Sandbox, name: str) -> None:
    """A command of Siding's inside a run, say: the act would wait for it for ever."""
    project = require_project(open_app(env=task.env, cwd=task.repo))
    (workspace,) = [each for each in project.registry.all() if each.branch]
    path = task.project / name
    path.touch()
    with living(task, "python3", "-c", HOLDING, str(path)):
        wait_until((task.workspace() / "held").exists)
        with pausing.pausing(project, workspace, BesideRuns()), path.open() as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


OPEN = """
import time
file = open("half", "w")
file.write("begun")
file.flush()
open("ready", "w").close()
time.sleep(600)
"""


def test_one_that_never_closes_its_file_is_named(task: Sandbox) -> None:
    there = task.workspace()
    with living(task, "python3", "-c", OPEN) as run:
        wait_until((there / "ready").exists)
        done = task.siding("rollback", "--base", status=1)
        assert b"was never at rest for 5 s: python3 (process " in done.stderr
        assert b"has half open for writing" in done.stderr
        assert (there / "one").exists()
        assert not any(step["kind"] == "rollback" for step in task.steps())
        done = task.siding("rollback", "--base", "--now")
        assert b"in the middle of something: python3 (process " in done.stderr
        back = task.steps()[-1]
        assert (back["kind"], back["beside"]) == ("rollback", [run])
        assert "has half open for writing" in back["at_work"][0]
        assert not (there / "half").exists()


def test_a_file_that_git_ignores_may_stay_open(task: Sandbox) -> None:
    there = task.workspace()
    (there / ".gitignore").write_text("half\nready\n")
    task.siding("checkpoint", "-m", "rules")
    with living(task, "python3", "-c", OPEN):
        wait_until((there / "ready").exists)
        done = task.siding("rollback", "--step", "1")
        assert PAUSED in done.stderr
        assert (there / "half").exists()


def test_stop_ends_the_runs_first(task: Sandbox) -> None:
    ticks = task.workspace() / "ticks"
    with living(task, "sh", "-c", TICKING) as run:
        wait_until(lambda: size(ticks) > 100)
        assert (
            b"has no step '99'"
            in task.siding("rollback", "--step", "99", "--stop", status=1).stderr
        )
        assert [row["run"] for row in runs(task)] == [run]
        done = task.siding("rollback", "--base", "--stop")
        assert f"ended {run} (sh -c".encode() in done.stderr
        assert PAUSED not in done.stderr
        assert runs(task) == []
    assert [step["kind"] for step in task.steps()][-2:] == ["run", "rollback"]
    assert "beside" not in task.steps()[-1]


def test_with_wait_it_waits_until_the_run_has_ended(task: Sandbox) -> None:
    there = task.workspace()
    with living(task, "sh", "-c", "touch began; while [ ! -e go ]; do sleep .01; done"):
        wait_until((there / "began").exists)
        with subprocess.Popen(
            [*SIDING, "rollback", "--base", "--wait"],
            cwd=task.repo,
            env=task.env,
            stdin=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        ) as rollback:
            time.sleep(0.3)
            assert rollback.poll() is None
            (there / "go").touch()
            assert PAUSED not in rollback.communicate(timeout=60)[1]
    assert [step["kind"] for step in task.steps()][-2:] == ["run", "rollback"]


@pytest.mark.parametrize("options", [(), ("--now",), ("--stop",), ("--wait",)])
def test_from_inside_a_run_it_is_refused_at_once(task: Sandbox, options: tuple[str, ...]) -> None:
    done = task.siding("run", "--", *SIDING, "rollback", "--base", *options, status=1)
    assert b"runs inside run r2 of task" in done.stderr
    outside = (
        'setsid sh -c \'"$@" >said 2>&1; touch over\' sh "$@" & while [ ! -e over ]; do :; done'
    )
    argv = (*SIDING, "rollback", "--base", *options)
    task.siding("run", "--", "sh", "-c", outside, "sh", *argv)
    assert "runs inside run r3 of task" in (task.workspace() / "said").read_text()
    assert (task.workspace() / "one").exists()


def test_undo_names_the_run_and_its_files_and_asks(task: Sandbox) -> None:
    there = task.workspace()
    script = "touch began; while [ ! -e go ]; do sleep .01; done; echo mine >theirs; sleep 600"
    with living(task, "sh", "-c", script) as run:
        wait_until((there / "began").exists)
        task.siding("run", "--", "sh", "-c", "echo 2 >two")
        (there / "go").touch()
        wait_until(lambda: size(there / "theirs") > 0)
        done = task.siding("undo", status=1)
        assert f"while {run} `sh -c".encode() in done.stderr
        assert b"lives would be taken back with it: go, theirs" in done.stderr
        assert (there / "two").exists()
        done = task.siding("undo", "--force")
        assert PAUSED in done.stderr
        assert not (there / "two").exists()
        assert not (there / "theirs").exists()
        done = task.siding("redo")
        assert PAUSED in done.stderr
        assert (there / "theirs").read_text() == "mine\n"


def test_retry_goes_back_beside_a_run_and_runs_beside_it(task: Sandbox) -> None:
    ticks = task.workspace() / "ticks"
    with living(task, "sh", "-c", TICKING) as run:
        wait_until(lambda: size(ticks) > 100)
        done = task.siding("retry", "1", "--", "sh", "-c", "echo again >one")
        assert PAUSED in done.stderr
        last = task.steps()[-1]
        assert (last["kind"], last["retries"], last["beside"]) == ("run", "0001", [run])
        assert (task.workspace() / "one").read_text() == "again\n"
        wait_until(lambda: size(ticks) > 0)


def test_sync_brings_the_branch_in_beside_a_run(task: Sandbox) -> None:
    (task.repo / "new").write_text("new\n")
    task.git("add", "new", cwd=task.repo)
    task.git("commit", "-qm", "moved on", cwd=task.repo)
    ticks = task.workspace() / "ticks"
    with living(task, "sh", "-c", TICKING) as run:
        wait_until(lambda: size(ticks) > 100)
        done = task.siding("sync")
        assert PAUSED in done.stderr
        assert (task.workspace() / "new").read_text() == "new\n"
        merged = [step for step in task.steps() if step["kind"] == "rollback"][-1]
        assert merged["beside"] == [run]
    task.siding("verify")


@pytest.mark.skipif(not shutil.which("bash"), reason="needs bash")
def test_an_interactive_shell_with_a_job_does_not_notice(task: Sandbox) -> None:
    there = task.workspace()
    argv = [*SIDING, "run", "--tty", "--", "bash", "--norc", "--noprofile", "-i"]
    shell = Terminal(argv, cwd=task.repo, env={**task.env, "PS1": "prompt "})
    try:
        shell.wait_for(b"prompt ")
        shell.type(b"sleep 300 & echo $! >job\n")
        job = number_in(there / "job")
        for _ in range(4):
            done = task.siding("rollback", "--base")
            assert PAUSED in done.stderr
        assert alive(job)
        shell.type(b"jobs; echo ov''er\n")
        said = shell.wait_for(b"over")
        shell.type(b"kill %1; exit\n")
        shell.finish()
    finally:
        shell.kill()
    assert b"Stopped" not in said
    assert b"Running" in said


def test_what_was_stopped_before_stays_stopped(task: Sandbox) -> None:
    there = task.workspace()
    with living(task, "sh", "-c", "sleep 300 & echo $! >pid; wait"):
        pid = number_in(there / "pid")
        os.kill(pid, signal.SIGSTOP)
        wait_until(lambda: is_stopped(pid))
        task.siding("rollback", "--base")
        assert is_stopped(pid)


def test_the_caller_that_is_ended_lets_the_run_go_on(task: Sandbox) -> None:
    """The run is found going on whenever the rollback is told to end."""
    ticks = task.workspace() / "ticks"
    with living(task, "sh", "-c", TICKING):
        wait_until(lambda: size(ticks) > 100)
        for wait_ms in range(40, 400, 60):
            with subprocess.Popen(
                [*SIDING, "rollback", "--base"],
                cwd=task.repo,
                env=task.env,
                stdin=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            ) as rollback:
                time.sleep(wait_ms / 1000)
                rollback.terminate()
            assert not list(task.project.glob("tasks/*/runs/paused"))
            before = size(ticks)
            wait_until(lambda was=before: size(ticks) != was)  # type: ignore[misc]
    task.siding("checkpoint", "-m", "after")
    task.siding("verify")


def test_the_step_is_told_as_json(task: Sandbox) -> None:
    with living(task, "sleep", "600") as run:
        done = task.siding("rollback", "--base", "--json")
        assert json.loads(done.stdout)["beside"] == [run]


@pytest.mark.parametrize("words", [("task", "close"), ("worktree", "remove")])
def test_what_takes_the_workspace_away_names_the_runs_and_ends_them_if_told(
    task: Sandbox, words: tuple[str, ...]
) -> None:
    there = task.workspace()
    with living(task, "sleep", "600") as first, living(task, "sleep", "500") as second:
        said = task.siding(*words, "--force", status=1).stderr
        assert f"run {first} `sleep 600`".encode() in said
        assert f"run {second} `sleep 500`".encode() in said
        assert b"`siding stop --all` ends what runs" in said
        assert there.is_dir()
        done = task.siding(*words, "--force", "--stop")
        assert b"ended r2 (sleep 600)" in done.stderr
        assert b"ended r3 (sleep 500)" in done.stderr
        assert not there.is_dir()
        assert runs(task) == []


@pytest.mark.parametrize("words", [("task", "close"), ("worktree", "remove")])
def test_inside_a_run_no_option_takes_the_workspace_away(
    task: Sandbox, words: tuple[str, ...]
) -> None:
    done = task.siding("run", "--", *SIDING, *words, "--force", "--stop", status=1)
    assert b"runs inside run r2 of task" in done.stderr
    assert task.workspace().is_dir()


# Two states: "first" is recorded when another run begins, "second" is written after that.
TWO_STATES = (
    "echo 1 >first; touch began; while [ ! -e go ]; do sleep .01; done; "
    "echo 2 >second; git add second; git commit -qm 'of the run'; touch written; sleep 600"
)


@pytest.fixture
def ahead(task: Sandbox) -> Iterator[Sandbox]:
    """A task in which a run has gone on since the newest step."""
    there = task.workspace()
    with living(task, "sh", "-c", TWO_STATES):
        wait_until((there / "began").exists)
        task.siding("run", "--", "true")
        (there / "go").touch()
        wait_until((there / "written").exists)
        yield task
    task.siding("verify")


def seen(path: Path) -> dict[str, tuple[int, int]]:
    """Return the files of a workspace as a program that runs there sees them."""
    found = {}
    for each in path.rglob("*"):
        if each.is_file():
            stat = each.stat()
            found[str(each)] = (stat.st_ino, stat.st_mtime_ns)
    return found


def test_apply_takes_the_newest_recorded_state_and_leaves_the_task_open(ahead: Sandbox) -> None:
    there = ahead.workspace()
    before, steps = seen(there), len(ahead.steps())
    said = ahead.siding("apply", "--dry-run").stderr
    assert b"taken as in step 0003, because r2 `sh -c" in said
    done = ahead.siding("apply")
    assert b"taken as in step 0003, because r2 `sh -c" in done.stderr
    assert b"the task stays open: r2 lives in it" in done.stderr
    assert PAUSED not in done.stderr
    assert (ahead.repo / "first").exists()
    assert not (ahead.repo / "second").exists()
    assert "of the run" not in ahead.git("log", "--format=%s")
    assert seen(there) == before
    (applied,) = ahead.steps()[steps:]
    assert (applied["kind"], applied["beside"]) == ("apply", ["r2"])
    assert applied["snapshot"] == ahead.steps()[steps - 1]["snapshot"]
    # What came after it is applied by the next one.
    done = ahead.siding("apply", "--now")
    assert (ahead.repo / "second").exists()
    assert "of the run" in ahead.git("log", "--format=%s")


def test_apply_now_records_the_workspace_as_it_is_and_takes_that(ahead: Sandbox) -> None:
    there, steps = ahead.workspace(), len(ahead.steps())
    before = seen(there)
    done = ahead.siding("apply", "--now")
    assert b"taken as in" not in done.stderr
    assert b"the task stays open: r2 lives in it" in done.stderr
    assert (ahead.repo / "second").exists()
    recorded, applied = ahead.steps()[steps:]
    assert (recorded["kind"], recorded["origin"]) == ("checkpoint", "running")
    assert applied["kind"] == "apply"
    assert seen(there) == before


def test_a_proof_is_of_the_state_that_is_applied(ahead: Sandbox) -> None:
    ahead.siding("apply", "--if", "test -e first && test ! -e second")
    assert (ahead.repo / "first").exists()


@pytest.mark.parametrize("words", [("apply",), ("apply", "--now"), ("pr",)])
def test_inside_a_run_nothing_is_published(task: Sandbox, words: tuple[str, ...]) -> None:
    task.git("init", "-q", "--bare", str(task.directory / "there"))
    task.git("remote", "add", "origin", str(task.directory / "there"))
    done = task.siding("run", "--", *SIDING, *words, status=1)
    assert b"runs inside run r2 of task" in done.stderr
    assert not (task.repo / "one").exists()


@pytest.mark.parametrize("now", [False, True])
def test_a_pull_request_takes_the_newest_recorded_state(ahead: Sandbox, now: bool) -> None:
    ahead.git("init", "-q", "--bare", str(ahead.directory / "there"))
    ahead.git("remote", "add", "origin", str(ahead.directory / "there"))
    before = seen(ahead.workspace())
    done = ahead.siding("pr", *(["--now"] if now else []))
    assert (b"taken as in step 0003" in done.stderr) != now
    branch = ahead.git("branch", "--list", "siding/*", "--format=%(refname:short)")
    pushed = ahead.git("ls-tree", "--name-only", f"refs/remotes/origin/{branch}").split()
    assert "first" in pushed
    assert ("second" in pushed) == now
    assert seen(ahead.workspace()) == before


def test_a_conflict_in_the_recorded_state_is_seen_whatever_the_run_does(task: Sandbox) -> None:
    there = task.workspace()
    script = (
        "echo mine >hello.txt; git add -A; git commit -qm mine; git checkout -q -b other HEAD~1; "
        "echo theirs >hello.txt; git commit -qam theirs; git merge -q - ; touch began; "
        "while [ ! -e go ]; do sleep .01; done; git merge --abort; touch gone; sleep 600"
    )
    with living(task, "sh", "-c", script):
        wait_until((there / "began").exists)
        task.siding("checkpoint", "-m", "in conflict")
        (there / "go").touch()
        wait_until((there / "gone").exists)
        said = task.siding("apply", status=1).stderr
        assert b"`git merge` is under way in the workspace, and there are conflict markers" in said


def test_an_apply_beside_a_run_is_not_blamed_on_it(ahead: Sandbox) -> None:
    ahead.siding("apply")
    ahead.siding("stop", "--all")
    (run,) = [step for step in ahead.steps() if step.get("run") == "r2"]
    assert run["isolation"]["changes"] == []


def test_what_somebody_else_moves_beside_a_run_still_is(ahead: Sandbox) -> None:
    ahead.siding("apply")
    ahead.git("branch", "-f", "other")
    ahead.git("tag", "made")
    ahead.siding("stop", "--all")
    (run,) = [step for step in ahead.steps() if step.get("run") == "r2"]
    assert "made" in [change["name"] for change in run["isolation"]["changes"]]


# Siding that dies where it would anchor the line number N that it has appended.
DIES_UNANCHORED = """
import os, sys
from siding.record.ledger import anchor
left = int(sys.argv.pop(1))
real = anchor.write_anchor
def write_anchor(*given):
    global left
    left -= 1
    os._exit(9) if left == 0 else real(*given)
anchor.write_anchor = write_anchor
from siding.faces.cli.main import main
sys.exit(main())
"""


@pytest.mark.parametrize("nth", [1, 2])
def test_a_run_that_ends_records_first_what_was_cut_off_beside_it(task: Sandbox, nth: int) -> None:
    """The newest line is that of an act which died before it was anchored, when the run ends."""
    with living(task, "sh", "-c", "echo 2 >two; while :; do sleep .05; done"):
        wait_until((task.workspace() / "two").exists)
        words = [sys.executable, "-c", DIES_UNANCHORED, str(nth), "rollback", "--base"]
        ended = subprocess.run(words, cwd=task.repo, env=task.env, check=False)
        assert ended.returncode == 9
        task.siding("stop", "--all")
    assert task.steps()[-1]["kind"] == "run"
    task.siding("verify")
