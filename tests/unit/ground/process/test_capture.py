"""Helper commands: what they print, what they are given, and that none of them stays."""

import fcntl
import os
import resource
import signal
from pathlib import Path

import pytest

from siding.ground.process.capture import (
    CannotStart,
    OutputTooLarge,
    TimedOut,
    run_captured,
    run_to_fd,
    start,
)

from .world import ENVIRONMENT, wait_until


def alive(pid: int) -> bool:
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="ascii")
    except FileNotFoundError:
        return False
    return stat.rpartition(")")[2].split()[0] != "Z"


def test_output_streams_and_status_are_returned() -> None:
    done = run_captured(["sh", "-c", "echo out; echo err >&2; exit 3"], env=ENVIRONMENT)
    assert (done.returncode, done.stdout, done.stderr) == (3, b"out\n", b"err\n")
    assert done.argv == ("sh", "-c", "echo out; echo err >&2; exit 3")


def test_a_signal_is_a_negative_status() -> None:
    assert run_captured(["sh", "-c", "kill -9 $$"], env=ENVIRONMENT).returncode == -9


def test_the_environment_is_the_given_one_and_nothing_else() -> None:
    done = run_captured(["env"], env={"PATH": ENVIRONMENT["PATH"], "A": "b\u00e9"})
    assert sorted(done.stdout.split(b"\n")) == sorted(
        [b"", b"A=b\xc3\xa9", b"PATH=" + os.fsencode(ENVIRONMENT["PATH"])]
    )


def test_there_is_no_shell() -> None:
    assert run_captured(["echo", "$HOME; ls | cat"], env=ENVIRONMENT).stdout == b"$HOME; ls | cat\n"


def test_the_command_runs_in_the_given_folder(tmp_path: Path) -> None:
    assert run_captured(["pwd", "-P"], env=ENVIRONMENT, cwd=tmp_path).stdout == (
        os.fsencode(tmp_path.resolve()) + b"\n"
    )


@pytest.mark.parametrize("size", [0, 1, 65_536, 5_000_000])
def test_input_of_any_size_is_fed_while_output_is_read(size: int) -> None:
    data = os.urandom(size)
    assert run_captured(["cat"], env=ENVIRONMENT, stdin=data).stdout == data


def test_a_command_that_does_not_read_its_input_is_no_error() -> None:
    done = run_captured(["sh", "-c", "exit 7"], env=ENVIRONMENT, stdin=bytes(5_000_000))
    assert done.returncode == 7


def test_without_input_the_command_reads_nothing() -> None:
    assert run_captured(["cat"], env=ENVIRONMENT).stdout == b""


def test_two_commands_run_at_the_same_time(tmp_path: Path) -> None:
    """Each waits for a file the other makes: run one after the other, they would never end."""
    script = 'touch "$1"; while [ ! -e "$2" ]; do sleep 0.01; done; echo "$1"'
    one = start(["sh", "-c", script, "sh", "a", "b"], env=ENVIRONMENT, cwd=tmp_path)
    two = start(["sh", "-c", script, "sh", "b", "a"], env=ENVIRONMENT, cwd=tmp_path)
    assert one.finish(timeout_s=30).stdout == b"a\n"
    assert two.finish(timeout_s=30).stdout == b"b\n"


def test_output_can_go_straight_into_a_file(tmp_path: Path) -> None:
    target = tmp_path / "out"
    with target.open("wb") as file:
        file.write(b"before ")
        file.flush()
        done = run_to_fd(
            ["sh", "-c", "cat; echo err >&2"],
            env=ENVIRONMENT,
            stdout=file.fileno(),
            stdin=b"x" * 99,
        )
    assert target.read_bytes() == b"before " + b"x" * 99
    assert (done.stdout, done.stderr) == (b"", b"err\n")


def test_too_much_output_ends_the_command() -> None:
    running = start(["yes"], env=ENVIRONMENT, max_output=100_000)
    with pytest.raises(OutputTooLarge, match="'yes' printed more than 100000 bytes"):
        running.finish(timeout_s=30)
    assert not alive(running.pid)


def test_output_of_just_the_limit_is_fine() -> None:
    argv = ["head", "-c", "100000", "/dev/zero"]
    assert len(run_captured(argv, env=ENVIRONMENT, max_output=100_000).stdout) == 100_000


def test_endless_complaints_are_cut_and_no_error() -> None:
    script = "head -c 3000000 /dev/zero >&2; echo done"
    done = run_captured(["sh", "-c", script], env=ENVIRONMENT)
    assert len(done.stderr) == 1 << 20
    assert done.stdout == b"done\n"


def test_a_timeout_ends_the_whole_group(tmp_path: Path) -> None:
    script = "sleep 100 & echo $! > pid; mv pid child; wait"
    running = start(["sh", "-c", script], env=ENVIRONMENT, cwd=tmp_path)
    wait_until((tmp_path / "child").exists)
    with pytest.raises(TimedOut, match=r"'sh' did not finish within 0\.05 s"):
        running.finish(timeout_s=0.05)
    assert not alive(running.pid)
    child = int((tmp_path / "child").read_text())
    wait_until(lambda: not alive(child))


def test_a_timeout_says_sigterm_first_so_that_locks_are_removed(tmp_path: Path) -> None:
    script = "trap 'rm lock; exit 1' TERM; touch lock; while :; do sleep 0.01; done"
    running = start(["sh", "-c", script], env=ENVIRONMENT, cwd=tmp_path)
    wait_until((tmp_path / "lock").exists)
    with pytest.raises(TimedOut):
        running.finish(timeout_s=0.0)
    assert not (tmp_path / "lock").exists()


def test_a_timeout_also_covers_a_command_that_closed_its_output() -> None:
    running = start(["sh", "-c", "exec sleep 100 >&- 2>&-"], env=ENVIRONMENT)
    with pytest.raises(TimedOut):
        running.finish(timeout_s=0.2)
    assert not alive(running.pid)


def test_ctrl_c_ends_the_command(tmp_path: Path) -> None:
    """The command has a group of its own, so we are the only one to hear of Ctrl-C."""
    script = "sleep 0.5; kill -INT $PPID; while :; do sleep 0.01; done"
    running = start(["sh", "-c", script], env=ENVIRONMENT, cwd=tmp_path)
    with pytest.raises(KeyboardInterrupt):
        running.finish(timeout_s=30)
    assert not alive(running.pid)


def test_ctrl_c_of_the_terminal_does_not_reach_the_command() -> None:
    done = run_captured(["sh", "-c", "ps -o pgid= -p $$; echo $$"], env=ENVIRONMENT)
    group, pid = done.stdout.split()
    assert group == pid


def test_a_lock_lives_as_long_as_the_command_that_keeps_it(tmp_path: Path) -> None:
    lock = os.open(tmp_path / "lock", os.O_CREAT | os.O_RDWR)
    fcntl.flock(lock, fcntl.LOCK_EX)
    script = "touch started; while [ ! -e go ]; do sleep 0.01; done"
    running = start(["sh", "-c", script], env=ENVIRONMENT, cwd=tmp_path, keep_fds=[lock])
    wait_until((tmp_path / "started").exists)
    os.close(lock)
    other = os.open(tmp_path / "lock", os.O_RDWR)
    with pytest.raises(BlockingIOError):
        fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)
    (tmp_path / "go").touch()
    running.finish(timeout_s=30)
    fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)
    os.close(other)


def test_nothing_else_of_ours_is_open_in_the_command(tmp_path: Path) -> None:
    kept = os.open(tmp_path / "kept", os.O_CREAT)
    leaked = os.open(tmp_path / "leaked", os.O_CREAT)
    os.set_inheritable(leaked, True)
    done = run_captured(["ls", "-l", "/proc/self/fd"], env=ENVIRONMENT, keep_fds=[kept])
    os.close(kept)
    os.close(leaked)
    assert b"/kept\n" in done.stdout
    assert b"/leaked\n" not in done.stdout


def test_a_program_that_is_not_there_is_an_error_that_says_so() -> None:
    with pytest.raises(
        CannotStart, match="'no-such-program' cannot be started: command not found"
    ) as e:
        run_captured(["no-such-program"], env=ENVIRONMENT)
    assert e.value.hint is not None


def test_a_folder_that_is_not_there_is_an_error_that_says_so(tmp_path: Path) -> None:
    with pytest.raises(CannotStart, match=r"the working directory .* is not there"):
        run_captured(["true"], env=ENVIRONMENT, cwd=tmp_path / "gone")


def test_sigpipe_works_in_the_command() -> None:
    """Python ignores it; a command that inherited that would go on writing into nothing."""
    status = run_captured(["cat", "/proc/self/status"], env=ENVIRONMENT).stdout
    (ignored,) = (line for line in status.splitlines() if line.startswith(b"SigIgn:"))
    assert not int(ignored.split()[1], 16) & 1 << (signal.SIGPIPE - 1)


def test_a_descriptor_above_the_limit_of_open_files_stays_out_of_the_command() -> None:
    """It was inherited before the limit was lowered; `posix_spawn` refuses to close it."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    high = 200
    os.dup2(2, high, inheritable=True)
    resource.setrlimit(resource.RLIMIT_NOFILE, (100, hard))
    try:
        told = run_captured(["sh", "-c", f"ls /proc/self/fd/{high} || true"], env=ENVIRONMENT)
        assert told.stdout == b""
        assert told.returncode == 0
        assert os.get_inheritable(high)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        os.close(high)
