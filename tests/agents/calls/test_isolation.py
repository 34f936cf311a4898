"""Where an agent works: together with others, one at a time, in a view, in a fork."""

import asyncio
import json
import os
import signal
import time
from pathlib import Path
from typing import Any

import pytest

from agents.calls.bench import Bench, call
from agents.calls.subjects import Plain, Told
from bwrap import needs_bwrap
from sandbox import Sandbox
from siding.forks.forks import ForkRequest, fork
from siding.forks.parentage import forks_of
from siding.forks.state import recorded
from siding.record.place.project import Project, require_project
from siding.record.place.wiring import open_app
from siding.record.tasks.task import TaskState
from siding.workflows.agents.agents import ProgramAgents
from siding.workflows.engine.ports import AgentUnavailable, Attempt
from siding.workflows.outcome import Dead, DeadReason, Done, Outcome


@pytest.fixture
def subject(sandbox: Sandbox) -> Plain:
    sandbox.siding("task", "start", "called")
    return Plain(sandbox)


def both(bench: Bench, isolation: str, *prompts: str) -> list[Outcome]:
    async def run(agents: ProgramAgents) -> list[Outcome]:
        calls = [call(prompt, at, isolation=isolation) for at, prompt in enumerate(prompts, 1)]
        runs = [agents.run(each, Attempt(), lambda _report: None) for each in calls]
        return list(await asyncio.gather(*runs))

    return bench.loop(run)


def opened(task: Sandbox) -> Project:
    return require_project(open_app(env=task.env, cwd=task.repo))


def open_forks(task: Sandbox) -> list[Any]:
    return [each for each in forks_of(opened(task)) if each.status is not TaskState.CLOSED]


def test_writers_wait_for_each_other(subject: Plain) -> None:
    work = "echo begins >>log; sleep .3; echo ends >>log"
    subject.told(one=Told(command=work), two=Told(command=work))
    both(Bench(subject), "turn", "one", "two")
    log = (subject.task.workspace() / "log").read_text().split()
    assert log == ["begins", "ends"] * 2


def test_writers_of_two_workflows_wait_for_each_other(subject: Plain) -> None:
    """Each process has its turn alone, and one that is cancelled or killed keeps nobody waiting."""
    log = subject.task.workspace() / "log"
    work = "echo begins >>log; sleep .2; echo ends >>log"
    subject.told(one=Told(command=work), two=Told(command="echo begins >>log; sleep 60"))
    bench = Bench(subject)
    other = os.fork()
    if other == 0:
        try:
            bench.call("two", isolation="turn")
        finally:
            os._exit(1)

    async def wait_and_give_up(agents: ProgramAgents) -> None:
        while not log.exists():
            await asyncio.sleep(0.02)
        waiting = agents.run(call("one", isolation="turn"), Attempt(), lambda _report: None)
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(waiting, 0.5)

    bench.loop(wait_and_give_up)
    assert log.read_text().split() == ["begins"]
    os.kill(other, signal.SIGKILL)
    os.waitpid(other, 0)
    assert isinstance(bench.call("one", isolation="turn"), Done)
    assert log.read_text().split() == ["begins", "begins", "ends"]


def test_a_reader_sees_what_there_is_and_leaves_nothing(subject: Plain) -> None:
    (subject.task.workspace() / "new").write_text("unseen")
    subject.told(look=Told(text="done", command="cat new >&2; test $PWD = $SIDING_WORKSPACE"))
    outcomes = both(Bench(subject), "read", "look", "look")
    assert [each.output for each in outcomes if isinstance(each, Done)] == ["done", "done"]
    run = [step for step in subject.task.steps() if step["kind"] == "run"][-1]
    assert run["cwd"].startswith("../")
    output = subject.task.siding("output", run["run"]).stderr
    assert b"unseen" in output
    assert len(subject.task.json("task", "list", "--format", "json")) == 1


def test_a_reader_that_writes_is_caught(subject: Plain) -> None:
    subject.told(write=Told(text="done", command="chmod u+w . hello.txt; echo x >hello.txt"))
    (outcome,) = both(Bench(subject), "read", "write")
    assert isinstance(outcome, Dead), outcome
    assert outcome.reason is DeadReason.WORKTREE_FAILED
    assert "hello.txt" in outcome.detail
    assert (subject.task.workspace() / "hello.txt").read_text() == "hello\n"


@needs_bwrap
def test_a_reader_in_a_sandbox_writes_nowhere(subject: Plain) -> None:
    here = subject.task.workspace()
    work = f"""
        echo x >>{here}/hello.txt; echo y >{here}/new; echo z >new
        git -C {here} -c user.name=a -c user.email=a@b commit -qm no --allow-empty; cat hello.txt
    """
    head = subject.task.git("rev-parse", "HEAD", cwd=here)
    bench = Bench(subject, sandbox=True, command=["sh", "-c", work, "sh", "{prompt_file}"])
    (outcome,) = both(bench, "read", "write")
    assert isinstance(outcome, Done), outcome
    assert outcome.output == "hello"
    assert (here / "hello.txt").read_text() == "hello\n"
    assert not (here / "new").exists()
    assert subject.task.git("rev-parse", "HEAD", cwd=here) == head


def test_what_a_fork_changed_comes_back(subject: Plain) -> None:
    subject.told(
        one=Told(text="one", command="echo 1 >one"), two=Told(text="two", command="echo 2 >two")
    )
    outcomes = both(Bench(subject), "worktree", "one", "two")
    for outcome in outcomes:
        assert isinstance(outcome, Done), outcome
        assert outcome.work.fork == outcome.work.task
        assert outcome.extra["brought_back"].get("step"), outcome.extra
    workspace = subject.task.workspace()
    assert ((workspace / "one").read_text(), (workspace / "two").read_text()) == ("1\n", "2\n")
    assert open_forks(subject.task) == []
    assert len(subject.task.json("task", "list", "--format", "json")) == 1


def test_an_unchanged_fork_is_dropped(subject: Plain) -> None:
    subject.told(look=Told(text="nothing"))
    (outcome,) = both(Bench(subject), "worktree", "look")
    assert isinstance(outcome, Done), outcome
    assert outcome.extra["brought_back"] == {}
    assert open_forks(subject.task) == []


def test_a_conflict_is_a_result_and_the_fork_is_kept(subject: Plain) -> None:
    here = subject.task.workspace() / "hello.txt"
    subject.told(change=Told(text="mine", command=f"echo theirs >hello.txt; echo ours >{here}"))
    (outcome,) = both(Bench(subject), "worktree", "change")
    assert isinstance(outcome, Done), outcome
    assert outcome.output == "mine"
    assert outcome.extra["brought_back"] == {"conflict": ["hello.txt"], "fork": outcome.work.fork}
    assert here.read_text() == "ours\n"
    (kept,) = open_forks(subject.task)
    assert kept.id == outcome.work.fork


def test_an_agent_that_is_gone_on_with_has_its_fork_again(subject: Plain) -> None:
    subject.told(on=Told(text="done", command="cat before"))
    project = opened(subject.task)
    task = project.tasks.load(project.tasks.ids()[0])
    left = fork(project, recorded(project, task), ForkRequest(call="1", name="left"))
    (left.path / "before").write_text("made before the crash\n")
    left.close()
    attempt = Attempt(session="s")
    outcome = Bench(subject).call("go on", attempt, isolation="worktree")
    assert isinstance(outcome, Done), outcome
    assert outcome.work.fork == left.id
    assert (subject.task.workspace() / "before").read_text() == "made before the crash\n"


def test_a_cancelled_one_leaves_no_fork(subject: Plain) -> None:
    subject.told(wait=Told(command="echo x >begun; sleep 300"))

    async def cancelled(agents: ProgramAgents) -> None:
        begun = asyncio.Event()
        task = asyncio.ensure_future(
            agents.run(call("wait", isolation="worktree"), Attempt(), lambda _report: begun.set())
        )
        await begun.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    Bench(subject).loop(cancelled)
    assert open_forks(subject.task) == []


def test_another_isolation_is_refused(subject: Plain) -> None:
    subject.told(on=Told())
    with pytest.raises(AgentUnavailable, match="turn, read, worktree"):
        Bench(subject).call("go on", isolation="elsewhere")


def test_its_files_go_with_gc_if_its_workflow_was_killed(subject: Plain) -> None:
    """Those of an agent that is at work stay."""
    subject.told(on=Told(command="touch $HOME/begun; sleep 60"))
    bench, begun = Bench(subject), Path(subject.task.env["HOME"], "begun")
    workflow = os.fork()
    if workflow == 0:
        try:
            bench.call("go on")
        finally:
            os._exit(1)
    while not begun.exists():
        time.sleep(0.02)
    (kept,) = subject.task.project.glob("tasks/*/asked/*")
    os.utime(kept, (0, 0))  # what was made in the last minute is left alone
    subject.task.siding("gc")
    assert kept.exists()
    os.kill(workflow, signal.SIGKILL)
    os.waitpid(workflow, 0)
    subject.task.siding("gc")
    assert not kept.exists()


def test_its_files_are_gone_when_it_has_ended(subject: Plain) -> None:
    subject.told(on=Told(text="done"))
    Bench(subject).call("go on")
    (project,) = subject.task.project.glob("tasks/*")
    assert not list(project.glob("asked/*")), json.dumps([str(p) for p in project.iterdir()])
