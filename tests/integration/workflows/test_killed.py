"""What works on a run is killed or stopped, or cannot write what shows the run."""

import os
import signal
import time
from collections.abc import Callable

import pytest

from integration.workflows.conftest import AtWork
from siding.ground.process.control import frames
from siding.workflows.acts.control import request
from siding.workflows.acts.run import Prepared, interrupted
from siding.workflows.errors import DamagedJournal, RunNotAnswering
from siding.workflows.state import RunStatus

WAITS = "await run('touch begun; while ! test -e go; do sleep 0.05; done')\nreturn args"


def begin(work: AtWork, prepared: Prepared) -> int:
    """Work on a run in a process of its own, and return when it is at work."""
    begun = work.sandbox.workspace("flows") / "begun"
    begun.unlink(missing_ok=True)
    pid = os.fork()
    if pid == 0:
        try:
            os._exit(0 if work.carry_out(prepared, {}).status == "completed" else 3)
        finally:
            os._exit(1)
    _await(begun.exists)
    return pid


def kill(pid: int) -> None:
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)


def let_go_on(work: AtWork) -> None:
    (work.sandbox.workspace("flows") / "go").touch()


def _await(is_so: Callable[[], bool]) -> None:
    until = time.monotonic() + 60
    while not is_so():
        assert time.monotonic() < until
        time.sleep(0.02)


def test_one_that_is_stopped_keeps_its_run(work: AtWork, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(frames, "_PATIENCE_S", 0.2)
    prepared = work.prepare(WAITS, args=7)
    pid = begin(work, prepared)
    os.kill(pid, signal.SIGSTOP)
    try:
        refused = work.sandbox.siding("workflow", "resume", prepared.folder.run_id, status=1)
        assert f"is live, process {pid}" in refused.stderr.decode()
        nothing = work.sandbox.siding("workflow", "resume", "--all")
        assert "no run was interrupted" in nothing.stderr.decode()
        with pytest.raises(RunNotAnswering) as silent:
            request(prepared.folder, "kill")
        assert silent.value.hint is not None
        assert f"kill -CONT {pid}" in silent.value.hint
    finally:
        os.kill(pid, signal.SIGCONT)
    _await(lambda: not prepared.folder.is_live())  # it was told to end before, and ends now
    os.waitpid(pid, 0)
    state = prepared.folder.state()
    assert state is not None
    assert state.status is RunStatus.KILLED


def test_all_that_were_killed_go_on_and_one_that_cannot_stops_no_other(work: AtWork) -> None:
    runs = [work.prepare(WAITS, args=number) for number in range(2)]
    for prepared in runs:
        kill(begin(work, prepared))
    bad, good = runs[0].folder, runs[1].folder
    bad.journal.write_bytes(b"nonsense\n" + bad.journal.read_bytes())
    assert interrupted(work.project()) == [each.folder.run_id for each in runs]
    let_go_on(work)
    done = work.sandbox.siding("workflow", "resume", "--all", status=1)
    assert f"{str(bad.journal)!r} is damaged: line 1 cannot be read" in done.stderr.decode()
    _await(lambda: not good.is_live())
    state = good.state()
    assert state is not None
    assert (state.status, state.value) == (RunStatus.COMPLETED, 1)
    assert interrupted(work.project()) == [bad.run_id]
    work.sandbox.siding("workflow", "resume", bad.run_id, "--rerun-lost")
    assert (state := bad.state()) is not None
    assert (state.status, state.value) == (RunStatus.COMPLETED, 0)


def test_a_journal_that_lost_its_end_is_compared_with_what_was_shown(work: AtWork) -> None:
    prepared = work.prepare("return await agent('x')")
    work.carry_out(prepared, {"*": "did <prompt>"})
    journal = prepared.folder.journal
    journal.write_bytes(b"".join(journal.read_bytes().splitlines(keepends=True)[:-1]))
    for _ in range(2):  # a resumption that was refused has not forgotten it
        with pytest.raises(DamagedJournal, match="it has no answer of agent-0"):
            work.carry_out(work.again(prepared.folder.run_id), {})


@pytest.mark.parametrize("file", ["state.json.tmp", "log.jsonl", "events.jsonl"])
def test_a_view_that_cannot_be_written_is_not_the_run(work: AtWork, file: str) -> None:
    prepared = work.prepare("return await agent('x')")
    directory = work.sandbox.project if file == "events.jsonl" else prepared.folder.root
    (directory / file).unlink(missing_ok=True)
    (directory / file).mkdir()
    assert work.carry_out(prepared, {"*": "did <prompt>"}).value == "did x"
    assert work.carry_out(work.again(prepared.folder.run_id), {}).value == "did x"
