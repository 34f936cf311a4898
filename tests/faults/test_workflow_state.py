"""What is shown of a run of a workflow, `state.json`, fails or is cut off at any of its calls.

It can be read whenever it is there, whatever became of its write. A disk that fails under it alone
costs the view and never the run. A run that died there goes on, and nothing finished runs again.
"""

from pathlib import Path

import pytest

from siding.workflows.state import RunState, RunStatus
from siding.workflows.store import RunFolders

from . import tracer
from .arena import Command, GateFailed, depth
from .harness import sweep
from .test_workflow_disk import it_goes_on, of_those_who_watch, project_in, victim, with_a_run

pytestmark = [
    pytest.mark.skipif(
        tracer.unsupported_reason() is not None, reason=str(tracer.unsupported_reason())
    ),
    pytest.mark.timeout(1800),
]


def of_the_state(call: str) -> bool:
    return "workflow-runs/" in call and "/state.json" in call


def shown(case: Path) -> RunState | None:
    """Return what is shown of the run: all of one moment; None if nothing was written yet."""
    runs = RunFolders.of(project_in(case))
    (folder,) = runs.all()
    state = folder.state()
    assert state is not None or not folder.state_json.exists(), folder.state_json.read_bytes()
    ((_folder, listed),) = runs.states()
    assert (listed.run_id, listed.name) == (folder.run_id, "workflow")
    assert listed == state or state is None
    return state


def it_is_shown_and_goes_on(case: Path, promises: list[str]) -> None:
    """What was written last is shown, also of a run that has ended: nobody works on it."""
    state = shown(case)
    assert state is None or state.status in (RunStatus.INTERRUPTED, RunStatus.COMPLETED)
    it_goes_on(case, promises)


def it_has_ended_well(case: Path, promises: list[str]) -> None:
    assert promises[-1:] == ["ended well"], promises
    assert shown(case) is not None
    it_is_shown_and_goes_on(case, promises)


def _sweep_of(victim: Command, modes: tuple[str, ...]) -> None:
    fails = modes[0].startswith("err")
    check = it_has_ended_well if fails else it_is_shown_and_goes_on
    budget = depth(1, prove=60)  # about every call, in each mode
    sweep(
        with_a_run,
        victim,
        check,
        modes=modes,
        budget=budget,
        within=("home",),
        among=of_the_state,
        best_effort=of_those_who_watch,
    )


def test_a_disk_that_fails_under_it_costs_the_view_and_not_the_run() -> None:
    _sweep_of(victim(), ("err:EIO", "err:ENOSPC", "err:EROFS", "err:EACCES", "short"))


def test_killed_or_torn_or_the_disk_is_full_from_there_on() -> None:
    _sweep_of(victim(), ("kill", "torn", "torn:first", "torn:last", "full"))


def test_one_that_is_written_in_place_would_be_seen() -> None:
    with pytest.raises(GateFailed, match="AssertionError"):
        sweep(
            with_a_run,
            victim(fault="state-in-place"),
            it_is_shown_and_goes_on,
            modes=("torn",),
            budget=40,
            within=("home",),
            among=of_the_state,
        )
