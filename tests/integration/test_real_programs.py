"""Real programs, recorded end to end: what they printed, what they changed, how they ended."""

import hashlib
import os
import signal
import sys
import time
from pathlib import Path

import pytest

from sandbox import SIDING, Sandbox, alive
from terminal import Terminal

PYTHON = sys.executable


def output_of(sandbox: Sandbox, step: int, stream: str = "stdout") -> bytes:
    done = sandbox.siding("show", str(step), "--raw")
    return done.stdout if stream == "stdout" else done.stderr


def test_a_formatter_that_rewrites_files(tmp_path: Path) -> None:
    files = {"a.py": "x=1\n", "b.py": "y = 2\n", "c.py": "def f( ):pass\n"}
    sandbox = Sandbox(tmp_path, files=files)
    sandbox.siding("run", "--", PYTHON, "-m", "ruff", "format", "--no-cache", ".")
    (step,) = sandbox.steps()
    assert step["exit_code"] == 0
    assert step["diff_stat"]["file_list"] == ["a.py", "c.py"]
    assert (sandbox.workspace() / "a.py").read_text() == "x = 1\n"
    assert (sandbox.repo / "a.py").read_text() == "x=1\n"
    patch = tmp_path / "formatted.patch"
    sandbox.siding("diff", "--step", "1", "--output", str(patch))
    sandbox.git("apply", str(patch))
    assert (sandbox.repo / "a.py").read_text() == "x = 1\n"


def test_pytest_with_a_failing_test(tmp_path: Path) -> None:
    files = {
        ".gitignore": "__pycache__/\n.pytest_cache/\n",
        "test_it.py": "def test_it(): assert 0\n",
    }
    sandbox = Sandbox(tmp_path, files=files)
    done = sandbox.siding("run", "--", PYTHON, "-m", "pytest", "-q", "-p", "no:xdist", status=1)
    (step,) = sandbox.steps()
    assert (step["status"], step["exit_code"]) == ("failed", 1)
    assert b"1 failed" in done.stdout
    assert b"1 failed" in output_of(sandbox, 1)
    assert step["coverage"]["complete"]
    assert {".pytest_cache", "__pycache__"} <= set(step["coverage"]["ignored"])


FULL_SCREEN = """\
import curses, pathlib

def main(screen):
    curses.curs_set(0)
    screen.timeout(100)  # curses loses a resize that comes just before it starts to wait
    while True:
        rows, columns = screen.getmaxyx()
        screen.erase()
        screen.addstr(0, 0, f"size {rows}x{columns}")
        screen.refresh()
        key = screen.getch()
        if key == curses.KEY_RESIZE:
            curses.update_lines_cols()
        elif key == ord("w"):
            pathlib.Path("written.txt").write_text("by the editor\\n")
            screen.addstr(1, 0, "saved")
            screen.refresh()
        elif key == ord("q"):
            return

curses.wrapper(main)
"""


def test_a_full_screen_program_in_a_terminal(sandbox: Sandbox) -> None:
    program = sandbox.directory / "editor.py"
    program.write_text(FULL_SCREEN)
    argv = [*SIDING, "run", "--", PYTHON, str(program)]
    terminal = Terminal(argv, cwd=sandbox.repo, env=sandbox.env, rows=24, columns=91)
    terminal.wait_for(b"size 24x91")
    terminal.resize(33, 77)
    terminal.wait_for(b"33x77")
    terminal.type(b"w")
    terminal.wait_for(b"saved")
    terminal.type(b"q")
    assert terminal.finish() == 0
    (step,) = sandbox.steps()
    assert step["output"]["streams"] == "pty"
    assert step["diff_stat"]["file_list"] == ["written.txt"]
    assert b"size 24x91" in output_of(sandbox, 1)
    artifact = sandbox.project / "tasks" / sandbox.json("status", "--format", "json")["active_task"]
    assert (artifact / "artifacts" / "0001.output").read_bytes().startswith(b"=== PTY ===\n")


def test_ctrl_c_reaches_the_program_and_not_siding(sandbox: Sandbox) -> None:
    code = (
        "import signal, sys\n"
        # It waits for the signal: a handler could be called while 'working' is still printed.
        "signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT}); print('working', flush=True)\n"
        "signal.sigwait({signal.SIGINT}); print('put down my tools', flush=True); sys.exit(3)"
    )
    terminal = Terminal(
        [*SIDING, "run", "--", PYTHON, "-c", code], cwd=sandbox.repo, env=sandbox.env
    )
    terminal.wait_for(b"\nworking")
    terminal.type(b"\x03")
    assert terminal.finish() == 3
    (step,) = sandbox.steps()
    assert step["exit_code"] == 3
    assert b"put down my tools" in output_of(sandbox, 1)


DAEMON = """\
import os, sys, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        open("daemon.pid", "w").write(str(os.getpid()))
        time.sleep(600)
    os._exit(0)
while not os.path.exists("daemon.pid") or not open("daemon.pid").read():
    time.sleep(0.01)
print("started a daemon")
time.sleep(float(sys.argv[1]))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="processes are followed through /proc")
def test_a_daemon_outlives_a_normal_end_and_is_named(sandbox: Sandbox) -> None:
    done = sandbox.siding("run", "--", PYTHON, "-c", DAEMON, "0")
    pid = int((sandbox.workspace() / "daemon.pid").read_text())
    try:
        assert alive(pid)
        assert f"left running: process {pid}".encode() in done.stderr
        (step,) = sandbox.steps()
        assert [each["pid"] for each in step["processes"]["left_running"]] == [pid]
    finally:
        os.kill(pid, signal.SIGKILL)


@pytest.mark.skipif(sys.platform != "linux", reason="processes are followed through /proc")
def test_a_timeout_ends_the_daemon_too(sandbox: Sandbox) -> None:
    sandbox.siding("run", "--timeout", "1s", "--", PYTHON, "-c", DAEMON, "600", status=124)
    pid = int((sandbox.workspace() / "daemon.pid").read_text())
    assert not alive(pid)
    (step,) = sandbox.steps()
    assert step["status"] == "timeout"
    assert pid in [each["pid"] for each in step["processes"]["ended"]]
    assert step["diff_stat"]["file_list"] == ["daemon.pid"]


def test_a_program_that_writes_100_megabytes(sandbox: Sandbox) -> None:
    line = "0123456789abcde\\n"
    code = f"import sys\nfor _ in range(100): sys.stdout.write('{line}' * 65536)"
    done = sandbox.siding("run", "--", PYTHON, "-c", code)
    size = 100 * 16 * 65536
    assert len(done.stdout) == size
    (step,) = sandbox.steps()
    assert step["output"]["stdout_bytes"] == size
    task = sandbox.json("status", "--format", "json")["active_task"]
    artifact = sandbox.project / "tasks" / task / "artifacts" / "0001.output"
    assert hashlib.sha256(artifact.read_bytes()).hexdigest() == step["output"]["sha256"]
    assert output_of(sandbox, 1) == done.stdout


def test_a_program_that_commits_by_itself(sandbox: Sandbox) -> None:
    code = "echo one >one.txt; git add -A; git commit -qm 'agent: one'; echo two >two.txt"
    sandbox.siding("run", "--", "sh", "-c", code)
    (step,) = sandbox.steps()
    assert step["diff_stat"]["file_list"] == ["one.txt", "two.txt"]
    commit = sandbox.git("rev-parse", "HEAD", cwd=sandbox.workspace())
    assert step["commits"] == [commit]
    # What the agent amends away is still in the snapshots.
    sandbox.siding("run", "--", "git", "commit", "-q", "--amend", "-m", "agent: better")
    sandbox.git("reflog", "expire", "--expire=now", "--all")
    sandbox.git("gc", "-q", "--prune=now")
    store = sandbox.project / "snapshots.git"
    assert "agent: one" in sandbox.git("-C", str(store), "cat-file", "-p", commit)
    sandbox.siding("verify")


def test_output_appears_at_once(sandbox: Sandbox) -> None:
    code = "import time; print('early', flush=True); time.sleep(60)"
    terminal = Terminal(
        [*SIDING, "run", "--no-tty", "--", PYTHON, "-c", code], cwd=sandbox.repo, env=sandbox.env
    )
    started = time.monotonic()
    terminal.wait_for(b"\nearly")
    assert time.monotonic() - started < 30
    terminal.type(b"\x03")
    assert terminal.finish() == 130
    (step,) = sandbox.steps()
    assert step["status"] == "interrupted"
    assert output_of(sandbox, 1) == b"early\n"
