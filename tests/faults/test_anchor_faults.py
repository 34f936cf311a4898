"""Faults between the line of a step and its anchor: no step is lost, and `verify` is never wrong.

What a crash leaves is no tampering. Before the next command `verify` says what is unfinished;
after it there is nothing to say.
"""

import errno
import json
import os
import re
from pathlib import Path

import pytest

from siding.ground.storage.errors import DamagedFile
from siding.record.ledger import anchor
from siding.record.ledger.anchor import read_anchor
from siding.record.ledger.store import Ledger
from siding.record.place.project import Project, require_project
from siding.record.place.wiring import open_app
from siding.record.recording.recorder import AnchorNotWritten
from siding.record.recording.verify import verify
from siding.running.checkpoint import checkpoint

from . import anchor_victim
from .arena import Command, GateFailed, Setup, depth
from .commands import GATE, act, changed, fresh, project_of, promising, workspace_of
from .harness import sweep
from .powercut import powercut
from .product import script, siding

pytestmark = GATE

ALL = 40  # cases: each call is tried
WORDS = ("checkpoint", "-m", "asked")
# From the line on: the line, the anchor, and the removal of the intent.
_LINE_TO_END = re.compile(
    r"(write|fsync)\(.*/ledger\.jsonl\b|ledger-head|fsync\(.*snapshots\.git/tasks/\w+\)"
    r"|unlink\w*\(.*/intents/|fsync\(.*/intents\)"
)
# A base that changes: the anchor, the document, the registry.
_BASE = re.compile(
    r"ledger-head|snapshots\.git/tasks/\w+\)|/tasks/\w+/\.siding-tmp|ledger\.jsonl\b"
)


def from_line_to_end(call: str) -> bool:
    return _LINE_TO_END.search(call) is not None


def first(case: Path) -> None:
    """A task without a step, and work that no step has seen: its first line makes the anchor."""
    fresh(case)
    act(case, "task", "start", "alpha")
    (workspace_of(case, "alpha") / "unseen").write_text("unseen\n", encoding="utf-8")


def given(case: Path) -> None:
    """Task `beta` had a workspace and has a step; `alpha` has the workspace that it gets now."""
    fresh(case)
    act(case, "task", "start", "beta")
    act(case, "run", "--", "sh", "-c", "echo beta >beta")
    act(case, "worktree", "remove", "beta", "--force")
    act(case, "task", "start", "alpha")
    act(case, "run", "--", "sh", "-c", "echo alpha >alpha; git add -A; git commit -qm alpha")


def project(case: Path) -> Project:
    env = {"PATH": os.environ["PATH"], "HOME": str(case), "SIDING_HOME": str(case / "home")}
    return require_project(open_app(env=env, cwd=case / "repo"))


def is_whole(where: Project, task: str, *, but: tuple[str, ...] = ()) -> None:
    """`verify` finds nothing serious, and notes nothing else than what `but` says."""
    proof = verify(where, task)
    assert proof.whole, proof.findings
    left = [each for each in proof.findings if not any(word in each.problem for word in but)]
    assert left == []


def anchored_holds(case: Path, promises: list[str]) -> None:
    where = project(case)
    is_whole(where, "alpha", but=("torn", "cut off", "not anchored yet", "its end"))
    checkpoint(where, "alpha", "after", wait=False)
    is_whole(where, "alpha", but=("torn",))
    (task,) = [each for each in where.tasks.readable() if each.name == "alpha"]
    steps = list(where.ledger(task.id).steps())
    asked = [step for step in steps if step.message == "asked"]
    assert len(asked) == 1 or (not asked and not promises), steps
    unseen = [step for step in steps if "unseen" in step.line["diff_stat"]["file_list"]]
    assert len(unseen) == 1, steps
    anchor = json.loads(
        (project_of(case) / "snapshots.git/tasks" / task.id / "ledger-head").read_bytes()
    )
    raw = where.ledger(task.id).path.read_bytes()
    assert (anchor["lines"], anchor["size"]) == (raw.count(b"\n"), len(raw))


def rebased_holds(case: Path, _promises: list[str]) -> None:
    where = project(case)
    for task in ("alpha", "beta"):
        is_whole(where, task, but=("torn", "cut off", "not anchored yet", "has another base"))
    act(case, "doctor")
    for task in ("alpha", "beta"):
        act(case, "run", "-t", task, "--", "true", status=None)
        is_whole(where, task, but=("torn",))
    assert sum(act(case, "run", "-t", t, "--", "true", status=None).status == 0 for t in BOTH) == 1


BOTH = ("alpha", "beta")


@pytest.mark.parametrize("setup", [changed, first])
def test_killed_at_every_call_from_the_line_to_the_end(setup: Setup) -> None:
    kills = ("kill", "torn", "torn:last")
    victim = promising(*WORDS)
    done = sweep(setup, victim, anchored_holds, modes=kills, budget=ALL, among=from_line_to_end)
    assert done.cases >= 12


def test_killed_again_while_recovering() -> None:
    sweep(
        changed,
        promising(*WORDS),
        anchored_holds,
        modes=("nested",),
        budget=depth(6, prove=12),
        recover=siding("checkpoint", "-m", "after"),
        among=from_line_to_end,
    )


def test_calls_that_fail_from_the_line_to_the_end() -> None:
    sweep(
        changed,
        promising(*WORDS),
        anchored_holds,
        modes=("err:EIO", "err:ENOSPC", "full"),
        budget=ALL,
        among=from_line_to_end,
    )


def test_a_power_cut() -> None:
    powercut(changed, promising(*WORDS), anchored_holds, budget=depth(4, prove=8))


def appended(case: Path) -> None:
    """Two anchored lines."""
    anchor_victim.append(case)
    anchor_victim.append(case)


def bare(_case: Path) -> None:
    """No line yet: the first append makes the anchor."""


def promised_is_anchored(case: Path, promises: list[str]) -> None:
    """An anchored line is there and anchored, or its act has not ended and recovery does it."""
    promised = max(map(int, promises), default=0)
    lines = sum(1 for _ in Ledger(case / anchor_victim.LEDGER).steps())
    assert lines >= promised
    try:
        anchor = read_anchor(case / anchor_victim.HEAD)
    except DamagedFile:
        assert lines > promised  # the next one was being written
    else:
        assert promised <= (0 if anchor is None else anchor.lines) <= lines


def anchoring(fault: str = "") -> Command:
    return script(anchor_victim.__file__, "3", fault=fault)


@pytest.mark.parametrize("fs", ["strict", "ordered"])
@pytest.mark.parametrize("setup", [bare, appended])
def test_what_was_promised_is_anchored_after_a_power_cut(setup: Setup, fs: str) -> None:
    powercut(setup, anchoring(), promised_is_anchored, fs=fs, budget=40)


@pytest.mark.parametrize("fault", ["skip-fsync", "skip-directory-fsync"])
def test_an_anchor_that_is_not_flushed_would_be_seen(fault: str) -> None:
    with pytest.raises(GateFailed):
        powercut(bare, anchoring(fault), promised_is_anchored, budget=60)


def test_killed_while_a_task_gets_another_base() -> None:
    victim = promising("worktree", "bind", "beta", "--worktree", "alpha")
    sweep(
        given,
        victim,
        rebased_holds,
        modes=("kill",),
        budget=depth(3, prove=8),
        among=lambda call: _BASE.search(call) is not None,
    )


def test_an_act_whose_anchor_cannot_be_written_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    changed(tmp_path)
    where = project(tmp_path)

    def fails(*_: object) -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    with monkeypatch.context() as patch:
        patch.setattr(anchor, "write_anchor", fails)
        with pytest.raises(AnchorNotWritten) as raised:
            checkpoint(where, "alpha", "asked", wait=False)
    assert raised.value.message == (
        "step 0002 is recorded, but the anchor of its ledger could not be written: "
        "Input/output error"
    )
    assert raised.value.hint == "the next command in the task writes it"
    assert "is not anchored yet" in act(tmp_path, "verify").stdout
    act(tmp_path, "checkpoint", "-m", "again")
    assert "note" not in act(tmp_path, "verify").stdout
