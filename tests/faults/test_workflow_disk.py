"""The disk fails, is full, or the process dies under a run of a workflow in a task, at any call.

What ends it says so; nothing recorded is lost, and it is resumed when there is room.
"""

import os
from pathlib import Path

import pytest

from siding.record.place.project import Project, require_project
from siding.record.place.wiring import open_app
from siding.workflows.store import RunFolders

from . import tracer, workflow_task_victim
from .arena import Command, depth
from .commands import act, fresh
from .harness import sweep
from .product import script
from .test_workflow_journal import FEW, goes_on
from .workflow_victim import right_result

pytestmark = [
    pytest.mark.skipif(
        tracer.unsupported_reason() is not None, reason=str(tracer.unsupported_reason())
    ),
    pytest.mark.timeout(1800),
]

_ENVIRONMENT = {"SIDING_HOME": "{case}/home", "TMPDIR": "{case}/tmp"}
_TESTS = str(Path(__file__).parents[1])


def project_in(case: Path) -> Project:
    env = {"PATH": os.environ["PATH"], "HOME": str(case), "SIDING_HOME": str(case / "home")}
    return require_project(open_app(env=env, cwd=case / "repo"))


def with_a_run(case: Path) -> None:
    fresh(case)
    act(case, "task", "start", "flows")
    workflow_task_victim.begin(project_in(case), FEW)


def victim(fault: str = "") -> Command:
    told = script(workflow_task_victim.__file__, "{case}", fault=fault)
    paths = filter(None, (_TESTS, told.env.get("PYTHONPATH")))
    env = {**told.env, **_ENVIRONMENT, "PYTHONPATH": os.pathsep.join(paths)}
    return told._replace(env=env, cwd="{case}/repo")


def of_those_who_watch(call: str) -> bool:
    """A flush that may fail: nothing is read from the events, they only tell who listens."""
    return "/events.jsonl" in call


def it_goes_on(case: Path, promises: list[str]) -> None:
    """The run is resumed, to its right result; a second time it takes all from its record."""
    project = project_in(case)
    (folder,) = RunFolders.of(project).all()
    goes_on(
        folder.journal,
        case,
        promises,
        FEW,
        lambda: workflow_task_victim.run(project, case, lambda _text: None),
    )
    state = folder.state()
    assert state is not None
    assert (state.status, state.value) == ("completed", right_result(FEW))
    assert not folder.socket.exists()


def test_any_call_fails_or_the_disk_is_full_or_it_is_killed() -> None:
    modes = ("full", "err:EIO", "err:ENOSPC", "kill", "torn")
    budget = depth(2, prove=120)
    sweep(
        with_a_run,
        victim(),
        it_goes_on,
        modes=modes,
        budget=budget,
        within=("home",),
        best_effort=of_those_who_watch,
    )
