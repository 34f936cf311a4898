"""Nothing a command started escapes: it is ended, or it is named."""

import json
import os
import shutil
import signal
import subprocess
import tempfile
import threading
import time
from pathlib import Path

import pytest

from siding.ground.process import procfs
from siding.ground.process.command import Ending, StreamPlan
from siding.ground.process.ender import end_all, end_token
from siding.ground.process.tree import ProcessTree, ancestors

from .world import ENVIRONMENT, PYTHON, Place, wait_until

DAEMON = """
import os, signal, sys, time
def daemon(name, forget=False):
    if os.fork() == 0:
        os.setsid()
        if os.fork():
            os._exit(0)
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)
        null = os.open(os.devnull, os.O_RDWR)
        for fd in (0, 1, 2):
            os.dup2(null, fd)
        if forget:
            os.execve(sys.executable, [sys.executable, "-c", SLEEP, name], {})
        open(name, "w").write(str(os.getpid()))
        time.sleep(100)
        os._exit(0)
    os.wait()
SLEEP = "import os, sys, time; open(sys.argv[1], 'w').write(str(os.getpid())); time.sleep(100)"
"""

HARD_TO_END = {
    "a child in a session of its own": "setsid sleep 100 & touch ready; wait",
    "a child that ignores SIGTERM": "(trap '' TERM INT; touch ready; sleep 100; sleep 100) & wait",
    "a stopped child": "sh -c 'touch ready; kill -STOP $$; sleep 100' & wait",
    "grandchildren": "sh -c '(touch ready; sleep 100; :); :'; :",
    "a child with nohup": "nohup sleep 100 >/dev/null 2>&1 & touch ready; wait",
}


def ready(place: Place) -> bool:
    return (place.folder / "ready").exists()


@pytest.mark.parametrize("what", HARD_TO_END)
def test_a_timeout_ends_everything(place: Place, what: str) -> None:
    run = place.run("sh", "-c", HARD_TO_END[what], timeout_s=0.5, grace_s=0.2)
    assert ready(place)
    assert run.outcome.ending is Ending.TIMEOUT
    assert run.outcome.exit_code == 124
    assert run.outcome.survivors == ()
    assert len(run.outcome.ended_by_us) >= 2
    assert place.living() == []


@pytest.mark.parametrize("streams", StreamPlan)
@pytest.mark.parametrize("forget", [False, True])
def test_a_timeout_ends_daemons_whatever_they_forgot(
    place: Place, streams: StreamPlan, forget: bool
) -> None:
    """With its environment cleared a daemon is found only because it became our child."""
    source = DAEMON + f"daemon('pid', forget={forget})\nopen('ready', 'w')\ntime.sleep(100)"
    run = place.python(source, streams=streams, timeout_s=1.5, grace_s=0.1)
    assert ready(place)
    assert run.outcome.ending is Ending.TIMEOUT
    pid = int((place.folder / "pid").read_text())
    assert pid in [found.pid for found in run.outcome.ended_by_us]
    assert run.outcome.survivors == ()
    assert not Path(f"/proc/{pid}").exists()


def test_sigterm_comes_first_and_what_is_said_then_is_recorded(place: Place) -> None:
    script = "trap 'echo cleaning up; exit 9' TERM; touch ready; while :; do sleep 0.02; done"
    run = place.run("sh", "-c", script, timeout_s=0.5, grace_s=20.0)
    assert run.stdout == run.shown == b"cleaning up\n"
    assert (run.outcome.exit_code, run.outcome.child_exit_code) == (124, 9)
    assert run.outcome.duration_ms < 10_000


def test_what_a_command_starts_to_tidy_up_gets_no_sigterm(place: Place) -> None:
    """As with systemd: a trap may call `rm` or `docker stop`, and they take their time."""
    script = (
        "trap 'sleep 0.3 && sh -c \"sleep 0.2; touch tidied\"; exit 9' TERM; "
        "touch ready; while :; do sleep 0.02; done"
    )
    run = place.run("sh", "-c", script, timeout_s=0.5, grace_s=20.0)
    assert (run.outcome.exit_code, run.outcome.child_exit_code) == (124, 9)
    assert (place.folder / "tidied").exists()


def test_what_is_left_of_tidying_up_gets_sigterm(place: Place) -> None:
    """Its parent has ended and waits for it no more: nor do we, for all of the grace."""
    script = "trap 'sleep 100 & sleep 0.3; exit 9' TERM; touch ready; while :; do sleep 0.02; done"
    run = place.run("sh", "-c", script, timeout_s=0.5, grace_s=20.0)
    assert (run.outcome.exit_code, run.outcome.child_exit_code) == (124, 9)
    assert run.outcome.duration_ms < 10_000
    assert place.living() == []


def test_a_command_that_ignores_everything_is_killed(place: Place) -> None:
    source = """
import os, signal, time
for number in set(signal.Signals) - {signal.SIGKILL, signal.SIGSTOP}:
    try:
        signal.signal(number, signal.SIG_IGN)
    except (OSError, ValueError):
        pass
open("ready", "w")
while True:
    time.sleep(1)
"""
    outcome = place.python(source, timeout_s=1.0, grace_s=0.1).outcome
    assert ready(place)
    assert outcome.child_exit_code == 128 + signal.SIGKILL
    assert outcome.survivors == ()


def test_processes_that_fork_while_we_end_them(place: Place) -> None:
    """Each of ten has a new child as soon as one is gone, and no one of them listens."""
    source = """
import os, signal, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
for _ in range(9):
    if os.fork() == 0:
        break
open("ready", "w")
while True:
    if os.fork() == 0:
        time.sleep(0.005)
        os._exit(0)
    os.wait()
"""
    outcome = place.python(source, timeout_s=1.0, grace_s=0.2).outcome
    assert ready(place)
    assert outcome.survivors == ()
    assert place.living() == []


@pytest.mark.skipif(shutil.which("perl") is None, reason="Python does not fork fast enough")
@pytest.mark.parametrize("session", ["", "setsid();"])
def test_a_process_that_is_never_the_same_for_long(place: Place, session: str) -> None:
    """It forks and ends without pause: by the time it is looked at it is another."""
    source = f"""
use POSIX;
$SIG{{TERM}} = 'IGNORE';
open(my $ready, '>', 'ready');
if (fork == 0) {{
    my $end = time + 60;
    while (time < $end) {{ POSIX::_exit(0) if fork; {session} open(my $beat, '>', 'beat'); }}
    POSIX::_exit(0);
}}
sleep 100;
"""
    outcome = place.run("perl", "-e", source, timeout_s=1.0, grace_s=0.1).outcome
    assert ready(place)
    assert outcome.survivors == ()
    (place.folder / "beat").unlink()
    time.sleep(0.3)
    assert not (place.folder / "beat").exists()  # whoever was left would have made it again


def test_a_normal_end_leaves_a_daemon_and_names_it(place: Place) -> None:
    source = DAEMON + "daemon('pid')\nwhile not os.path.exists('pid'): time.sleep(0.01)\nprint('x')"
    run = place.python(source)
    assert (run.outcome.ending, run.outcome.exit_code) == (Ending.EXITED, 0)
    pid = int((place.folder / "pid").read_text())
    assert [found.pid for found in run.outcome.left_running] == [pid]
    assert run.outcome.left_running[0].name.startswith("python")
    assert run.outcome.ended_by_us == ()
    assert run.outcome.notes == ()
    assert [found.pid for found in ProcessTree(place.token).living()] == [pid]
    ended = end_token(place.token, grace_s=0.1)
    assert [found.pid for found in ended.ended] == [pid]
    assert ended.survivors == ()


def test_a_daemon_that_holds_the_output_open_does_not_hold_us_up(place: Place) -> None:
    run = place.run("sh", "-c", "(sleep 0.05; echo late; exec sleep 100) & echo early")
    assert run.stdout == b"early\nlate\n"
    assert run.outcome.exit_code == 0
    assert run.outcome.duration_ms < 20_000
    assert [found.name for found in run.outcome.left_running] == ["sleep"]
    assert run.outcome.notes == (
        "a process left behind holds the output open: what it writes is not recorded",
    )
    place.end()


def test_a_daemon_that_never_stops_writing_does_not_hold_us_up(place: Place) -> None:
    run = place.run("sh", "-c", "(while :; do echo more; sleep 0.05; done) & echo early")
    assert run.outcome.exit_code == 0
    assert len(run.outcome.notes) == 1
    place.end()


def test_what_ends_with_the_command_does_not_count_as_left(place: Place) -> None:
    assert place.run("sh", "-c", "sleep 0.02 >&- 2>&- & exit 0").outcome.left_running == ()


def test_a_run_does_not_touch_what_an_earlier_one_left(place: Place) -> None:
    place.run("sh", "-c", "setsid sleep 100 >&- 2>&- & exit 0")
    other = Place(place.folder / "other", place.token + "-other")
    run = other.run("sh", "-c", "sleep 100 & exec sleep 100", timeout_s=0.2)
    assert [found.name for found in run.outcome.ended_by_us] == ["sleep", "sleep"]
    assert other.run("true").outcome.left_running == ()
    assert place.living() == ["sleep"]
    place.end()


def test_our_own_helpers_are_not_touched_and_can_be_waited_for(place: Place) -> None:
    helper = subprocess.Popen(["sleep", "100"])
    finished = subprocess.Popen(["sh", "-c", "exit 3"])
    wait_until(lambda: b"Z" in Path(f"/proc/{finished.pid}/stat").read_bytes())
    run = place.run("sh", "-c", "setsid sleep 100 & sleep 100", timeout_s=0.3)
    assert helper.pid not in [found.pid for found in run.outcome.ended_by_us]
    assert helper.poll() is None
    assert finished.wait() == 3
    helper.kill()
    assert helper.wait() == -signal.SIGKILL


def test_adopted_orphans_are_reaped(place: Place) -> None:
    orphans = "for n in 1 2 3 4 5 6 7 8 9; do (setsid sh -c 'echo >ended.'$n &) ; done"
    until = "while [ $(ls ended.* | wc -l) -lt 9 ]; do sleep 0.01; done; sleep 0.3"
    place.run("sh", "-c", f"cd {place.folder} && {orphans}; {until}")
    mine = Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children").read_text().split()
    # Other tests of this process may have left programs of theirs.
    assert [pid for pid in mine if b"(sh) Z" in Path(f"/proc/{pid}/stat").read_bytes()] == []


def test_the_reaper_setting_is_put_back(place: Place) -> None:
    """After a run an orphan goes to init again, or to whoever it went to before."""
    place.run("true")
    orphan = subprocess.run(
        ["sh", "-c", "setsid sleep 100 >&- 2>&- & echo $!"],
        env={**ENVIRONMENT, "SIDING_STEP_TOKEN": place.token},
        capture_output=True,
        check=True,
    )
    assert parent_of(int(orphan.stdout)) != os.getpid()
    place.end()


def parent_of(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


def test_runs_in_several_threads_end_only_their_own(place: Place) -> None:
    """Orphans of both become children of this one process."""
    others = [Place(place.folder / str(n), f"{place.token}-{n}") for n in range(3)]
    outcomes: dict[int, tuple[Ending, int]] = {}

    def work(number: int) -> None:
        script = "setsid sleep 100 & setsid sh -c 'sleep 3; touch end' & sleep 4"
        run = others[number].run(
            "sh", "-c", script, timeout_s=0.5 if number == 0 else None, grace_s=0.1
        )
        outcomes[number] = run.outcome.ending, len(run.outcome.left_running)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert outcomes == {0: (Ending.TIMEOUT, 0), 1: (Ending.EXITED, 1), 2: (Ending.EXITED, 1)}
    assert [(other.folder / "end").exists() for other in others] == [False, True, True]
    for other in others:
        other.end()


def test_ending_by_token_spares_us_and_those_above_us(place: Place) -> None:
    """A program of the step itself may look after what the step left behind."""
    source = f"""
from siding.ground.process.ender import end_token
ended = end_token({place.token!r}, grace_s=0.0)
print([found.name for found in ended.ended], ended.survivors)
"""
    script = f'sleep 100 & sleep 0.3; {PYTHON} -c "$1"; echo still here'
    run = place.run("sh", "-c", script, "sh", source)
    assert run.stdout == b"['sleep'] ()\nstill here\n"


def test_a_token_is_not_found_in_a_part_of_another(place: Place) -> None:
    longer = Place(place.folder / "longer", place.token + "0")
    longer.run("sh", "-c", "setsid sleep 100 >&- 2>&- & exit 0")
    assert place.living() == []
    assert longer.living() == ["sleep"]
    longer.end()


def test_a_token_of_a_siding_inside_siding_is_found_by_both(place: Place) -> None:
    inner = Place(place.folder / "inner", "inner-of-" + place.token)
    inner.run(
        "sh",
        "-c",
        "setsid sleep 100 >&- 2>&- & exit 0",
        env={**ENVIRONMENT, "SIDING_STEP_TOKEN": place.token},
    )
    assert place.living() == inner.living() == ["sleep"]
    place.end()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make a program that becomes root")
def test_what_we_may_not_end_is_named(place: Place) -> None:
    """As `sudo` does, the command becomes root, and its recorder is an ordinary user."""
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o777)
        becomes_root = Path(name) / "becomes-root"
        shutil.copyfile(Path(PYTHON).resolve(), becomes_root)
        becomes_root.chmod(0o4755)
        recorder = os.fork()
        if recorder == 0:
            record_as_nobody(Place(Path(name), place.token), becomes_root)
        assert os.waitpid(recorder, 0) == (recorder, 0)
        outcome = json.loads((Path(name) / "outcome").read_text())
    assert (outcome["ending"], outcome["exit_code"]) == ("timeout", 124)
    assert outcome["child_exit_code"] is None
    assert outcome["ended_by_us"] == []
    ((pid, process_name, _started),) = outcome["survivors"]
    assert process_name == "becomes-root"
    assert place.living() == ["becomes-root"]
    os.kill(pid, signal.SIGKILL)
    wait_until(lambda: not place.living())


def record_as_nobody(place: Place, becomes_root: Path) -> None:
    status = 1
    try:
        os.setgroups([])
        os.setgid(65534)
        os.setuid(65534)
        source = "import os, time; os.setuid(0); open('ready', 'w'); time.sleep(100)"
        run = place.run(str(becomes_root), "-c", source, timeout_s=1.0, grace_s=0.1)
        (place.folder / "outcome").write_text(json.dumps(run.outcome._asdict()))
        status = 0
    finally:
        os._exit(status)


def test_a_pid_that_belongs_to_another_process_by_now_is_not_signalled() -> None:
    child = subprocess.Popen(["sleep", "100"])
    status = procfs.read_status(child.pid)
    assert status is not None
    assert procfs.send_signal(status._replace(started=status.started - 1), signal.SIGKILL)
    assert procfs.send_signal(status, signal.SIGTERM)
    assert child.wait() == -signal.SIGTERM  # of the two only the second arrived
    assert procfs.send_signal(status, signal.SIGKILL)


def test_names_with_parentheses_and_blanks_are_read(place: Place) -> None:
    program = place.folder / "a) Z (b"
    program.write_bytes(Path("/bin/sleep").read_bytes())
    program.chmod(0o755)
    run = place.run(str(program), "100", timeout_s=0.2)
    assert [found.name for found in run.outcome.ended_by_us] == ["a) Z (b"]


def test_ending_nothing_is_quick(place: Place) -> None:
    ended = end_all(ProcessTree(place.token), grace_s=100.0)
    assert (ended.ended, ended.survivors) == ((), ())


def test_our_ancestors_go_up_to_the_first_process() -> None:
    found = ancestors()
    assert {os.getppid(), 1} <= found
    assert os.getpid() not in found
    assert 0 not in found
