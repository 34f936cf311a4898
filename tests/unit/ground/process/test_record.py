"""Recorded runs through pipes: what is shown, what is kept, and how they end."""

import hashlib
import os
import resource
import signal
import subprocess
from pathlib import Path

import pytest

from siding.ground.process.command import Command, Ending, OutputScreen, StdinPlan, StreamPlan
from siding.ground.process.output.recording import OutputFiles
from siding.ground.process.ports import Child
from siding.ground.process.record import run_recorded
from siding.ground.process.side import Plan

from .world import ENVIRONMENT, PYTHON, Place, wait_until


def artifact(stdout: bytes, stderr: bytes) -> bytes:
    return b"=== STDOUT ===\n" + stdout + b"\n=== STDERR ===\n" + stderr + b"\n"


def test_streams_are_shown_and_kept_apart(place: Place) -> None:
    run = place.run("sh", "-c", "echo out; echo err >&2")
    assert (run.shown, run.shown_stderr) == (b"out\n", b"err\n")
    assert run.path.read_bytes() == artifact(b"out\n", b"err\n")
    assert (run.outcome.stdout_bytes, run.outcome.stderr_bytes) == (4, 4)
    assert run.outcome.output_sha256 == hashlib.sha256(run.path.read_bytes()).hexdigest()
    assert run.outcome.ending is Ending.EXITED
    assert run.outcome.output_complete
    assert run.outcome.notes == ()
    assert run.path.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("status", [0, 1, 77, 255])
def test_the_exit_code_is_the_commands_own(place: Place, status: int) -> None:
    outcome = place.run("sh", "-c", f"exit {status}").outcome
    assert (outcome.exit_code, outcome.child_exit_code) == (status, status)
    assert outcome.ending is Ending.EXITED
    assert outcome.reason is None


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGSEGV])
def test_a_signal_is_128_and_its_number(place: Place, number: signal.Signals) -> None:
    outcome = place.run("sh", "-c", f"ulimit -c 0; kill -{number.value} $$").outcome
    assert (outcome.exit_code, outcome.ending) == (128 + number, Ending.SIGNALLED)
    assert str(number.value) in str(outcome.reason)
    assert outcome.ended_by_us == ()


def test_bytes_are_kept_as_they_are(place: Place) -> None:
    source = "import sys; sys.stdout.buffer.write(bytes(range(256)) * 300 + 'ż\U0001f600'.encode())"
    run = place.python(source)
    assert run.stdout == run.shown == bytes(range(256)) * 300 + "ż\U0001f600".encode()


def test_output_that_looks_like_the_form_does_not_confuse_it(place: Place) -> None:
    forged = "=== STDOUT ===\\nx\\n=== STDERR ===\\ny\\n\\n=== STDERR ===\\n"
    run = place.run("sh", "-c", f"printf '{forged}'; printf '{forged}' >&2")
    text = forged.encode().decode("unicode_escape").encode()
    assert (run.stdout, run.stderr) == (text, text)


def test_a_hundred_megabytes(place: Place) -> None:
    source = """
import sys, hashlib
digest = hashlib.sha256(b"=== STDOUT ===\\n")
for number in range(100):
    block = bytes([number]) * (1 << 20)
    sys.stdout.buffer.write(block)
    digest.update(block)
    if number % 10 == 0:
        sys.stderr.buffer.write(block)
digest.update(b"\\n=== STDERR ===\\n")
for number in range(0, 100, 10):
    digest.update(bytes([number]) * (1 << 20))
digest.update(b"\\n")
open("sha", "w").write(digest.hexdigest())
"""
    run = place.python(source, timeout_s=100.0)
    assert (run.outcome.stdout_bytes, run.outcome.stderr_bytes) == (100 << 20, 10 << 20)
    assert run.outcome.output_sha256 == (place.folder / "sha").read_text()
    with run.path.open("rb") as file:
        assert hashlib.file_digest(file, "sha256").hexdigest() == run.outcome.output_sha256
    assert len(run.shown) == 100 << 20
    assert run.output.stderr.tail(3) == bytes([90, 90, 90])


def test_memory_does_not_grow_with_the_output(place: Place) -> None:
    """The recorder's own peak is compared for 1 MB and 300 MB."""
    peaks = []
    for size in (1 << 20, 300 << 20):
        line, _path, outcome = place.recorder_argv(
            "sh", "-c", f"head -c {size} /dev/zero; head -c {size // 10} /dev/zero >&2"
        )
        source = "import re, runpy, sys; sys.argv = sys.argv[1:]; "
        source += "runpy.run_path(sys.argv[0], run_name='__main__'); "
        source += "peak = re.search(r'VmHWM:\\s+(\\d+) kB', open('/proc/self/status').read()); "
        source += "open('peak', 'w').write(peak[1])"
        subprocess.run(
            [line[0], "-c", source, *line[1:]],
            cwd=place.folder,
            check=True,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        assert outcome.exists()
        peaks.append(int((place.folder / "peak").read_text()))
    assert peaks[1] < peaks[0] + 10_000  # kB
    assert peaks[1] < 60_000


def test_a_screen_that_goes_away_stops_neither_command_nor_recording(place: Place) -> None:
    with place.recorder("sh", "-c", "seq 200000; echo done >&2") as recorder:
        assert recorder.process.stdout is not None
        head = subprocess.run(
            ["head", "-1"], stdin=recorder.process.stdout, capture_output=True, check=True
        )
        recorder.process.stdout.close()
        wait_until(recorder.outcome_path.exists)
        recorder.process.wait()
        outcome = recorder.outcome()
    assert head.stdout == b"1\n"
    assert (outcome["exit_code"], outcome["ending"]) == (0, "exited")
    assert outcome["stdout_bytes"] == sum(len(f"{n}\n") for n in range(1, 200_001))
    assert recorder.path.read_bytes().endswith(b"200000\n\n=== STDERR ===\ndone\n\n")
    assert any("stdout could not be shown" in note for note in outcome["notes"])
    assert outcome["output_complete"]


def test_a_slow_screen_slows_the_command_and_loses_nothing(place: Place) -> None:
    """The command can be only so far ahead of its reader: two pipes and two buffers."""
    source = """
import os
for number in range(64):
    os.write(1, bytes(1 << 18))
    open("count", "w").write(str(number + 1))
"""
    with place.recorder(PYTHON, "-c", source) as recorder:
        stdout = recorder.process.stdout
        assert stdout is not None
        count = place.folder / "count"
        wait_until(count.exists)
        state = Path(f"/proc/{recorder.process.pid}/wchan")
        assert state.exists()
        wait_until(lambda: blocked_on_a_pipe(place))
        written = int(count.read_text() or 0) << 18
        assert written <= 4 << 20
        assert len(stdout.read()) == 16 << 20
        assert recorder.outcome()["notes"] == []


def blocked_on_a_pipe(place: Place) -> bool:
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdecimal() and place.token in (entry / "environ").read_text():
                return "pipe" in (entry / "wchan").read_text()
        except OSError:
            continue
    return False


def test_a_screen_that_stands_still_does_not_hold_up_the_timeout(place: Place) -> None:
    with place.recorder("sh", "-c", "yes", timeout_s=0.5, grace_s=0.5) as recorder:
        wait_until(recorder.outcome_path.exists)  # nobody has read a byte of its output
        recorder.process.wait()
        outcome = recorder.outcome()
    assert outcome["ending"] == "timeout"
    assert "stdout was not shown to its end: the screen was too slow" in outcome["notes"]
    assert recorder.path.stat().st_size == outcome["stdout_bytes"] + outcome["stderr_bytes"] + 32


def test_a_full_disk_stops_the_recording_and_not_the_command(place: Place) -> None:
    """RLIMIT_FSIZE is a disk of 100 kB, for the recorder alone."""
    script = "ulimit -f unlimited 2>/dev/null; seq 100000; echo complaint >&2; touch end; exit 5"
    with place.recorder(
        "sh", "-c", script, popen={"preexec_fn": small_files, "stdout": subprocess.DEVNULL}
    ) as recorder:
        outcome = recorder.outcome()
    assert (outcome["exit_code"], outcome["ending"]) == (5, "exited")
    assert (place.folder / "end").exists()
    assert not outcome["output_complete"]
    kept = outcome["stdout_bytes"]
    assert 90_000 < kept <= 102_400
    assert f"recording of stdout stopped after {kept} bytes: File too large" in outcome["notes"]
    whole = b"".join(b"%d\n" % n for n in range(1, 100_001))
    assert recorder.path.read_bytes()[15:] == whole[:kept]
    marker = recorder.path.with_name(f"{recorder.path.stem}.stderr@{kept}")
    assert marker.read_bytes() == b"complaint\n"


def small_files() -> None:
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (102_400, resource.RLIM_INFINITY))


def test_a_limit_stops_the_recording_and_not_the_command(place: Place) -> None:
    run = place.run("sh", "-c", "seq 1000; touch end", max_bytes=100)
    assert run.path.read_bytes() == artifact(run.shown[:100], b"")
    assert len(run.shown) == 3893
    assert not run.outcome.output_complete
    assert run.outcome.stdout_bytes == 100
    assert run.outcome.notes == (
        "recording of stdout stopped after 100 bytes: the limit is 100 bytes",
    )
    assert run.outcome.output_sha256 == hashlib.sha256(run.path.read_bytes()).hexdigest()
    assert (place.folder / "end").exists()


def test_without_an_artifact_output_is_only_shown_and_counted(place: Place) -> None:
    read, write = os.pipe()
    plan = Plan(
        Command(argv=("sh", "-c", "echo shown"), cwd=place.folder, env=ENVIRONMENT),
        recorder=OutputFiles(None, streams=StreamPlan.PIPED),
        screen=OutputScreen(stdout=write, stderr=None),
        stdin=StdinPlan.NULL,
        timeout_s=30,
        token=place.token,
    )
    outcome = run_recorded(plan)
    os.close(write)
    assert os.read(read, 100) == b"shown\n"
    os.close(read)
    assert (outcome.stdout_bytes, outcome.output_sha256) == (6, "")
    assert list(place.folder.iterdir()) == []


def test_a_run_that_cannot_be_recorded_does_not_start(place: Place) -> None:
    (place.folder / "0001.output").touch()
    with pytest.raises(FileExistsError):
        place.run("touch", "started")
    assert not (place.folder / "started").exists()
    assert not (place.folder / "0001.stderr").exists()


def test_an_error_of_the_callers_leaves_nothing_running(place: Place) -> None:
    def refuse(_child: Child) -> None:
        raise RuntimeError("no")

    with pytest.raises(RuntimeError):
        place.run("sh", "-c", "setsid sleep 100 & sleep 100", on_started=refuse)
    assert place.living() == []


def test_the_pid_is_told_at_the_start(place: Place) -> None:
    started: list[Child] = []
    run = place.run("sh", "-c", "echo $$", on_started=started.append)
    assert run.stdout == b"%d\n" % started[0].pid


def test_the_token_and_an_outer_one_are_in_the_environment(place: Place) -> None:
    run = place.run("sh", "-c", "echo $SIDING_STEP_TOKEN")
    assert run.stdout.decode().strip() == place.token
    inner = place.run(
        "sh", "-c", "echo $SIDING_STEP_TOKEN", env={**ENVIRONMENT, "SIDING_STEP_TOKEN": "outer"}
    )
    assert inner.stdout.decode().strip() == f"outer:{place.token}"


def test_the_command_has_no_terminal_of_ours_and_a_session_of_its_own(place: Place) -> None:
    run = place.run("sh", "-c", "ps -o sid=,tty= -p $$; echo $$")
    session, terminal, pid = run.stdout.split()
    assert (session, terminal) == (pid, b"?")


def test_standard_input_is_null_or_the_callers(place: Place) -> None:
    assert place.run("cat").stdout == b""
    (place.folder / "in").write_bytes(b"typed before")
    with (place.folder / "in").open("rb") as file:
        run = place.run("cat", stdin=StdinPlan.INHERIT, stdin_fd=file.fileno())
    assert run.stdout == b"typed before"


def test_a_command_may_close_its_output_and_go_on(place: Place) -> None:
    run = place.run("sh", "-c", "echo a; exec >&- 2>&-; sleep 0.2; touch end; exit 4")
    assert (run.stdout, run.outcome.exit_code) == (b"a\n", 4)
    assert (place.folder / "end").exists()


def test_signal_handlers_and_wakeup_are_put_back(place: Place) -> None:
    before = [signal.getsignal(number) for number in range(1, 32)]
    place.run("true")
    assert [signal.getsignal(number) for number in range(1, 32)] == before
    assert signal.set_wakeup_fd(-1) == -1


def test_no_descriptors_are_left_open(place: Place) -> None:
    place.run("true")
    before = set(os.listdir("/proc/self/fd"))
    for _ in range(3):
        place.run("sh", "-c", "echo a; echo b >&2")
        place.run("no-such-command")
        place.run("sh", "-c", "echo a", streams=StreamPlan.PTY)
        place.run("no-such-command", streams=StreamPlan.PTY)
    assert set(os.listdir("/proc/self/fd")) == before
