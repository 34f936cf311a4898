"""Pausing: everything of a tree halts, nothing notices, and all goes on as it was."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from siding.ground.process import pauser as pausing
from siding.ground.process import procfs, procfs_details
from siding.ground.process.ender import end_token
from siding.ground.process.identity import started_of
from siding.ground.process.pauser import (
    CannotPause,
    Mark,
    Pauser,
    Trees,
    going_on_if_told_to_end,
    let_them_go_on,
)

from .world import PYTHON, wait_until

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux can pause processes")

TICKING = "while :; do echo x >>ticks; sleep .002; done"


class Started:
    """A command with a token, and a pauser for it."""

    def __init__(self, folder: Path, token: str, *argv: str) -> None:
        self.folder = folder
        self.process = subprocess.Popen(
            argv,
            cwd=folder,
            env={**os.environ, "SIDING_STEP_TOKEN": token},
            stdin=subprocess.DEVNULL,
            start_new_session=True,
        )
        self.mark = Mark(self.process.pid, started_of(self.process.pid))
        self.noted: list[Mark] = []
        trees = Trees(spared=(), above=(), commands=(self.mark,), tokens=(token,))
        self.pauser = Pauser(trees, note=self.noted.append)

    def pid(self, name: str) -> int:
        """Return the number in a file that the command writes."""
        path = self.folder / name
        wait_until(lambda: path.exists() and path.read_text().strip().isdigit())
        return int(path.read_text())

    def size(self, name: str) -> int:
        path = self.folder / name
        return path.stat().st_size if path.exists() else 0


@contextmanager
def started(folder: Path, *argv: str) -> Iterator[Started]:
    token = f"pause-{os.getpid()}-{folder.name}"
    found = Started(folder, token, *argv)
    try:
        yield found
    finally:
        found.pauser.go_on()
        end_token(token, grace_s=0)
        found.process.kill()
        found.process.wait()


def is_halted(pid: int) -> bool:
    return procfs_details.HALTED.issuperset(procfs_details.thread_states(pid))


def test_all_processes_halt_and_go_on(tmp_path: Path) -> None:
    script = f"(sh -c 'echo $$ >inner; {TICKING}') & echo $$ >outer; wait"
    with started(tmp_path, "sh", "-c", script) as found:
        pids = [found.pid("outer"), found.pid("inner")]
        wait_until(lambda: found.size("ticks") > 0)
        found.pauser.pause()
        assert all(map(is_halted, pids))
        assert {mark.pid for mark in found.pauser.stopped} >= set(pids)
        assert found.noted == found.pauser.stopped
        before = found.size("ticks")
        time.sleep(0.1)
        assert found.size("ticks") == before
        found.pauser.go_on()
        wait_until(lambda: found.size("ticks") > before)


def test_what_left_its_parents_is_found_by_its_token(tmp_path: Path) -> None:
    with started(
        tmp_path, "sh", "-c", f"setsid sh -c 'echo $$ >far; {TICKING}' & wait $!"
    ) as found:
        far = found.pid("far")
        found.process.kill()
        found.process.wait()
        found.pauser.pause()
        assert is_halted(far)


def test_what_is_above_goes_on_even_below_another_command(tmp_path: Path) -> None:
    (tmp_path / "host.sh").write_text("echo $$ >host; sh command.sh & wait")
    (tmp_path / "command.sh").write_text(f"echo $$ >command; {TICKING}")
    with started(tmp_path, "sh", "-c", "sh host.sh & wait") as found:
        host, command = found.pid("host"), found.pid("command")
        above = Mark(host, started_of(host))
        trees = found.pauser._trees._replace(above=(above,))
        pauser = Pauser(trees, note=found.noted.append)
        pauser.pause()
        try:
            assert is_halted(found.mark.pid)
            assert is_halted(command)
            assert not is_halted(host)
            assert above not in found.noted
        finally:
            pauser.go_on()
        assert not is_halted(command)


def test_a_later_process_with_the_same_number_is_not_meant(tmp_path: Path) -> None:
    with started(tmp_path, "sleep", "100") as found:
        other = Mark(found.mark.pid, found.mark.started + 1)
        pauser = Pauser(Trees((), (), (other,), ()), note=found.noted.append)
        pauser.pause()
        assert found.noted == []
        os.kill(found.mark.pid, signal.SIGSTOP)
        wait_until(lambda: is_halted(found.mark.pid))
        let_them_go_on([other])
        assert is_halted(found.mark.pid)


def test_what_was_stopped_before_stays_stopped(tmp_path: Path) -> None:
    script = "sh -c 'echo $$ >held; kill -STOP $$; sleep 100' & echo $$ >outer; wait"
    with started(tmp_path, "sh", "-c", script) as found:
        held = found.pid("held")
        wait_until(lambda: is_halted(held))
        found.pauser.pause()
        assert held not in {mark.pid for mark in found.noted}
        found.pauser.go_on()
        assert is_halted(held)
        assert not is_halted(found.pid("outer"))


FORKING = """
import os, sys, time
end = time.monotonic() + 20
for count in range(2000):
    if time.monotonic() > end:
        break
    if os.fork() == 0:
        time.sleep(0.02)
        with open("forks", "ab") as file:
            file.write(b"x")
        os._exit(0)
    while True:
        try:
            if os.waitpid(-1, os.WNOHANG)[0] == 0:
                break
        except ChildProcessError:
            break
    time.sleep(0.005)
"""


def test_one_that_forks_all_the_time_halts_with_all_its_children(tmp_path: Path) -> None:
    with started(tmp_path, PYTHON, "-c", FORKING) as found:
        wait_until(lambda: found.size("forks") > 10)
        for _ in range(5):
            found.pauser.pause()
            before = found.size("forks")
            time.sleep(0.05)
            assert found.size("forks") == before
            found.pauser.go_on()
            wait_until(lambda size=before: found.size("forks") > size)  # type: ignore[misc]


def test_one_that_cannot_be_stopped_is_named_and_the_others_go_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = procfs.send_signal
    with started(tmp_path, "sh", "-c", f"(sh -c 'echo $$ >inner; {TICKING}') & wait") as found:
        inner = found.pid("inner")
        monkeypatch.setattr(
            procfs,
            "send_signal",
            lambda status, number: status.pid != inner and real(status, number),
        )
        with pytest.raises(CannotPause, match=rf"process {inner} \(sh\): it belongs to another"):
            found.pauser.pause()
        assert not is_halted(found.mark.pid)
        assert found.pauser.stopped == []


def test_the_number_of_signals_has_an_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pausing, "MOST_SIGNALS", 1)
    with started(tmp_path, "sh", "-c", f"(sh -c 'echo $$ >inner; {TICKING}') & wait") as found:
        found.pid("inner")
        with pytest.raises(CannotPause, match="1 processes were stopped, and more began"):
            found.pauser.pause()
        assert not is_halted(found.mark.pid)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_told_to_end_we_let_everything_go_on_first(tmp_path: Path, number: signal.Signals) -> None:
    with started(tmp_path, "sh", "-c", f"echo $$ >outer; {TICKING}") as found:
        found.pid("outer")
        pauser = os.fork()
        if pauser == 0:
            with suppress(BaseException):
                signal.signal(signal.SIGINT, signal.SIG_DFL)
                with going_on_if_told_to_end(found.pauser.go_on):
                    found.pauser.pause()
                    (tmp_path / "paused").touch()
                    while True:
                        time.sleep(10)
            os._exit(99)
        wait_until((tmp_path / "paused").exists)
        assert is_halted(found.mark.pid)
        os.kill(pauser, number)
        _pid, status = os.waitpid(pauser, 0)
        assert os.waitstatus_to_exitcode(status) == -number
        assert not is_halted(found.mark.pid)


def test_ctrl_z_does_not_stop_us_while_others_are_stopped(tmp_path: Path) -> None:
    with started(tmp_path, "sleep", "100") as found:
        pauser = os.fork()
        if pauser == 0:
            with going_on_if_told_to_end(found.pauser.go_on):
                os.kill(os.getpid(), signal.SIGTSTP)
            os._exit(7)
        _pid, status = os.waitpid(pauser, os.WUNTRACED)
        assert os.WIFEXITED(status)
        assert os.waitstatus_to_exitcode(status) == 7


@pytest.mark.skipif(not Path("/bin/bash").exists(), reason="needs bash")
def test_an_interactive_shell_does_not_notice(tmp_path: Path) -> None:
    ours, its = os.openpty()
    token = f"pause-{os.getpid()}-{tmp_path.name}"
    shell = subprocess.Popen(
        ["setsid", "--ctty", "/bin/bash", "--norc", "--noprofile", "-i"],
        cwd=tmp_path,
        env={**os.environ, "SIDING_STEP_TOKEN": token, "PS1": "$ "},
        stdin=its,
        stdout=its,
        stderr=its,
    )
    os.close(its)
    try:
        os.write(ours, b"sleep 300 &\necho $! >job; sleep 299\n")
        path = tmp_path / "job"
        wait_until(lambda: path.exists() and path.read_text().strip() != "")
        wait_until(lambda: len(procfs_details.children_of(shell.pid)) == 2)
        pauser = Pauser(
            Trees((), (), (Mark(shell.pid, started_of(shell.pid)),), (token,)),
            note=lambda _mark: None,
        )
        for _ in range(12):
            pauser.pause()
            time.sleep(0.02)
            pauser.go_on()
            time.sleep(0.02)
        foreground = [
            pid for pid in procfs_details.children_of(shell.pid) if pid != int(path.read_text())
        ]
        os.kill(foreground[0], signal.SIGKILL)
        os.write(ours, b"jobs; echo reached >end\n")
        wait_until((tmp_path / "end").exists)
        said = os.read(ours, 1 << 16).decode()
        assert "Stopped" not in said
        assert "Running" in said
    finally:
        end_token(token, grace_s=0)
        shell.wait()
        os.close(ours)
