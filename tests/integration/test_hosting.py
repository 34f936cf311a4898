"""Runs that a program hosts: many at once, in threads, without signals."""

import json
import os
import random
import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from sandbox import Sandbox, alive
from siding.record.place.event_log import StepRecorded
from siding.record.place.project import Project, require_project
from siding.record.place.wiring import Heard, open_app
from siding.running.act import Cancelled
from siding.running.hosting import (
    Began,
    Hosted,
    InputClosed,
    NotStarted,
    Printed,
    RunEvent,
    host,
)
from siding.running.request import RunRequest


@pytest.fixture
def task(sandbox: Sandbox) -> Sandbox:
    sandbox.siding("task", "start", "hosted")
    return sandbox


def opened(task: Sandbox) -> Project:
    return require_project(open_app(env=task.env, cwd=task.repo))


def started(task: Sandbox, *argv: str, **options: object) -> Hosted:
    return host(opened(task), RunRequest(argv=argv), **options)  # type: ignore[arg-type]


def python(task: Sandbox, source: str, **options: object) -> Hosted:
    return started(task, sys.executable, "-c", source, **options)


def test_a_command_is_interrupted_and_goes_on(task: Sandbox) -> None:
    printed: list[bytes] = []
    hosted = python(
        task,
        "import signal, sys\n"
        "signal.signal(signal.SIGINT, lambda *_: print('interrupted', flush=True))\n"
        "for line in sys.stdin: print('got', line.strip(), flush=True)",
        observe=lambda event: printed.append(event.data) if isinstance(event, Printed) else None,
    )

    def until(said: str) -> None:
        end = time.monotonic() + 60
        while said.encode() not in b"".join(printed):
            assert time.monotonic() < end, printed
            time.sleep(0.01)

    hosted.send(b"one\n")
    until("got one\n")
    hosted.interrupt()
    until("interrupted\n")
    hosted.interrupt()
    until("interrupted\ninterrupted\n")
    hosted.send(b"two\n")
    until("got two\n")
    hosted.end_input()
    result = hosted.wait(60)
    assert result.exit_code == 0
    assert result.step is not None
    assert result.step.status == "completed"


def test_a_run_is_typed_into_observed_and_awaited(task: Sandbox) -> None:
    seen: list[RunEvent] = []
    hosted = python(
        task,
        "import sys\nfor line in sys.stdin: print('got', line.strip(), flush=True)\n"
        "print('over', file=sys.stderr); open('made', 'w')",
        observe=seen.append,
    )
    began = hosted.began()
    assert began.run.id == "r1"
    hosted.send(b"one\n")
    hosted.send(b"two\n")
    hosted.end_input()
    result = hosted.wait()
    assert result.exit_code == 0
    assert isinstance(seen[0], Began)
    printed = [event for event in seen if isinstance(event, Printed)]
    assert b"".join(e.data for e in printed if not e.is_stderr) == b"got one\ngot two\n"
    assert b"".join(e.data for e in printed if e.is_stderr) == b"over\n"
    (step,) = task.steps()
    assert (step["run"], step["exit_code"]) == ("r1", 0)
    with pytest.raises(InputClosed):
        hosted.send(b"three\n")


def test_in_a_terminal_input_is_typed(task: Sandbox) -> None:
    seen: list[RunEvent] = []
    hosted = python(
        task,
        "import os, sys; print(os.isatty(0), sys.stdin.readline()); print(sys.stdin.read() == '')",
        pty=True,
        observe=seen.append,
    )
    hosted.send(b"hello\n")
    hosted.end_input()
    assert hosted.wait().exit_code == 0
    text = b"".join(event.data for event in seen if isinstance(event, Printed))
    assert b"True hello\r\n" in text


def test_much_input_waits_until_it_is_read(task: Sandbox) -> None:
    hosted = python(
        task,
        "import os, sys, time\nwhile not os.path.exists('go'): time.sleep(.01)\n"
        "print(len(sys.stdin.buffer.read()))",
    )
    hosted.began()
    piece, count = b"x" * 65536, 40
    sent = []

    def send() -> None:
        for _ in range(count):
            hosted.send(piece)
            sent.append(len(piece))
        hosted.end_input()

    sender = threading.Thread(target=send)
    sender.start()
    time.sleep(0.3)
    assert len(sent) < count  # what nobody reads is not kept without end
    (task.workspace() / "go").touch()
    sender.join()
    result = hosted.wait()
    assert result.outcome is not None
    assert task.siding("output", "r1").stdout == b"%d\n" % (len(piece) * count)


def test_cancelling_ends_everything_and_is_recorded(task: Sandbox) -> None:
    hosted = started(task, "sh", "-c", "setsid sleep 300 & echo $! >pid; wait")
    hosted.began()
    pid = task.workspace() / "pid"
    while not (pid.exists() and pid.read_text().strip()):
        time.sleep(0.01)
    hosted.cancel()
    result = hosted.wait()
    assert result.step is not None
    assert result.step.status == "interrupted"
    assert not alive(int(pid.read_text()))


def test_cancelled_before_its_command_a_run_leaves_nothing(task: Sandbox) -> None:
    hosted = started(task, "touch", "made")
    hosted.cancel()
    try:
        hosted.wait()
    except Cancelled:
        assert task.steps() == []
        assert not (task.workspace() / "made").exists()
    assert task.json("runs", "--format", "json") == []


def test_a_run_that_the_policy_stops_takes_no_input_and_leaves_nothing_open(task: Sandbox) -> None:
    (task.repo / ".siding").mkdir(exist_ok=True)
    (task.repo / ".siding" / "policy.yaml").write_text("version: 1\n")
    before = set(os.listdir("/proc/self/fd"))
    hosted = started(task, "rm", "-rf", "/")
    result = hosted.wait()
    assert result.outcome is None
    with pytest.raises(NotStarted):
        hosted.began()
    with pytest.raises(InputClosed):
        hosted.send(b"nobody reads this\n")
    assert set(os.listdir("/proc/self/fd")) == before


def test_stop_from_another_process_ends_one_run_of_a_program(task: Sandbox) -> None:
    first = started(task, "sh", "-c", "touch one; exec sleep 300")
    second = started(task, "sh", "-c", "touch two; exec sleep 300")
    first.began()
    second.began()
    task.siding("stop", first.began().run.id)
    assert first.wait().exit_code == 143
    assert not second.result.is_kept
    second.cancel(now=True)
    assert second.wait().step is not None


def test_fifty_runs_at_once_cancelled_at_random(task: Sandbox) -> None:
    project, heard = opened(task), []

    def listen(event: Heard) -> None:
        if isinstance(event.event, StepRecorded):
            heard.append(event.event.step.line)

    project.app.listeners.subscribe(listen)
    chance = random.Random(50)
    source = "import sys, time; open(sys.argv[1], 'w').write('x'); time.sleep(float(sys.argv[2]))"
    hosted = [
        host(
            project,
            RunRequest(argv=(sys.executable, "-c", source, f"file{n}", str(chance.random() * 3))),
        )
        for n in range(50)
    ]
    for each in chance.sample(hosted, 20):
        time.sleep(chance.random() / 10)
        each.cancel(now=chance.random() < 0.3)
    ends = []
    for each in hosted:
        try:
            result = each.wait()
        except Cancelled:
            ends.append("cancelled")
        else:
            assert result.step is not None
            ends.append(result.step.status)
    recorded = [step for step in task.steps() if step["kind"] == "run"]
    assert len(recorded) == 50 - ends.count("cancelled")
    assert ends.count("completed") >= 30
    assert heard == task.steps()  # what was told is what is on the disk, in that order
    assert len({step["run"] for step in recorded}) == len(recorded)
    task.siding("verify")
    assert task.json("runs", "--format", "json") == []
    assert not [each for each in threading.enumerate() if each.name.startswith("siding: ")]


PROGRAM = """
import sys, time
from pathlib import Path
from siding.record.place.project import require_project
from siding.record.place.wiring import open_app
from siding.running.hosting import host
from siding.running.request import RunRequest
import os
project = require_project(open_app(env=os.environ, cwd=Path.cwd()))
source = '''
import os, signal, time
if os.fork() == 0:
    os.setsid()
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    while True:
        open("count", "a").write("x")
        time.sleep(.01)
time.sleep(300)
'''
runs = [host(project, RunRequest(argv=(sys.executable, "-c", source))) for _ in range(3)]
for each in runs:
    each.began()
print("ready", flush=True)
time.sleep(300)
"""


def test_a_killed_program_takes_its_runs_with_it(task: Sandbox) -> None:
    count = task.workspace() / "count"
    program = subprocess.Popen(
        [sys.executable, "-c", PROGRAM], cwd=task.repo, env=dict(task.env), stdout=subprocess.PIPE
    )
    assert program.stdout is not None
    assert program.stdout.readline() == b"ready\n"
    while not count.exists():
        time.sleep(0.01)
    program.send_signal(signal.SIGKILL)
    program.wait()
    program.stdout.close()
    task.siding("checkpoint")
    size = count.stat().st_size
    time.sleep(0.3)
    assert count.stat().st_size == size
    assert [step["status"] for step in task.steps() if step.get("run")] == ["interrupted"] * 3
    task.siding("verify")


def test_nothing_of_ours_is_started_anew(task: Sandbox, tmp_path: Path) -> None:
    """Hosting needs no `siding` on the PATH, and no interpreter but for the keepers."""
    env = {**task.env, "PATH": os.pathsep.join(["/usr/bin", "/bin"])}
    project = require_project(open_app(env=env, cwd=task.repo))
    hosted = host(project, RunRequest(argv=("sh", "-c", "ps -eo ppid,args >seen; exit 4")))
    assert hosted.wait().exit_code == 4
    ours = [
        line.split(None, 1)[1]
        for line in (task.workspace() / "seen").read_text().splitlines()
        if line.split()[0] == str(os.getpid())
    ]
    assert not [line for line in ours if "-m siding" in line], json.dumps(ours)


def test_the_example_of_the_docs(task: Sandbox) -> None:
    text = (Path(__file__).parents[2] / "docs/reference/runs.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    (example,) = [block for block in blocks if "hosting" in block]
    task.siding("task", "start", "shop")
    shown = subprocess.run(
        [sys.executable, "-c", example],
        cwd=task.repo,
        env=dict(task.env),
        capture_output=True,
        check=True,
    )
    assert (shown.stdout, shown.stderr) == (b"hello\n0\n", b"")
