"""The power fails while records move: old decisions into the trash, a deleted task's out of its
archive, a project that another one takes the place of.

Each is under its old name or its new one then, whole, and the same command brings it there.
"""

import json
from pathlib import Path

import pytest

from . import test_decide_faults as deciding
from .arena import Check, GateFailed, Setup
from .commands import GATE, act, answer, board, filled, fresh, promising
from .powercut import powercut
from .test_undo_recovery import BUDGET

pytestmark = GATE

CLEAN = ("decide", "clean", "--keep", "0")
REOPEN = ("task", "reopen", "plan")
ADOPT = ("doctor", "--adopt", "wanted")


def answered(case: Path) -> None:
    """Two decisions that were answered; the newer one stays whatever is cleaned."""
    deciding.put(case)
    for session in sorted(_decisions(case)):
        act(case, "-q", "decide", "answer", session, "--choose", "1=victim")
    (case / "known").write_text(json.dumps(sorted(_decisions(case))))


def each_decision_is_somewhere(case: Path, promises: list[str]) -> None:
    known = set(json.loads((case / "known").read_text()))
    oldest = (case / "session").read_text().strip()
    for done in (bool(promises), True):
        listed, trash = _decisions(case), _in_trash(case)
        assert listed | trash == known
        assert listed >= known - {oldest}
        assert not done or trash == {oldest}
        act(case, "-q", *CLEAN)
    assert act(case, "doctor", "--check").stdout == "everything agrees\n"


def _decisions(case: Path) -> set[str]:
    listed = answer(case, "decide", "list", "--all", "--json")
    assert all(each["state"] == "answered" or not (case / "known").exists() for each in listed)
    return {each["session_id"] for each in listed}


def _in_trash(case: Path) -> set[str]:
    """The decisions that are readable there."""
    found = (case / "home/projects").glob("*/trash/decisions-*/*.json")
    return {path.stem for path in found if json.loads(path.read_bytes())}


def archived(case: Path) -> None:
    """A deleted task that never had a workspace; its records are in an archive."""
    filled(case)
    act(case, "-q", "task", "close", "plan", "--force", "--delete")
    act(case, "-q", "gc")
    (archive,) = (case / "home/projects").glob("*/archives/*.tar.gz")
    assert "plan" not in board(case), archive


def the_task_is_on_the_board(case: Path, promises: list[str]) -> None:
    status = board(case).get("plan", {}).get("status", "closed")
    assert not promises or status != "closed"
    if status == "closed":
        act(case, *REOPEN)
    act(case, "task", "update", "plan", "--description", "more")
    act(case, "worktree", "add", "plan")
    act(case, "run", "-t", "plan", "--", "true")
    act(case, "verify", "plan")
    assert act(case, "doctor", "--check").stdout == "everything agrees\n"


def two_projects(case: Path) -> None:
    """The repository has an empty project, and the one with its work is of another path."""
    fresh(case)
    repo, before, hidden = case / "repo", case / "before", case / "hidden"
    repo.rename(before)
    act(case, "-q", "task", "start", "kept", cwd="{case}/before")
    act(case, "-q", "run", "--", "sh", "-c", "echo kept >kept", cwd="{case}/before")
    before.rename(repo)
    (mine,) = (case / "home/projects").iterdir()
    mine.rename(hidden)
    act(case, "-q", "init")
    assert board(case) == {}
    hidden.rename(mine.with_name("wanted"))


def the_work_is_adopted(case: Path, promises: list[str]) -> None:
    assert not promises or "kept" in board(case)
    if "kept" not in board(case):
        act(case, *ADOPT)
    act(case, "doctor")
    assert act(case, "doctor", "--check").stdout == "everything agrees\n"
    assert answer(case, "diff", "-t", "kept", "--format", "json")["file_list"] == ["kept"]
    act(case, "verify", "kept")


MOVES: dict[str, tuple[Setup, tuple[str, ...], Check]] = {
    "decide clean": (answered, CLEAN, each_decision_is_somewhere),
    "reopen of records": (archived, REOPEN, the_task_is_on_the_board),
    "doctor --adopt": (two_projects, ADOPT, the_work_is_adopted),
}


@pytest.mark.parametrize("name", MOVES)
def test_the_power_fails(name: str) -> None:
    setup, words, check = MOVES[name]
    powercut(setup, promising(*words), check, fs="ordered", budget=2 * BUDGET)


@pytest.mark.parametrize("name", MOVES)
def test_one_that_flushes_nothing_would_be_seen(name: str) -> None:
    setup, words, check = MOVES[name]
    with pytest.raises(GateFailed):
        powercut(setup, promising(*words, fault="skip-fsync"), check, fs="ordered", budget=60)
