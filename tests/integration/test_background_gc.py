"""The host of a long run starts `siding gc` in a quiet moment, if the settings say so."""

import json
import subprocess
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from integration.test_many_runs import living, wait_until
from prepared import prepared
from sandbox import Sandbox
from siding.ground.storage.locks import FileLock

WAITS = "touch ready; while [ ! -e go ]; do sleep .4; done"  # takes next to nothing
NO_QUIET_S = 6  # more than a quiet moment and a second look take


def _closed_and_open(sandbox: Sandbox, _which: str) -> None:
    for name in ("over", "open"):
        sandbox.siding("-q", "task", "start", name)
        sandbox.siding("-q", "run", "--", "sh", "-c", f"echo {name} >{name}.txt")
    sandbox.siding("-q", "task", "close", "--force", "over")


@pytest.fixture
def sandbox() -> Sandbox:
    """A closed task whose workspace is in the trash, and an open one."""
    return prepared(_closed_and_open, "tried")


def say(sandbox: Sandbox, value: str) -> None:
    sandbox.siding("init")
    config = sandbox.project / "config.yaml"
    config.write_text(f"version: 1\ngc:\n  background: {value}\n", encoding="utf-8")


def told(sandbox: Sandbox) -> list[dict[str, Any]]:
    lines = (sandbox.project / "events.jsonl").read_text(encoding="utf-8").splitlines()
    return [each for each in map(json.loads, lines) if each["event"].startswith("gc.")]


def wait_for_gc(sandbox: Sandbox, process: "subprocess.Popen[bytes]") -> dict[str, Any]:
    end = time.monotonic() + 60
    while not (found := told(sandbox)):
        assert time.monotonic() < end
        assert process.poll() is None
        time.sleep(0.1)
    return found[-1]


def let_go(sandbox: Sandbox) -> None:
    (sandbox.workspace("open") / "go").touch()


def trash(sandbox: Sandbox) -> list[Path]:
    return list((sandbox.project / "trash").iterdir())


def test_a_quiet_run_frees_what_is_closed_and_the_events_say_it(sandbox: Sandbox) -> None:
    say(sandbox, "on")
    with living(sandbox, "-t", "open", "--", "sh", "-c", WAITS) as process:
        event = wait_for_gc(sandbox, process)
        assert event["event"] == "gc.ended"
        assert event["gc"]["background"] is True
        assert len(event["gc"]["tasks"]) == 1
        assert event["gc"]["snapshots"] == 0  # without an age no snapshot goes
        assert trash(sandbox) == []
        let_go(sandbox)
        assert process.wait(timeout=60) == 0
    sandbox.siding("task", "reopen", "over")
    assert (sandbox.workspace("over") / "over.txt").read_text() == "over\n"


def test_with_an_age_it_frees_snapshots_too_but_none_of_the_run(sandbox: Sandbox) -> None:
    say(sandbox, "1s")
    sandbox.siding("-q", "rollback", "--base", "-t", "open")  # leaves a step behind
    sandbox.siding("-q", "task", "start", "other")
    for number in (1, 2):
        sandbox.siding("-q", "run", "--", "sh", "-c", f"seq {number}000 >file")
    sandbox.siding("-q", "rollback", "--base")
    with living(sandbox, "-t", "open", "--", "sh", "-c", WAITS) as process:
        event = wait_for_gc(sandbox, process)
        assert event["gc"]["snapshots"] == 2
        let_go(sandbox)
        assert process.wait(timeout=60) == 0
    for name in ("open", "other"):
        assert "is whole" in sandbox.siding("verify", name).stdout.decode()
    sandbox.siding("-q", "rollback", "--step", "1", "-t", "open")


def test_it_is_not_started_where_it_is_off_or_was_lately_or_somebody_holds_a_lock() -> None:
    """In the same time it is started beside a run that began later, where nothing hinders it."""
    hindered = {why: prepared(_closed_and_open, why) for why in ("off", "lately", "held")}
    for why, each in hindered.items():
        say(each, "off" if why == "off" else "on")
    hindered["lately"].siding("gc", "--budget", "1GiB")
    assert [each["gc"]["background"] for each in told(hindered["lately"])] == [False]
    before = {why: (told(each), trash(each)) for why, each in hindered.items()}
    lock = FileLock(hindered["held"].project / "locks" / "somebody")
    lock.path.parent.mkdir(exist_ok=True)
    with ExitStack() as runs:
        lives = [
            runs.enter_context(living(each, "-t", "open", "--", "sh", "-c", WAITS))
            for each in hindered.values()
        ]
        for each in hindered.values():
            wait_until(each, "ready")
        lock.acquire()
        watched = time.monotonic() + NO_QUIET_S
        see_it_started(prepared(_closed_and_open, "unhindered"))
        time.sleep(max(0, watched - time.monotonic()))
        lock.release()
        assert {why: (told(each), trash(each)) for why, each in hindered.items()} == before
        for process, each in zip(lives, hindered.values(), strict=True):
            let_go(each)
            assert process.wait(timeout=60) == 0


def see_it_started(sandbox: Sandbox) -> None:
    say(sandbox, "on")
    with living(sandbox, "-t", "open", "--", "sh", "-c", WAITS) as process:
        assert wait_for_gc(sandbox, process)["gc"]["background"] is True
        assert trash(sandbox) == []
        let_go(sandbox)
        assert process.wait(timeout=60) == 0


def test_a_run_that_does_nothing_at_all_is_looked_at_again_after_a_lock(sandbox: Sandbox) -> None:
    say(sandbox, "on")
    lock = FileLock(sandbox.project / "locks" / "somebody")
    lock.path.parent.mkdir(exist_ok=True)
    command = "mkfifo go; touch ready; read line <go"  # no processor time between
    with living(sandbox, "-t", "open", "--", "sh", "-c", command) as process:
        wait_until(sandbox, "ready")
        lock.acquire()
        time.sleep(NO_QUIET_S)
        lock.release()
        assert wait_for_gc(sandbox, process)["event"] == "gc.ended"
        (sandbox.workspace("open") / "go").write_text("on\n")
        assert process.wait(timeout=60) == 0


def test_a_value_that_is_none_is_an_error(sandbox: Sandbox) -> None:
    say(sandbox, "often")
    done = sandbox.siding("run", "--", "true", status=2)
    assert b"should be on, off or an age such as 90d" in done.stderr
