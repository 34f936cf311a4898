"""Signals to the recorder while a command runs through pipes."""

import os
import signal
import subprocess
import threading

import pytest

from siding.ground.process.command import Ending

from .test_keeper import keeper_of
from .world import Place, wait_until

READY = "while [ ! -e go ]; do touch ready; sleep 0.01; done"


def started(place: Place) -> bool:
    return (place.folder / "ready").exists()


def test_the_first_ctrl_c_goes_to_the_commands_group_and_it_may_end_by_itself(place: Place) -> None:
    script = "trap 'echo stopping; exit 7' INT; touch ready; while :; do sleep 0.01; done"
    with place.recorder("sh", "-c", script) as recorder:
        wait_until(lambda: started(place))
        recorder.process.send_signal(signal.SIGINT)
        outcome = recorder.outcome()
    assert (outcome["ending"], outcome["exit_code"]) == ("interrupted", 130)
    assert outcome["child_exit_code"] == 7
    assert recorder.path.read_bytes() == b"=== STDOUT ===\nstopping\n\n=== STDERR ===\n\n"


def test_ctrl_c_reaches_the_whole_group(place: Place) -> None:
    """As from a terminal: also the child that does the work while its parent waits."""
    script = (
        "sh -c 'trap \"echo child; exit\" INT; touch ready; while :; do sleep 0.01; done'; wait"
    )
    with place.recorder("sh", "-c", f"trap 'echo parent' INT; {script}") as recorder:
        wait_until(lambda: started(place))
        recorder.process.send_signal(signal.SIGINT)
        outcome = recorder.outcome()
    assert outcome["exit_code"] == 130
    content = recorder.path.read_bytes()
    assert b"child\n" in content
    assert b"parent\n" in content


def test_after_ctrl_c_nothing_outlives_the_command(place: Place) -> None:
    """An agent that ends and leaves its shell in a session of its own."""
    script = "setsid sh -c 'touch ready; sleep 100; :' & sleep 100"
    with place.recorder("sh", "-c", script, grace_s=0.2) as recorder:
        wait_until(lambda: started(place))
        recorder.process.send_signal(signal.SIGINT)
        outcome = recorder.outcome()
    assert outcome["ending"] == "interrupted"
    assert sorted(name for _pid, name, _started in outcome["ended_by_us"]) == ["sh", "sleep"]
    assert place.living() == []


def test_a_command_that_ignores_ctrl_c_goes_on_until_the_second(place: Place) -> None:
    script = "trap 'touch asked' INT; touch ready; while :; do sleep 0.01; done"
    with place.recorder("sh", "-c", script, grace_s=0.2) as recorder:
        wait_until(lambda: started(place))
        recorder.process.send_signal(signal.SIGINT)
        wait_until((place.folder / "asked").exists)
        assert recorder.process.poll() is None
        recorder.process.send_signal(signal.SIGINT)
        outcome = recorder.outcome()
    assert (outcome["ending"], outcome["exit_code"]) == ("interrupted", 130)
    assert outcome["child_exit_code"] == 128 + signal.SIGTERM


def test_one_more_ctrl_c_cuts_the_grace_short(place: Place) -> None:
    script = "trap 'touch asked' INT TERM; touch ready; while :; do sleep 0.01; done"
    with place.recorder("sh", "-c", script, grace_s=1000.0) as recorder:
        wait_until(lambda: started(place))
        recorder.process.send_signal(signal.SIGINT)
        wait_until((place.folder / "asked").exists)
        (place.folder / "asked").unlink()
        recorder.process.send_signal(signal.SIGINT)
        wait_until((place.folder / "asked").exists)
        recorder.process.send_signal(signal.SIGINT)
        outcome = recorder.outcome()
    assert (outcome["exit_code"], outcome["child_exit_code"]) == (130, 137)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT])
def test_other_signals_end_everything_at_once(place: Place, number: signal.Signals) -> None:
    script = "setsid sh -c 'sleep 100; :' & touch ready; sleep 100"
    with place.recorder("sh", "-c", script, grace_s=0.2) as recorder:
        wait_until(lambda: started(place))
        recorder.process.send_signal(number)
        outcome = recorder.outcome()
    assert (outcome["ending"], outcome["exit_code"]) == ("interrupted", 128 + number)
    assert str(number.value) in outcome["reason"]
    assert place.living() == []


def test_a_timeout_after_ctrl_c_ends_what_ignored_it(place: Place) -> None:
    script = "trap '' INT; touch ready; while :; do sleep 0.01; done"
    with place.recorder("sh", "-c", script, timeout_s=1.0, grace_s=0.2) as recorder:
        wait_until(lambda: started(place))
        recorder.process.send_signal(signal.SIGINT)
        outcome = recorder.outcome()
    assert (outcome["ending"], outcome["exit_code"]) == ("timeout", 124)


def test_an_ignored_hangup_stays_ignored(place: Place) -> None:
    """`nohup siding run ...` goes on when its terminal is closed; its command as well."""
    with place.recorder("sh", "-c", READY, popen={"preexec_fn": ignore_hangup}) as recorder:
        wait_until(lambda: started(place))
        recorder.process.send_signal(signal.SIGHUP)
        (place.folder / "go").touch()
        assert recorder.outcome()["ending"] == "exited"


def ignore_hangup() -> None:
    signal.signal(signal.SIGHUP, signal.SIG_IGN)


def test_ctrl_c_while_a_daemon_holds_the_output_stops_the_wait(place: Place) -> None:
    script = "(while :; do echo more; sleep 0.02; done) & touch ready"
    with place.recorder("sh", "-c", script) as recorder:
        assert recorder.process.stdout is not None
        wait_until(lambda: started(place))
        recorder.process.stdout.readline()
        recorder.process.send_signal(signal.SIGINT)
        outcome = recorder.outcome()
    # Whether the command had ended when the signal came is chance; it must be one or the other.
    assert (outcome["ending"], outcome["exit_code"]) in [("exited", 0), ("interrupted", 130)]
    place.end()


def test_in_a_thread_commands_run_without_signals(place: Place) -> None:
    """Python lets only the main thread handle them; the end is noticed all the same."""
    outcomes = []

    def work() -> None:
        outcomes.append(place.run("sh", "-c", "sleep 0.1; exit 5").outcome)
        outcomes.append(place.run("sleep", "100", timeout_s=0.2).outcome)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert [outcome.exit_code for outcome in outcomes] == [5, 124]
    assert [outcome.ending for outcome in outcomes] == [Ending.EXITED, Ending.TIMEOUT]


def test_killed_with_its_keeper_a_recorder_leaves_what_recovery_finds(place: Place) -> None:
    """SIGKILL of both ends nothing; the token finds it all, in whatever session."""
    script = "setsid sh -c 'touch ready; sleep 100; :' & echo said; sleep 100; :"
    with place.recorder("sh", "-c", script, popen={"stdout": subprocess.DEVNULL}) as recorder:
        wait_until(lambda: started(place))
        wait_until(lambda: place.living().count("sleep") == 2)
        wait_until(lambda: recorder.path.read_bytes().endswith(b"said\n"))
        keeper = keeper_of(recorder)
        recorder.process.send_signal(signal.SIGSTOP)  # it would go on without its keeper
        os.kill(keeper, signal.SIGKILL)
        recorder.process.kill()
        recorder.process.wait()
    assert place.living() == ["sh", "sh", "sleep", "sleep"]
    place.end()
    assert place.living() == []


def test_the_recorder_of_a_recorder(place: Place) -> None:
    """Siding inside Siding: ending the outer one leaves nothing of the inner one's command."""
    inner, _path, _outcome = place.recorder_argv("sh", "-c", "setsid sleep 100 & touch ready; wait")
    with place.recorder(*inner, timeout_s=1.5, grace_s=0.5) as recorder:
        wait_until(lambda: started(place))
        outcome = recorder.outcome()
    assert outcome["ending"] == "timeout"
    assert outcome["survivors"] == []
    assert place.living() == []
