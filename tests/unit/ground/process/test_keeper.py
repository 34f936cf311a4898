"""Whoever of host and keeper is killed: nothing of a run goes on unseen."""

import os
import signal
import time
from pathlib import Path
from typing import Any

import pytest

from siding.ground.process import procfs
from siding.ground.process.command import StreamPlan

from .world import PYTHON, Place, Recorder, wait_until

# A daemon that nothing finds but its place in the process tree: it forked twice, has a session of
# its own, no environment, ignores what ends it gently, and counts.
COUNTER = """
import os, signal, sys, time
if os.fork() == 0:
    os.setsid()
    if os.fork():
        os._exit(0)
    null = os.open(os.devnull, os.O_RDWR)
    for fd in (0, 1, 2):
        os.dup2(null, fd)
    os.execve(sys.executable, [sys.executable, "-c", '''
import os, signal, time
for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
    signal.signal(number, signal.SIG_IGN)
while True:
    with open("count", "a") as file:
        file.write(str(os.getpid()) + chr(10))
    time.sleep(0.01)
'''], {})
os.wait()
open("ready", "w").close()
time.sleep(100)
"""
LATE_S = 1.6  # the keeper is a program of its own by then


def counted(place: Place) -> int:
    try:
        return (place.folder / "count").stat().st_size
    except FileNotFoundError:
        return 0


def counter(place: Place) -> int:
    return int((place.folder / "count").read_text().split()[0])


def keeper_of(recorder: Recorder) -> int:
    """Return the pid of the only child of the host that leads a session."""
    host = recorder.process.pid
    (keeper,) = [
        status.pid
        for status in procfs.all_processes().values()
        if status.parent == host and status.session == status.pid
    ]
    return keeper


def started(place: Place, recorder: Recorder, when: float) -> int:
    """Wait until the counter counts and the keeper has its age; return the keeper's pid."""
    wait_until(lambda: (place.folder / "ready").exists() and counted(place) > 0)
    time.sleep(when)
    return keeper_of(recorder)


def gone(pid: int) -> bool:
    return procfs.read_status(pid) is None


@pytest.mark.parametrize("when", [0.0, LATE_S], ids=["early", "late"])
@pytest.mark.parametrize("streams", StreamPlan)
def test_a_killed_host_takes_everything_with_it(
    place: Place, streams: StreamPlan, when: float
) -> None:
    with place.recorder(PYTHON, "-c", COUNTER, streams=streams) as recorder:
        keeper = started(place, recorder, when)
        recorder.process.kill()
        recorder.process.wait()
        wait_until(lambda: gone(keeper))
    assert gone(counter(place))
    assert place.living() == []


@pytest.mark.parametrize("when", [0.0, LATE_S], ids=["early", "late"])
def test_without_its_keeper_a_run_goes_on_and_is_ended_as_ever(place: Place, when: float) -> None:
    options: dict[str, Any] = {"grace_s": 0.2}
    with place.recorder(PYTHON, "-c", COUNTER, **options) as recorder:
        os.kill(started(place, recorder, when), signal.SIGKILL)
        before = counted(place)
        wait_until(lambda: counted(place) > before)
        assert recorder.process.poll() is None
        recorder.process.send_signal(signal.SIGTERM)
        outcome = recorder.outcome()
    assert outcome["ending"] == "interrupted"
    assert outcome["notes"] == ["the process that kept watch over the run was killed"]
    assert gone(counter(place))
    assert place.living() == []


def test_without_its_keeper_the_status_of_the_command_is_known(place: Place) -> None:
    script = "touch ready; while [ ! -e go ]; do sleep 0.01; done; exit 7"
    with place.recorder("sh", "-c", script) as recorder:
        wait_until((place.folder / "ready").exists)
        os.kill(keeper_of(recorder), signal.SIGKILL)
        (place.folder / "go").touch()
        assert recorder.outcome()["exit_code"] == 7


def test_a_keeper_holds_no_descriptor_of_the_host(place: Place) -> None:
    """A lock of the host's, say, that would be taken for as long as the keeper lives."""
    held = place.folder / "held"
    fd = os.open(held, os.O_RDWR | os.O_CREAT)
    os.set_inheritable(fd, True)
    with place.recorder("sleep", "100", popen={"pass_fds": [fd]}) as recorder:
        os.close(fd)
        wait_until(lambda: place.living() == ["sleep"])
        for pause in (0.0, LATE_S):
            time.sleep(pause)
            fds = Path(f"/proc/{keeper_of(recorder)}/fd")
            assert str(held) not in [os.readlink(each) for each in fds.iterdir()]
        recorder.process.terminate()
        recorder.outcome()


def test_an_idle_keeper_is_small(place: Place) -> None:
    with place.recorder("sleep", "100") as recorder:
        wait_until(lambda: place.living() == ["sleep"])
        keeper = keeper_of(recorder)
        wait_until(lambda: b"keeper" in Path(f"/proc/{keeper}/cmdline").read_bytes())
        time.sleep(0.3)
        private = [
            int(line.split()[1])
            for line in Path(f"/proc/{keeper}/smaps_rollup").read_text().splitlines()
            if line.startswith("Private_")
        ]
        assert sum(private) < 8000  # kB; a fork of the host takes 11,000 and more
        recorder.process.terminate()
        recorder.outcome()


def test_where_a_keeper_cannot_be_the_command_runs_without_one(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Some containers forbid pidfds."""

    def forbidden(_pid: int, _flags: int = 0) -> int:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "pidfd_open", forbidden)
    keepers: list[int] = []
    run = place.run("sh", "-c", "exit 3", on_started=lambda child: keepers.append(child.keeper))
    assert (run.outcome.exit_code, keepers) == (3, [0])
    run = place.run("sh", "-c", "setsid sleep 100 & sleep 100", timeout_s=0.3, grace_s=0.1)
    assert run.outcome.exit_code == 124
    assert place.living() == []
