"""The fold beside real runs: what lives, what was left running, what was killed."""

import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

from integration.test_many_runs import UNTIL_GO, living, wait_until
from sandbox import Sandbox
from siding.feed.fold import HomeFold, feed_of
from siding.feed.model import AskKind, Row, State
from siding.record.place.wiring import open_app


def look(fold: HomeFold, wanted: Callable[[Row], bool], *, seconds: float = 20) -> Row:
    """Look until the first row is as it is wanted; without a hint, as when a process ends."""
    end = time.monotonic() + seconds
    while True:
        found = fold.look()
        if found.rows and wanted(found.rows[0]):
            return found.rows[0]
        assert time.monotonic() < end, found
        time.sleep(0.02)


def test_a_host_that_is_killed_breaks_its_task_at_the_next_look(sandbox: Sandbox) -> None:
    sandbox.siding("task", "start", "shop")
    fold = HomeFold(open_app(env=sandbox.env, cwd=sandbox.repo))
    rests = look(fold, lambda row: row.state is State.RESTS)
    with living(sandbox, "--no-tty", "--", "sh", "-c", f"echo 1 >began; {UNTIL_GO}") as host:
        wait_until(sandbox, "began")
        fold.touched(())
        runs = look(fold, lambda row: row.state is State.RUNS)
        assert (runs.run, runs.asks) == ("r1", ())
        assert runs.silent_since, "nothing but its output tells what it does"
        assert host.pid in fold.living()
        host.kill()
        host.wait()
        broke = look(fold, lambda row: row.state is State.BROKE)
        assert broke.what.startswith("cut off: run sh -c")
        (ask,) = fold.look().asks
        assert (ask.kind, ask.row, ask.id) == (AskKind.FAILURE, broke.key, broke.asks[0])
        assert ask.entry.kind == "cut off"
    assert len({rests.mark, runs.mark, broke.mark}) == 3
    sandbox.siding("checkpoint")
    fold.touched(fold.directories())
    ready = look(fold, lambda row: row.state is State.READY)
    assert (ready.unapplied, ready.files, ready.asks) == (1, 1, ())
    assert fold.look() == feed_of(open_app(env=sandbox.env, cwd=sandbox.repo))


def test_what_prints_changes_no_mark_and_what_is_left_running_is_named(sandbox: Sandbox) -> None:
    sandbox.siding("task", "start", "shop")
    fold = HomeFold(open_app(env=sandbox.env, cwd=sandbox.repo))
    prints = "while [ ! -e go ]; do echo line; echo >>lines; sleep .02; done"
    leaves = "setsid sleep 300 </dev/null >/dev/null 2>&1 & echo $! >pid"
    with living(sandbox, "--no-tty", "--", "sh", "-c", f"{leaves}; {prints}") as host:
        wait_until(sandbox, "lines")
        fold.touched(())
        first = look(fold, lambda row: row.state is State.RUNS)
        at = _lines(sandbox)
        while _lines(sandbox) < at + 5:
            time.sleep(0.01)
        assert fold.look().rows[0].mark == first.mark
        (sandbox.workspace() / "go").touch()
        assert host.wait(60) == 0
    row = look(fold, lambda row: row.state is State.READY)
    assert "sleep 300" in row.left
    pid = int((sandbox.workspace() / "pid").read_text())
    assert pid in fold.living()
    os.kill(pid, signal.SIGKILL)
    look(fold, lambda row: not row.left)


def _lines(sandbox: Sandbox) -> int:
    return len(Path(sandbox.workspace() / "lines").read_bytes())
