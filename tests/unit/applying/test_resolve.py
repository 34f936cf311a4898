"""A conflict comes into the workspace as a step, and goes from there to the target, or back."""

from typing import Any

import pytest

from integration.undo.desk import Desk
from siding.applying.apply import ApplyRequest, Mode
from siding.applying.history import Unresolved
from siding.applying.resolve import (
    NothingToResolve,
    Resolution,
    abort,
    continued,
    resolve,
)
from siding.ground.errors import UsageError
from siding.ground.ids import Sha
from siding.record.ledger.move_details import ConflictedPath

from .ledgers import Told

MARKED = b"<<<<<<< main\nperson's\n=======\nagent's\n>>>>>>> task work\n"


def conflict(desk: Desk) -> None:
    desk.write("hello.txt", "agent's\n")
    desk.git("commit", "-q", "-am", "the agent's")
    desk.write("rest", "1\n")
    (desk.sandbox.repo / "hello.txt").write_text("person's\n")
    (desk.sandbox.repo / "theirs").write_text("1\n")
    desk.sandbox.git("add", "-A")
    desk.sandbox.git("commit", "-q", "-m", "the person's")


def request(desk: Desk, **more: Any) -> ApplyRequest:
    return ApplyRequest(task=desk.task.id, **more)


def resolved(desk: Desk) -> Resolution:
    return resolve(desk.project, request(desk))


def test_both_sides_come_into_the_workspace(desk: Desk) -> None:
    conflict(desk)
    head, index = desk.git("rev-parse", "HEAD"), desk.git("ls-files", "-s")
    store = desk.project.snapshots
    desk.checkpoint()
    tip = store.tip(desk.task.id)
    found = resolved(desk)
    assert desk.read("hello.txt") == MARKED
    assert (desk.read("theirs"), desk.read("rest")) == (b"1\n", b"1\n")
    assert (desk.git("rev-parse", "HEAD"), desk.git("ls-files", "-s")) == (head, index)
    conflicts = (ConflictedPath("hello.txt", "contents"),)
    assert found == Resolution(found.step, "main", conflicts, str(desk.root))
    back = found.step.as_rollback
    assert back is not None
    assert back.message == "main merged into the workspace, to be resolved"
    assert back.merged is not None
    assert (back.merged.branch, back.merged.conflicts) == ("main", conflicts)
    assert back.merged.commit == desk.sandbox.git("rev-parse", "main")
    assert (back.target, back.parts) == ("merge", "")
    assert back.restored is not None
    merged = store.read_commit(Sha(back.restored))
    assert merged.parents == (tip,)
    assert merged.message == "merge of main"
    assert not (store.root / "applies" / desk.task.id).exists()


def test_resolved_there_it_goes_to_the_target(desk: Desk) -> None:
    conflict(desk)
    with pytest.raises(UsageError, match="no merge of main is being resolved"):
        continued(desk.project, request(desk))
    with pytest.raises(UsageError, match="no merge of the checkout is being resolved"):
        continued(desk.project, request(desk, mode=Mode.PATCH))
    resolved(desk)
    with pytest.raises(Unresolved):
        continued(desk.project, request(desk))
    desk.write("hello.txt", "both\n")
    done = continued(desk.project, request(desk, close=False))
    assert done.step is not None
    assert (desk.sandbox.repo / "hello.txt").read_text() == "both\n"
    assert (desk.sandbox.repo / "theirs").exists()


@pytest.mark.parametrize("recorded", [False, True])
def test_given_up_the_workspace_is_as_before(desk: Desk, recorded: bool) -> None:
    with pytest.raises(UsageError, match="no merge is being resolved in this task"):
        abort(desk.project, desk.task.id)
    conflict(desk)
    if recorded:
        desk.checkpoint()
    before = desk.tree()
    resolved(desk)
    desk.write("hello.txt", "half done\n")
    desk.write("more", "1\n")
    step = abort(desk.project, desk.task.id)
    assert desk.tree() == before
    back = step.as_rollback
    assert back is not None
    assert (back.message, back.target_step) == ("the merge was given up", "0001")
    assert (back.parts, back.target) == ("", "step")
    with pytest.raises(UsageError, match="no merge is being resolved in this task"):
        abort(desk.project, desk.task.id)


def test_given_up_back_to_the_base(told: Told) -> None:
    desk = told.desk
    told.merge(parent=told.base, snapshot=told.base)
    desk.write("more", "1\n")
    step = abort(desk.project, desk.task.id)
    back = step.as_rollback
    assert back is not None
    assert (back.target_step, back.target) == (None, "base")
    assert not (desk.root / "more").exists()
    told.merge(snapshot=told.base)
    with pytest.raises(UsageError, match="no merge is being resolved in this task"):
        abort(desk.project, desk.task.id)


def test_only_all_of_a_conflict_can_be_resolved(desk: Desk) -> None:
    desk.write("rest", "1\n")
    with pytest.raises(NothingToResolve):
        resolved(desk)
    conflict(desk)
    for more in ({"steps": "1"}, {"paths": (b"rest",)}, {"mode": Mode.PATCH}):
        with pytest.raises(UsageError, match="brings the whole target"):
            resolve(desk.project, request(desk, **more))


def test_files_come_as_a_checkout_writes_them(desk: Desk) -> None:
    desk.write(".gitattributes", "*.txt eol=crlf\n")
    conflict(desk)
    resolved(desk)
    assert desk.read("hello.txt") == MARKED.replace(b"\n", b"\r\n")
