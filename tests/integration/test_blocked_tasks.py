"""A task that waits for another one: nobody begins with it before the other one is closed."""

from itertools import pairwise

import pytest

from prepared import prepared
from sandbox import Sandbox

BEGINNING = ("worktree add B", "task switch B", "task update B --owner ada")


def _waiting(sandbox: Sandbox) -> None:
    """Task B waits for task A; the active task is another one."""
    sandbox.siding("-q", "task", "start", "A", "--no-switch")
    sandbox.siding("-q", "task", "start", "B", "--no-switch", "--no-workspace")
    sandbox.siding("-q", "task", "update", "B", "--blocked-by", "A")


@pytest.fixture
def waiting() -> Sandbox:
    return prepared(_waiting)


def is_marked(sandbox: Sandbox) -> bool:
    return b"(blocked)" in sandbox.siding("task", "list").stdout


@pytest.mark.parametrize("command", BEGINNING)
def test_what_begins_with_it_is_refused_until_the_other_is_closed(
    waiting: Sandbox, command: str
) -> None:
    before = waiting.json("task", "show", "B", "--format", "json")
    refused = waiting.siding(*command.split(), status=1).stderr
    assert b"task 'B' is blocked by 'A' (" in refused
    assert b", active)" in refused
    assert b"--force" in refused
    assert waiting.json("task", "show", "B", "--format", "json") == before
    assert is_marked(waiting)
    waiting.siding("task", "close", "A")
    assert not is_marked(waiting)
    waiting.siding(*command.split())


@pytest.mark.parametrize("command", BEGINNING)
def test_a_person_can_go_ahead(waiting: Sandbox, command: str) -> None:
    waiting.siding(*command.split(), "--force")
    assert is_marked(waiting)


@pytest.mark.parametrize("command", BEGINNING)
@pytest.mark.parametrize(
    "end",
    [
        ["task", "close", "A", "--delete"],
        ["task", "update", "B", "--blocked-by", ""],
        ["worktree", "remove", "A", "--complete"],
    ],
    ids=["deleted", "unblocked", "completed"],
)
def test_whatever_ends_the_block_frees_it(waiting: Sandbox, command: str, end: list[str]) -> None:
    waiting.siding(*end)
    assert not is_marked(waiting)
    waiting.siding(*command.split())


def test_a_blocker_that_is_open_again_holds_again(waiting: Sandbox) -> None:
    waiting.siding("task", "close", "A")
    waiting.siding("task", "reopen", "A")
    assert is_marked(waiting)
    waiting.siding("worktree", "add", "B", status=1)


def test_every_open_blocker_is_named_and_no_closed_one(waiting: Sandbox) -> None:
    for name in ("C", "D"):
        waiting.siding("-q", "task", "start", name, "--no-switch", "--no-workspace")
    waiting.siding("task", "update", "B", "--blocked-by", "A,C,D")
    waiting.siding("task", "close", "C")
    refused = waiting.siding("worktree", "add", "B", status=1).stderr
    assert b"'A'" in refused
    assert b"'D'" in refused
    assert b"'C'" not in refused
    shown = waiting.siding("task", "show", "B").stdout
    assert b"'A' (" in shown
    assert b", closed)" in shown


def test_what_cannot_be_read_may_be_open(waiting: Sandbox) -> None:
    blocker = waiting.json("task", "show", "A", "--format", "json")["id"]
    (waiting.project / "tasks" / blocker / "task.json").write_text("{")
    assert b"cannot be read" in waiting.siding("task", "switch", "B", status=1).stderr
    assert is_marked(waiting)


def test_what_was_begun_already_can_go_on(sandbox: Sandbox) -> None:
    sandbox.siding("-q", "task", "start", "A", "--no-switch", "--no-workspace")
    sandbox.siding("-q", "task", "start", "B")
    sandbox.siding("task", "update", "B", "--owner", "ada", "--blocked-by", "A", "--force")
    sandbox.siding("task", "update", "B", "--owner", "ada", "-m", "still hers")
    sandbox.siding("-q", "run", "--no-tty", "--", "true")
    sandbox.siding("task", "update", "B", "--owner", "")
    sandbox.siding("task", "close", "B", "--force")


@pytest.mark.parametrize("circle", [["B"], ["A", "B"], ["A", "C", "B"]], ids=len)
def test_a_circle_is_refused_and_spelled_out(sandbox: Sandbox, circle: list[str]) -> None:
    for name in sorted(circle):
        sandbox.siding("-q", "task", "start", name, "--no-switch", "--no-workspace")
    for task, blocker in pairwise(circle):
        sandbox.siding("task", "update", task, "--blocked-by", blocker)
    refused = sandbox.siding("task", "update", circle[-1], "--blocked-by", circle[0], status=2)
    way = " waits for ".join(repr(name) for name in ["B", *circle])
    assert f"would wait for itself: {way}".encode() in refused.stderr
    last = sandbox.json("task", "show", circle[-1], "--format", "json")
    assert last["blocked_by"] == []
