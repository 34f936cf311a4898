"""The repository is on another file system than the home: what is moved between them is copied.

Cut off or failing anywhere, the next command goes on. `run.py prove` has all gates begin like this
(row `apart`); here are the calls that move git's record of a workspace.
"""

from pathlib import Path

import pytest

from .acts import ACTS, KEPT, Act
from .apart import on_two_file_systems, other_file_system
from .arena import scratch
from .commands import GATE, act, board, doubled, repository_is_sound, works, workspace_of
from .harness import sweep

pytestmark = [
    *GATE,
    pytest.mark.skipif(
        other_file_system(scratch()) is None, reason="there is no second file system to write to"
    ),
]
FAULTS = ("kill", "err:EIO", "err:ENOSPC", "err:EACCES")


def closed(case: Path) -> None:
    """As `doubled`, and alpha is closed."""
    doubled(case)
    act(case, "task", "close", "alpha", "--force")


def reopened_holds(case: Path, promises: list[str]) -> None:
    works(case, "beta", first=0)
    if board(case)["alpha"]["workspace"] != "active" or not promises:
        act(case, "task", "reopen", "alpha", status=None)
    assert board(case)["alpha"]["workspace"] == "active"
    for name, content in KEPT.items():
        assert (workspace_of(case, "alpha") / name).read_bytes() == content
    works(case)
    assert act(case, "doctor", "--check").stdout == "everything agrees\n"
    repository_is_sound(case)


MOVING = {
    **{name: ACTS[name] for name in ("task close", "worktree remove", "task close --delete")},
    "task reopen": Act(closed, ("task", "reopen", "alpha"), reopened_holds),
}


def _moves_a_record(call: str) -> bool:
    places = ("/siding/going", "/siding/coming", "/git-dir", "/worktrees/")
    return any(place in call for place in places)


@pytest.mark.parametrize("name", MOVING)
def test_the_record_of_a_workspace_moves_whole_or_not_at_all(name: str) -> None:
    it = MOVING[name]
    sweep(
        on_two_file_systems(it.setup),
        it.command(),
        it.check,
        modes=FAULTS,
        budget=1 if name != "task reopen" else 2,
        among=_moves_a_record,
    )
